"""Types of tables, targets and weights: what callers may pass, and what validation makes of it."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike, NDArray

if TYPE_CHECKING:
    from typing_extensions import TypeIs

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


class SparseMatrix(Protocol):
    """A sparse matrix or sparse array of SciPy, in any format."""

    data: NDArray[Any]

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def nnz(self) -> int: ...
    @property
    def format(self) -> str: ...
    @property
    def T(self) -> Self: ...
    def tocsr(self, copy: bool = False) -> "CompressedMatrix": ...
    def tocsc(self, copy: bool = False) -> "CompressedMatrix": ...
    def tocoo(self, copy: bool = False) -> Any: ...
    def toarray(self) -> NDArray[Any]: ...
    def copy(self) -> Self: ...
    def astype(self, dtype: DTypeLike, copy: bool = True) -> Self: ...
    def multiply(self, other: "ArrayLike | SparseMatrix") -> "SparseMatrix": ...
    def sum(self, axis: int | None = None) -> Any: ...
    def mean(self, axis: int) -> NDArray[Any]: ...
    def max(self, axis: int) -> "NDArray[Any] | SparseMatrix": ...
    def min(self, axis: int) -> "NDArray[Any] | SparseMatrix": ...
    def floor(self) -> Self: ...
    def __abs__(self) -> Self: ...
    def __sub__(self, other: "SparseMatrix") -> Self: ...
    @overload
    def __matmul__(self, other: NDArray[Any]) -> NDArray[Any]: ...
    @overload
    def __matmul__(self, other: "SparseMatrix") -> "CompressedMatrix": ...
    def __rmatmul__(self, other: NDArray[Any]) -> NDArray[Any]: ...


class CompressedMatrix(SparseMatrix, Protocol):
    """A sparse matrix of compressed rows (CSR) or columns (CSC)."""

    indices: NDArray[np.integer]
    indptr: NDArray[np.integer]
    has_canonical_format: bool

    def sum_duplicates(self) -> None: ...
    def sort_indices(self) -> None: ...
    def eliminate_zeros(self) -> None: ...
    def __getitem__(self, key: Any) -> Self: ...


class Frame(Protocol):
    """A data frame of pandas, polars, pyarrow or another library that narwhals reads."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def columns(self) -> Any: ...


# What callers may pass.
TableLike = ArrayLike | SparseMatrix | Frame
LabelSets = Sequence[Collection[Hashable]]
TargetsLike = TableLike | LabelSets
WeightsLike = ArrayLike | None
ColumnsLike = str | Iterable[int | str] | NDArray[Any]  # names or positions; "all" where that is a choice

# What validation makes of it.
Matrix = FloatArray | CompressedMatrix
Features = Matrix | Frame  # a frame may have columns of text


def as_table(table: Any) -> Features:
    """Lists as an array; arrays, sparse matrices and frames as they are."""
    found: Features = table if hasattr(table, "shape") else np.asarray(table)
    return found


def is_sparse(table: object) -> "TypeIs[SparseMatrix]":
    """True for the sparse matrices and arrays of SciPy."""
    return bool(sp.issparse(table))
