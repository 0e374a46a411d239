"""One linear support vector machine for each of very many labels, with sparse weights and sparse predictions."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit
from sklearn import config_context
from sklearn.svm import LinearSVC
from sklearn.utils.parallel import Parallel, delayed

from labelsieve.classifiers.base import MetaClassifier, Weights
from labelsieve.errors import InputError, whole_number
from labelsieve.parameters import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE, Interval, checked_fit, parameter
from labelsieve.tables.types import CompressedMatrix, Matrix, TableLike, TargetsLike, WeightsLike, is_sparse

CELLS = 2**22  # decision values that are computed at a time
LABELS = 64  # labels that a task fits
CONSTANT = 100.0  # size of the decision value of a label without a model


@dataclass(eq=False, repr=False)
class SparseOneVsRest(MetaClassifier):
    r"""One linear support vector machine per label, for sparse data with very many labels.

    Every label has its own squared hinge loss with an L2 penalty, fitted by liblinear. Weights below ``prune`` are set to zero,
    as in DiSMEC (Babbar and Schölkopf 2017), where that left 1 to 5 per cent of them without a loss of accuracy, and the
    coefficients are one sparse matrix. :meth:`top_labels` returns the best k labels of every row as a sparse matrix for
    :func:`~labelsieve.metrics.precision_at_k` and its relatives.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty.
    prune : float, default=0.01
        Weights with a smaller absolute value are set to zero; 0 keeps all. Meant for rows of unit length
        (``sklearn.preprocessing.Normalizer``).
    min_positives : int, default=1
        Labels that fewer training rows have get no model and are never predicted. With the default these are the labels
        without any row; a label with one to three rows costs a model that seldom helps.
    max_negatives : int or None, default=None
        The most rows without a label that its model is fitted to, sampled anew for each label and weighted so that they stand
        for all. None: all rows. An approximation that makes the time of a label depend on its positive rows and not on all.
    tol, max_iter : float, int, default=1e-4 and 1000
        Tolerance and largest number of iterations of liblinear.
    dual : "auto" or bool, default="auto"
        Which problem liblinear solves; "auto": the dual one if there are more features than rows.
    n_jobs : int, default=None
        Threads that fit labels.
    random_state : int, default=0
        Seed of the sampled rows, and of the order in which liblinear visits the rows of the dual problem.

    Attributes
    ----------
    coef_, intercept_ : csr_array of shape (n_labels, n_features), ndarray of shape (n_labels,)
        Weights and intercepts of the labels.
    n_positives_ : ndarray of shape (n_labels,)
        Training rows of each label.
    untrained_ : ndarray of int
        Labels without a model: those with fewer rows than ``min_positives``, and those of all rows.
    n_iter_ : int
        The most iterations of a label.

    Notes
    -----
    Cost: a fit of liblinear for each label, a few passes over the stored values of its rows; memory for the sparse coefficients
    and a block of decision values.

    Examples
    --------
    >>> from labelsieve.datasets import make_extreme
    >>> from labelsieve.metrics import precision_at_k
    >>> X, Y = make_extreme("eurlex-4k", scale=0.02)
    >>> model = SparseOneVsRest().fit(X[:200], Y[:200])
    >>> best = model.top_labels(X[200:], k=3)
    >>> best.shape, int(np.diff(best.indptr).max())
    ((108, 79), 3)
    >>> precision_at_k(Y[200:], best, k=1) > 0.2
    True
    """

    C: float = parameter(1.0, POSITIVE)
    _: KW_ONLY
    prune: float = parameter(0.01, NOT_NEGATIVE)
    min_positives: int = parameter(1, AT_LEAST_ONE)
    max_negatives: int | None = parameter(None, AT_LEAST_ONE)
    tol: float = parameter(1e-4, POSITIVE)
    max_iter: int = parameter(1000, AT_LEAST_ONE)
    dual: bool | Literal["auto"] = "auto"
    n_jobs: int | None = None
    random_state: int = parameter(0, Interval(Integral, 0, None, closed="left"))

    def _base(self) -> Any:
        settings = {"C": self.C, "tol": self.tol, "max_iter": self.max_iter, "random_state": self.random_state}
        return LinearSVC(dual=self.dual, **settings)

    @checked_fit
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Fit the model of every label; ``sample_weight`` are frequencies of the rows."""
        X, labels, weights = self._read(X, y, sample_weight)
        X = _with_small_indices(X)
        columns = labels.tocsc()
        n, q = columns.shape
        self.n_positives_ = np.diff(columns.indptr)
        trained = np.flatnonzero((self.n_positives_ >= self.min_positives) & (self.n_positives_ < n))
        parts = [trained[start : start + LABELS] for start in range(0, len(trained), LABELS)]
        found = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._fit_labels)(X, columns, weights, part.tolist()) for part in parts
        )
        self.intercept_ = np.where(self.n_positives_ == n, CONSTANT, -CONSTANT)
        self.intercept_[trained] = np.concatenate([intercepts for _, intercepts, _ in found]) if found else []
        self.n_iter_ = max((n_iter for _, _, n_iter in found), default=1)
        self.untrained_ = np.setdiff1d(np.arange(q), trained)
        rows = sp.vstack([block for block, _, _ in found], format="coo") if found else sp.coo_array((0, X.shape[1]))
        self.coef_ = sp.csr_array((rows.data, (trained[rows.row], rows.col)), shape=(q, X.shape[1]))
        return self

    def _fit_labels(
        self, X: Matrix, columns: CompressedMatrix, weights: Weights, labels: Sequence[int]
    ) -> tuple[sp.csr_array, NDArray[np.float64], int]:
        """Return pruned weights and intercepts of some labels, and the most iterations."""
        kept, intercepts, n_iter = [], [], 1
        for label in labels:
            positive = columns.indices[columns.indptr[label] : columns.indptr[label + 1]]
            rows, row_weights = self._rows(label, positive, X.shape[0], weights)
            y = np.zeros(X.shape[0], np.int8)
            y[positive] = 1
            with config_context(assume_finite=True):  # X has been validated
                model = self._base()
                model.fit(X if rows is None else X[rows], y if rows is None else y[rows], sample_weight=row_weights)
            coefficients = model.coef_.ravel()
            kept.append(sp.csr_array(np.where(np.abs(coefficients) >= self.prune, coefficients, 0.0)[np.newaxis]))
            intercepts.append(float(model.intercept_[0]))
            n_iter = max(n_iter, int(np.max(model.n_iter_)))
        return sp.vstack(kept, format="csr"), np.array(intercepts), n_iter

    def _rows(
        self, label: int, positive: NDArray[np.integer], n: int, weights: Weights
    ) -> tuple[NDArray[np.integer] | None, Weights]:
        """Return the rows to which the model of a label is fitted, None for all, and their weights."""
        n_negative = n - len(positive)
        if self.max_negatives is None or n_negative <= self.max_negatives:
            return None, weights
        negative = np.ones(n, np.bool_)
        negative[positive] = False
        rng = np.random.default_rng([self.random_state, label])
        sampled = rng.choice(np.flatnonzero(negative), self.max_negatives, replace=False)
        rows = np.sort(np.concatenate([positive, sampled]))
        row_weights = np.where(negative[rows], n_negative / self.max_negatives, 1.0)
        return rows, row_weights if weights is None else row_weights * weights[rows]

    def _decisions(self, X: TableLike) -> NDArray[np.float64]:
        products = X @ self.coef_.T
        return (products.toarray() if is_sparse(products) else np.asarray(products)) + self.intercept_

    def decision_function(self, X: TableLike) -> NDArray[np.float64]:
        """Compute decision values, positive for predicted labels, shape (n_rows, n_labels); (n_rows,) if Y was one column.

        An array with a column for every label: for very many labels use :meth:`top_labels`.
        """
        return self._decisions_in_form_of_y(self._decisions(self._read_queries(X)))

    def _present(self, X: TableLike) -> NDArray[np.bool_]:
        return self._decisions(self._read_queries(X)) > 0

    def top_labels(self, X: TableLike, k: int = 5) -> sp.csr_array:
        """Predict the k labels of the largest decision values of every row, as a sparse matrix of shape (n_rows, n_labels).

        Values are the logistic function of the decision values, so that all are above 0: labels that are not stored rank below
        them. Equal values are taken in the order of the labels. Labels without a model are left out, unless all training rows
        have them.

        Cost: blocks of rows with four million decision values at a time.
        """
        X = self._read_queries(X)
        k = min(whole_number(k, "k", 1, 2**31), self.n_labels_)
        if X.shape[0] == 0:
            raise InputError("X has no rows.")
        ranked = np.setdiff1d(np.arange(self.n_labels_), self.untrained_[self.intercept_[self.untrained_] < 0])
        k = min(k, len(ranked))
        step, blocks = max(1, CELLS // self.n_labels_), []
        for start in range(0, X.shape[0], step):
            values = self._decisions(X[start : start + step])[:, ranked]
            best = (
                np.argsort(-values, axis=1, kind="stable")[:, :k]
                if k < len(ranked)
                else np.tile(np.arange(k), (len(values), 1))
            )
            scores = np.maximum(expit(np.take_along_axis(values, best, axis=1)), np.finfo(float).tiny)
            ends = np.arange(0, best.size + 1, k) if k else np.zeros(len(values) + 1, np.intp)
            blocks.append(sp.csr_array((scores.ravel(), ranked[best].ravel(), ends), shape=(len(values), self.n_labels_)))
        found = sp.vstack(blocks, format="csr")
        found.sort_indices()
        return found


def _with_small_indices(X: Matrix) -> Matrix:
    """Convert a sparse matrix to indices of 32 bits, which liblinear needs."""
    if isinstance(X, np.ndarray) or X.indptr.dtype == X.indices.dtype == np.int32:
        return X
    if X.nnz >= 2**31:
        raise InputError(f"X stores {X.nnz:,} values, and liblinear takes fewer than 2,147,483,648; select features first.")
    small: CompressedMatrix = sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    return small
