"""Behavior of Mulan and Weka that published results depend on: folds, ties, bins, scaling, neighbors, naive Bayes, trees."""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from labelsieve import Sieve
from labelsieve.classifiers import J48, BRkNN, LabelPowerset, Neighbors
from labelsieve.classifiers.base import MultiLabelClassifier
from labelsieve.classifiers.labelsets import fit_powerset
from labelsieve.datasets.splits import MOST, Split, Splitter, row_count
from labelsieve.discretize import EqualWidth
from labelsieve.discretize.base import BaseBins
from labelsieve.errors import InputError, whole_number
from labelsieve.parameters import AT_LEAST_ONE, Interval, StrOptions, checked_fit, checked_meta_fit, parameter
from labelsieve.registry import PRESETS, resolve_method
from labelsieve.selectors.base import N_FEATURES, BaseSieve, Count, Result
from labelsieve.tables.codes import MAX_LEVELS, Codes, ColumnCuts
from labelsieve.tables.frames import NumberTable, validate_data
from labelsieve.tables.problem import Problem
from labelsieve.tables.types import (
    CompressedMatrix,
    FloatArray,
    Matrix,
    SparseMatrix,
    TableLike,
    TargetsLike,
    WeightsLike,
    is_sparse,
)
from labelsieve.tables.weights import RowWeights

_MASK = 2**48 - 1
_MULTIPLIER, _INCREMENT = 0x5DEECE66D, 0xB
UNSEEN = -1


class MulanFolds(Splitter):
    """Cross-validation with the folds of Mulan's ``Evaluator``, row by row.

    Rows are shuffled as in Weka: from the last to the second, each is swapped with one of those up to itself, drawn by
    :class:`JavaRandom`. The test folds are then consecutive blocks, the first ones a row longer where ``n_splits`` does not
    divide the rows.

    Parameters
    ----------
    n_splits : int, default=10
        Number of folds.
    seed : int, default=1
        Random state; Mulan's default.

    Notes
    -----
    Cost: a microsecond for each row. Rows are in ascending order, as from all splitters here; Mulan's are shuffled, which
    matters to a learner that depends on the order of its rows.

    Examples
    --------
    >>> [test.tolist() for _, test in MulanFolds(3).split(range(7))]
    [[0, 3, 5], [1, 2], [4, 6]]
    """

    def __init__(self, n_splits: int = 10, *, seed: int = 1) -> None:
        self.n_splits = whole_number(n_splits, "n_splits", 2, MOST)
        self.seed = whole_number(seed, "seed", -(2**63), 2**63 - 1)

    def split(self, X: TableLike, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> Iterator[Split]:
        """Yield pairs of training and test rows; ``groups`` is ignored."""
        n = row_count(X, y)
        if n < self.n_splits:
            raise InputError(f"{n:,} rows are too few for n_splits={self.n_splits}; pass more rows or fewer folds.")
        for block in np.array_split(shuffled(n, self.seed), self.n_splits):
            yield np.setdiff1d(np.arange(n), block), np.sort(block)


def shuffled(n: int, seed: int) -> NDArray[np.intp]:
    """Return the rows 0 to ``n - 1`` in the order of Weka's ``randomize``."""
    rows, random = list(range(n)), JavaRandom(seed)
    for last in range(n - 1, 0, -1):
        other = random.below(last + 1)
        rows[last], rows[other] = rows[other], rows[last]
    return np.array(rows, dtype=np.intp)


class JavaRandom:
    r"""Integers of ``java.util.Random``, whose algorithm is fixed by Java's documentation.

    The state :math:`s` of 48 bits starts as the seed xor :math:`a`, with :math:`a` = 0x5DEECE66D, and steps by

    .. math:: s \leftarrow (a s + 11) \bmod 2^{48} .

    Examples
    --------
    >>> random = JavaRandom(42)
    >>> [random.below(10) for _ in range(5)]
    [0, 3, 8, 4, 0]
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def _next31(self) -> int:
        """Return the upper 31 bits of the next state."""
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return self._state >> 17

    def below(self, bound: int) -> int:
        """Return the next number from 0 to ``bound - 1``: Java's ``nextInt(bound)``."""
        if bound & (bound - 1) == 0:  # a power of two takes the upper bits
            return (bound * self._next31()) >> 31
        while True:
            drawn = self._next31()
            if drawn - drawn % bound + bound <= 2**31:  # otherwise the last numbers would be less frequent
                return drawn % bound


@dataclass(eq=False, repr=False)
class MulanRanking(BaseSieve):
    """A published method with one score per feature, and Weka's conventions for bins and ties.

    The scores are those of ``Sieve(method)``, except that nominal columns are not discretized, and that bins of equal width
    are :class:`~replications.mulan.WekaBins`. Ties are in :func:`weka_order`, not lowest column first.

    Parameters
    ----------
    method : str, default="mlinfogain"
        The name of a method, such as ``"mlinfogain"`` or ``"br-infogain"``.
    nominal : sequence of int, default=()
        Nominal columns; a study sets them from the data set.
    ties : {"weka", "lowest"}, default="weka"
        The first of equal scores: as Weka sorts, or the lowest column, as elsewhere in this library.
    n_features_to_select : int, float or None, default=None
        As for :class:`labelsieve.Sieve`; None ranks all features.

    Attributes
    ----------
    selected_ : ndarray of int
        Columns, best first.
    feature_scores_ : ndarray of float
        Information gain of every column in nats, combined over the labels where the method does so.

    Notes
    -----
    Cost: that of the method.

    Examples
    --------
    >>> X = [[0, 1, 0, 5], [0, 1, 1, 5], [1, 0, 0, 5], [1, 0, 1, 5]]
    >>> MulanRanking("mlinfogain").fit(X, [[0, 0], [0, 1], [1, 1], [1, 1]]).selected_
    array([1, 0, 2, 3])
    """

    method: str = parameter("mlinfogain", StrOptions(set(PRESETS)))
    _: KW_ONLY
    nominal: Sequence[int] = parameter((), "array-like")
    ties: Literal["weka", "lowest"] = "weka"
    n_features_to_select: Count = parameter(None, *N_FEATURES)

    @checked_fit
    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Rank the columns of ``X``."""
        return self._fit(X, y)

    def _select(self, problem: Problem) -> Result:
        rule = resolve_method(self.method).discretizer
        rule = WekaBins(rule.n_bins) if isinstance(rule, EqualWidth) else rule
        rule = clone(rule).set_params(nominal=list(self.nominal), missing="error")
        sieve = Sieve(self.method, discretizer=rule, n_features_to_select=None, constant_features="score").fit(problem)
        scores = np.empty(problem.n_features)
        scores[sieve.selected_] = sieve.scores_
        order = weka_order(scores) if self.ties == "weka" else sieve.selected_
        selected = order[: self._n_wanted(len(order), problem.n_features)]
        return Result(selected, scores[selected], {"feature_scores": scores})


def weka_order(scores: Sequence[float] | NDArray[np.float64]) -> NDArray[np.intp]:
    """Sort columns from the largest score to the smallest, with ties in the order of Weka's rankers until 2013.

    Those sort in ascending order by Hoare's quicksort, with the middle element as the pivot, and reverse the result. It is
    not stable: ties are neither in ascending nor in descending order of columns. Where many features have no information,
    this order alone determines which of them are selected. It is needed to reproduce old results and is not a good rule:
    elsewhere in this library ties go to the lowest column.

    Cost: about a microsecond for each comparison, ``n log n`` of them.

    Examples
    --------
    >>> weka_order([0.0, 0.0, 0.5, 0.0])
    array([2, 0, 3, 1])
    """
    values = np.asarray(scores, dtype=np.float64).tolist()
    order = list(range(len(values)))
    waiting = [(0, len(values) - 1)]
    while waiting:
        first, last = waiting.pop()
        if first < last:
            middle = _partition(values, order, first, last)
            waiting += [(first, middle), (middle + 1, last)]
    return np.array(order[::-1], dtype=np.intp)


def _partition(values: list[float], order: list[int], low: int, high: int) -> int:
    """Move values below the pivot before those above it; return the end of the lower part."""
    pivot = values[order[(low + high) // 2]]
    while low < high:
        while values[order[low]] < pivot and low < high:
            low += 1
        while values[order[high]] > pivot and low < high:
            high -= 1
        if low < high:
            order[low], order[high] = order[high], order[low]
            low, high = low + 1, high - 1
    return high - 1 if low == high and values[order[high]] > pivot else high


@dataclass(eq=False, repr=False)
class WekaBins(BaseBins):
    r"""Equal-width bins for every column, closed on the right, as in Weka's unsupervised ``Discretize``.

    The cut points are :math:`\min + i (\max - \min) / n`. Unlike :class:`labelsieve.discretize.EqualWidth` it never uses
    values as levels: several distinct values may share a bin.

    Parameters
    ----------
    n_bins : int, default=10
        Number of bins.

    Examples
    --------
    >>> WekaBins(10).encode([[0.0], [1.0], [40.0]]).column(0)
    array([0, 0, 9], dtype=uint16)
    """

    n_bins: int = parameter(10, Interval(Integral, 1, MAX_LEVELS, closed="both"))

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        values = table.values
        low, high = column_ends(values, "min"), column_ends(values, "max")
        points = low[:, np.newaxis] + ((high - low) / self.n_bins)[:, np.newaxis] * np.arange(1, self.n_bins)
        points = points[high > low]
        starts = np.concatenate([[0], np.cumsum(np.where(high > low, self.n_bins - 1, 0))]).astype(np.int64)
        return [ColumnCuts(starts, points.ravel(), np.zeros(len(low), dtype=bool), closed_right=True)]


class WekaScaler(TransformerMixin, BaseEstimator):
    r"""Scale columns such that the Euclidean distance of two rows is that of Weka's ``EuclideanDistance``.

    A numeric column becomes :math:`(x - \min) / (\max - \min)` by the training rows, and 0 where these are constant. (New rows
    may be outside [0, 1].) Two nominal values have distance 0 if they are equal, else 1: a column of the codes 0 and 1 is
    unchanged; otherwise every value becomes two columns that are 1/2 where the row has the value, so that two values have
    distance :math:`\sqrt{4 \cdot 1/4}`, without rounding. An unseen value has distance 1 from all others.

    Parameters
    ----------
    nominal : sequence of int, default=()
        Nominal columns; a study sets them from the data set.

    Attributes
    ----------
    low_, width_ : ndarray
        Minimum and range of every column; 0 and 1 where it is nominal.
    values_ : dict of int to ndarray
        Values of nominal columns with other values than 0 and 1.

    Notes
    -----
    Sparse columns are not shifted, which does not change distances. Cost: one pass over the data.

    Examples
    --------
    >>> WekaScaler(nominal=[1]).fit_transform(np.array([[2.0, 0.0, 7.0], [4.0, 1.0, 7.0], [3.0, 1.0, 7.0]]))
    array([[0. , 0. , 0. ],
           [1. , 1. , 0. ],
           [0.5, 1. , 0. ]])
    """

    def __init__(self, nominal: Sequence[int] = ()) -> None:
        self.nominal = nominal

    def fit(self, X: TableLike, y: TargetsLike | None = None) -> Self:
        """Determine ranges and values."""
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=np.float64)
        low, high = column_ends(X, "min"), column_ends(X, "max")
        nominal = np.asarray(self.nominal, dtype=np.intp)
        fractions = X - X.floor() if is_sparse(X) else X - np.floor(X)
        two = (low >= 0) & (high <= 1) & (column_ends(fractions, "max") == 0)  # columns of the codes 0 and 1
        self.values_ = {int(column): np.unique(_dense(X, column)) for column in nominal[~two[nominal]]}
        low[nominal], high[nominal] = 0.0, 1.0
        self.low_, self.width_ = low, high - low
        return self

    def transform(self, X: TableLike) -> Any:
        """Return scaled columns; sparse stays sparse."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse=("csr", "csc"), dtype=np.float64)
        scaled = self.scaled(X)
        return self._spread(scaled, X) if self.values_ else scaled

    def scaled(self, X: Matrix) -> Matrix:
        """Return columns divided by their ranges; nominal ones are unchanged."""
        known = self.width_ > 0
        if is_sparse(X):
            inverse = np.divide(1.0, self.width_, out=np.zeros_like(self.width_), where=known)
            rows: CompressedMatrix = sparse.csr_array(X @ sparse.diags_array(inverse))
            return rows
        return np.divide(X - self.low_, self.width_, out=np.zeros_like(X), where=known)

    def _spread(self, scaled: Matrix, X: Matrix) -> Matrix:
        """Replace each nominal column by the columns of its values, in the same position, as distances are summed in order."""
        pieces: list[Any] = []
        done = 0
        for column, values in sorted(self.values_.items()):
            cells = _dense(X, column)
            codes = np.searchsorted(values, cells).clip(max=len(values) - 1)
            codes[values[codes] != cells] = len(values)  # unseen
            halves = np.repeat(np.eye(len(values) + 1)[codes] / 2, 2, axis=1)
            pieces += [scaled[:, done:column], sparse.csr_array(halves) if is_sparse(X) else halves]
            done = column + 1
        pieces.append(scaled[:, done:])
        spread: Matrix = sparse.hstack(pieces, format="csr") if is_sparse(X) else np.hstack(pieces)
        return spread

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _dense(X: Matrix, column: int) -> NDArray[np.float64]:
    return np.asarray(X[:, [column]].toarray() if is_sparse(X) else X[:, [column]])[:, 0]


def column_ends(X: FloatArray | SparseMatrix, end: Literal["min", "max"]) -> NDArray[np.float64]:
    """Return the minimum or maximum of every column, dense or sparse."""
    ends = X.min(axis=0) if end == "min" else X.max(axis=0)
    return np.array(ends.toarray() if is_sparse(ends) else ends, dtype=np.float64).ravel()


@dataclass(eq=False, repr=False)
class MulanBRkNN(MultiLabelClassifier):
    """Mulan's BR-kNN: features on Weka's scale, every row as near as the k-th counted, Mulan's confidences.

    It predicts like ``make_pipeline(WekaScaler(nominal), BRkNN(k, ties="all", smoothing="mulan"))``, except that a nominal
    column adds its 0 or 1 to a squared distance in one step, as in Weka. Where other columns add fractions, this determines in
    the last bit which rows tie.

    Parameters
    ----------
    k : int, default=10
        Number of neighbors.
    nominal : sequence of int, default=()
        Nominal columns; a study sets them from the data set.
    n_jobs : int, default=None
        Number of threads.

    Notes
    -----
    Cost: that of :class:`~labelsieve.classifiers.BRkNN`; with nominal columns of more than two values some ten times that of
    dense data, and a table of all distances in memory.

    Examples
    --------
    >>> X, Y = [[0.0, 2], [1.0, 0], [5.0, 1]], [[1, 0], [1, 1], [0, 1]]
    >>> MulanBRkNN(k=1, nominal=[1]).fit(X, Y).predict([[0.4, 0], [4.9, 1]])
    array([[1, 1],
           [0, 1]])
    """

    k: int = parameter(10, AT_LEAST_ONE)
    _: KW_ONLY
    nominal: Sequence[int] = parameter((), "array-like")
    n_jobs: int | None = None

    @checked_fit
    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Fit the scaler, and store the scaled rows."""
        self._rows, labels, _ = self._read(X, y)
        self._scaler = WekaScaler(self.nominal).fit(self._rows)
        self._knn = BRkNN(self.k, ties="all", smoothing="mulan", n_jobs=self.n_jobs)
        self._knn.fit(self._scaler.transform(self._rows), labels)
        return self

    def _label_probabilities(self, X: TableLike) -> NDArray[np.float64]:
        X = self._read_queries(X)
        if not self._scaler.values_ or is_sparse(X):
            return self._knn.predict_proba(self._scaler.transform(X))
        rows = np.asarray(self._rows)
        known, queries = np.asarray(self._scaler.scaled(rows)), np.asarray(self._scaler.scaled(X))
        squares = np.zeros((len(X), len(known)))
        for column in range(X.shape[1]):
            if column in self._scaler.values_:
                squares += np.not_equal.outer(X[:, column], rows[:, column])
            else:
                squares += np.subtract.outer(queries[:, column], known[:, column]) ** 2
        return self._knn._estimate(X, as_near_as(squares, self.k))


class ProbabilisticClassifier(ClassifierMixin, BaseEstimator):
    """Predicts the most probable class by ``predict_proba``; takes sparse rows."""

    def predict(self, X: TableLike) -> NDArray[Any]:
        """Return the most probable class; the first of those that tie."""
        best = self.predict_proba(X).argmax(axis=1)  # before classes_, so that an unfitted model raises NotFittedError
        return np.asarray(self.classes_[best])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class WekaKNN(ProbabilisticClassifier):
    r"""Weka's IBk: the most frequent class of the nearest rows, of which there may be more than k.

    A class with :math:`c` of the :math:`m` rows that are as near as the k-th has the probability
    :math:`(c + 1/N) / (m + q/N)`, with N training rows and q classes. Features are not scaled: see
    :class:`~replications.mulan.WekaScaler`.

    Parameters
    ----------
    k : int, default=10
        Number of neighbors; all rows if there are fewer.

    Examples
    --------
    >>> WekaKNN(k=2).fit([[0.0], [1.0], [2.0], [5.0]], ["a", "b", "a", "b"]).predict([[1.0], [5.0]])
    array(['a', 'a'], dtype='<U1')
    """

    def __init__(self, k: int = 10) -> None:
        self.k = k

    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Store the rows."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        columns = sparse.csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes)))
        self._knn = BRkNN(self.k, ties="all", smoothing="mulan").fit(X, sparse.csr_matrix(columns))
        return self

    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Return the probability of every class."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        probabilities: NDArray[np.float64] = self._knn._label_probabilities(X)
        return probabilities


def as_near_as(squares: NDArray[np.float64], k: int) -> Neighbors:
    """Return the rows that are no farther than the ``k``-th nearest, from squared distances with queries in rows.

    >>> as_near_as(np.array([[4.0, 1.0, 4.0, 9.0]]), 2).rows
    array([0, 1, 2], dtype=uint32)
    """
    k = min(k, squares.shape[1])
    near = squares <= np.partition(squares, k - 1, axis=1)[:, [k - 1]]
    starts = np.concatenate([[0], np.cumsum(near.sum(axis=1))]).astype(np.int64)
    return Neighbors(starts, np.nonzero(near)[1].astype(np.uint32), squares[near])


class MixedNaiveBayes(ProbabilisticClassifier):
    r"""Classifier by :math:`P(c) \prod_j P(x_j \mid c)`, with a normal density or the frequencies of values for each column.

    Binary columns (only 0 and 1) and nominal ones have frequencies with Laplace's correction; the others are normal. These are
    scikit-learn's ``BernoulliNB``, ``CategoricalNB`` and ``GaussianNB``, whose joint log probabilities are added.

    Parameters
    ----------
    nominal : sequence of int, default=()
        Nominal columns; a study sets them from the data set.

    Notes
    -----
    An unseen value counts like one without any row of the class. Sparse columns that are not binary are made dense. Cost: one
    pass over the data.

    Examples
    --------
    >>> X = np.array([[0.1, 2, 1], [0.2, 2, 0], [0.9, 0, 1], [1.0, 1, 0]])
    >>> MixedNaiveBayes(nominal=[1]).fit(X, [0, 0, 1, 1]).predict([[0.3, 2, 1], [0.8, 3, 0]])
    array([0, 1])
    """

    def __init__(self, nominal: Sequence[int] = ()) -> None:
        self.nominal = nominal

    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Estimate frequencies, means and variances."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_, counts = np.unique(y, return_counts=True)
        self._log_prior = np.log(counts / counts.sum())
        differences = abs(X.multiply(X) - X) if is_sparse(X) else np.abs(X * X - X)
        binary = column_ends(differences, "max") == 0  # only 0 and 1
        valued = np.zeros_like(binary)
        valued[list(self.nominal)] = True
        self._models = []
        for columns, model in ((binary, BernoulliNB()), (valued & ~binary, _Categories()), (~binary & ~valued, GaussianNB())):
            if columns.any():
                self._models.append((np.flatnonzero(columns), model.fit(_dense_unless(X[:, columns], model), y)))
        return self

    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Return the probability of every class."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        total = (1 - len(self._models)) * self._log_prior  # every model counts the prior once
        for columns, model in self._models:
            total = total + model.predict_joint_log_proba(_dense_unless(X[:, columns], model))
        probabilities: NDArray[np.float64] = softmax(total, axis=1)
        return probabilities


class _Categories(CategoricalNB):
    """Frequencies of values, with one more level for all unseen values."""

    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        self._codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=UNSEEN).fit(X)
        self.min_categories = [len(values) + 1 for values in self._codes.categories_]
        super().fit(self._codes.transform(X), y)
        return self

    def predict_joint_log_proba(self, X: TableLike) -> Any:
        codes = self._codes.transform(X)
        return super().predict_joint_log_proba(np.where(codes == UNSEEN, np.array(self.min_categories) - 1, codes))


def _dense_unless(X: TableLike, model: BaseEstimator) -> Any:
    return X if isinstance(model, BernoulliNB) or not is_sparse(X) else X.toarray()


@dataclass(eq=False, repr=False)
class MulanPowerset(LabelPowerset):
    """Mulan's label powerset: ties of labelsets are broken at random, and confidences are those of the predicted labelset.

    The confidence of a label is the probability p of the predicted labelset if the label is in it, and 1 - p otherwise. Of
    labelsets with the same largest probability one is drawn by :class:`JavaRandom` with seed 1, in the order of the rows, and
    the labelsets are in the order in which Java iterates over a ``HashSet`` of them.

    Parameters
    ----------
    base : classifier
        A multi-class classifier with ``predict_proba``.

    Notes
    -----
    Each call begins with the seed, as Mulan does for each fold. In a cross-validation Mulan predicts rows in the shuffled order
    of :class:`MulanFolds`, and a study in ascending order, so the draws differ there. Cost: that of
    :class:`~labelsieve.classifiers.LabelPowerset`.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = MulanPowerset(DecisionTreeClassifier(max_depth=1))
    >>> model.fit([[0.0], [0.0], [1.0]], [[1, 0], [1, 1], [0, 1]]).predict_proba([[0.0], [1.0]])
    array([[0.5, 0.5],
           [0. , 1. ]])
    """

    @checked_meta_fit
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Fit the classifier of labelsets, and put these in Java's order."""
        X, labels, weights = self._read(X, y, sample_weight)
        self.model_ = fit_powerset(self.base, X, labels, self._space(), weights)
        rows = labels.toarray().astype(int).astype(str)
        first = list(dict.fromkeys("".join(row) for row in rows))
        position = {"".join(row): index for index, row in enumerate(self.model_.labelsets.toarray().astype(int).astype(str))}
        self._order = np.array([position[labelset] for labelset in hash_set_order(first)], dtype=np.intp)
        return self

    def _chosen(self, X: TableLike) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return the predicted labelset of every row, and its probability."""
        probabilities = self.model_.model.probabilities(self._read_queries(X))[:, self._order]
        largest = probabilities.max(axis=1)
        random, chosen = JavaRandom(1), probabilities.argmax(axis=1)
        ties = probabilities == largest[:, np.newaxis]
        for row in np.flatnonzero(np.count_nonzero(ties, axis=1) > 1):
            equal = np.flatnonzero(ties[row])
            chosen[row] = equal[random.below(len(equal))]
        return self.model_.labelsets[self._order[chosen]].toarray().astype(bool), largest

    def _present(self, X: TableLike) -> NDArray[np.bool_]:
        return self._chosen(X)[0]

    def _label_probabilities(self, X: TableLike) -> NDArray[np.float64]:
        present, largest = self._chosen(X)
        probabilities: NDArray[np.float64] = np.where(present, largest[:, np.newaxis], 1 - largest[:, np.newaxis])
        return probabilities


def hash_set_order(texts: Sequence[str]) -> list[str]:
    r"""Return distinct texts in the order in which Java (since version 8) iterates over a ``HashSet`` that they were added to.

    The set has a power of two of buckets, 16 or more, and at most three elements for four buckets. The bucket of a text is
    given by its hash :math:`\sum_i 31^{n-1-i} c_i` modulo :math:`2^{32}`, whose upper half is first added to its lower half
    bit by bit (exclusive or). Elements of a bucket are in the order in which they were added.

    >>> hash_set_order(["01", "10", "11", "00"])
    ['11', '00', '01', '10']
    """
    buckets = 16
    while 4 * len(texts) > 3 * buckets:
        buckets *= 2

    def bucket(text: str) -> int:
        code = 0
        for character in text:
            code = (31 * code + ord(character)) % 2**32
        return (code ^ (code >> 16)) % buckets

    return sorted(texts, key=bucket)


@dataclass(eq=False, repr=False)
class MulanJ48(J48):
    """J48 for Mulan's files, in which columns of zeros and ones are nominal, also those that chains add for labels.

    The parameters are those of :class:`~labelsieve.classifiers.J48`.

    Examples
    --------
    >>> print(MulanJ48().fit([[0], [0], [1], [1]], [0, 0, 1, 1]).text())
    x0 = 0: 0 (2.0)
    x0 = 1: 1 (2.0)
    """

    def _nominal_columns(self, X: FloatArray) -> NDArray[np.intp]:
        binary = np.flatnonzero(((X == 0) | (X == 1)).all(axis=0))
        return np.union1d(super()._nominal_columns(X), binary).astype(np.intp)
