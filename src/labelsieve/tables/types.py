"""Types of tables, targets and weights: what callers may pass, and what validation makes of it."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike, NDArray

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from labelsieve.tables.codes import Codes
    from labelsieve.tables.targets import TargetTable, TargetTypes

FloatArray = NDArray[np.float64]


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
    def __getitem__(self, key: object) -> Self: ...


class Frame(Protocol):
    """A data frame of pandas, polars, pyarrow or another library that narwhals reads."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def columns(self) -> Any: ...


class DeviceArray(Protocol):
    """An array of numpy or CuPy, for code that runs on the host and on a GPU."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: object) -> Any: ...
    def __setitem__(self, key: object, value: object) -> None: ...
    def __iadd__(self, other: object) -> Self: ...
    def reshape(self, *shape: int) -> Any: ...
    def view(self, dtype: object) -> Any: ...


class StoredTable(ABC):
    """A table of features and targets that is read column by column, because it need not fit into memory.

    :class:`labelsieve.datasets.ChunkedTable` is the one that users make.
    """

    has_rows: ClassVar[bool] = True  # False for counts of rows that are not here

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and features."""

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features, if they have any."""

    @property
    @abstractmethod
    def label_names(self) -> tuple[str, ...] | None:
        """Names of the targets, if they have any."""

    @property
    def weights(self) -> FloatArray | None:
        """Weights of the rows, if the table has them."""
        return None

    @abstractmethod
    def targets(self, target_type: "TargetTypes") -> "TargetTable":
        """Read all targets into memory."""

    @abstractmethod
    def take_rows(self, rows: NDArray[np.bool_]) -> "StoredTable":
        """Return the table of the rows where ``rows`` is true."""

    @abstractmethod
    def encode(self, discretizer: Any, targets: "Codes", weights: FloatArray | None) -> "Codes":
        """Encode all features into a file of codes, reading each column once."""


# Collections that have no rows in this process, by the package of their type.
LAZY_PACKAGES = {"dask": "Dask", "dask_expr": "Dask", "pyspark": "Spark"}

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
    """Convert lists to an array; return arrays, sparse matrices and frames as they are."""
    found: Features = table if hasattr(table, "shape") else np.asarray(table)
    return found


def is_sparse(table: object) -> "TypeIs[SparseMatrix]":
    """Tell whether a table is a sparse matrix or array of SciPy."""
    return bool(sp.issparse(table))


def dense_array(table: Matrix) -> FloatArray:
    """Convert a sparse matrix to an array; return an array as it is.

    >>> dense_array(sp.csr_array([[0, 1]]))
    array([[0, 1]])
    """
    return table.toarray() if is_sparse(table) else table
