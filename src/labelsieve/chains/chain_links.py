"""The links of a chain: models of one label each, on features and the values of the label's parents."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.classifiers.binary_models import BinaryModel

CELLS = 2**23  # of the input of a model, when rows are repeated for several labelsets

Values = NDArray[np.uint8]


def link_input(X: Any, columns: NDArray[np.intp] | None, parents: Any) -> Any:
    """The input of a link: columns of X, then the values of the parents. Sparse input stays sparse.

    >>> link_input(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1]), np.array([[0], [1]]))
    array([[2., 0.],
           [4., 1.]])
    """
    features = X if columns is None else X[:, columns]
    if parents.shape[1] == 0:
        return features.tocsr() if sp.issparse(features) else features
    if sp.issparse(features):
        return sp.hstack([features, sp.csr_matrix(parents, dtype=np.float64)], format="csr")
    return np.hstack([features, parents.toarray() if sp.issparse(parents) else parents])


@dataclass(frozen=True)
class Link:
    """The model of one label. ``parents`` are earlier positions in the chain."""

    label: int
    model: BinaryModel
    parents: NDArray[np.intp]
    columns: NDArray[np.intp] | None

    def probability(self, X: Any, values: Values) -> NDArray[np.float64]:
        """Probability of the label for rows whose parents have these values."""
        return self.model.probability(link_input(X, self.columns, values))

    def decision(self, X: Any, values: Values) -> NDArray[np.float64]:
        """Decision value of the label for rows whose parents have these values."""
        return self.model.decision(link_input(X, self.columns, values))

    def present(self, X: Any, values: Values) -> NDArray[np.bool_]:
        """Prediction of the base estimator for rows whose parents have these values."""
        return self.model.present(link_input(X, self.columns, values))

    def probability_of_pairs(self, X: Any, rows: NDArray[np.intp], values: Values) -> NDArray[np.float64]:
        """Probability of the label for pairs of a row of X and values of the parents, in blocks."""
        step = max(1, CELLS // (X.shape[1] + 1))
        blocks = [
            self.probability(X[rows[start : start + step]], values[start : start + step]) for start in range(0, len(rows), step)
        ]
        return np.concatenate(blocks) if blocks else np.empty(0)

    def table(self, X: Any) -> NDArray[np.float64]:
        """Probability for every row and all values of the parents: shape ``(n_rows, 2^n_parents)``, as in ``all_labelsets``."""
        sets = all_labelsets(len(self.parents))
        rows = np.repeat(np.arange(X.shape[0]), len(sets))
        return self.probability_of_pairs(X, rows, np.tile(sets, (X.shape[0], 1))).reshape(X.shape[0], len(sets))


@dataclass(frozen=True)
class Chain:
    """The links in chain order, and the values of constant labels: ``fixed`` by label."""

    links: list[Link]
    fixed: dict[int, bool]

    @property
    def n_labels(self) -> int:
        return len(self.links) + len(self.fixed)

    @cached_property
    def labels(self) -> NDArray[np.intp]:
        """The label at every position."""
        return np.array([link.label for link in self.links], dtype=np.intp)

    @property
    def needs_columns(self) -> bool:
        return any(link.columns is not None for link in self.links)

    def by_label(self, values: NDArray[Any]) -> NDArray[Any]:
        """Columns in chain order as columns in label order, with those of constant labels."""
        columns = np.empty((values.shape[0], self.n_labels), dtype=values.dtype)
        columns[:, self.labels] = values
        for label, present in self.fixed.items():
            columns[:, label] = present
        return columns

    def along(self, X: Any, values: Values, method: Callable[[Link, Any, Values], NDArray[np.float64]]) -> NDArray[np.float64]:
        """``Link.probability`` or ``Link.decision`` of every link when the labels have these values, in chain order."""
        results = np.empty(values.shape)
        for position, link in enumerate(self.links):
            results[:, position] = method(link, X, values[:, link.parents])
        return results


def all_labelsets(n: int) -> Values:
    """All labelsets of ``n`` labels in ascending binary order; the first column changes last.

    >>> all_labelsets(2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    numbers = np.arange(2**n)[:, np.newaxis]
    return (numbers >> np.arange(n - 1, -1, -1) & 1).astype(np.uint8)


def labelset_numbers(values: Values) -> NDArray[np.intp]:
    """Row indices of labelsets in ``all_labelsets``; the last axis is that of the labels."""
    weights = 1 << np.arange(values.shape[-1] - 1, -1, -1, dtype=np.intp)
    numbers: NDArray[np.intp] = values.astype(np.intp) @ weights
    return numbers
