"""Nearest neighbors with the conventions of Weka and Mulan, including ties."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from labelsieve.classifiers import BRkNN, Neighbors
from labelsieve.classifiers.base import MultiLabelClassifier
from labelsieve.parameters import AT_LEAST_ONE, parameter
from labelsieve.tables.sparse import validate_data
from labelsieve.tables.types import TableLike, TargetsLike, is_sparse
from replications.mulan.weka_filters import WekaScaler


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

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Fit the scaler, and store the scaled rows."""
        self._rows, labels = self._read(X, y)
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


class ProbabilisticClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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
