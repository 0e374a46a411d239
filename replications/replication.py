"""What all replications share: the experiment of a paper as protocols, its printed numbers, and claims that are checked."""

import json
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias
from typing import Protocol as Interface

from labelsieve.errors import unknown_name
from labelsieve.registry import selector_class
from labelsieve.studies import Protocol, StudyResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Results = Mapping[str, StudyResults]
DataHome = str | os.PathLike[str] | None
Figures: TypeAlias = "dict[str, Figure]"
MakesTables: TypeAlias = "Callable[[Results], list[ResultTable]]"
MakesFigures = Callable[[Results], Figures]
AS_PUBLISHED: dict[str, Any] = {"constant_features": "score"}  # of selectors that search: no rule but the formula


class MakesProtocols(Interface):
    """A function that makes the protocols of a replication, by the names of its parts."""

    def __call__(self, *, full: bool, sets: Sequence[str] | None, data_home: DataHome) -> dict[str, Protocol]:
        """Return the published experiment with ``full``, otherwise one that runs in a minute, of ``sets`` in ``data_home``."""


@dataclass(frozen=True)
class Replication:
    """An experiment that ``python -m replications NAME`` runs and prints.

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
    deviations : mapping
        Where values of the paper are not ours, by topic, and the cause; the same for all experiments of a paper.
    samples : bool, default=False
        Whether its tables mark values of which only the first splits have been run (:mod:`replications.sampling`). The
        archive leaves such values out otherwise.
    """

    name: str
    title: str
    paper: str
    assumptions: Mapping[str, str]
    protocols: MakesProtocols
    result_tables: MakesTables
    figures: MakesFigures | None = None
    deviations: Mapping[str, str] = field(default_factory=dict)
    samples: bool = False

    @classmethod
    def of(
        cls,
        paper: str,
        name: str,
        protocols: MakesProtocols,
        result_tables: MakesTables,
        figures: MakesFigures | None = None,
        *,
        samples: bool = False,
    ) -> Self:
        """Return a replication with the texts in ``paper.toml`` of the paper's package; it may repeat ``common`` topics."""
        texts: dict[str, Any] = tomllib.loads(_data_file(paper, "paper.toml"))
        about = texts[name]
        common = {topic: texts["common"][topic] for topic in about.get("common", ())}
        assumptions = common | about.get("assumptions", {})
        deviations = texts["deviations"]
        return cls(name, about["title"], texts["paper"], assumptions, protocols, result_tables, figures, deviations, samples)


@dataclass(frozen=True)
class ResultTable:
    """A table of the report of a replication.

    Attributes
    ----------
    title, summary : str
        The title, and the result in a sentence.
    columns, rows : sequence
        Headings and rows of text; columns whose heading begins with ``>`` hold numbers.
    claims : tuple of Claim
        The claims in the rows, if it is a table of claims.
    compared : Compared or None
        How many printed values have one of ours next to them, and how many of those are close.
    parts : tuple of str
        The parts of the study that its claims are about; empty: all.
    grades : mapping
        How far values are from the printed ones, by row and column: one of :data:`GRADES`.
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    summary: str = ""
    claims: "tuple[Claim, ...]" = ()
    compared: "Compared | None" = None
    parts: tuple[str, ...] = ()
    grades: Mapping[tuple[int, int], str] = field(default_factory=dict)


class Compared(NamedTuple):
    """Number of printed values that are replicated, how many are close to ours, and the reading of the paper used for it.

    ``spread`` counts those that are not farther from the printed value than its printed standard deviation; None where the
    paper prints none. ``sampled`` counts other printed values that have an estimate from the first splits.
    """

    run: int
    close: int
    reading: str = ""
    spread: int | None = None
    sampled: int = 0


#: Distances of a value from the printed one: at most its spread, at most twice that, and more.
GRADES = WITHIN, NEAR, BEYOND = ("within", "near", "beyond")


def grade(ours: float, printed: float, spread: float) -> str:
    """Return how far a value is from the printed one.

    ``spread`` is the printed standard deviation, or the tolerance of a study whose paper prints none.

    >>> [grade(value, 0.5, 0.01) for value in (0.505, 0.485, 0.6)]
    ['within', 'near', 'beyond']
    """
    distance = abs(ours - printed) / spread
    return WITHIN if distance <= 1 + 1e-9 else NEAR if distance <= 2 + 1e-9 else BEYOND


@dataclass(frozen=True)
class Claim:
    """A statement of a paper that was checked.

    Attributes
    ----------
    text : str
        The statement.
    holds : bool or None
        Whether it holds in our results; None: undecided, because results are missing.
    observed : str
        Our values.
    sets : tuple of str
        The data sets that it is about; empty: all of the study.
    certain : bool
        Whether the verdict takes values into account that are missing or sampled: they could not change it.
    """

    WORDS: ClassVar[Mapping[bool | None, str]] = {True: "holds", False: "does not", None: "undecided"}
    text: str
    holds: bool | None
    observed: str
    sets: tuple[str, ...] = ()
    certain: bool = False

    @property
    def outcome(self) -> str:
        """Say in words whether the claim holds."""
        return self.WORDS[self.holds]


def not_run(text: str) -> Claim:
    """Return a claim without results.

    >>> not_run("SCLS is first.").holds is None
    True
    """
    return Claim(text, None, "-")


def claims_table(claims: Sequence[Claim], reading: str = "", parts: Sequence[str] = ()) -> ResultTable:
    """Return all claims as a table; those that are undecided are counted apart.

    ``parts`` are the parts of the study that the claims are about; by default all.

    >>> claims_table([Claim("grass is green", True, "seen"), not_run("snow is white")]).summary
    '1 of 1 claims hold here, 1 undecided.'
    """
    rows = [(claim.text, claim.outcome, claim.observed) for claim in claims]
    checked = [claim.holds for claim in claims if claim.holds is not None]
    title = f"Claims, {reading}" if reading else "Claims"
    undecided = len(claims) - len(checked)
    summary = f"{sum(checked)} of {len(checked)} claims hold here" + (f", {undecided} undecided." if undecided else ".")
    return ResultTable(title, ("claim", "here", "our numbers"), rows, summary, tuple(claims), parts=tuple(parts))


def values_text(values: Mapping[str, object], form: str, separator: str = ", ") -> str:
    """Return names with formatted values.

    >>> values_text({"scene": 0.25, "yeast": 0.5}, "{:.0%}")
    'scene 25%, yeast 50%'
    """
    return separator.join(f"{name} {form.format(value)}" for name, value in values.items())


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


#: The file of languagelog as two papers seem to have read it, with its last 75 words for the labels and the labels for words.
SWAPPED = "languagelog-swapped"
LAST_WORDS = [f"tok{number}" for number in range(929, 1004)]
#: Settings of data sets that several papers have.
DATA: dict[str, dict[str, object]] = {
    "genbase": {"drop": ["protein"]},
    SWAPPED: {"path": "languagelog", "labels": LAST_WORDS},
}


def as_published(methods: Sequence[str | Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return methods as tables of settings, with :data:`AS_PUBLISHED` where the selector has these parameters.

    >>> as_published(["ela-chi", {"name": "pmu"}])
    [{'name': 'ela-chi'}, {'name': 'pmu', 'constant_features': 'score'}]
    """
    tables: list[dict[str, Any]] = [{"name": given} if isinstance(given, str) else dict(given) for given in methods]
    for table in tables:
        used = table.get("criterion", table["name"])
        kind = selector_class(used if isinstance(used, str) else used["name"])
        table |= {key: value for key, value in AS_PUBLISHED.items() if key in kind._get_param_names()}
    return tables


def printed_values(paper: str) -> dict[str, Any]:
    """Return the numbers that a paper prints, by table: ``printed.json`` of its package, with tuples in place of lists.

    >>> printed_values("group_jmi")["table 2"]["coverage"]["yeast"]
    (1.62, 3.0, 1.38)
    """
    tables: dict[str, Any] = json.loads(_data_file(paper, "printed.json"))
    return {name: _with_tuples(table) for name, table in tables.items()}


def _data_file(paper: str, name: str) -> str:
    return files("replications").joinpath(paper, name).read_text("utf-8")


def _with_tuples(value: object) -> Any:
    if isinstance(value, dict):
        return {key: _with_tuples(item) for key, item in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value
