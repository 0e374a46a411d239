"""Checks of what measures are given: true labels, predicted labels or scores, row weights."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.errors import InputError
from labelsieve.tables.frames import NumberTable, read_table
from labelsieve.tables.types import CompressedMatrix, Matrix, TargetsLike, WeightsLike, is_sparse
from labelsieve.tables.weights import read_weights

Floats = NDArray[np.float64]
BooleanMatrix = NDArray[np.bool_] | CompressedMatrix
FOR_UNKNOWN = ("hamming_loss", "hamming_score", "example_accuracy", "example_f1", "macro_f1", "micro_f1")
MOST_DENSE = 2**24  # cells of a sparse table that is stored as a boolean array: 16 MB


@dataclass(eq=False)
class TrueLabels:
    """True labels that are validated once and evaluated many times. Measures accept it as ``Y``.

    Small sparse tables become dense, and consecutive ranking measures of the same scores share one sort: scores must not be
    changed in place between them.

    >>> from labelsieve.metrics import coverage, ranking_loss
    >>> truth, scores = TrueLabels.of([[1, 0, 0], [0, 1, 1]]), np.array([[0.9, 0.1, 0.2], [0.5, 0.3, 0.8]])
    >>> ranking_loss(truth, scores), coverage(truth, scores)
    (0.25, 1.0)
    """

    labels: BooleanMatrix
    last: tuple[Any, str, Any] | None = None  # scores, rule for ties, and the ranks of the labels
    known: NDArray[np.bool_] | None = None  # the cells that are not NaN; None: all

    @classmethod
    def of(cls, Y: "TargetsLike | TrueLabels") -> Self:
        """Validate labels, which may be unknown (NaN) in some rows."""
        labels, known = read_known_labels(Y)
        if is_sparse(labels) and np.prod(labels.shape) <= MOST_DENSE:
            labels = labels.toarray()
        return cls(labels, known=known)


def read_labels(Y: TargetsLike | TrueLabels, *, what: str = "Y") -> BooleanMatrix:
    """Read labels as a boolean array or, if they are sparse, a CSR matrix that stores only ones; all must be known."""
    labels, known = read_known_labels(Y, what=what)
    if known is not None:
        row, column = np.argwhere(~known)[0]
        remedy = f"leave the row out, or use {', '.join(FOR_UNKNOWN)}." if what == "Y" else "fill it."
        raise InputError(f"{what}, row {row}, column {column} is nan: here all labels are known, labels are 0 or 1; {remedy}")
    return labels


def read_known_labels(Y: TargetsLike | TrueLabels, *, what: str = "Y") -> tuple[BooleanMatrix, NDArray[np.bool_] | None]:
    """Read labels, absent where they are unknown (NaN), with the mask of the known cells (None: all are)."""
    if isinstance(Y, TrueLabels):
        return Y.labels, Y.known
    table = _without_text(read_table(Y, what=what, allow_missing=True), what)
    stored = table.sparse.data if table.dense is None else table.dense
    known = None
    if stored.dtype != np.bool_:
        wrong = ~((stored == 0) | (stored == 1))
        if table.dense is not None and stored.dtype.kind == "f" and wrong.any() and (unknown := np.isnan(stored)).any():
            known, wrong = ~unknown, wrong & ~unknown
        if wrong.any():
            raise InputError(
                f"{what} holds {stored[wrong].flat[0]!s}, and labels are 0 or 1. Compare scores and probabilities with "
                "a threshold first; for other values there is sklearn.preprocessing.MultiLabelBinarizer."
            )
    if table.dense is not None:
        return (table.dense if known is None else table.dense == 1).astype(np.bool_, copy=False), known
    labels = table.sparse.astype(np.bool_).tocsr()
    labels.eliminate_zeros()
    return labels, None


def read_two(
    Y: TargetsLike | TrueLabels, predicted: TargetsLike
) -> tuple[BooleanMatrix, BooleanMatrix, NDArray[np.bool_] | None]:
    """Read true and predicted labels, both dense or both sparse, absent in unknown cells, with the mask of the known cells."""
    truth, known = read_known_labels(Y)
    prediction = read_labels(predicted, what="predicted")
    same_shape(truth.shape, prediction.shape, "predicted")
    if known is not None:
        prediction = (prediction.toarray() if is_sparse(prediction) else prediction) & known
    if is_sparse(truth) != is_sparse(prediction):
        truth, prediction = sp.csr_array(truth), sp.csr_array(prediction)
    return truth, prediction, known


def read_numbers(values: TargetsLike, *, what: str) -> Matrix:
    """Read finite numbers as a float64 array, or as a CSR matrix if they are sparse."""
    table = _without_text(read_table(values, what=what), what)
    stored = table.sparse.data if table.dense is None else table.dense
    if stored.dtype.kind == "f" and not np.isfinite(stored).all():
        raise InputError(_where_not_finite(table, what))
    if table.dense is not None:
        return table.dense.astype(np.float64, copy=False)
    return table.sparse.astype(np.float64).tocsr()


def read_row_weights(sample_weight: WeightsLike, n_rows: int) -> Floats:
    """Read one weight for each row; None: ones.

    Only ratios of weights matter to a measure, so they are scaled exactly, by a power of two: the largest is near 1, and sums
    and squares of very large or very small ones stay finite.
    """
    weights = read_weights(sample_weight, n_rows)
    return np.ones(n_rows) if weights is None else np.ldexp(weights, 1 - int(np.frexp(weights.max())[1]))


def same_shape(expected: tuple[int, int], found: tuple[int, int], what: str) -> None:
    """Refuse an array of another shape than Y."""
    if expected != found:
        raise InputError(f"{what} has shape {found}, but Y has shape {expected}; the shapes must be equal.")


def _without_text(table: NumberTable, what: str) -> NumberTable:
    """Refuse columns of text: their codes are ranks of the values, so a constant "1" would be a 0."""
    if table.text:
        raise InputError(
            f"{what}, {table.name(min(table.text))} holds text or categories, and the measures need numbers: convert it first, "
            "for instance with frame.astype(float)."
        )
    return table


def _where_not_finite(table: NumberTable, what: str) -> str:
    """Return the message that names the first cell, row by row, that is no finite number."""
    if table.dense is None:
        stored = table.sparse.tocoo()
        rows, columns, values = stored.row, stored.col, stored.data
    else:
        rows, columns = np.nonzero(~np.isfinite(table.dense))
        values = table.dense[rows, columns]
    bad = np.flatnonzero(~np.isfinite(values))
    first = bad[np.lexsort((columns[bad], rows[bad]))[0]]
    cell = f"{what}, row {rows[first]}, {table.name(int(columns[first]))}"
    return f"{cell} is {values[first]}; the measures need finite numbers."
