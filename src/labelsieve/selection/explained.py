r"""The explained share: how much of the variation of the targets the selected features predict, in rows that were not used.

In every fold features are selected on the training rows, a predictor is fitted to the first k of them, and the test rows are
predicted. With predictions :math:`p_{iy}`, the means :math:`b_{iy}` of the training rows and weights :math:`w_y` (1 for a
label, 1 / variance for a number), the share that k features explain is

.. math:: E_k = 1 - \frac{\sum_{iy} w_y (y_{iy} - p_{iy})^2}{\sum_{iy} w_y (y_{iy} - b_{iy})^2}

This is the skill of the Brier score for labels and :math:`R^2` for numbers. What a feature gains is the difference to the size
before it. :func:`explained_share` computes all of it, and :class:`Explained` is the result. The predictor is a weighted mean
of

- a ridge regression, and one that adds three polynomials of the ranks of every numeric feature (``core.NestedRidge``);
- the means of the 5 and of the 20 nearest rows;
- its own prediction with fewer features, so that useless features do not spoil what is known.

The weights of a fold come from the predictions for the rows of the other folds. These contain the selection, so that the
weights are 0 where the features predict nothing. Columns are scaled by all rows, which involves no target. The share of all
features has predictions of its own where the largest size leaves some out (:func:`_all_features`).
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dsyrk, ssyrk
from sklearn.base import clone
from sklearn.utils import check_random_state

from labelsieve import core
from labelsieve.errors import InputError, is_whole
from labelsieve.progress import progress_bar
from labelsieve.resources import one_blas_thread
from labelsieve.tables.frames import NumberTable
from labelsieve.tables.nominal import LearnerFeatures
from labelsieve.tables.problem import Problem
from labelsieve.tables.targets import TargetTable, part_of_the_rows
from labelsieve.tables.types import StoredTable

Real = NDArray[np.float64]
Rows = NDArray[np.intp]

MAX_SIZE = 40  # features that are tried when the number is found automatically
FEW_ROWS = 200  # tables with fewer rows are split into 7 folds, others into 5
LEAST_ROWS = 10
TESTED = 1000  # rows that are predicted in all; training rows are never left out
MOST_CELLS = 2**27  # of the targets; with more, a sample of the targets is evaluated
NEIGHBORS = (5, 20)
PADDING = 8  # numbers that are added together: rows of them have a multiple of it
CLIP = 5.0  # standard deviations
PENALTIES = (1e-6, 0.01, 0.1, 1.0, 10.0)  # of a ridge regression, for a row
ALL_PENALTIES = (1e-6, 0.01, 0.3)  # of all features; the stack chooses among them, the first for up to 500 rows or columns
MANY_COLUMNS = 1000  # the ridge regression of all features uses the columns with the largest products with the targets
FEW_COLUMNS = 256  # up to which copying half of the products costs little
LEAST_IN_SINGLE = 0.01  # the least penalty, for a row, of a regression that is computed in single precision
SPARSE = 0.01  # share of the cells that are not 0, below which products of sparse columns are faster than those of whole ones
PRODUCTS_AT_ONCE = 2**22  # of test rows with all rows
MOST_STEPS = 2e9  # of a search of neighbors by all features; with more, they are left out
WIDER = 1.3  # standard errors over rows are too small by this factor, because the folds share their training rows
NEGLIGIBLE = 0.005  # a difference of two shares that is not worth a word
CLEAR = 2.0  # errors that the best share must be above 0, or no feature is kept


@dataclass(frozen=True, eq=False)
class Explained:
    """The share of the targets that the first 1, 2, ... selected features explain in rows that were not used.

    Attributes
    ----------
    sizes : ndarray of int
        Numbers of features, increasing from 1.
    explained, errors : ndarray of float, shape (n_sizes,)
        The share for each size, over all targets, and its standard error.
    by_target : ndarray of float, shape (n_sizes, n_targets)
        The share of every target; NaN where it was not evaluated.
    all_features, all_features_error : float
        The share that all features explain, by a predictor that uses them all.
    all_by_target : ndarray of float, shape (n_targets,)
        The same for every target.
    below_all, below_all_errors : ndarray of float, shape (n_sizes,)
        How much less than all features each size explains, and the standard error of this difference.
    below_best, below_best_errors : ndarray of float, shape (n_sizes,)
        The same for the size that explains the most.
    lists : tuple of ndarray of int
        The features that each fold selected, in order.
    best_size : int
        The size that explains the most.
    n_rows, n_features, n_tested : int
        Rows and features of the table, and rows that were predicted.
    """

    sizes: NDArray[np.intp]
    explained: Real
    errors: Real
    by_target: Real
    all_features: float
    all_features_error: float
    all_by_target: Real
    below_all: Real
    below_all_errors: Real
    below_best: Real
    below_best_errors: Real
    lists: tuple[NDArray[np.intp], ...]
    best_size: int
    n_rows: int
    n_features: int
    n_tested: int
    numeric: bool = False

    @property
    def gains(self) -> Real:
        """What every size adds to the one before it; they add up to the share of the last."""
        return np.diff(self.explained, prepend=0.0)

    def choose(self, standard_errors: float = 1.0) -> int:
        """Return the fewest features that explain as much as the best size, within standard errors of the difference.

        0 if the best size explains no clearly positive share: not two errors above 0.
        """
        best = self.at(self.best_size)
        if self.explained[best] <= CLEAR * self.errors[best]:
            return 0
        return int(self.sizes[np.argmax(self.below_best <= standard_errors * self.below_best_errors)])

    def at(self, size: int) -> int:
        """Return the index of the largest size that was evaluated and is at most ``size``; -1 where there is none."""
        return int(np.searchsorted(self.sizes, size, side="right")) - 1

    def share_of_folds(self, column: int, size: int) -> float:
        """Return the share of the folds whose first ``size`` features contain a column."""
        return float(np.mean([column in chosen[:size] for chosen in self.lists]))

    def verdict(self, size: int) -> str:
        """Say in a sentence what the first ``size`` features explain, and how that compares with all features."""
        return verdict(VerdictFacts.of(self, size))


@dataclass(frozen=True)
class VerdictFacts:
    """The numbers that the sentence about a selection needs."""

    size: int
    n_features: int
    explained: float
    error: float
    all_features: float
    below_all: float
    below_all_error: float
    numeric: bool

    @classmethod
    def of(cls, explained: Explained, size: int) -> "VerdictFacts":
        """Take the numbers of a size."""
        index = explained.at(size)
        nothing = index < 0
        return cls(
            size,
            explained.n_features,
            0.0 if nothing else float(explained.explained[index]),
            0.0 if nothing else float(explained.errors[index]),
            explained.all_features,
            explained.all_features if nothing else float(explained.below_all[index]),
            explained.all_features_error if nothing else float(explained.below_all_errors[index]),
            explained.numeric,
        )


def verdict(facts: VerdictFacts) -> str:
    """Write the sentence.

    >>> print(verdict(VerdictFacts(7, 72, 0.312, 0.02, 0.301, -0.011, 0.01, False)))
    7 of 72 features explain 31 % (± 2) of the labels, as much as all 72 (30 %).
    >>> print(verdict(VerdictFacts(2, 9, 0.31, 0.02, 0.45, 0.14, 0.02, True)))
    2 of 9 features explain 31 % (± 2) of the targets, 14 points less than all 9 (45 %).
    >>> print(verdict(VerdictFacts(40, 500, 0.1042, 0.004, 0.1188, 0.0146, 0.001, False)))
    40 of 500 features explain 10.4 % (± 0.4) of the labels, 1.5 points less than all 500 (11.9 %).
    """
    targets = "targets" if facts.numeric else "labels"
    d = f"{facts.n_features:,}"
    everything = (
        f"all {d} ({_percent(facts.all_features)} %)"
        if facts.n_features > 1
        else f"the one feature ({_percent(facts.all_features)} %)"
    )
    if facts.size == 0:
        clear = facts.all_features > CLEAR * facts.below_all_error
        more = (
            f"All {d} features together explain {_percent(facts.all_features)} %." if clear else "Nor do all features together."
        )
        return f"No selection of the {d} features clearly predicts the {targets}. {more}"
    verb = "explains" if facts.size == 1 else "explain"
    shown, whole = _percent(facts.explained), _percent(facts.all_features)
    equal = abs(facts.below_all) <= max(2 * facts.below_all_error, NEGLIGIBLE)
    points = _points(abs(facts.below_all))
    # Rounding must not make different numbers look equal, nor their difference another one than that of the shares.
    if not equal and (shown == whole or (points.isdigit() and abs(int(whole) - int(shown)) != int(points))):
        shown, everything = f"{100 * facts.explained:.1f}", f"all {d} ({100 * facts.all_features:.1f} %)"
        points = f"{100 * abs(facts.below_all):.1f}"
    head = f"{facts.size:,} of {d} features {verb} {shown} % (± {_points(facts.error)}) of the {targets}"
    if facts.size == facts.n_features:
        return f"{head}."
    if equal:
        return f"{head}, as much as {everything}."
    difference = f"{points} point{'' if points in ('1', '1.0') else 's'} {'less' if facts.below_all > 0 else 'more'} than"
    return f"{head}, {difference} {everything}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f}".replace("-0", "0")


def _points(share: float) -> str:
    points = 100 * share
    return f"{points:.0f}" if points >= 1 or points < 0.05 else f"{points:.1f}"


def explained_share(
    selector: Any,
    problem: Problem,
    *,
    n_features: int,
    cv: Any = None,
    random_state: Any = 0,
) -> Explained:
    """Estimate the share of the targets that the first 1, 2, ..., ``n_features`` features of a selector explain.

    Parameters
    ----------
    selector : selector
        Clones of it select on the training rows of every fold.
    problem : Problem
        The data, in memory.
    n_features : int
        The largest number of features. All numbers up to 40 are evaluated, larger ones in growing steps.
    cv : int or splitter, default=None
        Folds: a number of random ones, or a splitter of scikit-learn. None: 5, or 7 for fewer than 200 rows.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds and of the rows that are predicted.

    Notes
    -----
    Cost: a selection for every fold, and predictions for about 1,000 rows in all at most.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.tables.problem import read
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5))
    >>> problem = read(X, X[:, 2] + X[:, 4])
    >>> explained_share(Sieve(), problem, n_features=3).explained.round(1)
    array([0.4, 1. , 1. ])
    """
    if isinstance(problem.X, StoredTable):
        raise InputError("The explained share needs the table in memory; a ChunkedTable is read column by column.")
    random = check_random_state(random_state)
    n_rows, sizes = problem.targets.n_rows, size_steps(min(n_features, problem.n_features))
    folds = _folds(problem, cv, random)
    weights = np.ones(n_rows) if problem.weights is None else np.asarray(problem.weights, dtype=np.float64)
    targets, lists = _Targets.of(problem.targets, weights, random), []
    with progress_bar("explained share: folds") as progress:
        for number, (train, _) in enumerate(folds):
            lists.append(fold_selection(selector, problem, train, int(sizes[-1])))
            progress(number + 1, len(folds))
    folds, tested = _test_rows(folds, targets, weights, random)
    # Threads would wait for each other in so many small products, and could change the last bits.
    with one_blas_thread():
        curve = prefix_curve(problem, targets, weights, lists, folds, sizes, tested)
        if all(len(chosen) == problem.n_features for chosen in lists):
            curve.repeat()  # the largest size has all features
        else:
            curve.add(_all_features(problem, targets, folds, weights))
        return _result(curve, sizes, lists, targets, problem)


def prefix_curve(
    problem: Problem,
    targets: "_Targets",
    weights: Real,
    lists: list[NDArray[np.intp]],
    folds: list[tuple[Rows, Rows]],
    sizes: Any,
    tested: Real | None = None,
) -> "_Curve":
    """Predict the test rows of every fold with the first features of its list, for every size.

    ``tested`` are the weights of the test rows of all folds, one after the other; None: those that the rows have in training.
    """
    columns = _Columns(problem.features, lists, weights)
    sums = _Sums(columns, [columns.order_of(chosen) for chosen in lists], targets, weights, [train for train, _ in folds])
    fitted = [
        _Fold(columns, sums, at, targets, weights, chosen, sizes, *rows)
        for at, (chosen, rows) in enumerate(zip(lists, folds, strict=True))
    ]
    tests = [test for _, test in folds]
    curve = _Curve(
        targets, [fold.center for fold in fitted], tests, weights[np.concatenate(tests)] if tested is None else tested
    )
    for step in range(len(sizes)):
        parts, first = curve.parts(2 + len(NEIGHBORS)), 0
        for fold, test in zip(fitted, tests, strict=True):
            fold.predict(step, parts, first)
            first += len(test)
        curve.stack()
    return curve


def size_steps(most: int) -> NDArray[np.intp]:
    """Return the numbers of features that are evaluated: all up to 40, then in steps that grow.

    >>> size_steps(3).tolist(), size_steps(60).tolist()[-4:]
    ([1, 2, 3], [48, 52, 57, 60])
    """
    sizes = list(range(1, min(most, MAX_SIZE) + 1))
    while sizes and sizes[-1] < most:
        sizes.append(min(most, sizes[-1] + max(1, sizes[-1] // 10)))
    return np.array(sizes, dtype=np.intp)


def _folds(problem: Problem, cv: Any, random: Any) -> list[tuple[Rows, Rows]]:
    """Return the rows to train on and the rows to predict of every fold."""
    from sklearn.model_selection import KFold, check_cv

    n_rows = problem.targets.n_rows
    if n_rows < LEAST_ROWS:
        few = f"The explained share needs at least {LEAST_ROWS} rows, and there are {n_rows}"
        raise InputError(f"{few}; give the number of features to select.")
    if cv is None or is_whole(cv):
        n_folds = (7 if n_rows < FEW_ROWS else 5) if cv is None else int(cv)
        splits = KFold(min(n_folds, n_rows), shuffle=True, random_state=random).split(np.empty((n_rows, 0)))
    else:
        splits = check_cv(cv).split(np.empty((n_rows, 0)))
    folds = [(np.asarray(train, dtype=np.intp), np.asarray(test, dtype=np.intp)) for train, test in splits]
    if len(folds) < 2:
        raise InputError("The explained share needs two folds or more: the weights of a fold come from the others.")
    return folds


def _test_rows(
    folds: list[tuple[Rows, Rows]], targets: "_Targets", weights: Real, random: Any
) -> tuple[list[tuple[Rows, Rows]], Real]:
    """Take a sample of the test rows where there are many; return the folds with it, and the weights of these rows.

    A row with more than one part in ``TESTED`` of the variation of the targets is always taken and counts once: by chance,
    a few outliers would count many times or not at all. Each of the others also stands for rows that were left out.
    """
    total = sum(len(test) for _, test in folds)
    if total <= TESTED:
        return folds, weights[np.concatenate([test for _, test in folds])]
    _, deviations = _centered(targets.values, weights)
    losses = weights * (deviations**2 @ targets.factor)
    certain = losses > losses.sum() / TESTED
    certain[np.argsort(-losses, kind="stable")[TESTED // 2 :]] = False
    share = (TESTED - sum(certain[test].sum() for _, test in folds)) / sum((~certain[test]).sum() for _, test in folds)
    sampled, tested = [], []
    for train, test in folds:
        outliers, others = test[certain[test]], random.permutation(test[~certain[test]])
        drawn = others[: max(1, int(share * len(others)))]
        counts = np.repeat([1.0, len(others) / max(len(drawn), 1)], [len(outliers), len(drawn)])
        rows = np.concatenate([outliers, drawn])
        order = np.argsort(rows)
        sampled.append((train, rows[order]))
        tested.append((weights[rows] * counts)[order])
    return sampled, np.concatenate(tested)


def fold_selection(selector: Any, problem: Problem, train: Rows, most: int) -> NDArray[np.intp]:
    """Select up to ``most`` features on some rows, with a clone of the selector."""
    mask = np.zeros(problem.targets.n_rows, dtype=bool)
    mask[train] = True
    settings = {"n_features_to_select": most, "warm_start": False}
    fold = clone(selector)
    names = fold.get_params(deep=False)
    fold.set_params(**{name: value for name, value in settings.items() if name in names})
    # Whatever there is to say about the table was said when all rows were read.
    with part_of_the_rows(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fold.fit(problem.take_rows(mask))
    chosen = np.asarray(fold.selected_, dtype=np.intp)
    if chosen.ndim == 2:
        raise InputError("The explained share is for one list of features, and this selector has one for every label.")
    return chosen[:most]


# Targets and features as numbers.


@dataclass(frozen=True, eq=False)
class _Targets:
    """The targets as columns of numbers: 0 and 1 for two classes, a column for each of more classes; unknown cells are NaN."""

    values: Real
    factor: Real  # w_y of every column
    owner: NDArray[np.intp]  # the target of every column
    n_targets: int
    numeric: NDArray[np.bool_]  # columns of numbers

    @classmethod
    def of(cls, table: TargetTable, weights: Real, random: Any) -> "_Targets":
        numbers = iter(np.asarray(table.numbers, dtype=np.float64).T)
        numeric_of = {column: next(numbers) for column in np.flatnonzero(table.is_numeric).tolist()}
        evaluated = np.arange(table.n_columns)
        if table.n_columns * table.n_rows > MOST_CELLS:
            evaluated = np.sort(random.permutation(table.n_columns)[: max(1, MOST_CELLS // table.n_rows)])
        columns: list[Real] = []
        factor, owner, numeric = [], [], []
        for target in evaluated.tolist():
            if target in numeric_of:
                values = numeric_of[target]
                known = ~np.isnan(values)
                share = weights * known
                mean = float(share @ np.where(known, values, 0.0)) / max(float(share.sum()), 1e-300)
                scale = float(np.abs(np.where(known, values - mean, 0.0)).max(initial=0.0))
                if scale == 0:
                    continue
                standard = np.where(known, (values - mean) / scale, np.nan)
                variance = float(share @ np.where(known, standard, 0.0) ** 2) / float(share.sum())
                columns.append(standard)
                factor.append(1.0 / variance)
                owner.append(target)
                numeric.append(True)
                continue
            codes = table.classes.column(target)
            known = np.asarray(table.classes.is_known(target))
            levels = np.unique(codes[known])
            for level in levels[1:] if len(levels) <= 2 else levels:
                columns.append(np.where(known, codes == level, np.nan))
                factor.append(1.0)
                owner.append(target)
                numeric.append(False)
        if not columns:  # no target varies, so there is nothing to explain
            columns, factor, owner, numeric = [np.zeros(table.n_rows)], [1.0], [0], [False]
        values = np.column_stack(columns)
        return cls(values, np.array(factor), np.array(owner, dtype=np.intp), table.n_columns, np.array(numeric))


class _Columns:
    """The columns of the features in some lists as numbers with mean 0 and variance 1, as rows of an array.

    A number with missing cells has a second column that marks them. A number with an order that has more than two values has
    polynomials of its ranks, too: ``plain`` and ``curved`` are the rows of every feature.
    """

    def __init__(self, table: NumberTable, lists: Sequence[NDArray[np.intp]], weights: Real) -> None:
        columns, ranks = list[Real](), list[Real]()
        self.plain, self.curved = dict[int, list[int]](), dict[int, list[int]]()
        chosen = list(dict.fromkeys(feature for some in lists for feature in some.tolist()))
        values, ends = LearnerFeatures(table).columns(chosen) if chosen else (np.empty((table.shape[0], 0)), np.empty(0, int))
        some = values[:1000]
        low, high = np.fmin.reduce(some, axis=0, initial=np.inf), np.fmax.reduce(some, axis=0, initial=-np.inf)
        has_three = np.any((some > low) & (some < high), axis=0)
        gaps, values = np.any(np.isnan(values), axis=0), values.T
        for feature, start, end in zip(chosen, [0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            first, numeric = len(columns), feature not in table.nominal
            columns.extend(values[start:end])
            if numeric and gaps[start]:
                columns.append(np.isnan(values[start]).astype(np.float64))
            self.plain[feature] = list(range(first, len(columns)))
            self.curved[feature] = []
            if numeric and has_three[start]:
                self.curved[feature] = [len(ranks)]
                ranks.append(values[start])
        n_plain, n_ranked = len(columns), len(ranks)
        for feature, rows in self.curved.items():
            self.curved[feature] = [n_plain + row + power * n_ranked for row in rows for power in range(3)]
        self.values = np.empty((n_plain + 3 * n_ranked, table.shape[0]))
        for row, column in enumerate(columns):
            self.values[row] = column
        if n_ranked:
            _polynomials(_ranks(np.array(ranks)), self.values[n_plain:])
        core.standardize(self.values, weights, CLIP)

    def order_of(self, chosen: NDArray[np.intp]) -> Rows:
        """Return the rows of some features, those of a feature together: first its numbers, then its polynomials."""
        rows = [row for feature in chosen.tolist() for row in self.plain[feature] + self.curved[feature]]
        return np.array(rows, dtype=np.intp)


class _Left:
    """Sums over the training rows of every fold: those over all rows, less those over the rows that the fold leaves out.

    The rows that are left out are fewer than the others, and most often each is left out by one fold: then the sums over all
    rows are those of the folds. Otherwise ``of_all`` returns them.
    """

    def __init__(self, of_rests: list[Real], of_all: Callable[[], Real], rests: list[Rows], n_rows: int) -> None:
        self._left_out, times = of_rests, np.bincount(np.concatenate(rests), minlength=n_rows)
        self._total = sum(of_rests[1:], of_rests[0]) if (times == 1).all() else of_all()

    def parts(self, fold: int) -> tuple[Real, Real]:
        """Return the sums over all rows, and those over the rows that a fold leaves out."""
        return self._total, self._left_out[fold]

    def of_fold(self, fold: int) -> Real:
        """Return the sums over the training rows of a fold."""
        return self._total - self._left_out[fold]


def _rests(n_rows: int, trains: Iterable[Rows]) -> list[Rows]:
    """Return the rows that are not among those of each fold."""
    return [np.delete(np.arange(n_rows), train) for train in trains]


class _Sums:
    """Means and products of columns over the training rows of every fold. ``orders`` are the columns that each fold uses."""

    def __init__(self, columns: _Columns, orders: list[Rows], targets: "_Targets", weights: Real, trains: list[Rows]) -> None:
        values, n_rows = columns.values, len(weights)
        self._values, self._weights, self._orders, self._trains = values, weights, orders, trains
        self._total = [float(weights[train].sum()) for train in trains]
        of_rows, rests = _weighted_targets(targets.values, weights), _rests(n_rows, trains)
        each = sum(len(train) * len(order) ** 2 for train, order in zip(trains, orders, strict=True))
        together = len(values) <= 2 * MANY_COLUMNS and n_rows * len(values) ** 2 <= each
        sums, grams = list[Real](), list[Real]()
        for rest in rests:
            block = values[:, rest]
            sums.append(block @ of_rows[rest])
            if together:
                grams.append(_gram(block.T, weights[rest]))
        self._sums = _Left(sums, lambda: np.asarray(values @ of_rows), rests, n_rows)
        self._grams = _Left(grams, lambda: _gram(values.T, weights), rests, n_rows) if together else None

    def of_fold(self, fold: int, center: Real) -> tuple[Real, Real]:
        """Return the means of the columns of a fold, and their centered products with the targets less ``center``."""
        sums = self._sums.of_fold(fold)[self._orders[fold]]
        return sums[:, 0] / self._total[fold], _centered_products(sums, center)

    def products(self, fold: int) -> tuple[Real, Real | None, Rows]:
        """Return products of columns, those over the rows that a fold leaves out, and where its columns are among them."""
        some = self._orders[fold]
        if self._grams is not None:
            return *self._grams.parts(fold), some
        train = self._trains[fold]
        return _gram(self._values[np.ix_(some, train)].T, self._weights[train]), None, np.arange(len(some))


def _weighted_targets(values: Real, weights: Real) -> Real:
    """Return the weights of the rows, the targets times them, and the weights of known cells where some targets are unknown."""
    known, share = ~np.isnan(values), weights[:, np.newaxis]
    if known.all():
        return np.hstack([share, share * values])
    return np.hstack([share, share * np.where(known, values, 0.0), share * known])


def _centered_products(sums: Real, center: Real) -> Real:
    """Return products with the targets less ``center``, from the products of columns with :func:`_weighted_targets`."""
    q = len(center)
    of_known = sums[:, :1] if sums.shape[1] == 1 + q else sums[:, 1 + q :]
    return np.asarray(sums[:, 1 : 1 + q] - center.astype(sums.dtype) * of_known)


def _ranks(columns: Real) -> Real:
    """Return mean ranks among the known cells of every column, in rows, from -1 to 1; missing cells have 0."""
    ranks = np.empty_like(columns)
    core.mid_ranks(columns, None, ranks)
    return np.nan_to_num(2 * ranks - 1.0, copy=False)


def _polynomials(u: Real, out: Real) -> None:
    """Write numbers from -1 to 1 and their second and third Legendre polynomial, one after the other."""
    first, second, third = np.split(out, 3)
    first[:] = u
    np.multiply(u, u, out=second)
    np.multiply(second, 2.5, out=third)
    third -= 1.5
    third *= u
    second *= 1.5
    second -= 0.5


# Predictors of a fold.


class _Fold:
    """The features that were selected on the training rows of a fold, and predictors with the first of them."""

    def __init__(
        self,
        columns: _Columns,
        sums: _Sums,
        fold: int,
        targets: _Targets,
        weights: Real,
        chosen: NDArray[np.intp],
        sizes: NDArray[np.intp],
        train: Rows,
        test: Rows,
    ) -> None:
        share = weights[train]
        self.center, deviations = _centered(targets.values[train], share)
        self._n_tested, self._neighbors = len(test), np.empty((0, 0), dtype=np.uint32)
        if len(chosen) == 0:
            return
        # The columns of a feature stand together: first its numbers, then its polynomials.
        numbers = [len(columns.plain[feature]) for feature in chosen.tolist()]
        both = [len(columns.plain[feature]) + len(columns.curved[feature]) for feature in chosen.tolist()]
        plain_ends, ends = np.cumsum([0, *numbers]), np.cumsum([0, *both])
        plain = np.concatenate([np.arange(start, start + n) for start, n in zip(ends, numbers, strict=False)])
        lengths, self._steps = np.unique(np.minimum(sizes, len(chosen)), return_inverse=True)  # a list may end early
        self._means = _NeighborMeans(deviations, share)
        some = columns.order_of(chosen)
        T, values = columns.values[np.ix_(some, test)], columns.values[some[plain]]
        prefixes = plain_ends[lengths].astype(np.uint64)
        settings = self._means.length, False, False, False, True, 1  # no ties and no distances, single precision, one thread
        rows = core.nearest_dense(values[:, train].T, np.ascontiguousarray(T[plain].T), prefixes, *settings)[1]
        self._neighbors = rows.reshape(len(prefixes), -1)
        mean, product = sums.of_fold(fold, self.center)
        squares = float(np.einsum("i,ij,ij->j", share, deviations, deviations) @ targets.factor)
        total, (every, left_out, places) = float(share.sum()), sums.products(fold)

        def ridge(used: Any, ends: Rows) -> core.NestedRidge:
            columns = places[used].astype(np.uint64), mean[used], total, product[used], targets.factor, squares, T[used]
            return core.NestedRidge(every, left_out, *columns, total * np.array(PENALTIES), ends[lengths].astype(np.uint64))

        self._ridges = [ridge(plain, plain_ends), ridge(slice(None), ends)]

    def predict(self, step: int, parts: Real, first: int) -> None:
        """Write the deviations from the means that every predictor with the features of a size expects in the test rows.

        They are the rows of the stacked parts from the number ``first`` on.
        """
        if not len(self._neighbors):
            parts[: 2 + len(NEIGHBORS), first : first + self._n_tested] = 0.0
            return
        index = int(self._steps[step])
        for at, regression in enumerate(self._ridges):
            regression.predict(index, parts, at, first)
        self._means.write(self._neighbors[index], parts, len(self._ridges), first)


def _centered(values: Real, weights: Real) -> tuple[Real, Real]:
    """Return the means of the known cells, and the deviations from them, 0 in unknown cells."""
    known = ~np.isnan(values)
    if known.all():
        center = weights @ values / weights.sum()
        return center, values - center
    share = weights[:, np.newaxis] * known
    center = (share * np.where(known, values, 0.0)).sum(axis=0) / np.maximum(share.sum(axis=0), 1e-300)
    return center, np.where(known, values - center, 0.0)


class _NeighborMeans:
    """Weighted means of the deviations of the nearest training rows of a fold, from lists of ``length`` rows."""

    def __init__(self, deviations: Real, weights: Real) -> None:
        n_rows, n_columns = deviations.shape
        self.length = min(NEIGHBORS[-1], n_rows)
        self._few = np.minimum(np.array(NEIGHBORS, dtype=np.uint64), np.uint64(self.length))
        self._weights, self._weighted = weights, np.zeros((n_rows, -(-n_columns // PADDING) * PADDING))
        np.multiply(deviations, weights[:, np.newaxis], out=self._weighted[:, :n_columns])

    def write(self, rows: NDArray[np.uint32], parts: Real, part: int, first: int) -> None:
        """Write the means of the first rows of every list into a stack."""
        core.neighbor_means(rows, self.length, self._few, self._weighted, self._weights, parts, part, first)


# All features.


def _all_features(problem: Problem, targets: _Targets, folds: list[tuple[Rows, Rows]], weights: Real) -> Iterator[list[Real]]:
    """Predict the test rows of every fold from all features, by ridge regressions and, where affordable, by neighbors.

    Of more than 1,000 columns, the regression of a fold uses those with the largest sums of squared products with the targets
    of its training rows.
    """
    Z = _all_columns(problem)
    n_rows, n_columns = Z.shape
    n_tested = sum(len(test) for _, test in folds)
    near = not sp.issparse(Z) and float(n_tested) * n_rows * n_columns <= MOST_STEPS
    penalties, trains = ALL_PENALTIES[min(Z.shape) > MANY_COLUMNS // 2 :], [train for train, _ in folds]
    regression = _RidgeOfAll(Z, targets.values, weights, penalties, trains)
    distances = _Distances(Z, regression.products_of_rows) if near else None
    for fold, (train, test) in enumerate(folds):
        center, deviations = _centered(targets.values[train], weights[train])
        found = regression.predict(fold, test, center, deviations, targets.factor)
        if distances is not None:
            means, parts = _NeighborMeans(deviations, weights[train]), np.empty((len(NEIGHBORS), *found[0].shape))
            means.write(distances.nearest(test, train, means.length), parts, 0, 0)
            found += list(parts)
        yield found


def _all_columns(problem: Problem) -> Any:
    """Return the columns of all features with variance 1; those of an array have mean 0, too."""
    table = problem.features
    if table.dense is not None:
        columns = np.array(LearnerFeatures(table).everything().T, order="C")  # which are changed in place
        core.standardize(columns, np.ones(columns.shape[1]), CLIP)
        return columns.T
    matrix = sp.csr_array(table.sparse, dtype=np.float64, copy=True)
    matrix.data[np.isnan(matrix.data)] = 0.0
    n_rows = matrix.shape[0]
    mean = np.asarray(matrix.sum(axis=0)).reshape(-1) / n_rows
    variance = np.asarray(matrix.multiply(matrix).sum(axis=0)).reshape(-1) / n_rows - mean**2
    factor = np.divide(1.0, np.sqrt(np.maximum(variance, 0.0)), out=np.zeros_like(variance), where=variance > 1e-24)
    return sp.csr_array(matrix @ sp.diags_array(factor))


class _Distances:
    """Squared distances of rows by all columns, from the products of rows."""

    def __init__(self, Z: Real, products: Any) -> None:
        self._products = products
        self._Z = np.ascontiguousarray(Z, dtype=np.float32) if products is None else None
        if self._Z is None:
            self._squares = np.diagonal(products).astype(np.float32)
        else:
            self._squares = np.einsum("ij,ij->i", self._Z, self._Z)

    def nearest(self, test: Rows, train: Rows, k: int) -> NDArray[np.uint32]:
        """Return the numbers of the k training rows that are nearest to each test row, one list after the other."""
        lengths, place = np.full(len(self._squares), np.inf, dtype=np.float32), np.zeros(len(self._squares), dtype=np.uint32)
        lengths[train], place[train] = self._squares[train], np.arange(len(train))
        at_once, found = max(1, PRODUCTS_AT_ONCE // len(lengths)), list[NDArray[np.uint32]]()
        for start in range(0, len(test), at_once):
            some = test[start : start + at_once]
            products = self._products[some] if self._Z is None else self._Z[some] @ self._Z.T
            found.append(core.nearest_by_products(products.astype(np.float32, copy=False), lengths, self._squares[some], k))
        return place[np.concatenate(found)]


class _RidgeOfAll:
    """Ridge regressions on many columns, by products of columns or, where there are fewer rows, of rows.

    Large ones are computed in single precision, which takes half the time: their penalties are far above its rounding.
    """

    def __init__(self, Z: Any, targets: Real, weights: Real, penalties: tuple[float, ...], trains: list[Rows]) -> None:
        self._penalties, self._trains, (n_rows, n_columns) = penalties, trains, Z.shape
        self._real: Any = np.float32 if min(penalties) >= LEAST_IN_SINGLE and min(Z.shape) > MANY_COLUMNS // 2 else np.float64
        cells = n_rows * n_columns
        if sp.issparse(Z) and SPARSE * cells <= Z.nnz and cells <= MOST_CELLS:
            Z = Z.astype(self._real).toarray()
            Z -= Z.mean(axis=0, dtype=np.float64).astype(self._real)
        self._Z, self._weights = (Z if sp.issparse(Z) else np.ascontiguousarray(Z, dtype=self._real)), weights
        self.products_of_rows: Any = None
        self._products: _Left | None = None
        if n_rows <= n_columns and n_rows <= 2 * MANY_COLUMNS:
            self.products_of_rows = _gram(self._Z.T, np.ones(n_columns)).astype(self._real, copy=False)
            return
        rests, of_rows = _rests(n_rows, trains), _weighted_targets(targets, weights).astype(self._real, copy=False)
        table: Any = self._Z
        sums = [np.asarray(table[rest].T @ of_rows[rest]) for rest in rests]
        self._sums = _Left(sums, lambda: np.asarray(table.T @ of_rows), rests, n_rows)
        if n_columns <= 2 * MANY_COLUMNS:
            of_rests = [_upper_gram(self._Z[rest], weights[rest]) for rest in rests]
            self._products = _Left(of_rests, lambda: _upper_gram(self._Z, weights), rests, n_rows)

    def predict(self, fold: int, test: Rows, center: Real, deviations: Real, factor: Real) -> list[Real]:
        """Predict the deviations of the targets from ``center`` for test rows of a fold, with each penalty."""
        train = self._trains[fold]
        weights = self._weights[train]
        total = float(weights.sum())
        if self.products_of_rows is not None:
            return self._by_row_products(train, test, deviations, weights, total)
        sums, kept, T = self._sums.of_fold(fold), None, self._Z[test]
        mean, product = sums[:, 0] / total, _centered_products(sums, center)
        if len(sums) > MANY_COLUMNS:
            kept = np.sort(np.argpartition(-((product**2) @ factor), MANY_COLUMNS)[:MANY_COLUMNS])
            T, mean, product = T[:, kept], mean[kept], product[kept]
        if self._products is None:
            Z = self._Z[train]
            gram = _upper_gram(Z if kept is None else Z[:, kept], weights)
        else:
            gram = self._products.of_fold(fold)
            gram = gram if kept is None else gram[kept].take(kept, axis=1)
        gram = np.asarray(gram - np.outer(total * mean, mean), dtype=self._real)
        return [
            np.asarray(T @ solved - mean @ solved, dtype=np.float64)
            for solved in (_ridge_solution(gram, penalty * total, product) for penalty in self._penalties)
        ]

    def _by_row_products(self, train: Rows, test: Rows, deviations: Real, weights: Real, total: float) -> list[Real]:
        inner, outer = self.products_of_rows[train][:, train], self.products_of_rows[test][:, train]
        root, share = np.sqrt(weights).astype(self._real), (weights / total).astype(self._real)
        mean = inner @ share
        grand = mean @ share
        centered = (inner - mean[:, np.newaxis] - mean + grand) * root[:, np.newaxis] * root
        tested = (outer - (outer @ share)[:, np.newaxis] - mean + grand) * root
        scale = total * max(1.0, self._Z.shape[1] / len(train))  # the products of rows grow with the number of columns
        right = (root[:, np.newaxis] * deviations).astype(self._real)
        solutions = (_ridge_solution(centered, penalty * scale, right) for penalty in self._penalties)
        return [np.asarray(tested @ solved, dtype=np.float64) for solved in solutions]


def _ridge_solution(matrix: Any, penalty: float, right: Any) -> Any:
    """Solve the equations of a symmetric matrix, of which the upper triangle is given, with a penalty on its diagonal."""
    penalized = matrix.copy().T  # in the order of LAPACK
    penalized[np.diag_indices_from(penalized)] += penalty
    return cho_solve(cho_factor(penalized, lower=True, overwrite_a=True, check_finite=False), right, check_finite=False)


def _scaled(Z: Any, weights: Real) -> Any:
    return Z if (weights == 1).all() else Z * np.sqrt(weights).astype(Z.dtype)[:, np.newaxis]


def _gram(Z: Any, weights: Real) -> Any:
    """Return the weighted products of all columns."""
    scaled = _scaled(Z, weights)
    return scaled.T @ scaled  # a product with itself, of which half is computed


def _upper_gram(Z: Any, weights: Real) -> Any:
    """Return the same, also for a sparse table; of a large array, numbers below the diagonal may be left out."""
    if sp.issparse(Z):
        return np.asarray((Z.T @ (sp.diags_array(weights) @ Z)).toarray())
    if Z.shape[1] < FEW_COLUMNS:
        return _gram(Z, weights)
    scaled = _scaled(Z, weights).T
    return (ssyrk if Z.dtype == np.float32 else dsyrk)(1.0, scaled, lower=True).T


# The stack, and the curve of its shares.


class _Curve:
    """Stacked predictions of the test rows of all folds, one size after the other, and what they explain."""

    def __init__(self, targets: _Targets, centers: list[Real], tests: list[Rows], weights: Real) -> None:
        truth = np.vstack([targets.values[test] - center for test, center in zip(tests, centers, strict=True)])
        known = ~np.isnan(truth)
        self._truth = np.where(known, truth, 0.0)
        self._cells = known * weights[:, np.newaxis] * targets.factor
        self._ends = np.cumsum([len(test) for test in tests], dtype=np.uint64)
        self._low = np.where(targets.numeric, -np.inf, -np.array(centers))
        self._high = np.where(targets.numeric, np.inf, 1.0 - np.array(centers))
        self._carried, self._stacked = np.zeros_like(truth), np.empty((0, *truth.shape))
        losses = self._cells * self._truth**2
        self.row_losses, self.column_losses = losses.sum(axis=1), losses.sum(axis=0)
        self.rows: list[Real] = []  # how much less every row loses, for every size
        self.columns: list[Real] = []

    def parts(self, n_parts: int) -> Real:
        """Return an array for the parts of a size, predictions of all rows that are to be stacked, and for one part more."""
        if len(self._stacked) != n_parts + 1:
            self._stacked = np.empty((n_parts + 1, *self._truth.shape))
        return self._stacked

    def add(self, folds: Iterable[list[Real]]) -> None:
        """Stack the predictions of a size, a list of parts for every fold."""
        first = 0
        for end, found in zip(self._ends.tolist(), folds, strict=True):
            self.parts(len(found))[:-1, first:end] = found
            first = end
        self.stack()

    def stack(self) -> None:
        """Stack the parts, with the stacked predictions of the size before as one more."""
        self._stacked[-1] = self._carried
        rows, columns = core.stack_parts(self._stacked, self._truth, self._cells, self._ends, self._low, self._high)
        self._carried = self._stacked[-1].copy()
        self.rows.append(rows)
        self.columns.append(columns)

    def repeat(self) -> None:
        """Add the predictions of the last size once more, for a size that has the same features."""
        self.rows.append(self.rows[-1])
        self.columns.append(self.columns[-1])


def _result(
    curve: _Curve, sizes: NDArray[np.intp], lists: list[NDArray[np.intp]], targets: _Targets, problem: Problem
) -> Explained:
    """Make the result of the sizes, and of all features, which are the last of the curve."""
    rows = np.array(curve.rows)
    total, n_tested = max(float(curve.row_losses.sum()), 1e-300), rows.shape[1]
    shares = rows.sum(axis=1) / total
    mean_loss = total / n_tested

    def errors_of(saved: Real, of_sizes: Real) -> Real:
        """Standard errors of shares, or of differences of shares, over the rows."""
        spread = saved - of_sizes[:, np.newaxis] * curve.row_losses
        return np.asarray(np.std(spread / mean_loss, axis=1, ddof=1) / np.sqrt(n_tested))

    errors = errors_of(rows, shares)
    by_target = np.full((len(shares), targets.n_targets), np.nan)
    losses = np.bincount(targets.owner, curve.column_losses, targets.n_targets)
    for index, columns in enumerate(curve.columns):
        saved = np.bincount(targets.owner, columns, targets.n_targets)
        np.divide(saved, losses, out=by_target[index], where=losses > 0)
    of_sizes = shares[:-1]
    best = int(np.argmax(of_sizes))

    def below(index: int) -> tuple[Real, Real]:
        """How much less than one of the curve every size explains, with standard errors."""
        less = shares[index] - of_sizes
        return less, errors_of(rows[index] - rows[:-1], less)

    below_all, below_best = below(-1), below(best)
    return Explained(
        sizes=sizes,
        explained=of_sizes,
        errors=WIDER * errors[:-1],
        by_target=by_target[:-1],
        all_features=float(shares[-1]),
        all_features_error=float(WIDER * errors[-1]),
        all_by_target=by_target[-1],
        below_all=below_all[0],
        below_all_errors=below_all[1],
        below_best=below_best[0],
        below_best_errors=below_best[1],
        lists=tuple(lists),
        best_size=int(sizes[best]),
        n_rows=problem.targets.n_rows,
        n_features=problem.n_features,
        n_tested=n_tested,
        numeric=bool(problem.targets.is_numeric.any()),
    )
