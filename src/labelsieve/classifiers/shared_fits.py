"""Linear support vector machines of many labels on the same rows, which are checked and prepared once."""

from sklearn.base import BaseEstimator

from labelsieve.classifiers.newton_svm import SharedRows, SharedSparseRows
from labelsieve.classifiers.weight_routing import Weights
from labelsieve.table_types import Matrix

SharedFits = SharedRows | SharedSparseRows


def shared_rows(base: BaseEstimator, X: Matrix, weights: Weights = None, n_own: int = 0) -> SharedFits | None:
    """The rows for many fits of a plain ``LinearSVC``; None for other bases, settings and rows.

    ``n_own`` is the largest number of inputs of a single fit in addition to the columns of X.
    """
    return SharedRows.of(base, X, weights, n_own) or SharedSparseRows.of(base, X, weights)
