"""Cross-validation of candidates, nested where a choice is evaluated."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier, DummyRegressor

from labelsieve.classifiers.prefix_scores import Measured, Scale, prefix_scores, scaled_rows
from labelsieve.errors import InputError
from labelsieve.labelspace import read_targets
from labelsieve.metrics import MEASURES
from labelsieve.parameters import take_rows
from labelsieve.registry import make_selector, method_of
from labelsieve.statistics import confidence_band
from labelsieve.tables.nominal import LearnerFeatures
from labelsieve.tables.targets import part_of_the_rows
from labelsieve.tables.types import TableLike, TargetsLike


def read_selectors(given: object, what: str) -> dict[str, Any]:
    """Return unfitted selectors by name, in the order of the portfolio; ``what`` is the parameter, for messages.

    Each is a name that ``labelsieve methods`` lists; a mapping of settings with the ``criterion``, and a ``name`` if it shall
    have another; or a selector, which is cloned.

    >>> read_selectors(["mim", {"criterion": "cmim", "estimator": "miller-madow"}], "selectors")
    {'mim': Sieve(criterion='mim'), 'cmim estimator=miller-madow': Sieve(criterion='cmim', estimator='miller-madow')}
    """
    single = isinstance(given, str | Mapping) or hasattr(given, "fit")
    members = [given] if single else list(given) if isinstance(given, Sequence) else []
    if not members:
        raise InputError(f"{what} must be a method's name, a table of settings, a selector, or a list of these, not {given!r}.")
    selectors: dict[str, Any] = {}
    for member in members:
        name, selector = _read(member, what)
        number = 2
        unique = name
        while unique in selectors:
            unique, number = f"{name} ({number})", number + 1
        selectors[unique] = selector
    return selectors


def _read(given: object, what: str) -> tuple[str, Any]:
    if isinstance(given, str):
        selector = make_selector(given)
        return method_of(selector), selector
    if isinstance(given, Mapping):
        settings = dict(given)
        name = settings.pop("name", None)
        criterion = settings.pop("criterion", name)
        if criterion is None:
            raise InputError(f"{what}: a table of settings needs a criterion, the name of a method, and has {sorted(given)}.")
        selector = make_selector(criterion, **settings)
        shown = [method_of(selector), *(f"{key}={value}" for key, value in settings.items())]
        return str(name or " ".join(shown)), selector
    if isinstance(given, type) or not (hasattr(given, "fit") and hasattr(given, "get_params")):
        raise InputError(f"{what}: {given!r} is neither a method's name, a table of settings, nor a selector.")
    if hasattr(given, "label_ranking"):
        raise InputError(
            f"{what}: {type(given).__name__} selects features for each label; use a selector with one ranking for all labels."
        )
    return method_of(given), clone(given)


def for_all_rows(selector: BaseEstimator, Y: TargetsLike) -> Any:
    """Set the target types that all rows have in a selector, because a few rows may look like the other type."""
    if "target_type" not in selector.get_params(deep=False):
        return selector
    return clone(selector).set_params(target_type=read_targets(Y, selector.target_type).types.tolist())


def ranked(selector: BaseEstimator, X: TableLike, Y: TargetsLike, n_features: int | None, name: str) -> list[int]:
    """Return the first ``n_features`` columns (None: all) that a clone of the selector ranks, best first."""
    fitted = clone(selector)
    settings = {"n_features_to_select": n_features, "warm_start": False}
    fitted.set_params(**{key: value for key, value in settings.items() if key in fitted.get_params(deep=False)})
    with part_of_the_rows():
        fitted.fit(X, Y)
    columns = getattr(fitted, "selected_", None)
    if columns is None or getattr(columns, "ndim", 1) != 1:
        raise InputError(f"{name} has no ranking of the features for all targets together; take another selector.")
    return [int(column) for column in columns]


Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Folds = tuple[int, ...]  # those that a selection is not fitted on


@dataclass
class Curves:
    """Values of a measure for every number of features, higher is better.

    ``outer[o, k]`` is that on fold ``o`` after fitting on all others, ``inner[o, i, k]`` that on fold ``i`` after fitting on
    all but ``o`` and ``i``: the inner folds of the outer fold ``o``; NaN where ``i`` is ``o``.
    """

    sizes: NDArray[np.intp]
    outer: Floats
    inner: Floats
    seconds: float = 0.0
    tasks_done: int = 0

    @classmethod
    def empty(cls, sizes: Sequence[int], n_folds: int) -> "Curves":
        shape = (n_folds, n_folds, len(sizes))
        return cls(np.array(sizes, dtype=np.intp), np.full(shape[1:], np.nan), np.full(shape, np.nan))

    def store(self, task: Folds, values: Floats) -> None:
        """Keep the values of a task: one row for each of its folds."""
        if len(task) == 1:
            self.outer[task[0]] = values[0]
        else:
            first, second = task
            self.inner[second, first], self.inner[first, second] = values
        self.tasks_done += 1


@dataclass(frozen=True, eq=False)
class FoldEvaluation:
    """Data, folds, learners and measure: what all candidates have in common.

    A selection that is fitted on all folds but ``a`` and ``b`` is tested on both: ``a`` is an inner fold of the outer fold
    ``b``, and ``b`` one of ``a``. With F folds, F (F + 1) / 2 selections serve both levels, instead of F times F.
    """

    X: TableLike
    Y: TargetsLike
    targets: NDArray[Any]
    features: LearnerFeatures
    folds: list[NDArray[np.intp]]
    learners: list[Any]
    measure: Measured
    numeric: bool
    scale: Scale | None = "standard"
    n_jobs: int | None = None
    tasks: list[Folds] = field(init=False)

    def __post_init__(self) -> None:
        n_folds = range(len(self.folds))
        object.__setattr__(self, "tasks", [*((fold,) for fold in n_folds), *combinations(n_folds, 2)])

    @property
    def lower_is_better(self) -> bool:
        return isinstance(self.measure, str) and MEASURES[self.measure].lower_is_better

    def run(
        self,
        curves: Curves,
        name: str,
        selector: BaseEstimator,
        tasks: Sequence[Folds],
        progress: Callable[[], object] | None = None,
    ) -> None:
        """Select on the training rows of every task, evaluate on its folds, and store the values.

        ``selector`` is a selector, or ``"all"`` or ``"none"`` for the controls.
        """
        started = time.perf_counter()

        def one(task: Folds) -> tuple[Folds, Floats]:
            return task, self._values(task, selector, name, curves.sizes)

        done = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(delayed(one)(task) for task in tasks)
        for task, values in done:
            curves.store(task, values)
            if progress is not None:
                progress()
        curves.seconds += time.perf_counter() - started

    def _values(self, task: Folds, selector: BaseEstimator, name: str, sizes: NDArray[np.intp]) -> Floats:
        tests = [self.folds[fold] for fold in task]
        train = np.setdiff1d(np.arange(len(self.targets)), np.concatenate(tests))
        test, ends = np.concatenate(tests), np.cumsum([len(rows) for rows in tests])
        parts = np.split(np.arange(len(test)), ends[:-1])
        if isinstance(selector, str):
            return self._control(selector, train, test, parts)
        ranking = ranked(selector, take_rows(self.X, train), take_rows(self.Y, train), int(sizes[-1]), name)
        if not ranking:
            raise InputError(f"{name} ranks no feature.")
        matrix, widths = self.features.columns(ranking[: sizes[-1]])
        used = np.unique(np.minimum(sizes, len(widths)))
        values = self._learned(matrix, widths[used - 1].tolist(), train, test, parts, self.learners)
        return values[:, np.searchsorted(used, np.minimum(sizes, len(widths)))]  # a shorter list stays as it ends

    def _control(self, which: str, train: Rows, test: Rows, parts: list[Rows]) -> Floats:
        """Evaluate a control: all features, or the base rates of the training rows."""
        if which == "all":
            matrix = self.features.everything()
            return self._learned(matrix, [matrix.shape[1]], train, test, parts, self.learners)
        constant = DummyRegressor() if self.numeric else DummyClassifier(strategy="prior")
        return self._learned(np.zeros((len(self.targets), 1)), [1], train, test, parts, [constant])

    def _learned(
        self, matrix: NDArray[Any], sizes: list[int], train: Rows, test: Rows, parts: list[Rows], learners: Sequence[Any]
    ) -> Floats:
        """Evaluate the first columns of a matrix, averaged over the learners."""
        X_train, X_test = scaled_rows(self.scale, matrix[train], matrix[test])
        Y_train, Y_test = self.targets[train], self.targets[test]
        columns = range(matrix.shape[1])
        curves = [
            prefix_scores(learner, self.measure, X_train, Y_train, X_test, Y_test, features=columns, sizes=sizes, parts=parts)
            for learner in learners
        ]
        mean: Floats = np.mean(curves, axis=0)
        return -mean if self.lower_is_better else mean


def size_grid(most: int) -> list[int]:
    """Return the numbers of features to evaluate, each about 1.4 times the one before.

    >>> size_grid(30)
    [1, 2, 3, 4, 6, 8, 11, 16, 23, 30]
    """
    sizes = {min(most, round(2 ** (half / 2))) for half in range(2 * int(np.ceil(np.log2(max(2, most)))) + 1)}
    return sorted({*sizes, most})


ALL, NONE = "all features", "no features"  # the controls
CONFIDENCE = 0.9  # of two-sided intervals: one side has 95 %
Verdict = Literal["select features", "keep all features", "nothing predicts"]


@dataclass(frozen=True, eq=False)
class Option:
    """A method with a number of features, and its measure on every fold; higher is better."""

    method: str
    n_features: int
    values: Floats

    @property
    def mean(self) -> float:
        """The mean of the measure over the folds; higher is better."""
        return float(self.values.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of the mean."""
        return error_of_mean(self.values)


def error_of_mean(values: Floats) -> float:
    """Return the standard error of the mean of some folds."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def options_of(method: str, sizes: NDArray[np.intp], values: Floats) -> list[Option]:
    """Make an option for every number of features; ``values`` has folds in rows."""
    return [Option(method, int(size), column) for size, column in zip(sizes, values.T, strict=True)]


def choose(options: list[Option], standard_errors: float) -> Option:
    """Choose the fewest features within ``standard_errors`` of the best; of several methods that with the best mean.

    The standard errors are those of the differences to the best on the same folds, as in
    :class:`labelsieve.stopping.CrossValidated`.

    >>> values = {2: [0.7, 0.6, 0.8], 4: [0.4, 0.4, 0.5], 8: [0.8, 0.6, 0.8]}
    >>> choose([Option("jmi", size, np.array(found)) for size, found in values.items()], 1.0).n_features
    2
    """
    best = max(options, key=lambda option: (option.mean, -option.n_features))
    within = [
        option
        for option in options
        if best.mean - option.mean <= standard_errors * error_of_mean(best.values - option.values) + 1e-15
    ]
    return min(within, key=lambda option: (option.n_features, -option.mean))


@dataclass(frozen=True)
class Choice:
    """The option for all rows, and the values of the whole procedure on the outer folds, higher is better.

    ``chosen`` is the procedure: on every outer fold, the option that its inner folds choose. ``all`` and ``none`` are the
    controls on the same folds.
    """

    option: Option
    chosen: Floats
    all: Floats
    none: Floats
    n_features: int

    @property
    def verdict(self) -> Verdict:
        """Return the verdict: no signal if neither the selection nor all features are clearly better than base rates."""
        if not (self.is_clearly_better(self.chosen, self.none) or self.is_clearly_better(self.all, self.none)):
            return "nothing predicts"
        return "keep all features" if self.option.n_features == self.n_features else "select features"

    @staticmethod
    def interval(one: Floats, other: Floats) -> tuple[float, float]:
        """Return an interval of the mean difference on the outer folds, corrected for their common training rows."""
        band = confidence_band(one - other, confidence=CONFIDENCE, test_share=1 / len(one))
        return float(band.low), float(band.high)

    @classmethod
    def is_clearly_better(cls, one: Floats, other: Floats) -> bool:
        return cls.interval(one, other)[0] > 0


def nested_choice(curves: Mapping[str, Curves], standard_errors: float, *, fixed: bool = False) -> Choice:
    """Choose on the inner folds of every outer fold, for the estimate, and on the outer folds, for the selection on all rows.

    ``curves`` has the controls :data:`ALL` and :data:`NONE`, which have a single number of features. ``fixed``: the number of
    features is the largest of the candidates; the method with the best mean at this number is chosen.
    """
    controls = (ALL, NONE) if fixed else (NONE,)
    candidates = {name: found for name, found in curves.items() if name not in controls}

    def best(folds: Mapping[str, Floats]) -> Option:
        options: list[Option] = []
        for name, values in folds.items():
            sizes = candidates[name].sizes
            if fixed:
                sizes, values = sizes[-1:], values[:, -1:]
            options += options_of(name, sizes, values)
        return choose(options, 0.0 if fixed else standard_errors)

    n_folds = len(curves[ALL].outer)
    chosen = np.empty(n_folds)
    for fold in range(n_folds):
        inner = np.arange(n_folds) != fold
        option = best({name: found.inner[fold, inner] for name, found in candidates.items()})
        found = candidates[option.method]
        chosen[fold] = found.outer[fold, int(np.flatnonzero(found.sizes == option.n_features)[0])]
    final = best({name: found.outer for name, found in candidates.items()})
    everything = curves[ALL]
    choice = Choice(final, chosen, everything.outer[:, 0], curves[NONE].outer[:, 0], int(everything.sizes[0]))
    if not fixed and choice.is_clearly_better(choice.all, choice.chosen):
        return replace(choice, option=options_of(ALL, everything.sizes, everything.outer)[0])
    return choice


def verdict_text(choice: Choice, measure: str, *, lower_is_better: bool, numeric: bool) -> str:
    """Return the recommendation in words, with the estimates behind it."""
    sign = -1.0 if lower_is_better else 1.0
    chosen, everything, constant = (sign * float(values.mean()) for values in (choice.chosen, choice.all, choice.none))
    n_kept, n_features = choice.option.n_features, choice.n_features
    rates, targets = ("means", "targets") if numeric else ("base rates", "labels")
    if choice.verdict == "nothing predicts":
        return (
            f"Nothing here predicts the {targets} better than their {rates}, by {measure}: it is {chosen:.3f} with the "
            f"selection, {everything:.3f} with all features and {constant:.3f} for the {rates}."
        )
    if choice.verdict == "keep all features":
        return (
            f"Keep all {n_features} features: {measure} is {everything:.3f} with all of them, {chosen:.3f} where the tolerance "
            f"allows fewer, and {constant:.3f} for the {rates}."
        )
    cost = 100 * (everything - chosen) * sign / abs(everything) if everything else 0.0
    low, high = sorted(sign * limit for limit in choice.interval(choice.chosen, choice.all))
    costs = cost > -0.05
    effect = f"{'costs' if costs else 'gains'} {abs(cost):.1f} % of {measure}"
    if lower_is_better:
        effect = f"{'raises' if costs else 'lowers'} {measure} by {abs(cost):.1f} %"
    saved = 100 * (1 - n_kept / n_features)
    return (
        f"Select {n_kept} of {n_features} features by {choice.option.method}: selection {effect} "
        f"and saves {saved:.0f} % of the columns. On rows that took no part in the choice, {measure} is {chosen:.3f} with the "
        f"selection, {everything:.3f} with all features ({100 * CONFIDENCE:.0f} % interval of the difference: {low:+.3f} to "
        f"{high:+.3f}) and {constant:.3f} for the {rates}."
    )


def comparison_table(
    curves: Mapping[str, Curves],
    choice: Choice,
    not_tried: Mapping[str, str],
    standard_errors: float,
    *,
    lower_is_better: bool,
    fixed: bool,
) -> dict[str, list[Any]]:
    """Return a row for every method, best first, then the controls, then the methods without a value.

    ``n_features`` and ``score`` are those that the method was or, being the only one, would have been chosen with,
    ``best_score`` is the best of its curve; both are means over the folds that choose, so they are optimistic.
    """
    sign = -1.0 if lower_is_better else 1.0
    rows = []
    for name, found in curves.items():
        options = options_of(name, found.sizes, found.outer)
        kept = options[-1] if fixed else choose(options, standard_errors)
        if name == choice.option.method:
            kept = choice.option  # within the tolerance of the best of all methods, which may need fewer features
        best = max(options, key=lambda option: option.mean)
        status = "selected" if name == choice.option.method else "control" if name in (ALL, NONE) else ""
        numbers = (kept.n_features, sign * kept.mean, kept.standard_error, best.n_features, sign * best.mean, found.seconds)
        rows.append((name in (ALL, NONE), -best.mean, [name, *numbers, status]))
    rows.sort(key=lambda row: row[:2])
    table = [row for *_, row in rows]
    table += [[name, None, None, None, None, None, None, reason] for name, reason in not_tried.items()]
    heads = ("method", "n_features", "score", "standard_error", "best_n_features", "best_score", "seconds", "status")
    return {head: [row[index] for row in table] for index, head in enumerate(heads)}
