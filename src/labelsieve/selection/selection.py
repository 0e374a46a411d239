"""The result of a selection: one frozen value that text, JSON, CSV, frames, HTML reports and stored files are made from."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Self

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError, unknown_name
from labelsieve.fingerprint import array_print
from labelsieve.plotting import report_function
from labelsieve.statistics import Stability
from labelsieve.stopping import StoppingRule
from labelsieve.tables.frames import is_frame, without_wide_integers
from labelsieve.tables.problem import Names
from labelsieve.tables.types import TargetsLike

COMPONENTS = "relevance", "redundancy", "complementarity"


@dataclass(frozen=True)
class SelectedFeature:
    """A selected feature.

    Attributes
    ----------
    rank : int
        From 1, in order of selection.
    feature, column : str, int
        Its name, and its index in ``X``.
    score : float
        The score when it was selected.
    components : dict of str to float
        Its relevance alone and, where they were computed, its redundancy and complementarity with the features selected
        before it, in nats: see :meth:`labelsieve.Sieve.information_components`. They mean the same for every method.
    top_label, top_label_information : str, float, optional
        The label that it has the most information about, and that information in nats.
    redundant : dict of str to float
        Features that were not selected and their similarity, the most similar first: see
        :class:`labelsieve.selectors.RedundantFeature`.
    information : tuple of float
        Mutual information with every label, in nats; empty if it was not computed.
    label : str, optional
        The label whose list has the feature, where every label has a list.
    explained, explained_error, gain : float, optional
        The share of the targets that this feature and those before it predict in rows that were not used, its standard error,
        and the difference to the feature before: see :class:`labelsieve.selectors.Explained`.
    signal : bool, optional
        Whether what it adds to the features before it is distinguishable from noise: see
        :func:`labelsieve.discoveries.row_tests_of`.
    p_value : float, optional
        The p-value behind ``signal``, corrected for being the best of all candidates.
    folds : float, optional
        The share of the folds that selected it among as many features.
    """

    rank: int
    feature: str
    column: int
    score: float
    components: dict[str, float] = field(default_factory=dict)
    top_label: str | None = None
    top_label_information: float | None = None
    redundant: dict[str, float] = field(default_factory=dict)
    information: tuple[float, ...] = ()
    label: str | None = None
    explained: float | None = None
    explained_error: float | None = None
    gain: float | None = None
    signal: bool | None = None
    p_value: float | None = None
    folds: float | None = None

    @property
    def added(self) -> float | None:
        """The information that it adds to a feature selected before it, on average: the sum of the three components."""
        return sum(self.components.values()) if len(self.components) == len(COMPONENTS) else None

    def to_dict(self) -> dict[str, Any]:
        """Return the feature as plain values; ``label`` and ``information`` are left out where there are none."""
        document = asdict(self)
        for name in ("label", "information"):
            if not document[name]:
                del document[name]
        return document


@dataclass(frozen=True)
class StoppingDecision:
    """The stopping rule that found the number of features, its reason, and its other results (p-values, a curve)."""

    rule: str
    reason: str
    results: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of_rule(cls, rule: StoppingRule) -> Self:
        """Describe the decision of a fitted stopping rule."""
        fitted = {name.rstrip("_"): value for name, value in vars(rule).items() if name.endswith("_")}
        fitted.pop("explained", None)  # the selection has it
        for name, value in fitted.items():
            if isinstance(value, np.ndarray | np.generic):
                numbers = value.dtype.kind == "f"  # JSON has no NaN: the p-value of a forced feature is None
                fitted[name] = (np.where(np.isnan(value), np.array(None), value) if numbers else value).tolist()
        return cls(type(rule).__name__, fitted.pop("reason"), fitted)

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as plain values; the results stand next to the rule and the reason."""
        return {"rule": self.rule, "reason": self.reason, **self.results}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Make the decision again from what :meth:`to_dict` returned."""
        results = dict(document)
        return cls(results.pop("rule"), results.pop("reason"), results)


@dataclass(frozen=True)
class StabilitySummary:
    """Stability over resamples of the rows; ``frequency`` of the features that were selected at least once.

    ``index`` and ``interval`` are None where every resample selected all features or none.
    """

    index: float | None
    interval: tuple[float, float] | None
    n_repeats: int
    kind: str
    frequency: dict[str, float]

    @classmethod
    def of_stability(cls, stability: Stability, names: tuple[str, ...]) -> Self:
        """Summarize a result of :func:`labelsieve.selectors.selection_stability`."""
        defined = not math.isnan(stability.index)
        frequency = {name: float(share) for name, share in zip(names, stability.frequency, strict=True) if share > 0}
        return cls(
            float(stability.index) if defined else None,
            (float(stability.interval[0]), float(stability.interval[1])) if defined else None,
            len(stability.masks),
            stability.kind,
            frequency,
        )


@dataclass(frozen=True)
class ExplainedSummary:
    """The explained share of a selection and of all features, for every size that was evaluated.

    Attributes
    ----------
    verdict : str
        A sentence: how much the selected features explain, and how that compares with all features.
    sizes, explained, errors : tuple
        Numbers of features, their shares and standard errors.
    all_features, all_features_error : float
        The same for all features.
    by_label, all_by_label : tuple of float or None
        The shares of every target, with the selected features and with all; None where it was not evaluated.
    n_folds, n_tested : int
        Folds, and rows that were predicted.
    """

    verdict: str
    sizes: tuple[int, ...]
    explained: tuple[float, ...]
    errors: tuple[float, ...]
    all_features: float
    all_features_error: float
    by_label: tuple[float | None, ...]
    all_by_label: tuple[float | None, ...]
    n_folds: int
    n_tested: int

    @classmethod
    def of_explained(cls, found: Any, size: int) -> Self:
        """Summarize an :class:`labelsieve.selectors.Explained` for a selection of ``size`` features."""
        at = found.at(size)
        shares = np.zeros_like(found.all_by_target) if at < 0 else found.by_target[at]
        return cls(
            verdict=found.verdict(size),
            sizes=tuple(found.sizes.tolist()),
            explained=tuple(found.explained.tolist()),
            errors=tuple(found.errors.tolist()),
            all_features=found.all_features,
            all_features_error=found.all_features_error,
            by_label=tuple(None if math.isnan(share) else share for share in shares.tolist()),
            all_by_label=tuple(None if math.isnan(share) else share for share in found.all_by_target.tolist()),
            n_folds=len(found.lists),
            n_tested=found.n_tested,
        )


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The selected features, and what they were selected by and from; fields that are not known are empty or None.

    Attributes
    ----------
    method, formula : str
        The name of the criterion or method, and its formula or objective.
    targets : str
        The label space.
    unit : str
        What scores are measured in.
    comparable : bool
        Whether a score rates its feature alone, such as a chi-square statistic. Otherwise it compares the candidates of one
        step, and scores of different ranks have no common scale.
    n_bins : int or None
        Bins of each feature; None where values were counted as codes, or not counted.
    n_rows, n_features : int or None, int
        The size of the data; ``n_rows`` is None where the selection was made without them.
    labels : tuple of str
        Names of the targets; empty where the selection was made without them.
    target_types : tuple of str
        ``"class"`` or ``"numeric"`` for every target, as it was taken; empty for selectors that calculate with the targets.
    selector, settings : str, dict
        The class and its parameters, as plain values.
    fingerprint : dict of str to str
        Hashes of ``X`` and ``y``.
    stopping : tuple of StoppingDecision
        Empty for a given number of features; one decision, or one for every label.
    explained : ExplainedSummary or None
        The explained share of the selection and of all features; None if it was not computed.
    stability : StabilitySummary or None
        Index, confidence interval and frequencies of the features; None if it was not computed.
    selected : tuple of SelectedFeature
        In order of selection; where every label has a list, label by label.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 1]
    >>> selection = Sieve("mim", n_features_to_select=1).fit(X, y).selection(X, y, names=["tempo", "loudness"])
    >>> selection.selected[0].feature, Selection.from_dict(selection.to_dict()) == selection
    ('tempo', True)
    """

    method: str
    formula: str = ""
    targets: str = ""
    unit: str = ""
    comparable: bool = False
    n_bins: int | None = None
    n_rows: int | None = None
    n_features: int
    labels: tuple[str, ...] = ()
    target_types: tuple[str, ...] = ()
    selector: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    fingerprint: dict[str, str]
    stopping: tuple[StoppingDecision, ...] = ()
    stability: StabilitySummary | None = None
    explained: ExplainedSummary | None = None
    selected: tuple[SelectedFeature, ...]

    @property
    def labelwise(self) -> bool:
        """Whether every label has a list."""
        return bool(self.selected) and self.selected[0].label is not None

    @property
    def columns(self) -> list[int]:
        """The selected columns in ascending order, each once."""
        return sorted({feature.column for feature in self.selected})

    def information(self) -> NDArray[np.float64]:
        """Return the mutual information of every selected column (rows, as in :attr:`columns`) with every label (columns)."""
        by_column = {feature.column: feature.information for feature in self.selected}
        return np.array([by_column[column] for column in self.columns]).reshape(len(by_column), len(self.labels))

    def table(self) -> dict[str, list[Any]]:
        """Return the selected features as columns; those without any value are left out, single gaps are None.

        ``label`` (of a list), ``rank``, ``feature``, ``explained``, ``explained_error``, ``gain``, ``signal``, ``top_label``,
        ``column``, ``score``, the components, ``added``, ``top_label_information``, ``folds``, ``stability`` (fraction of the
        resamples that selected the feature) and ``redundant`` (names).
        """
        first = ("label", "rank", "feature", "explained", "explained_error", "gain", "signal", "top_label", "column", "score")
        columns: dict[str, list[Any]] = {name: [getattr(feature, name) for feature in self.selected] for name in first}
        columns |= {kind: [feature.components.get(kind) for feature in self.selected] for kind in COMPONENTS}
        for name in ("added", "top_label_information", "folds"):
            columns[name] = [getattr(feature, name) for feature in self.selected]
        if self.stability is not None:
            columns["stability"] = [self.stability.frequency.get(feature.feature, 0.0) for feature in self.selected]
        if any(feature.redundant for feature in self.selected):
            columns["redundant"] = [", ".join(feature.redundant) for feature in self.selected]
        always = ("rank", "feature", "column", "score")
        return {name: cells for name, cells in columns.items() if name in always or any(cell is not None for cell in cells)}

    def rows(self) -> list[list[Any]]:
        """Return :meth:`table` as rows for a CSV file: a header, and a row for every selected feature."""
        table = self.table()
        return [list(table), *([("" if cell is None else cell) for cell in row] for row in zip(*table.values(), strict=True))]

    def to_dict(self) -> dict[str, Any]:
        """Return the selection as plain values, which JSON can hold."""
        document = {name: getattr(self, name) for name in self.__dataclass_fields__}
        document |= {"labels": list(self.labels), "target_types": list(self.target_types)}
        document["stopping"] = [decision.to_dict() for decision in self.stopping]
        document["stability"] = None if self.stability is None else asdict(self.stability)
        document["explained"] = None if self.explained is None else asdict(self.explained)
        document["selected"] = [feature.to_dict() for feature in self.selected]
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Make the selection again from what :meth:`to_dict` returned, also after a trip through JSON."""
        values = {**document, **{name: document[name] for name in cls.__dataclass_fields__}}  # all were written
        stability = values["stability"] and dict(values["stability"])
        if stability and stability["interval"] is not None:
            stability["interval"] = tuple(stability["interval"])
        features = [{**feature, "information": tuple(feature.get("information", ()))} for feature in values["selected"]]
        values |= {name: tuple(values[name]) for name in ("labels", "target_types")}
        values["stopping"] = tuple(map(StoppingDecision.from_dict, values["stopping"]))
        values["stability"] = StabilitySummary(**stability) if stability else None
        explained = values["explained"]
        if explained:
            lists: dict[str, Any] = {
                name: tuple(value) if isinstance(value, list) else value for name, value in explained.items()
            }
            values["explained"] = ExplainedSummary(**lists)
        values["selected"] = tuple(SelectedFeature(**feature) for feature in features)
        return cls(**values)


LIBRARIES = ("pandas", "polars", "pyarrow")


def column_names(table: object, given: Names, count: int, what: str) -> tuple[str, ...]:
    """Return the names of ``count`` columns: those given, those of a frame, or ``what`` with a number.

    >>> column_names(None, None, 2, "feature")
    ('feature 0', 'feature 1')
    """
    if given is None and is_frame(table):
        given = nw.from_native(table, eager_only=True).columns
    if given is None:
        return tuple(f"{what} {index}" for index in range(count))
    if len(given) != count:
        raise InputError(f"{len(given)} names for {count} {what}s.")
    return tuple(str(name) for name in given)


def table_print(table: TargetsLike) -> str:
    """Compute a hash of the values of a table; equal frames of different libraries have the same.

    >>> table_print([[1.0, 0.0], [0.0, 1.0]]) == table_print([[1.0, 0.0], [0.0, 1.0]]) != table_print([[1.0, 0.0], [0.0, 2.0]])
    True
    """
    if not is_frame(table):
        return array_print(table)
    frame = without_wide_integers(nw.from_native(table, eager_only=True))
    kinds = set(frame.schema.values())
    if len(kinds) == 1 and kinds.pop().is_numeric():  # much faster than one column after the other
        columns = list(frame.to_numpy().T)
    else:
        columns = [column.to_numpy() for column in frame.iter_columns()]
    return array_print(*columns)


def frame_library(backend: str | None, like: object = None) -> str:
    """Choose the library of a frame: ``backend``, that of ``like``, or the first that is installed; ``"dict"`` is none.

    >>> frame_library("polars"), frame_library("dict")
    ('polars', 'dict')
    """
    if backend is not None:
        if backend not in (*LIBRARIES, "dict"):
            raise unknown_name("library of frames", backend, [*LIBRARIES, "dict"])
        return backend
    if is_frame(like):
        library = nw.from_native(like, eager_only=True).implementation.value
        if library in LIBRARIES:
            return str(library)
    return next((name for name in LIBRARIES if find_spec(name) is not None), "dict")


def frame_of_columns(columns: Mapping[str, Sequence[Any]], backend: str | None, like: object = None) -> Any:
    """Make a frame of these columns, or a dict of them where no library of frames is installed.

    >>> frame_of_columns({"rank": [1, 2], "feature": ["tempo", "pitch"]}, "dict")
    {'rank': [1, 2], 'feature': ['tempo', 'pitch']}
    """
    library, lists = frame_library(backend, like), {name: list(values) for name, values in columns.items()}
    return lists if library == "dict" else nw.from_dict(lists, backend=import_module(library)).to_native()


def information_frame(
    features: Sequence[str], labels: Sequence[str], table: NDArray[np.float64], like: object, backend: str | None
) -> Any:
    """Make a frame with a row for every feature; their names are the index of a pandas frame, else the first column."""
    if frame_library(backend, like) == "pandas":
        pandas = import_module("pandas")
        return pandas.DataFrame(table, index=pandas.Index(list(features), name="feature"), columns=list(labels))
    name = "feature"
    while name in labels:
        name += "_"
    return frame_of_columns({name: list(features), **dict(zip(labels, table.T.tolist(), strict=True))}, backend, like)


@dataclass(frozen=True, repr=False)
class Summary:
    """The table of a selection: text where it is printed, HTML in a notebook.

    Attributes
    ----------
    selection : Selection
        The selection that is shown.
    redundant : float, optional
        The smallest similarity of the redundant features that are listed.
    confidence : dict of str to list, optional
        The table of :meth:`labelsieve.Sieve.information_confidence`.
    """

    selection: Selection
    redundant: float | None = None
    confidence: dict[str, Any] | None = None

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the table as a data frame: see :meth:`labelsieve.Sieve.to_frame`."""
        return frame_of_columns(self.selection.table(), backend)

    def __str__(self) -> str:
        text = report_function("selection_text")
        return str(text(self.selection, redundant=self.redundant, confidence=self.confidence, python=True))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return str(report_function("notebook_view")(self.selection))
