"""Encoding of labels as a 0/1 matrix, and decoding of predictions to the form of Y."""

from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from labelsieve.counting.number_table import read_values
from labelsieve.counting.sparse_format import check_sparse
from labelsieve.errors import InputError
from labelsieve.table_types import SparseMatrix, TargetsLike, is_sparse


@dataclass(frozen=True)
class LabelCoder:
    """The form of Y: dense or sparse, one column or many, and the two values of each.

    ``values[l]`` are the values for absent and present: 0 and 1, or the two values of a column in ascending order.
    """

    values: list[NDArray[Any]]
    kind: str  # "one", "many" or "sparse"
    dtype: np.dtype[Any]

    @classmethod
    def of_matrix(cls, labels: SparseMatrix) -> "LabelCoder":
        """The coder of a sparse 0/1 matrix."""
        return cls([np.array([0, 1])] * labels.shape[1], "sparse", labels.dtype)

    @property
    def classes(self) -> Any:
        """The attribute ``classes_`` of scikit-learn.

        The two values of a single column, the indices of the labels if Y is 0/1 (as in ``OneVsRestClassifier``), and otherwise
        the two values of each column.
        """
        if self.kind == "one":
            return self.values[0]
        return np.arange(len(self.values)) if self._only_bits else self.values

    @property
    def _only_bits(self) -> bool:
        return all(len(values) == 2 and values[0] == 0 and values[1] == 1 for values in self.values)

    def encode(self, Y: TargetsLike) -> NDArray[np.uint8]:
        """Other labels in the form of Y as zeros and ones; for a constant label, any other value is a one."""
        check_sparse(Y, "Y")
        table = Y.toarray() if is_sparse(Y) else _read_values(Y)
        table = table.reshape(table.shape[0], -1)
        if table.shape[1] != len(self.values):
            raise InputError(f"Y has {table.shape[1]} labels, and the training rows had {len(self.values)}.")
        codes = np.empty(table.shape, dtype=np.uint8)
        for label, (absent, present) in enumerate(self.values):
            column = table[:, label]
            unknown = (column != absent) & (column != present)
            if unknown.any() and absent != present:
                row = int(np.argmax(unknown))
                raise InputError(
                    f"Y, row {row}, column {label}: {column[row]!s} is not a value of the label, which was {absent!s} or "
                    f"{present!s} in the training rows."
                )
            codes[:, label] = column == present if absent != present else unknown
        return codes

    def decode(self, present: NDArray[np.bool_]) -> Any:
        """Predictions in the form of Y."""
        if self.kind == "sparse":
            return sp.csr_matrix(present.astype(self.dtype))
        if self._only_bits:
            decoded = present.astype(self.dtype)
        else:
            columns = [values[present[:, label].astype(np.intp)] for label, values in enumerate(self.values)]
            decoded = np.column_stack(columns)
        return decoded[:, 0] if self.kind == "one" else decoded


def encode_known_labels(Y: TargetsLike) -> tuple[sp.csr_matrix, LabelCoder, NDArray[np.bool_] | None]:
    """Y as a sparse 0/1 matrix of shape (n_rows, n_labels), the coder that decodes predictions, and the known cells.

    Labels may be unknown in some rows (NaN, None, NA); None: all are known.

    >>> matrix, coder, known = encode_known_labels([["no", "yes"], ["no", "no"]])
    >>> matrix.toarray()
    array([[0, 1],
           [0, 0]], dtype=uint8)
    """
    if is_sparse(Y):
        matrix = _read_sparse(Y)
        return matrix.astype(np.uint8), LabelCoder.of_matrix(matrix), None
    table, missing = _read_values_and_missing(Y)
    kind = "many" if table.ndim == 2 else "one"
    if table.ndim != 2:
        table = column_or_1d(table).reshape(-1, 1)
    _refuse_empty(table)
    known = None if missing is None else ~missing.reshape(table.shape)
    present = np.zeros(table.shape, dtype=np.uint8)
    values = []
    for label in range(table.shape[1]):
        rows = slice(None) if known is None else known[:, label]
        column = table[rows, label]
        if not len(column):
            raise InputError(f"Y, column {label}: the label is unknown in every row; leave it out.")
        found = _distinct(column, label)
        if len(found) > 2:
            kind_of_target = type_of_target(column)
            if kind_of_target.startswith("continuous"):
                raise InputError(
                    f"Unknown label type: {kind_of_target}. Y, column {label}: labels have two values, not real numbers."
                )
            raise InputError(
                f"Only binary classification is supported. Y, column {label}, has {len(found)} different values, and a label "
                "has two; for classes, pass one 0/1 column for each."
            )
        if table.dtype.kind in "biuf" and np.isin(found, (0, 1)).all():
            found = np.array([0, 1], dtype=table.dtype)
        present[rows, label] = column == found[-1] if len(found) == 2 else 0
        values.append(found if len(found) == 2 else np.repeat(found, 2))
    return sp.csr_matrix(present), LabelCoder(values, kind, table.dtype), known


def _read_sparse(Y: SparseMatrix) -> sp.csr_matrix:
    if Y.ndim != 2:
        raise InputError(f"Y: a sparse matrix of labels has rows and columns, and this has {Y.ndim} dimension.")
    _refuse_empty(Y)
    check_sparse(Y, "Y")
    matrix = sp.csr_matrix(Y, copy=True)  # the next steps work in place, and Y may be read-only
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if not (matrix.data == 1).all():
        raise InputError("Y: a sparse matrix of labels must hold 0 and 1 only.")
    return matrix


def _read_values(Y: TargetsLike) -> NDArray[Any]:
    """Y as an array without missing values."""
    table, missing = _read_values_and_missing(Y)
    if missing is not None:
        raise InputError(unknown_label(~missing))
    return table


def _read_values_and_missing(Y: TargetsLike) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Y as an array, and its missing cells; None: no cell.

    Objects that are all numbers, as in frames of several types, become numbers.
    """
    table = read_values(Y, "Y")
    if table.dtype.kind == "f" and not np.isfinite(table).all():
        if np.isinf(table).any():
            raise InputError(unknown_label(~np.isinf(table)))
        return table, np.isnan(table)
    if table.dtype.kind != "O":
        return table, None
    missing = np.array([is_missing(value) for value in table.ravel()], dtype=bool).reshape(table.shape)
    present = table[~missing]
    if all(isinstance(value, Number | np.bool_) for value in present):
        numbers = np.array(present.tolist())
        if not missing.any():
            return numbers.reshape(table.shape), None
        filled = np.zeros(table.shape, dtype=numbers.dtype if len(numbers) else np.float64)
        filled[~missing] = numbers
        return filled, missing
    return table, missing if missing.any() else None


def is_missing(value: object) -> bool:
    """True for None, NaN, NaT and the NA of pandas.

    >>> is_missing(None), is_missing(float("nan")), is_missing("no")
    (True, True, False)
    """
    if value is None or type(value).__name__ == "NAType":  # comparisons with NA are neither true nor false
        return True
    different: object = value != value
    return isinstance(different, bool | np.bool_) and bool(different)


def unknown_label(known: NDArray[np.bool_]) -> str:
    """The message for labels that are not all known."""
    row, *columns = np.argwhere(~known)[0].tolist()
    cell = f"row {row}" + "".join(f", column {column}" for column in columns)
    return (
        f"Input y contains NaN, infinity or another missing value: Y, {cell}. Every label must be known here; fill it, drop "
        "the row, or use a learner of separate labels: BinaryRelevance, MLkNN, BRkNN."
    )


def _refuse_empty(table: NDArray[Any] | SparseMatrix) -> None:
    if 0 in table.shape:
        raise InputError(f"Y is empty: it has {table.shape[0]} rows and {table.shape[1]} columns.")


def _distinct(column: NDArray[Any], label: int) -> NDArray[Any]:
    try:
        if column.dtype.kind == "O":
            set(column.tolist())  # raises for sets and lists, which have no hash and no total order
        return np.unique(column)
    except TypeError as error:
        raise InputError(
            f"Y, column {label}, holds values that cannot be sorted ({error}); a label has two values of one type. Sets of "
            "labels become 0/1 columns with sklearn.preprocessing.MultiLabelBinarizer."
        ) from None
