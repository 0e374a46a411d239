"""Choose features of a file: what the command ``select`` does, as data that can be shown in any form."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sklearn.utils import get_tags

from labelsieve.datasets import Dataset, load_or_fetch
from labelsieve.discretize import EqualWidth, one_table
from labelsieve.errors import InputError
from labelsieve.labelspace import label_space_name, read_targets
from labelsieve.registry import METHODS, make_selector, resolve_method, selector_class
from labelsieve.selectors import selection_stability
from labelsieve.selectors.redundancy import redundant_features
from labelsieve.stopping import StoppingRule

NATS = "nats"


@dataclass(frozen=True)
class Choice:
    """One chosen feature: its place, its score, the summands of the score, and features left out that resemble it.

    ``label`` is whose list it is in, where every label has one.
    """

    rank: int
    feature: str
    column: int
    score: float
    parts: dict[str, float]
    twins: dict[str, float]
    label: str | None = None


@dataclass(frozen=True)
class FileSelection:
    """What was chosen, and from what.

    ``binned_text`` are the text columns with more different values than bins, and how many values each has: neighbors in
    the alphabet share a bin there, which users should know. ``n_bins`` is None when values were counted as they are, or not
    counted at all. ``stopping`` says why there are so many features, where a rule found the number.
    """

    method: str
    formula: str
    targets: str
    unit: str
    n_bins: int | None
    n_rows: int
    n_features: int
    labels: tuple[str, ...]
    choices: tuple[Choice, ...]
    binned_text: dict[str, int]
    stopping: list[dict[str, Any]]
    stability: dict[str, Any] | None
    sieve: Any
    data: Dataset

    @property
    def parts(self) -> list[str]:
        """The kinds of summands that the scores have."""
        return list(self.choices[0].parts) if self.choices else []

    def document(self) -> dict[str, Any]:
        """All of it, for programs."""
        names = ("method", "formula", "targets", "unit", "n_bins", "n_rows", "n_features", "labels")
        chosen = []
        for choice in self.choices:
            one = asdict(choice)
            if choice.label is None:
                del one["label"]
            chosen.append(one)
        told = {"stopping": self.stopping, "stability": self.stability, "chosen": chosen}
        return {name: getattr(self, name) for name in names} | told

    def rows(self) -> list[list[Any]]:
        """A heading and one row for every chosen feature, without twins."""
        listed = bool(self.choices) and self.choices[0].label is not None
        head = [*(["label"] if listed else []), "rank", "feature", "column", "score", *self.parts]
        whose = [[one.label] if listed else [] for one in self.choices]
        values = [[one.rank, one.feature, one.column, one.score, *one.parts.values()] for one in self.choices]
        return [head, *(label + row for label, row in zip(whose, values, strict=True))]


def select_file(
    path: str | os.PathLike[str],
    labels: str | None = None,
    *,
    method: str = "jmi",
    n_features_to_select: int | float | StoppingRule | Literal["auto"] | None = "auto",
    targets: str = "auto",
    n_bins: int | Literal["auto"] | None = "auto",
    labelwise: bool = False,
    twins: float | None = None,
    stability: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> FileSelection:
    r"""Choose features of the table in ``path``.

    Parameters
    ----------
    path, labels
        See :func:`labelsieve.datasets.load_or_fetch`.
    method
        A name of :func:`labelsieve.registry.method_names`.
    n_features_to_select, targets
        See :class:`labelsieve.Sieve`; how many is what the method says unless told: ten, where it does not find the number.
    n_bins : int, None or "auto"
        Bins of equal width; None counts the values as they are; those of the method, or five, unless told.
    labelwise : bool
        A list for every label.
    twins : float, optional
        Look for features left out that are so similar to a chosen one: see :class:`RedundantFeature`.
    stability : int, optional
        Select from so many resamples of the rows too: see :func:`labelsieve.selectors.selection_stability`.
    settings : mapping, optional
        Other parameters of the selector or its criterion.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "songs.csv")
    >>> _ = file.write_text("tempo,loud,calm\n98,3,1\n160,9,0\n97,8,1\n150,3,0\n")
    >>> [choice.feature for choice in select_file(file, "1", n_features_to_select=1).choices]
    ['tempo']
    """
    given = dict(settings or {})
    if targets != "auto":
        given["targets"] = targets
    if n_bins != "auto":
        given["discretizer"] = None if n_bins is None else EqualWidth(n_bins)
    if n_features_to_select != "auto":
        given["n_features_to_select"] = n_features_to_select
    selector = _checked(method, given, labelwise)  # what is unknown is told before a long file is read
    data = load_or_fetch(path, labels)
    X = data.named_features()
    if not get_tags(selector).input_tags.allow_nan:
        _refuse_missing(data, path)
    info = METHODS.get(method.lower())
    if info is not None and info.needs_numbers and data.text_features:
        column = next(iter(data.text_features))
        raise InputError(f"{method.lower()} calculates with the features, and {column!r} is text; drop it, or make it numbers.")
    try:
        selector.fit(X, data.Y)
    except InputError:
        raise
    except ValueError as error:  # what scikit-learn's checks of input raise
        raise InputError(f"{os.fspath(path)}: {method.lower()}: {error}") from None
    used = getattr(selector, "discretizer_", getattr(selector, "discretizer", None))
    bins = getattr(used, "n_bins", 5 if used == "equal-width" else None)
    rules = getattr(selector, "stopping_", [])
    return FileSelection(
        method=method.lower(),
        formula=str(selector.criterion_.score) if info is None else info.formula,
        targets=_targets_of(selector, labelwise),
        unit=NATS if info is None else info.scores,
        n_bins=bins,
        n_rows=data.n_rows,
        n_features=len(data.feature_names),
        labels=data.label_names,
        choices=_lists(selector, data) if labelwise else _choices(selector, data, twins),
        binned_text={} if bins is None else {name: n for name, n in data.text_features.items() if n > bins},
        stopping=[_told(rule) for rule in (rules if isinstance(rules, list) else [rules])],
        stability=None if stability is None else _stability(selector, data, stability, info is not None and info.needs_numbers),
        sieve=selector,
        data=data,
    )


def _refuse_missing(data: Dataset, path: str | os.PathLike[str]) -> None:
    missing = data.missing_features
    if missing:
        name, rows = next(iter(missing.items()))
        raise InputError(
            f"{os.fspath(path)}: column {name!r} has {len(rows)} missing values, the first in row {rows[0] + 1}"
            "; fill them or drop their rows."
        )


def _checked(method: str, settings: dict[str, Any], labelwise: bool) -> Any:
    """The selector, its parameters checked."""
    rule = settings.get("n_features_to_select")
    if method.lower() in METHODS and isinstance(rule, StoppingRule):
        takes = getattr(selector_class(method), "_parameter_constraints", {}).get("n_features_to_select", [])
        if StoppingRule not in takes:
            raise InputError(f"{method.lower()} takes no stopping rule: give a number of features, -k 10 or -k 10%.")
    try:
        selector = make_selector(method, labelwise=labelwise, **settings)
        if method.lower() not in METHODS:
            resolve_method(selector.criterion, getattr(selector, "targets", "auto"), selector.discretizer)
        selector._validate_params()
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"{method.lower()}: {error}") from None
    return selector


def _targets_of(selector: Any, labelwise: bool) -> str:
    if labelwise:
        return "each by itself"
    if hasattr(selector, "targets_"):
        return label_space_name(selector.targets_)
    return str(getattr(selector, "targets", "all together"))


def _told(rule: Any) -> dict[str, Any]:
    """What a rule found, in plain values."""
    found = {name.rstrip("_"): value for name, value in vars(rule).items() if name.endswith("_")}
    return {"rule": type(rule).__name__} | {
        name: value.tolist() if hasattr(value, "tolist") else value for name, value in found.items()
    }


def _stability(selector: Any, data: Dataset, n_repeats: int, by_neighbors: bool) -> dict[str, Any]:
    """How stable the selection is; methods that look for neighbors cannot take a row twice, so they get halves."""
    kind: Literal["bootstrap", "subsample"] = "subsample" if by_neighbors else "bootstrap"
    found = selection_stability(selector, data.named_features(), data.Y, n_repeats=n_repeats, kind=kind, random_state=0)
    frequency = {name: float(share) for name, share in zip(data.feature_names, found.frequency, strict=True) if share > 0}
    return {"index": found.index, "interval": found.interval, "n_repeats": n_repeats, "kind": kind, "frequency": frequency}


def _choices(sieve: Any, data: Dataset, at_least: float | None) -> tuple[Choice, ...]:
    names = data.feature_names
    twins = {}
    if at_least is not None:
        if not hasattr(sieve, "discretizer_"):
            raise InputError("--twins: similarity is counted from codes, and this method has none; take a criterion.")
        codes = one_table(sieve.discretizer_.encode(data.named_features(), read_targets(data.Y).codes()), "twins")
        twins = redundant_features(codes, sieve.selected_, sieve._counting_options(), at_least=at_least)
    parts = getattr(sieve, "score_components_", {})
    return tuple(
        Choice(
            rank=place + 1,
            feature=names[column],
            column=column,
            score=float(sieve.scores_[place]),
            parts={kind: float(values[place]) for kind, values in parts.items()},
            twins={names[twin.feature]: twin.similarity for twin in twins.get(column, [])},
        )
        for place, column in enumerate(map(int, sieve.selected_))
    )


def _lists(selector: Any, data: Dataset) -> tuple[Choice, ...]:
    """The list of every label: of LabelwiseSieve in order of choice, of a regression by the size of its coefficients."""
    choices = []
    for label, name in enumerate(data.label_names):
        if hasattr(selector, "coef_"):
            sizes = abs(selector.coef_[:, label])
            columns = [int(column) for column in (-sizes).argsort(kind="stable")[: int((sizes > 0).sum())]]
            scores = [float(selector.coef_[column, label]) for column in columns]
        else:
            columns = [int(column) for column in selector.selected_[label][: selector.n_selected_[label]]]
            scores = [float(score) for score in selector.scores_[label][: len(columns)]]
        for place, (column, score) in enumerate(zip(columns, scores, strict=True)):
            choices.append(Choice(place + 1, data.feature_names[column], column, score, {}, {}, name))
    return tuple(choices)
