"""Where the true labels of a row come in the order of their scores: every ranking measure is a formula over this."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.errors import one_of
from labelsieve.metrics.measure_arrays import Floats, SyntheticData, read_labels, read_numbers, read_row_weights, same_shape

Ties = Literal["worst", "half", "best", "earlier", "later"]
Rows = Literal["informative", "all"]

_BLOCK = 2**20  # cells that are sorted at a time: some tens of megabytes, whatever the size of the table
# Up to so many labels in a row, on average, comparing each with all scores of its row takes less time than sorting: half of it
# for 1 to 3 labels, 0.8 for 4 to 6, the same for 8, 1.5 for 12, twice as much for 26 (6 to 174 columns, 250 to 1,200 rows).
_FEW = 6


@dataclass(frozen=True, eq=False)
class Places:
    """One entry for every true label of every row, rows in order.

    ``ahead`` counts the absent labels that come before it, ``own`` the true ones up to it, itself included.
    """

    row: NDArray[np.intp]
    ahead: Floats
    own: Floats
    n_true: Floats
    n_labels: int

    @property
    def place(self) -> Floats:
        """Its place in the row, from 1."""
        return self.ahead + self.own

    @property
    def informative(self) -> NDArray[np.bool_]:
        """Rows with some labels, but not all: only they can be ranked well or badly."""
        return (self.n_true > 0) & (self.n_true < self.n_labels)

    def sum(self, values: Floats) -> Floats:
        """Sum over the true labels of every row."""
        sums: Floats = np.bincount(self.row, values, minlength=len(self.n_true)).astype(np.float64, copy=False)
        return sums

    def mean(self, values: Floats) -> Floats:
        """Mean over the true labels of every row; 0 without any."""
        return self.sum(values) / np.maximum(self.n_true, 1)

    def largest(self, values: Floats, empty: float) -> Floats:
        """Largest over the true labels of every row, and ``empty`` without any."""
        found = np.full(len(self.n_true), -np.inf)
        np.maximum.at(found, self.row, values)
        return np.where(self.n_true > 0, found, empty)


def find_places(Y: Any, scores: Any, ties: Ties, allowed: tuple[str, ...], sample_weight: Any) -> tuple[Places, Floats]:
    """Places of the true labels, and the weights of the rows."""
    one_of(ties, "ties", allowed)
    if isinstance(Y, SyntheticData) and Y.last is not None and Y.last[0] is scores and Y.last[1] == ties:
        return Y.last[2], read_row_weights(sample_weight, Y.labels.shape[0])
    truth, numbers = read_labels(Y), read_numbers(scores, what="scores")
    same_shape(truth.shape, numbers.shape, "scores")
    blocks = [
        (first + row, ahead, own)
        for first, labels, block in _blocks(truth, numbers)
        for row, ahead, own in [_places(labels, block, ties)]
    ]
    row, ahead, own = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    n_true = np.bincount(row, minlength=truth.shape[0]).astype(np.float64)
    places = Places(row, ahead, own, n_true, truth.shape[1])
    if isinstance(Y, SyntheticData):
        Y.last = scores, ties, places
    return places, read_row_weights(sample_weight, truth.shape[0])


def average(values: Floats, places: Places, weights: Floats, rows: Rows, nothing: float) -> float:
    """Mean over the rows that are asked for; ``nothing`` when there are none."""
    one_of(rows, "rows", ("informative", "all"))
    counted = places.informative & (weights > 0) if rows == "informative" else weights > 0
    return float(np.average(values[counted], weights=weights[counted])) if counted.any() else nothing


def _blocks(truth: Any, scores: Any) -> Iterator[tuple[int, NDArray[np.bool_], Floats]]:
    n_rows, n_labels = truth.shape
    step = max(1, _BLOCK // n_labels)
    for first in range(0, n_rows, step):
        parts = (table[first : first + step] for table in (truth, scores))
        labels, block = (part.toarray() if sp.issparse(part) else part for part in parts)
        yield first, labels, block


def _places(labels: NDArray[np.bool_], scores: Floats, ties: Ties) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Positions are counted through the sorted rows, one row after the other, and looked at only where a label is true."""
    n_labels = labels.shape[1]
    if ties == "worst" and np.count_nonzero(labels) <= _FEW * len(labels):
        return _by_comparing(labels, scores)
    if ties == "later":
        labels, scores = labels[:, ::-1], scores[:, ::-1]
    in_order = ties in ("earlier", "later")
    order = np.argsort(-scores, axis=1, kind="stable" if in_order else None)
    sorted_labels = np.take_along_axis(labels, order, axis=1).ravel()
    position = np.flatnonzero(sorted_labels)
    row = position // n_labels
    first_of_row = np.searchsorted(position, row * n_labels)  # how many true labels the rows before have
    true_before = np.zeros(sorted_labels.size + 1, dtype=np.intp)
    np.cumsum(sorted_labels, out=true_before[1:])

    def absent_before(end: NDArray[np.intp]) -> NDArray[np.intp]:
        true = true_before[end] - first_of_row
        absent: NDArray[np.intp] = end - row * n_labels - true
        return absent

    own = np.arange(1, len(position) + 1) - first_of_row
    if in_order:
        return row, absent_before(position).astype(np.float64), own.astype(np.float64)
    start, end = _tie_groups(np.take_along_axis(scores, order, axis=1), position)
    if ties == "best":
        return row, absent_before(start).astype(np.float64), own.astype(np.float64)
    upto = absent_before(end)
    if ties == "half":
        return row, (absent_before(start) + upto) / 2, own.astype(np.float64)
    return row, upto.astype(np.float64), (end - row * n_labels - upto).astype(np.float64)  # all get the last place of the tie


def _by_comparing(labels: NDArray[np.bool_], scores: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Places where ties go to the worst: how many absent and true labels score no less."""
    row, column = np.nonzero(labels)
    no_less = scores[row] >= scores[row, column][:, np.newaxis]
    all_of_them = np.count_nonzero(no_less, axis=1)
    own = np.count_nonzero(no_less & labels[row], axis=1)
    return row, (all_of_them - own).astype(np.float64), own.astype(np.float64)


def _tie_groups(scores: Floats, position: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the scores that equal the one at a position of the sorted rows start, and where the next lower one does."""
    starts_group = np.ones(scores.shape, dtype=np.bool_)
    np.not_equal(scores[:, 1:], scores[:, :-1], out=starts_group[:, 1:])
    starts = np.append(np.flatnonzero(starts_group), scores.size)
    group = np.searchsorted(starts, position, side="right")
    return starts[group - 1], starts[group]
