"""Replication: an experiment of a paper as protocols to run, with its printed numbers to put beside ours."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Protocol as Shape

from labelsieve.errors import InputError
from labelsieve.studies.protocol.protocol import Protocol
from labelsieve.studies.results.study_results import StudyResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Results = Mapping[str, StudyResults]


@dataclass(frozen=True)
class Section:
    """A table of the report, and what it says in a sentence. A heading that begins with ``>`` is for numbers."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    verdict: str = ""


class MakesProtocols(Shape):
    """The protocols of a study, by the names of its parts."""

    def __call__(
        self, *, full: bool, sets: Sequence[str] | None, data_home: str | os.PathLike[str] | None
    ) -> dict[str, Protocol]:
        """``full`` is as published, otherwise what runs in a minute; ``data_home`` is the folder of the data ``sets``."""


@dataclass(frozen=True)
class Replication:
    """What ``labelsieve study NAME`` runs and prints.

    Attributes
    ----------
    name, title, paper : str
        The name on the command line, what was published, and the citation.
    choices : mapping
        What the paper leaves open: what it is about, and what was chosen for which reason.
    protocols : callable
        The parts of the study, each a protocol with results of its own.
    sections : callable
        From the results of all parts, the tables: published numbers, ours, and where they agree.
    figures : callable, optional
        From the same, figures by their names.
    """

    name: str
    title: str
    paper: str
    choices: Mapping[str, str]
    protocols: MakesProtocols
    sections: Callable[[Results], list[Section]]
    figures: "Callable[[Results], dict[str, Figure]] | None" = None

    def folder(self, out: str | os.PathLike[str], part: str) -> Path:
        """Where the results of a part are kept."""
        return Path(out) / part


def selected_sets(known: Iterable[str], sets: Sequence[str] | None, otherwise: Sequence[str]) -> list[str]:
    """The data sets asked for, which must be known to the study; ``otherwise`` when none were.

    >>> selected_sets(["scene", "yeast"], None, ["yeast"])
    ['yeast']
    """
    if sets is None:
        return list(otherwise)
    known = list(known)
    unknown = [name for name in sets if name not in known]
    if unknown:
        raise InputError(f"data set {unknown[0]!r} is not in this study; there are {', '.join(known)}.")
    return list(sets)


def sources(
    names: Iterable[str], data_home: str | os.PathLike[str] | None, **settings: Mapping[str, object]
) -> list[dict[str, object]]:
    """Data sets of the catalog as a protocol takes them; ``settings`` are what some of them need, by their names.

    >>> sources(["genbase"], None, genbase={"drop": ["protein"]})
    [{'name': 'genbase', 'drop': ['protein']}]
    """
    home = {} if data_home is None else {"data_home": os.fspath(data_home)}
    return [{"name": name, **home, **settings.get(name, {})} for name in names]
