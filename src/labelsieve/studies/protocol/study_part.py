"""Parts of a study, to be run one after the other or on several machines."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labelsieve.errors import InputError, unknown_name

if TYPE_CHECKING:
    from labelsieve.studies.protocol.data_sources import Source
    from labelsieve.studies.protocol.named_estimators import NamedEstimator
    from labelsieve.studies.protocol.study_protocol import Protocol

_SHARD = re.compile(r"(\d{1,5})/(\d{1,5})")


@dataclass(frozen=True)
class Part:
    """The cells of a study to run: empty values mean all.

    Parameters
    ----------
    datasets : sequence of str, default=()
        Names or tags of data sets; with several, the data sets of any of them.
    methods, classifiers : sequence of str, default=()
        Names.
    repeats : int, default=None
        The first splits of every data set.
    shard : (int, int), default=None
        One of so many parts of about equal size, the first is 1: a data set and split belong to one of them, and data sets that
        are appended to a protocol do not move the others.
    skip_exceeded : bool, default=False
        Leave out methods on data sets where a stored selection of theirs, in any split, exceeded a limit.
    """

    datasets: Sequence[str] = ()
    methods: Sequence[str] = ()
    classifiers: Sequence[str] = ()
    repeats: int | None = None
    shard: tuple[int, int] | None = None
    skip_exceeded: bool = False

    def has(self, position: int, split: int) -> bool:
        """Whether the split of the data set at this position of the protocol is in this part.

        >>> [Part(shard=(1, 2)).has(position, 0) for position in range(4)], Part(repeats=1).has(0, 1)
        ([True, False, True, False], False)
        """
        number, count = self.shard or (1, 1)
        return (self.repeats is None or split < self.repeats) and (position + split) % count == number - 1

    def of(self, protocols: "Mapping[str, Protocol]") -> "dict[str, Protocol]":
        """Return this part of every protocol that has cells in it; a name that none of them has is refused."""
        parts = {name: protocol.only(self) for name, protocol in protocols.items()}
        sources = [source for protocol in protocols.values() for source in protocol.datasets]
        known = {
            "data set or tag": (self.datasets, [word for source in sources for word in (source.name, *source.tags)]),
            "method": (self.methods, [each.name for protocol in protocols.values() for each in protocol.methods]),
            "classifier": (self.classifiers, [each.name for protocol in protocols.values() for each in protocol.classifiers]),
        }
        for kind, (names, choices) in known.items():
            for name in names:
                if name not in choices:
                    raise unknown_name(f"{kind} of this study", name, list(dict.fromkeys(choices)))
        return {name: part for name, part in parts.items() if part.datasets and part.methods and part.classifiers}

    def datasets_of(self, sources: "list[Source]") -> "list[Source]":
        """Return the data sets of this part."""
        wanted = set(self.datasets)
        return [source for source in sources if not wanted or wanted & {source.name, *source.tags}]


def named(estimators: "list[NamedEstimator]", names: Sequence[str]) -> "list[NamedEstimator]":
    """Return the estimators with these names, in their order; all if there are no names."""
    return [estimator for estimator in estimators if not names or estimator.name in names]


def read_shard(text: str) -> tuple[int, int]:
    """Read the number of a shard and the number of shards.

    >>> read_shard("3/20")
    (3, 20)
    """
    match = _SHARD.fullmatch(text.strip())
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise InputError(f"shard: {text!r} is not a part of several, such as 3/20, the third of twenty.")
    return int(match[1]), int(match[2])
