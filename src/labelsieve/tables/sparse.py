"""Sparse matrices from users: their structure is checked before compiled code, which trusts it, reads them."""

from typing import Any, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.errors import InputError
from labelsieve.tables.types import Matrix, TableLike, TargetsLike

REMEDY = "Rebuild the matrix, for example from a COO matrix with the right shape."


def check_sparse(matrix: Any, what: str) -> None:
    """Refuse a sparse matrix whose indices or pointers lead outside of it; anything else passes.

    SciPy does not check them when a matrix is built from its arrays, and reads or writes any memory when it is converted.

    Cost: one pass over the indices.

    >>> check_sparse(sp.csr_array(([1.0], [7], [0, 1]), shape=(1, 3)), "X")
    Traceback (most recent call last):
        ...
    labelsieve.errors.InputError: X is a malformed sparse matrix: row 0 stores column 7, and there are 3 columns. Rebuild ...
    """
    if not sp.issparse(matrix):
        return
    if matrix.format in ("csr", "csc", "bsr"):
        _check_compressed(matrix, what)
    elif matrix.format == "coo":
        for axis, (indices, size) in enumerate(zip(matrix.coords, matrix.shape, strict=True)):
            if len(indices) != len(matrix.data):
                _refuse(what, f"it has {len(matrix.data)} values and {len(indices)} indices")
            _check_range(indices, size, what, f"axis {axis}")
    elif matrix.format == "lil":
        for row, (columns, values) in enumerate(zip(matrix.rows, matrix.data, strict=True)):
            if len(columns) != len(values):
                _refuse(what, f"row {row} has {len(values)} values and {len(columns)} column indices")
            _check_range(np.asarray(columns, dtype=np.int64), matrix.shape[1], what, f"row {row}")
    elif matrix.format == "dok":
        for axis, indices in enumerate(np.array(list(matrix.keys()), dtype=np.int64).reshape(len(matrix), -1).T):
            _check_range(indices, matrix.shape[axis], what, f"axis {axis}")


@overload
def validate_data(estimator: object, /, X: TableLike, y: TargetsLike, **options: Any) -> tuple[Matrix, NDArray[Any]]: ...
@overload
def validate_data(estimator: object, /, X: TableLike, **options: Any) -> Matrix: ...
def validate_data(
    estimator: object, /, X: TableLike, y: TargetsLike = "no_validation", **options: Any
) -> Matrix | tuple[Matrix, NDArray[Any]]:
    """Call scikit-learn's ``validate_data`` after :func:`check_sparse`."""
    from sklearn.utils import validation  # loaded late: counting does not need scikit-learn

    check_sparse(X, "X")
    check_sparse(y, "Y")
    validated: Matrix | tuple[Matrix, NDArray[Any]] = validation.validate_data(estimator, X=X, y=y, **options)
    return validated


def _check_compressed(matrix: Any, what: str) -> None:
    """Check pointers and indices of a CSR, CSC or BSR matrix; indices of the last are those of blocks."""
    indptr, indices, shape = matrix.indptr, matrix.indices, matrix.shape
    if matrix.format == "bsr":
        shape = tuple(size // block for size, block in zip(shape, matrix.blocksize, strict=True))
    major, minor = ("column", "row") if matrix.format == "csc" else ("row", "column")
    n_major, n_minor = shape[::-1] if matrix.format == "csc" else (shape if len(shape) == 2 else (1, *shape))
    if indptr.ndim != 1 or len(indptr) != n_major + 1:
        _refuse(what, f"it has {len(indptr)} pointers (indptr) for {n_major} {major}s, which need {n_major + 1}")
    if indptr[0] != 0:
        _refuse(what, f"its first pointer (indptr) is {indptr[0]}, not 0")
    if (indptr[1:] < indptr[:-1]).any():
        first = int(np.argmax(indptr[1:] < indptr[:-1]))
        _refuse(what, f"its pointers (indptr) decrease after {major} {first}, from {indptr[first]} to {indptr[first + 1]}")
    n_stored = min(len(indices), len(matrix.data))
    if indptr[-1] > n_stored:
        _refuse(what, f"its last pointer (indptr) is {indptr[-1]}, and {n_stored} values are stored")
    wrong = _first_outside(indices[: indptr[-1]], n_minor)
    if wrong is not None:
        number = int(np.searchsorted(indptr, wrong, side="right")) - 1
        outside = f"{major} {number} stores {minor} {indices[wrong]}, and there are {n_minor} {minor}s"
        _refuse(what, outside if matrix.format != "bsr" else f"in blocks, {outside}")


def _first_outside(indices: NDArray[Any], size: int) -> int | None:
    """Return the position of the first index that is not in ``range(size)``; None if all are."""
    # Without a sign a negative number is a large one, so that one comparison finds both kinds.
    unsigned = indices.view(f"u{indices.dtype.itemsize}")
    if len(unsigned) == 0 or int(unsigned.max()) < size:
        return None
    return int(np.argmax(unsigned >= size))


def _check_range(indices: NDArray[Any], size: int, what: str, where: str) -> None:
    wrong = _first_outside(indices, size)
    if wrong is not None:
        _refuse(what, f"{where} has the index {indices[wrong]}, and its length is {size}")


def _refuse(what: str, cause: str) -> None:
    raise InputError(f"{what} is a malformed sparse matrix: {cause}. {REMEDY}")
