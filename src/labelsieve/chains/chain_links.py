"""The models of a chain: each sees features and the values of its parents."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.classifiers.binary_models import BinaryModel

CELLS = 2**23  # of the rows that are put before a model at a time, when rows are repeated for several label sets

Values = NDArray[np.uint8]


def beside(X: Any, columns: NDArray[np.intp] | None, parents: Any) -> Any:
    """What a model sees: columns of X, and the values of the parents to their right. Sparse stays sparse.

    >>> beside(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1]), np.array([[0], [1]]))
    array([[2., 0.],
           [4., 1.]])
    """
    seen = X if columns is None else X[:, columns]
    if parents.shape[1] == 0:
        return seen.tocsr() if sp.issparse(seen) else seen
    if sp.issparse(seen):
        return sp.hstack([seen, sp.csr_matrix(parents, dtype=np.float64)], format="csr")
    return np.hstack([seen, parents.toarray() if sp.issparse(parents) else parents])


@dataclass(frozen=True)
class Link:
    """The model of one label. ``parents`` are places in the chain, all before its own."""

    label: int
    model: BinaryModel
    parents: NDArray[np.intp]
    columns: NDArray[np.intp] | None

    def probability(self, X: Any, values: Values) -> NDArray[np.float64]:
        """Of the label, for rows whose parents have these values."""
        return self.model.probability(beside(X, self.columns, values))

    def decision(self, X: Any, values: Values) -> NDArray[np.float64]:
        return self.model.decision(beside(X, self.columns, values))

    def present(self, X: Any, values: Values) -> NDArray[np.bool_]:
        """As the base estimator itself predicts."""
        return self.model.present(beside(X, self.columns, values))

    def probability_of_pairs(self, X: Any, rows: NDArray[np.intp], values: Values) -> NDArray[np.float64]:
        """The same for any pairs of a row of X and values of the parents, some at a time."""
        step = max(1, CELLS // (X.shape[1] + 1))
        found = [
            self.probability(X[rows[start : start + step]], values[start : start + step]) for start in range(0, len(rows), step)
        ]
        return np.concatenate(found) if found else np.empty(0)

    def table(self, X: Any) -> NDArray[np.float64]:
        """Probability for every row and all values of the parents: shape ``(n_rows, 2^n_parents)``, as in ``all_sets``."""
        sets = all_sets(len(self.parents))
        rows = np.repeat(np.arange(X.shape[0]), len(sets))
        return self.probability_of_pairs(X, rows, np.tile(sets, (X.shape[0], 1))).reshape(X.shape[0], len(sets))


@dataclass(frozen=True)
class Chain:
    """The links in their order, and labels that have one value alone: ``fixed`` by label."""

    links: list[Link]
    fixed: dict[int, bool]

    @property
    def n_labels(self) -> int:
        return len(self.links) + len(self.fixed)

    @cached_property
    def labels(self) -> NDArray[np.intp]:
        """The label at every place."""
        return np.array([link.label for link in self.links], dtype=np.intp)

    @property
    def needs_columns(self) -> bool:
        return any(link.columns is not None for link in self.links)

    def by_label(self, values: NDArray[Any]) -> NDArray[Any]:
        """Columns by place as columns by label, with the fixed ones among them."""
        found = np.empty((values.shape[0], self.n_labels), dtype=values.dtype)
        found[:, self.labels] = values
        for label, present in self.fixed.items():
            found[:, label] = present
        return found

    def along(self, X: Any, values: Values, answer: Any) -> NDArray[np.float64]:
        """What every link answers (``Link.probability``, ``Link.decision``) when the labels have these values, by place."""
        found = np.empty(values.shape)
        for place, link in enumerate(self.links):
            found[:, place] = answer(link, X, values[:, link.parents])
        return found


def all_sets(n: int) -> Values:
    """All rows of ``n`` zeros and ones, counting up; the first column changes last.

    >>> all_sets(2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    numbers = np.arange(2**n)[:, np.newaxis]
    return (numbers >> np.arange(n - 1, -1, -1) & 1).astype(np.uint8)


def set_numbers(values: Values) -> NDArray[np.intp]:
    """Where rows of zeros and ones are in ``all_sets``; the last axis is that of the columns."""
    weights = 1 << np.arange(values.shape[-1] - 1, -1, -1, dtype=np.intp)
    numbers: NDArray[np.intp] = values.astype(np.intp) @ weights
    return numbers
