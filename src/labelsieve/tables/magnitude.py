"""Numbers whose squares are too large or too small for floating point are scaled by a power of two, or refused."""

from math import inf, log10
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelsieve.errors import InputError
from labelsieve.tables.types import CompressedMatrix, FloatArray, Matrix, is_sparse

Numbers = TypeVar("Numbers", FloatArray, CompressedMatrix)
LARGEST, SMALLEST = 1e145, 1e-145  # sums of 10**15 squares stay below 1e308, and squares are not subnormal
LARGEST_FOR_MODELS = 1e30  # beyond it solvers of linear models may never end; trees have numbers up to 3e38
_DIGITS = 305  # of a sum, of 308: some are left for the steps that follow


def largest_magnitude(*tables: ArrayLike | CompressedMatrix) -> float:
    """Return the largest absolute value in arrays or sparse matrices; 0 if they are empty."""
    largest = 0.0
    for table in tables:
        values = table.data if is_sparse(table) else np.asarray(table)
        if values.size:
            largest = max(largest, float(values.max()), -float(values.min()))
    return largest


def extreme_exponent(*tables: ArrayLike | CompressedMatrix) -> int:
    """Return the exponent ``e`` for which values times ``2 ** -e`` are at most 1; 0 where their squares are no problem.

    >>> extreme_exponent(np.array([3.0])), extreme_exponent(np.array([2.0**600])), extreme_exponent(np.array([2.0**-600]))
    (0, 601, -599)
    """
    largest = largest_magnitude(*tables)
    return 0 if largest == 0 or SMALLEST <= largest <= LARGEST else int(np.frexp(largest)[1])


def column_exponents(X: Matrix) -> NDArray[np.int32]:
    """Return the :func:`extreme_exponent` of every column.

    >>> column_exponents(np.array([[3.0, 2.0**600, 0.0]])).tolist()
    [0, 601, 0]
    """
    largest = _column_maxima(X)
    extreme = (largest > 0) & ((largest < SMALLEST) | (largest > LARGEST))
    return np.where(extreme, np.frexp(largest)[1], 0).astype(np.int32)


def _column_maxima(X: Matrix) -> FloatArray:
    """Return the largest absolute value of every column."""
    maxima = np.abs(X).max(axis=0) if isinstance(X, np.ndarray) else abs(X).max(axis=0)
    return np.asarray(maxima.toarray() if is_sparse(maxima) else maxima, dtype=np.float64).ravel()


def times_power_of_two(table: Numbers, exponent: int) -> Numbers:
    """Multiply an array or compressed sparse matrix by ``2 ** exponent``, exactly unless a value becomes subnormal."""
    if exponent == 0:
        return table
    if isinstance(table, np.ndarray):
        return np.ldexp(np.asarray(table, dtype=np.float64), exponent)
    scaled = table.astype(np.float64, copy=True)
    scaled.data = np.ldexp(scaled.data, exponent)
    return scaled


def moderate(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale a column by a power of two if its squares would overflow or vanish; otherwise return it as it is."""
    return times_power_of_two(column, -extreme_exponent(column))


def moderate_columns(table: Matrix) -> Matrix:
    """Scale every column of an array or a sparse matrix as :func:`moderate` does."""
    exponents = column_exponents(table) if table.shape[0] and table.shape[1] else np.zeros(1, dtype=np.int32)
    if not exponents.any():
        return table
    if isinstance(table, np.ndarray):
        return np.ldexp(np.asarray(table, dtype=np.float64), -exponents)
    scaled = table.tocsc().astype(np.float64, copy=True)
    scaled.data = np.ldexp(scaled.data, np.repeat(-exponents, np.diff(scaled.indptr)))
    return scaled


def check_magnitude(name: str, X: Matrix, what: str, weights: FloatArray | None = None, *, degree: int = 2) -> None:
    """Refuse features or targets whose weighted sums of ``degree``-th powers overflow in the calculations of ``name``.

    >>> check_magnitude("MDDM", np.array([[1.0, 1e200]]), "X")
    Traceback (most recent call last):
        ...
    labelsieve.errors.InputError: MDDM: X, column 1 has values up to 1e+200, and sums of their powers overflow; scale ...
    """
    largest, weight = largest_magnitude(X), 1.0 if weights is None else float(weights.max())
    digits = log10(X.shape[0]) + (log10(largest) if largest else -inf) * 2 + log10(weight)
    if digits * (degree / 2) <= _DIGITS:
        return
    if weight > largest:
        raise InputError(f"{name}: sample_weight has values up to {weight:.3g}, and sums overflow; divide them by their mean.")
    column = int(np.argmax(_column_maxima(X)))
    raise InputError(
        f"{name}: {what}, column {column} has values up to {largest:.3g}, and sums of their powers overflow; scale the column, "
        "for example with sklearn.preprocessing.StandardScaler."
    )


def check_for_models(name: str, X: Matrix) -> None:
    """Refuse features that linear models and trees cannot calculate with: solvers may never end.

    >>> check_for_models("BinaryRelevance", np.array([[1.0, 1e-200]]))
    Traceback (most recent call last):
        ...
    labelsieve.errors.InputError: BinaryRelevance: X, column 1 has values up to 1e-200, for which models do not converge; ...
    """
    ends = [end.toarray().ravel() if is_sparse(end) else end for end in (X.max(axis=0), X.min(axis=0))]
    largest = np.maximum(ends[0], -ends[1])
    extreme = np.flatnonzero((largest > LARGEST_FOR_MODELS) | ((largest > 0) & (largest < SMALLEST)))
    if len(extreme):
        column = int(extreme[0])
        raise InputError(
            f"{name}: X, column {column} has values up to {largest[column]:.3g}, for which models do not converge; scale the "
            "column, for example with sklearn.preprocessing.MaxAbsScaler."
        )
