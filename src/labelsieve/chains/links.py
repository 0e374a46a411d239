"""The fit of a chain and its links: a model of each label on features and the values of the label's parents."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils.parallel import Parallel, delayed

from labelsieve.classifiers.base import Weights, requesting_weights, weight_arguments
from labelsieve.classifiers.binary_relevance import BinaryModel, Columns, fit_binary
from labelsieve.labelspace import LabelNetwork
from labelsieve.progress import progress_bar
from labelsieve.resources import one_blas_thread
from labelsieve.tables.types import CompressedMatrix, Matrix, SparseMatrix, TableLike, is_sparse

CELLS = 2**23  # of the input of a model, when rows are repeated for several labelsets

Values = NDArray[np.uint8]


def fit_chain(
    base: BaseEstimator,
    X: Matrix,
    labels: sp.csc_matrix,
    network: LabelNetwork,
    *,
    columns: Columns | None = None,
    cv: int | None = None,
    weights: Weights = None,
    n_jobs: int | None = None,
) -> "Chain":
    """Fit a clone of ``base`` for every label of the network that is not constant.

    With true values of the parents, ``n_jobs`` labels are fitted in parallel. With ``cv``, labels are fitted one after the
    other: each is predicted for held-out rows by cross-validation, and its children learn from those predictions. ``weights``
    of the rows are positive.
    """
    counts = np.diff(labels.indptr)  # no zeros are stored
    n_rows = labels.shape[0]
    fixed = {label: bool(counts[label]) for label in network.order if counts[label] in (0, n_rows)}
    chain = [label for label in network.order if label not in fixed]
    position_of = {label: position for position, label in enumerate(chain)}
    parents = [np.array(sorted(position_of[parent] for parent in network.parents[label]), dtype=np.intp) for label in chain]
    features = [None if columns is None else columns(label) for label in chain]
    values = labels[:, chain]
    truth = [_column(values, position) for position in range(len(chain))]
    with progress_bar("Fitting the chain, label by label") as progress, one_blas_thread():
        if cv is None:
            tasks = (
                delayed(_fit)(base, X, of_label, values[:, parent_positions], y, weights)
                for of_label, parent_positions, y in zip(features, parents, truth, strict=True)
            )
            models = []
            for model in Parallel(n_jobs=n_jobs, return_as="generator", prefer="threads")(tasks):
                models.append(model)
                progress(len(models), len(chain))
        else:
            models = _fit_held_out(base, X, truth, parents, features, cv, weights, n_jobs, progress)
    return Chain([Link(*fields) for fields in zip(chain, models, parents, features, strict=True)], fixed)


def _column(values: sp.csc_matrix, position: int) -> NDArray[np.uint8]:
    """Return a column of a 0/1 matrix as an array."""
    column = np.zeros(values.shape[0], dtype=np.uint8)
    stored = slice(values.indptr[position], values.indptr[position + 1])
    column[values.indices[stored]] = values.data[stored]
    return column


def _fit(
    base: BaseEstimator, X: Matrix, columns: NDArray[np.intp] | None, parents: Any, y: NDArray[Any], weights: Weights
) -> BinaryModel:
    """Fit the model of a label to the columns of X and the values of its parents."""
    no_input = columns is not None and len(columns) == 0 and parents.shape[1] == 0
    return fit_binary(base, link_input(X, columns, parents), y, np.empty(0, dtype=np.intp) if no_input else None, weights)


def _fit_held_out(
    base: BaseEstimator,
    X: Matrix,
    truth: list[NDArray[np.uint8]],
    parents: list[NDArray[np.intp]],
    features: list[NDArray[np.intp] | None],
    cv: int,
    weights: Weights,
    n_jobs: int | None,
    progress: Callable[[int, int], object],
) -> list[BinaryModel]:
    """Fit one label after the other; a label of a single row keeps its true values, because it has no held-out row."""
    with_children = set(np.concatenate(parents).tolist()) if parents else set()
    predicted = np.zeros((len(truth[0]) if truth else 0, len(truth)), dtype=np.uint8)
    params = None if weights is None else weight_arguments(base, weights)
    models = []
    for position, y in enumerate(truth):
        model = _fit(base, X, features[position], predicted[:, parents[position]], y, weights)
        models.append(model)
        n_folds = min(cv, int(np.bincount(y, minlength=2).min()))
        if position in with_children:
            if n_folds < 2 or model.constant is not None:
                predicted[:, position] = y
            else:
                inputs = link_input(X, features[position], predicted[:, parents[position]])
                folds = StratifiedKFold(n_folds)
                estimator = requesting_weights(base)
                predicted[:, position] = cross_val_predict(estimator, inputs, y, cv=folds, n_jobs=n_jobs, params=params)
        progress(position + 1, len(truth))
    return models


@dataclass(frozen=True)
class Chain:
    """A fitted chain: its links in chain order, and the values of constant labels, ``fixed`` by label."""

    links: list["Link"]
    fixed: dict[int, bool]

    @cached_property
    def labels(self) -> NDArray[np.intp]:
        """The label at every position of the chain."""
        return np.array([link.label for link in self.links], dtype=np.intp)

    @property
    def needs_columns(self) -> bool:
        """Whether some link has features of its own, so that columns of X are taken."""
        return any(link.columns is not None for link in self.links)

    def by_label(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return columns in chain order as columns in label order, with those of constant labels."""
        columns = np.empty((values.shape[0], len(self.links) + len(self.fixed)), dtype=values.dtype)
        columns[:, self.labels] = values
        for label, present in self.fixed.items():
            columns[:, label] = present
        return columns

    def along(
        self, X: TableLike, values: Values, method: Callable[["Link", Any, Values], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Call ``Link.probability`` or ``Link.decision`` of every link, in chain order, with these values of the labels."""
        results = np.empty(values.shape)
        for position, link in enumerate(self.links):
            results[:, position] = method(link, X, values[:, link.parents])
        return results


@dataclass(frozen=True)
class Link:
    """A link of a chain: the model of one label. ``parents`` are earlier positions in the chain."""

    label: int
    model: BinaryModel
    parents: NDArray[np.intp]
    columns: NDArray[np.intp] | None

    def probability(self, X: Matrix, values: Values) -> NDArray[np.float64]:
        """Predict the probability of the label for rows whose parents have these values."""
        return self.model.probability(link_input(X, self.columns, values))

    def decision(self, X: Matrix, values: Values) -> NDArray[np.float64]:
        """Compute the decision value of the label for rows whose parents have these values."""
        return self.model.decision(link_input(X, self.columns, values))

    def present(self, X: Matrix, values: Values) -> NDArray[np.bool_]:
        """Predict the label for rows whose parents have these values."""
        return self.model.present(link_input(X, self.columns, values))

    def probability_of_pairs(self, X: Matrix, rows: NDArray[np.intp], values: Values) -> NDArray[np.float64]:
        """Predict the probability of the label for pairs of a row of X and values of the parents, in blocks."""
        step = max(1, CELLS // (X.shape[1] + 1))
        blocks = [
            self.probability(X[rows[start : start + step]], values[start : start + step]) for start in range(0, len(rows), step)
        ]
        return np.concatenate(blocks) if blocks else np.empty(0)

    def table(self, X: Matrix) -> NDArray[np.float64]:
        """Predict the probability for every row and all values of the parents, as in ``all_labelsets``."""
        sets = all_labelsets(len(self.parents))
        rows = np.repeat(np.arange(X.shape[0]), len(sets))
        return self.probability_of_pairs(X, rows, np.tile(sets, (X.shape[0], 1))).reshape(X.shape[0], len(sets))


def link_input(X: Matrix, columns: NDArray[np.intp] | None, parents: NDArray[Any] | SparseMatrix) -> Matrix:
    """Return the input of a link: columns of X, then the values of the parents. Sparse input stays sparse.

    >>> link_input(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1]), np.array([[0], [1]]))
    array([[2., 0.],
           [4., 1.]])
    """
    features = X if columns is None else X[:, columns]
    if parents.shape[1] == 0:
        return features.tocsr() if is_sparse(features) else features
    if is_sparse(features):
        joined: CompressedMatrix = sp.hstack([features, sp.csr_matrix(parents, dtype=np.float64)], format="csr")
        return joined
    return np.hstack([features, parents.toarray() if is_sparse(parents) else parents])


def all_labelsets(n: int) -> Values:
    """List all labelsets of ``n`` labels in ascending binary order; the first column changes last.

    >>> all_labelsets(2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    numbers = np.arange(2**n)[:, np.newaxis]
    return (numbers >> np.arange(n - 1, -1, -1) & 1).astype(np.uint8)


def labelset_numbers(values: Values) -> NDArray[np.intp]:
    """Return the row indices of labelsets in ``all_labelsets``; the last axis is that of the labels."""
    weights = 1 << np.arange(values.shape[-1] - 1, -1, -1, dtype=np.intp)
    numbers: NDArray[np.intp] = values.astype(np.intp) @ weights
    return numbers
