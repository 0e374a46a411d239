"""Replication: an experiment of a paper as protocols to run, with its printed numbers and claims to compare with ours."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar
from typing import Protocol as Interface

from labelsieve.names import unknown_name
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.results import StudyResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Results = Mapping[str, StudyResults]
DataHome = str | os.PathLike[str] | None


@dataclass(frozen=True)
class ResultTable:
    """A table of the report, and its summary in a sentence. A heading that begins with ``>`` is for numbers."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    summary: str = ""


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, whether it holds in our results (None: not run), and our values."""

    WORDS: ClassVar[Mapping[bool | None, str]] = {True: "holds", False: "does not", None: "not run"}
    text: str
    holds: bool | None
    observed: str

    @property
    def outcome(self) -> str:
        """``holds`` in words."""
        return self.WORDS[self.holds]


def not_run(text: str) -> Claim:
    """Return a claim without results.

    >>> not_run("SCLS is first.").holds is None
    True
    """
    return Claim(text, None, "-")


def claims_table(claims: Sequence[Claim], reading: str = "") -> ResultTable:
    """Return all claims as a table; those that were not run do not count.

    >>> claims_table([Claim("grass is green", True, "seen"), not_run("snow is white")]).summary
    '1 of 1 claims hold here.'
    """
    rows = [(claim.text, claim.outcome, claim.observed) for claim in claims]
    checked = [claim.holds for claim in claims if claim.holds is not None]
    title = f"Claims, {reading}" if reading else "Claims"
    return ResultTable(title, ("claim", "here", "our numbers"), rows, f"{sum(checked)} of {len(checked)} claims hold here.")


def values_text(values: Mapping[str, object], form: str, separator: str = ", ") -> str:
    """Return names with formatted values.

    >>> values_text({"scene": 0.25, "yeast": 0.5}, "{:.0%}")
    'scene 25%, yeast 50%'
    """
    return separator.join(f"{name} {form.format(value)}" for name, value in values.items())


class MakesProtocols(Interface):
    """A function that makes the protocols of a replication, by the names of its parts."""

    def __call__(self, *, full: bool, sets: Sequence[str] | None, data_home: DataHome) -> dict[str, Protocol]:
        """``full`` is as published, otherwise what runs in a minute; ``data_home`` is the folder of the data ``sets``."""


@dataclass(frozen=True)
class Replication:
    """An experiment that ``labelsieve study NAME`` runs and prints.

    Attributes
    ----------
    name, title, paper : str
        The name on the command line, the title of the experiment, and the citation.
    assumptions : mapping
        The settings that the paper leaves open, by topic: the value used here and the reason.
    protocols : callable
        The parts of the experiment, each a protocol with a folder of results.
    result_tables : callable
        Tables from the results of all parts: published numbers, ours, and where they agree.
    figures : callable, optional
        Figures by name, from the same results.
    """

    name: str
    title: str
    paper: str
    assumptions: Mapping[str, str]
    protocols: MakesProtocols
    result_tables: Callable[[Results], list[ResultTable]]
    figures: "Callable[[Results], dict[str, Figure]] | None" = None


def selected_sets(known: Iterable[str], sets: Sequence[str] | None, default: Sequence[str]) -> list[str]:
    """Return the requested data sets, which must be part of the replication, or the default ones.

    >>> selected_sets(["scene", "yeast"], None, ["yeast"])
    ['yeast']
    """
    if sets is None:
        return list(default)
    known = list(known)
    for name in sets:
        if name not in known:
            raise unknown_name("data set of this replication", name, known)
    return list(sets)


def sources(names: Iterable[str], data_home: DataHome, **settings: Mapping[str, object]) -> list[dict[str, object]]:
    """Return data sets of the catalog in the form of a protocol, with the ``settings`` of some of them by name.

    >>> sources(["genbase"], None, genbase={"drop": ["protein"]})
    [{'name': 'genbase', 'drop': ['protein']}]
    """
    home = {} if data_home is None else {"data_home": os.fspath(data_home)}
    return [{"name": name, **home, **settings.get(name, {})} for name in names]


def printed_values(paper: str) -> dict[str, Any]:
    """Return the numbers that a paper prints, by table: ``printed.json`` of its package, with tuples in place of lists.

    >>> printed_values("group_jmi")["table 2"]["coverage"]["yeast"]
    (1.62, 3.0, 1.38)
    """
    tables: dict[str, Any] = json.loads(files("labelsieve.replications").joinpath(paper, "printed.json").read_text("utf-8"))
    return {name: _with_tuples(table) for name, table in tables.items()}


def _with_tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_tuples(item) for key, item in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value
