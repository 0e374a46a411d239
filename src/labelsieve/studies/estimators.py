"""The parts of a protocol: named selectors and learners, numbers of features, and splits.

Fitted estimators and splits with overlapping rows are refused, so that no test row leaks into a selection.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold

from labelsieve.datasets.splits import HalfSplits, IterativeStratifiedKFold, IterativeStratifiedShuffleSplit
from labelsieve.errors import InputError, is_whole, unknown_name
from labelsieve.fingerprint import array_print, class_print, seed_of
from labelsieve.labelspace import LabelNetwork
from labelsieve.registry import (
    CRITERIA,
    DISCRETIZERS,
    LABEL_SPACES,
    for_label_sets,
    make_classifier,
    make_selector,
    resolve_method,
)
from labelsieve.selectors.labelwise import LabelwiseSieve
from labelsieve.selectors.sieve import Sieve
from labelsieve.tables.types import Matrix, TableLike, TargetsLike

_COMPONENTS: dict[str, tuple[str, Mapping[str, type]]] = {
    "criterion": ("criterion", CRITERIA),
    "targets": ("label space", LABEL_SPACES),
    "discretizer": ("discretizer", DISCRETIZERS),
}


@dataclass(frozen=True, eq=False)
class NamedEstimator:
    """An unfitted estimator and its name in the results; ``settings`` is None for an estimator given as an object.

    ``sizes`` are the numbers of features that a classifier is evaluated with; None: those of the study.
    """

    name: str
    estimator: BaseEstimator
    settings: Mapping[str, Any] | None = None
    sizes: tuple[int | float, ...] | None = None

    @cached_property
    def identity(self) -> str:
        """Text that is equal for estimators with equal results."""
        if self.settings is not None:
            return json.dumps(self.settings, sort_keys=True)
        import joblib

        kind, parameters = type(self.estimator), self.estimator.get_params(deep=True)
        formula = getattr(parameters.get("criterion"), "plan", None)
        code = class_print(self.estimator, *parameters.values())
        try:
            return (
                f"{kind.__module__}.{kind.__qualname__} {joblib.hash(parameters)} {formula and formula.score} {code}".rstrip()
            )
        except Exception as error:
            why = error.args[0] if error.args else error
            raise InputError(
                f"{self.name}: its parameters cannot be compared with those of a later run ({why}). "
                "Define functions at the top of a module."
            ) from None


def read_method(given: object) -> NamedEstimator:
    """Make a selector from a name, a table of settings, or a pair of name and selector.

    >>> read_method("mlqpfs").estimator, read_method("ela-chi").estimator
    (QuadraticSieve(), ChiSquare(targets='copy-weight'))
    >>> read_method({"name": "mine", "criterion": {"name": "jmi", "normalized": True}, "targets": "joint"}).name
    'mine'
    """
    if isinstance(given, NamedEstimator):
        return given
    if isinstance(given, tuple):
        return _object(given, "method", ("fit",))
    settings = _settings(given, "method")
    name = settings.pop("name")
    plain = plain_or_none(settings)
    settings.setdefault("criterion", name)
    for component in _COMPONENTS:
        if isinstance(settings.get(component), Mapping):
            settings[component] = _component(settings[component], component, f"method {name!r}, {component}")
    if "n_features_to_select" in settings:
        raise InputError(f"method {name!r}: n_features_to_select is not a setting of a method; set n_features of the study.")
    selector = _make(make_selector, settings, f"method {name!r}")
    if isinstance(selector, Sieve):
        resolve_method(selector.criterion, selector.targets, selector.discretizer)  # refuses unknown names
    return _named(name, selector, plain, "method")


def read_classifier(given: object, *, numeric: bool = False) -> NamedEstimator:
    """Make a learner from a name, a table of settings, or a pair of name and estimator; ``numeric``: for numeric targets.

    >>> read_classifier({"name": "seven", "classifier": "mlknn", "k": 7}).estimator
    MLkNN(k=7)
    >>> read_classifier({"name": "rakel", "k": 2, "base": "tree"}).estimator
    RAkEL(base=DecisionTreeClassifier(), k=2)
    >>> read_classifier({"name": "ridge", "classifier": "sklearn.linear_model.RidgeClassifier", "alpha": 2.0}).estimator
    RidgeClassifier(alpha=2.0)
    """
    if isinstance(given, NamedEstimator):
        return given
    if isinstance(given, tuple):
        named = _object(given, "classifier", ("fit", "predict"))
        return replace(named, estimator=for_label_sets(named.estimator, numeric=numeric))
    settings = _settings(given, "classifier")
    name = settings.pop("name")
    sizes = tuple(read_sizes(settings.pop("n_features"))) if "n_features" in settings else None
    plain = plain_or_none(settings)
    kind = settings.pop("classifier", name)
    made = _make(partial(make_classifier, kind, numeric=numeric), settings, f"classifier {name!r}")
    return replace(_named(name, made, plain, "classifier"), sizes=sizes)


def _named(name: str, estimator: BaseEstimator, plain: Mapping[str, Any] | None, kind: str) -> NamedEstimator:
    """Name an estimator; settings that contain an object (``plain`` is None) are checked like an object."""
    if plain is None:
        refuse_fitted(estimator, f"{kind} {name!r}")
    return NamedEstimator(name, estimator, plain)


def _settings(given: object, kind: str) -> dict[str, Any]:
    settings = {"name": given} if isinstance(given, str) else dict(given) if isinstance(given, Mapping) else {}
    if not isinstance(settings.get("name"), str) or not settings["name"].strip():
        raise InputError(f"a {kind} is a name, a table of settings with a name, or a pair (name, {kind}), not {given!r}.")
    return settings


def _object(given: tuple[Any, ...], kind: str, needed: tuple[str, ...]) -> NamedEstimator:
    pair = f"a {kind} given as an object is a pair (name, {kind})"
    methods = (*needed, "get_params")
    if len(given) != 2 or not isinstance(given[0], str) or not all(hasattr(given[1], method) for method in methods):
        raise InputError(f"{pair}, not {given!r}.")
    name, estimator = given
    if isinstance(estimator, type):
        raise InputError(f"{pair}, and {estimator.__name__} is a class; pass {estimator.__name__}().")
    if isinstance(estimator, LabelwiseSieve):
        raise InputError(f"{kind} {name!r}: LabelwiseSieve ranks for every label, and a study compares single rankings.")
    refuse_fitted(estimator, f"{kind} {name!r}")
    return NamedEstimator(name, clone(estimator))


def _component(settings: Mapping[str, Any], component: str, where: str) -> Any:
    values, (kind, known) = dict(settings), _COMPONENTS[component]
    name = str(values.pop("name", "")).lower()
    if name not in known:
        raise InputError(f"{where}: {unknown_name(kind, name, known)}")
    return _make(known[name], {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}, where)


def _make(factory: Callable[..., Any], settings: Mapping[str, Any], where: str) -> Any:
    try:
        estimator = factory(**settings)
        if hasattr(estimator, "_parameter_constraints"):
            estimator._validate_params()
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: {str(error).rstrip('.')}.") from None
    return estimator


def as_plain(value: object, otherwise: Callable[[Any], Any] | None = None) -> Any:
    """Convert settings to strings, numbers, booleans and None, with lists and tables of them.

    NumPy's numbers and paths are converted. Any other object is refused, or passed to ``otherwise``.

    >>> from pathlib import Path
    >>> as_plain({"k": np.int64(7), "path": Path("songs.csv"), "pot": (0.2, 0.8)})
    {'k': 7, 'path': 'songs.csv', 'pot': [0.2, 0.8]}
    """
    if isinstance(value, Mapping):
        return {str(key): as_plain(entry, otherwise) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(entry, otherwise) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return as_plain(value.tolist(), otherwise)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if otherwise is None:
        raise InputError(f"{value!r} cannot be written to a file; pass plain settings instead.")
    return otherwise(value)


def plain_or_none(settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return settings as plain values; None if they contain an object.

    >>> plain_or_none({"k": 7}), plain_or_none({"criterion": object()})
    ({'k': 7}, None)
    """
    try:
        plain: dict[str, Any] = as_plain(settings)
    except InputError:
        return None
    return plain


def refuse_fitted(estimator: BaseEstimator, where: str) -> None:
    """Refuse a fitted estimator, or one with a fitted component: a discretizer, a step, a label network.

    >>> from labelsieve import Sieve
    >>> refuse_fitted(Sieve().fit([[0], [1]], [[0], [1]]), "method 'mine'")
    Traceback (most recent call last):
    labelsieve.errors.InputError: method 'mine' is already fitted (it has criterion_) and may have seen the test rows. ...
    """
    for name, component in {"": estimator, **estimator.get_params(deep=True)}.items():
        location = f"{where}, {name}" if name else where
        if isinstance(component, LabelNetwork):
            raise InputError(
                f"{location}: a learned network may have seen the test rows. Pass a rule, such as parents='kcc', "
                "which learns one from the training rows of every split."
            )
        is_estimator = hasattr(component, "get_params") and not isinstance(component, type)
        names = vars(component) if is_estimator else ()
        learned = [name for name in names if name.endswith("_") and not name.startswith("_")]
        if learned:
            raise InputError(
                f"{location} is already fitted (it has {min(learned)}) and may have seen the test rows. Pass it unfitted: "
                "it is fitted on the training rows of every split."
            )


MAX_NUMBERS = 1_000_000  # in a span: more features than any data set of the catalog has
_SPAN = re.compile(r"(\d{1,9})\.\.(\d{1,9})(?:\.\.(\d{1,9}))?")
_NUMBER = re.compile(r"\d{1,9}|\d{1,3}(?:\.\d+)?%")


def read_sizes(given: object) -> list[int | float]:
    """Read numbers of features from ``"1..50"``, ``"5..50..5"``, ``"1,5,10"``, ``"10%,20%"``, a number, or a sequence.

    >>> read_sizes("1..3,10"), read_sizes([0.1, 5]), read_sizes("10%")
    ([1, 2, 3, 10], [0.1, 5], [0.1])
    """
    if isinstance(given, str):
        asked: Iterable[Any] = given.split(",")
    else:
        asked = given if isinstance(given, Iterable) else [given]
    sizes = dict.fromkeys(size for entry in asked for size in _sizes(entry))
    if not sizes or min(sizes) <= 0:
        raise InputError(f"n_features: {given!r} has no number of features; use '1..50' or '5,10,20'.")
    return list(sizes)


def _sizes(entry: object) -> Iterator[int | float]:
    value: Any = entry.strip() if isinstance(entry, str) else entry
    if isinstance(value, str) and (span := _SPAN.fullmatch(value)):
        first, last, step = int(span[1]), int(span[2]), int(span[3] or 1)
        if not step or first > last:
            raise InputError(f"n_features: {entry!r} has no number of features; a span increases, as in '1..50' or '5..50..5'.")
        if (last - first) // step >= MAX_NUMBERS:
            raise InputError(f"n_features: {entry!r} has more than {MAX_NUMBERS:,} numbers; use steps, as in '1..5000..10'.")
        yield from range(first, last + 1, step)
        return
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value[:-1]) / 100 if value.endswith("%") else int(value)
    if not (is_whole(value) or isinstance(value, float)) or not value > 0 or not isfinite(value):
        raise InputError(f"n_features: {entry!r} is not a number of features; use '1..50', '5,10,20', or shares such as '10%'.")
    if isinstance(value, float) and value > 1:
        raise InputError(f"n_features: {entry!r} is more than all features; a fraction is at most 1, and a number is whole.")
    yield float(value) if isinstance(value, float) else int(value)


Rows = NDArray[np.intp]
WORDS = "'30x50%' (thirty random halves of the rows for training), '10-fold', or either with 'stratified ' before it"
_SHARES = re.compile(r"(stratified )?(\d{1,5})\s*x\s*(\d{1,2}(?:\.\d+)?)\s*%")
_FOLDS = re.compile(r"(stratified )?(\d{1,4})-fold")


def read_splits(given: object, seed: int, max_rows: int | None = None) -> "SplitRule":
    """Make a rule from words, from a splitter with a fixed seed, or from pairs of training and test rows.

    >>> read_splits("30x50%", 0).splitter.n_repeats
    30
    >>> len(read_splits([([0, 1], [2, 3])], 0).splits(np.eye(4), np.eye(4), "songs"))
    1
    """
    rule = given if isinstance(given, SplitRule) else _rule(given, seed)
    return replace(rule, max_rows=max_rows, seed=seed)


def _rule(given: object, seed: int) -> "SplitRule":
    if isinstance(given, list | tuple) and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in given):
        return SplitRule(None, GivenSplits(list(given)))
    if hasattr(given, "split") and not isinstance(given, str):
        if getattr(given, "random_state", 0) is None and getattr(given, "shuffle", True):
            raise InputError(f"splits: {given!r} draws other rows in every run, which prevents resuming; set its random_state.")
        return SplitRule(None, given)
    text = given.strip().lower() if isinstance(given, str) else ""
    if (match := _SHARES.fullmatch(text)) and int(match[2]) and 0 < float(match[3]) < 100:
        times, share = int(match[2]), float(match[3]) / 100
        if match[1]:
            return SplitRule(text, IterativeStratifiedShuffleSplit(times, test_size=1 - share, random_state=seed))
        return SplitRule(text, HalfSplits(times, share, random_state=seed))
    if (match := _FOLDS.fullmatch(text)) and int(match[2]) >= 2:
        splitter = IterativeStratifiedKFold if match[1] else KFold
        return SplitRule(text, splitter(int(match[2]), shuffle=True, random_state=seed))
    raise InputError(f"splits: {given!r} is none of {WORDS}; nor is it a splitter or a list of pairs of rows.")


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows."""

    number: int
    train: Rows
    test: Rows

    @property
    def fingerprint(self) -> str:
        """Hash of the rows."""
        return array_print(self.train, self.test)


@dataclass(frozen=True, eq=False)
class SplitRule:
    """Splits by words, or by a splitter of scikit-learn's kind (``words`` is None then).

    ``max_rows`` limits the rows of every split, training and test rows in the same proportion.
    """

    words: str | None
    splitter: Any
    max_rows: int | None = None
    seed: int = 0

    @property
    def count(self) -> int | None:
        """Number of splits; None for a splitter, whose number may depend on the data."""
        return None if self.words is None else int(self.splitter.get_n_splits())

    def splits(self, X: Matrix, Y: TargetsLike, name: str) -> list[Split]:
        """Return all splits of a data set, with disjoint training and test rows."""
        splits = []
        try:
            pairs = list(self.splitter.split(X, Y))
        except InputError as error:
            raise InputError(f"data set {name!r}, splits: {error}") from None
        except Exception as error:
            raise InputError(
                f"data set {name!r}, splits: {self.splitter!r} cannot split its rows: {str(error).rstrip('.')}. "
                "For a splitter with groups or classes pass pairs of rows: splits=list(splitter.split(X, y, groups))."
            ) from error
        for number, pair in enumerate(pairs):
            rows = _rows_of(pair, X.shape[0], where := f"split {number} of {name}")
            refuse_overlap(*rows, X.shape[0], where)
            splits.append(Split(number, *self._drawn(rows, name, number)))
        if not splits:
            raise InputError(f"data set {name!r}, splits: there are none ({self.splitter!r}).")
        return splits

    def _drawn(self, rows: tuple[Rows, Rows], name: str, number: int) -> tuple[Rows, Rows]:
        """Draw ``max_rows`` of the rows; the seed depends on the data set and the split."""
        n_rows = sum(map(len, rows))
        if self.max_rows is None or n_rows <= self.max_rows:
            return rows
        draw = np.random.default_rng(seed_of(self.seed, name, number, "rows"))
        train, test = rows
        n_train = min(max(1, round(self.max_rows * len(train) / n_rows)), self.max_rows - 1)
        few = draw.permutation(train)[:n_train], draw.permutation(test)[: self.max_rows - n_train]
        return np.sort(few[0]), np.sort(few[1])


@dataclass(frozen=True)
class GivenSplits:
    """Pairs of training and test rows as a splitter."""

    pairs: list[Any]

    def split(self, X: TableLike, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> list[Any]:
        """Return the same pairs for any data."""
        return self.pairs

    def __repr__(self) -> str:
        return f"{len(self.pairs)} given pairs of training and test rows"


def _rows_of(pair: object, n_rows: int, where: str) -> tuple[Rows, Rows]:
    """Return row numbers of a pair from a splitter: row numbers, or boolean masks."""
    parts = [np.asarray(part) for part in pair] if isinstance(pair, tuple | list) else []
    if len(parts) != 2 or any(part.ndim != 1 or part.dtype.kind not in "iub" for part in parts):
        raise InputError(f"{where}: a split is a pair of training and test rows, each a list of row numbers.")
    if any(part.dtype.kind == "b" and len(part) != n_rows for part in parts):
        raise InputError(f"{where}: a boolean mask of rows must have {n_rows} values, one for each row.")
    train, test = (np.flatnonzero(part) if part.dtype.kind == "b" else part.astype(np.intp) for part in parts)
    return train, test


def refuse_overlap(train: NDArray[Any], test: NDArray[Any], n_rows: int, where: str) -> None:
    """Refuse a split whose parts overlap, are empty, or have row numbers out of range.

    >>> refuse_overlap(np.array([0, 1]), np.array([1, 2]), 3, "split 0 of songs")
    Traceback (most recent call last):
    labelsieve.errors.InputError: split 0 of songs: row 1 is a training row and a test row. ...
    """
    if not len(train) or not len(test):
        raise InputError(f"{where}: {len(train)} training rows and {len(test)} test rows; both need at least one.")
    both = np.intersect1d(train, test)
    if len(both):
        raise InputError(f"{where}: row {int(both[0])} is a training row and a test row. Use a splitter that separates them.")
    if min(train.min(), test.min()) < 0 or max(train.max(), test.max()) >= n_rows:
        raise InputError(f"{where}: it has rows outside 0 to {n_rows - 1}; is the splitter for another data set?")
