"""Binary models, one for each label, fitted in parallel; constant labels are predicted without a model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import gen_even_slices
from sklearn.utils.parallel import Parallel, delayed

from labelsieve.classifiers.shared_logistic import SharedLogistic, warn_unconverged
from labelsieve.classifiers.weight_routing import Weights, fit_weighted
from labelsieve.errors import InputError
from labelsieve.table_types import Matrix, is_sparse

TASKS = 2  # for every process: models differ in cost
MOST_LABELS = 64  # of a task


@dataclass(frozen=True)
class BinaryModel:
    """A fitted classifier of one label, or a constant prediction."""

    estimator: BaseEstimator
    constant: bool | None = None
    columns: NDArray[np.intp] | None = None  # the features of the model; None: all

    def _features(self, X: Matrix) -> Matrix:
        return X if self.columns is None else X[:, self.columns]

    def probability(self, X: Matrix) -> NDArray[np.float64]:
        """Probability of the label for every row."""
        if self.constant is not None:
            return np.full(X.shape[0], float(self.constant))
        probability: NDArray[np.float64] = self.estimator.predict_proba(self._features(X))[:, 1]
        return probability

    def decision(self, X: Matrix) -> NDArray[np.float64]:
        """Decision value for every row, positive where the label is present."""
        if self.constant is not None:
            return np.full(X.shape[0], 1.0 if self.constant else -1.0)
        decision: NDArray[np.float64] = self.estimator.decision_function(self._features(X))
        return decision

    def present(self, X: Matrix) -> NDArray[np.bool_]:
        """Prediction of the estimator for every row."""
        if self.constant is not None:
            return np.full(X.shape[0], self.constant)
        present: NDArray[np.bool_] = self.estimator.predict(self._features(X)) == 1
        return present


def fit_binary(
    base: BaseEstimator, X: Matrix, y: NDArray[Any], columns: NDArray[np.intp] | None = None, weights: Weights = None
) -> BinaryModel:
    """A clone of ``base`` fitted to 0/1 labels on ``columns`` of X; ``weights`` of the rows are positive."""
    n_present = int(np.count_nonzero(y))
    if n_present in (0, len(y)):
        return BinaryModel(None, n_present > 0)
    if columns is not None and len(columns) == 0:  # without features: the majority class
        return BinaryModel(None, is_majority(y, weights))
    return BinaryModel(fit_weighted(clone(base), X if columns is None else X[:, columns], y, weights), None, columns)


def is_majority(y: NDArray[Any], weights: Weights = None) -> bool:
    """True if a label is present in more than half of the rows, or of their weight.

    >>> is_majority(np.array([1, 0, 0])), is_majority(np.array([1, 0, 0]), np.array([3.0, 1.0, 1.0]))
    (False, True)
    """
    present = np.count_nonzero(y) if weights is None else weights[y != 0].sum()
    return bool(2 * present > (len(y) if weights is None else weights.sum()))


def fit_labels(
    base: BaseEstimator,
    X: Matrix,
    labels: sp.csr_matrix,
    *,
    columns: Callable[[int], NDArray[np.intp]] | None = None,
    weights: Weights = None,
    known: NDArray[np.bool_] | None = None,
    n_jobs: int | None = None,
) -> list[BinaryModel]:
    """A model for every column of ``labels``; ``columns(l)`` are the features of label ``l``.

    The model of a label has the rows in which it is ``known`` (default: all).
    """
    by_label = labels.tocsc()
    if columns is not None and is_sparse(X):
        X = X.tocsc()

    def rows_of(label: int) -> tuple[Any, NDArray[Any], NDArray[np.intp] | None, Weights]:
        y, features = by_label[:, label].toarray().ravel(), None if columns is None else columns(label)
        if known is None or known[:, label].all():
            return X, y, features, weights
        rows = np.flatnonzero(known[:, label])
        if not len(rows):
            raise InputError(f"Y, column {label}: the label is unknown in every row that counts; leave it out.")
        return X[rows], y[rows], features, None if weights is None else weights[rows]

    shared = SharedLogistic.of(base, X, weights) if columns is None else None
    if shared is not None:
        complete = np.ones(labels.shape[1], dtype=bool) if known is None else known.all(axis=0)
        counts = np.asarray(by_label.sum(axis=0, dtype=np.int64)).ravel()
        varying = np.flatnonzero(complete & (counts > 0) & (counts < labels.shape[0]))
        fits = shared.fit_labels([by_label[:, [label]].toarray().ravel().astype(np.uint8) for label in varying], n_jobs=n_jobs)
        fitted = {label: BinaryModel(model) for label, model in zip(varying.tolist(), fits, strict=True)}
        others = [label for label in range(labels.shape[1]) if label not in fitted]
        tasks = (delayed(_fit_known)(base, *rows_of(label)) for label in others)
        fitted |= zip(others, Parallel(n_jobs=n_jobs, prefer="threads")(tasks), strict=True)
        models = [fitted[label] for label in range(labels.shape[1])]
        warn_unconverged((label, model.estimator) for label, model in enumerate(models))
        return models
    # Processes get the rows with every task: one task for some labels, unless labels have rows of their own.
    n_labels, jobs = labels.shape[1], effective_n_jobs(n_jobs)
    n_tasks = n_labels if known is not None or jobs == 1 else max(min(n_labels, TASKS * jobs), -(-n_labels // MOST_LABELS))
    tasks = (
        delayed(_fit_some)(base, [rows_of(label) for label in range(some.start, some.stop)])
        for some in gen_even_slices(n_labels, n_tasks)
    )
    return [model for models in Parallel(n_jobs=n_jobs)(tasks) for model in models]


def _fit_known(
    base: BaseEstimator, X: Matrix, y: NDArray[Any], columns: NDArray[np.intp] | None = None, weights: Weights = None
) -> BinaryModel:
    """A logistic regression of one label, on its rows."""
    shared = SharedLogistic.of(base, X, weights)
    if shared is None or not 0 < np.count_nonzero(y) < len(y):
        return fit_binary(base, X, y, columns, weights)
    return BinaryModel(next(shared.fit_labels([y.astype(np.uint8)])))


def _fit_some(base: object, problems: list[tuple[Any, NDArray[Any], NDArray[np.intp] | None, Weights]]) -> list[BinaryModel]:
    return [fit_binary(base, *problem) for problem in problems]


def columns_of(selector: object) -> Callable[[int], NDArray[np.intp]]:
    """The features that a fitted selector selected for each label."""
    supports = getattr(selector, "label_support_", None)
    if supports is None:
        raise InputError(
            f"selector: {type(selector).__name__} has no label_support_, so it does not select features for each label; use "
            "LabelwiseSieve, or a pipeline with the selector as its first step."
        )
    if sp.issparse(supports):
        return lambda label: supports[[label]].nonzero()[1]
    return lambda label: np.flatnonzero(supports[label])


def probabilities(models: list[BinaryModel], X: Matrix) -> NDArray[np.float64]:
    """Probabilities of all labels: one column for each model."""
    return np.column_stack([model.probability(X) for model in models])
