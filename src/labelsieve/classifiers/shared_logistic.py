"""Logistic regressions on the same dense rows, in the core."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from labelsieve import core
from labelsieve.classifiers.base import Weights
from labelsieve.tables.types import Matrix, SparseMatrix, is_sparse

Array = NDArray[np.float64]

MOST_INPUTS = 256  # above, triangular solutions cost more than the products of scikit-learn
TOLERANCE = 1e-10  # of the decrease that a step promises, relative to the objective
FLATTEST = 1e-6  # curvature, relative to the largest
LINE = 8  # numbers of a cache line: the rows start at one
CELLS = 2**22  # of the Gram matrix's rows between two chances for an interrupt, and of the labels fitted between two reports
MOST_NAMED = 10  # labels in a warning
_DEFAULTS = LogisticRegression().get_params()  # the names take scikit-learn as long to look up as a fit
# Of the parameters that change the objective or the form of a fit.
_PLAIN = {
    key: _DEFAULTS[key] for key in ("class_weight", "dual", "l1_ratio", "penalty", "solver", "warm_start") if key in _DEFAULTS
}


@dataclass(frozen=True)
class SharedLogistic:
    r"""Dense rows for many fits of a ``LogisticRegression``, each with a few labels as further inputs.

    The objective is that of ``LogisticRegression`` with its default solver: :math:`\frac12 w'w + \sum_i c_i \ell_i` with an
    intercept that has no penalty, and the softmax for more than two classes. Steps of limited-memory BFGS, ``max_iter`` at
    most, start from the Gram matrix, and end when a step promises less than 1e-10 of the objective, where scikit-learn stops
    within ``tol``: predictions agree up to that tolerance. Fitted models have ``converged_``; :func:`warn_unconverged` reports
    those that have not. Fits do not hold the interpreter's lock.

    Cost: a Gram matrix for all fits, then for each of 10 to 30 steps two products with the rows for each class.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 3))
    >>> y = (X[:, 0] + 0.3 * rng.normal(size=50) > 0).astype(int)
    >>> ours = SharedLogistic.of(LogisticRegression(), X).fit(y)
    >>> bool(np.allclose(ours.coef_, LogisticRegression(tol=1e-10).fit(X, y).coef_, atol=1e-4))
    True
    """

    base: LogisticRegression
    rows: Array  # the constant input, the features, the labels, and zeros
    costs: Array
    gram: Array
    n_shared: int  # the constant input and the features

    @classmethod
    def of(
        cls, base: BaseEstimator, X: Matrix, weights: Weights = None, labels: SparseMatrix | None = None, n_own: int = 0
    ) -> Self | None:
        """The rows, or None if the base is another one, or has other settings, or the rows are sparse, wide or huge.

        ``labels`` may be inputs of a fit, at most ``n_own`` of them.
        """
        if type(base) is not LogisticRegression or is_sparse(X) or X.shape[1] + n_own > MOST_INPUTS:
            return None
        if any(getattr(base, name) != value for name, value in _PLAIN.items()) or not 0 < base.C < np.inf:
            return None
        n_rows, n_free = len(X), int(bool(base.fit_intercept))
        n_shared = n_free + X.shape[1]
        own = np.empty((n_rows, 0)) if labels is None or n_own == 0 else labels.toarray()
        n_inputs = n_shared + own.shape[1]
        costs = base.C * (np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64))
        rows = _aligned_zeros(n_rows, -(-n_inputs // LINE) * LINE)
        rows[:, :n_free] = 1.0
        rows[:, n_free:n_shared] = X
        rows[:, n_shared:n_inputs] = own
        gram = np.zeros((n_inputs, n_inputs))
        step = max(1, CELLS // n_inputs)
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, n_rows, step):
                some = rows[start : start + step, :n_inputs]
                gram += (some * costs[start : start + step, np.newaxis]).T @ some
        return cls(base, rows, costs, gram, n_shared) if np.isfinite(gram).all() else None

    @property
    def _n_free(self) -> int:
        return int(bool(self.base.fit_intercept))

    def fit(self, y: NDArray[Any]) -> LogisticRegression:
        """A clone of the base, fitted to classes (two or more of them) on the features."""
        classes, codes = np.unique(y, return_inverse=True)
        curvatures, directions = _curvature(np.bincount(codes, weights=self.costs).astype(np.float64))
        weights = np.empty((len(curvatures), self.n_shared))
        gram = np.ascontiguousarray(self.gram[: self.n_shared, : self.n_shared])
        n_steps, converged = core.minimize_logistic(
            self.rows,
            self._n_free,
            self.costs,
            gram,
            codes.astype(np.uint32),
            curvatures,
            directions,
            TOLERANCE,
            self.base.max_iter,
            weights.reshape(-1),
        )
        return self._fitted(classes, weights, n_steps, converged)

    def fit_labels(
        self, present: Sequence[NDArray[np.uint8]], parents: Sequence[NDArray[np.intp]] | None = None, n_jobs: int | None = None
    ) -> Iterator[LogisticRegression]:
        """Clones of the base, fitted to labels (0 and 1 both occur) on the features followed by the labels ``parents``.

        ``n_jobs`` labels are fitted in parallel.
        """
        classes, n_threads = np.arange(2, dtype=np.uint8), effective_n_jobs(n_jobs)
        step = max(4 * n_threads, CELLS // self.rows.size)
        for start in range(0, len(present), step):
            some = present[start : start + step]
            own = [np.empty(0, dtype=np.intp)] * len(some) if parents is None else parents[start : start + step]
            starts = np.cumsum([0, *map(len, own)], dtype=np.int64)
            weights = np.empty(len(some) * self.n_shared + starts[-1])
            n_steps, converged = core.minimize_logistic_links(
                self.rows,
                self._n_free,
                self.costs,
                self.gram,
                self.n_shared,
                starts,
                (np.concatenate(own) + self.n_shared).astype(np.int32),
                np.concatenate(some),
                TOLERANCE,
                self.base.max_iter,
                n_threads,
                weights,
            )
            ends = starts[1:] + np.arange(1, len(some) + 1) * self.n_shared
            for of_label, *end in zip(np.split(weights, ends[:-1]), n_steps, converged, strict=True):
                yield self._fitted(classes, of_label[np.newaxis], *end)

    def _fitted(self, classes: NDArray[Any], weights: Array, n_steps: int, converged: bool) -> LogisticRegression:
        n_free, fitted = self._n_free, LogisticRegression(**{name: getattr(self.base, name) for name in _DEFAULTS})
        fitted.classes_ = classes
        fitted.coef_ = weights[:, n_free:].copy()
        fitted.intercept_ = weights[:, 0].copy() if n_free else np.zeros(len(weights))
        fitted.n_features_in_, fitted.n_iter_ = fitted.coef_.shape[1], np.array([n_steps], dtype=np.int32)
        fitted.converged_ = bool(converged)
        return fitted


def warn_unconverged(models: Iterable[tuple[object, BaseEstimator]]) -> None:
    """A ``ConvergenceWarning`` with the names of the models that :class:`SharedLogistic` fitted and that did not converge."""
    failed = [(name, model) for name, model in models if not getattr(model, "converged_", True)]
    if not failed:
        return
    names = ", ".join(str(name) for name, _ in failed[:MOST_NAMED]) + (", ..." if len(failed) > MOST_NAMED else "")
    warnings.warn(
        f"Y: LogisticRegression did not converge in max_iter={failed[0][1].max_iter} steps for {len(failed)} of the models, "
        f"those of the columns {names}. Increase max_iter, or scale the features, for example with StandardScaler.",
        ConvergenceWarning,
        stacklevel=2,
    )


def _aligned_zeros(n_rows: int, n_columns: int) -> Array:
    """An array whose rows start at a cache line if ``n_columns`` is a multiple of its numbers."""
    numbers = np.zeros(n_rows * n_columns + LINE)
    first = -(numbers.ctypes.data // numbers.itemsize) % LINE
    return numbers[first : first + n_rows * n_columns].reshape(n_rows, n_columns)


def _curvature(counts: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors, in rows, of the second derivatives of the loss at the frequencies of the classes.

    The odds of two classes are one number. The odds of more may all be shifted, which has no curvature.
    """
    shares = counts / counts.sum()
    if len(shares) == 2:
        return np.array([shares[0] * shares[1]]), np.ones((1, 1))
    values, vectors = np.linalg.eigh(np.diag(shares) - np.outer(shares, shares))
    return np.maximum(values, FLATTEST * values[-1]), np.ascontiguousarray(vectors.T)
