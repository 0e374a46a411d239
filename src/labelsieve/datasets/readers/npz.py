"""Pairs of files of scipy.sparse: features in ``NAME.X.npz`` and labels in ``NAME.Y.npz``."""

import io
import math
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.readers.column_table import AdjacentCells, Column, Table, check_width
from labelsieve.datasets.readers.files import DEFAULT_LIMIT, read_bytes, require_memory
from labelsieve.errors import DatasetError, InputError
from labelsieve.tables.sparse import check_sparse
from labelsieve.tables.types import Matrix

COPIES = 3  # of the arrays of a matrix: as they are stored, with float64 and int32, and sorted by rows
REMEDY = "Name the features NAME.X.npz and the labels NAME.Y.npz (or X.NAME.npz and Y.NAME.npz), and give the first."
# NotImplementedError: zipfile raises it for a compression method that it does not know.
_DAMAGE = (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError, SyntaxError, ValueError, zlib.error)
_NAME = re.compile(r"(?:(?<=^)|(?<=[._-]))X(?=[._-])")
_PARTS = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}


def is_npz(data: bytes) -> bool:
    """True for the first bytes of an archive of numpy arrays."""
    return data.startswith(b"PK\x03\x04") and data[30 : 30 + int.from_bytes(data[26:28], "little")].endswith(b".npy")


def label_file(file: Path) -> Path:
    """The file of the labels, by the name of that of the features.

    >>> label_file(Path("songs.X.npz")).name, label_file(Path("X.trn.npz")).name
    ('songs.Y.npz', 'Y.trn.npz')
    """
    if not _NAME.search(file.name):
        raise DatasetError("its name does not say which file has the labels.", REMEDY, file)
    return file.with_name(_NAME.sub("Y", file.name, count=1))


def parse_npz(data: bytes, file: Path, max_bytes: int = DEFAULT_LIMIT) -> Table:
    """Read a pair of files from the content of the features; the labels are read from the file next to it."""
    labels = label_file(file)
    if not labels.is_file():
        raise DatasetError(f"there is no file {labels.name} with the labels next to it.", REMEDY, file)
    X = read_matrix(data, file, max_bytes)
    return pair_table(X, read_matrix(read_bytes(labels, max_bytes), labels, max_bytes), file)


def pair_table(X: Matrix, Y: Matrix, file: Path) -> Table:
    """Features and labels as a table."""
    if X.shape[0] != Y.shape[0]:
        raise DatasetError(
            f"it has {X.shape[0]} rows, and the labels have {Y.shape[0]}.", "Do the two files belong together?", file
        )
    if 0 in X.shape:
        raise DatasetError(f"it is a matrix of the shape {X.shape}.", "Is the file whole?", file)
    names = [Column(f"feature{i}") for i in range(X.shape[1])] + [Column(f"label{i}") for i in range(Y.shape[1])]
    return Table(file, tuple(names), AdjacentCells((X, Y)), n_labels=Y.shape[1])


def read_matrix(data: bytes, file: Path, max_bytes: int = DEFAULT_LIMIT) -> Any:
    """A sparse matrix that scipy.sparse.save_npz wrote, as a csr_array of float64 without zeros."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            content = sum(member.file_size for member in archive.infolist())
            require_memory(COPIES * content, f"an archive with {content:,} bytes of content", file, max_bytes)
            arrays = {member.filename.removesuffix(".npy"): _array(archive, member, file) for member in archive.infolist()}
    except _DAMAGE as error:
        if isinstance(error, DatasetError):
            raise
        raise DatasetError(f"it cannot be read as an archive of arrays ({error}).", "Fetch the file again.", file) from error
    return _matrix(arrays, len(data), file)


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, file: Path) -> NDArray[Any]:
    """An array whose declared size is that of its content: it is checked before memory is allocated."""
    with archive.open(member) as raw:
        version = npy.read_magic(raw)
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read_header(raw)
        size = math.prod(shape)
        if dtype.hasobject or dtype.kind not in "biufSU" or len(shape) > 1 or size * dtype.itemsize > member.file_size:
            raise DatasetError(
                f"{member.filename} is no list of numbers of the declared length.", "Is this a sparse matrix of SciPy?", file
            )
        content = raw.read()
    return np.frombuffer(content, dtype, count=size).reshape(shape)


def _matrix(arrays: dict[str, NDArray[Any]], n_bytes: int, file: Path) -> Any:
    kind = arrays.get("format", np.array(b"")).item()
    kind = kind.decode("latin-1") if isinstance(kind, bytes) else kind
    if kind not in _PARTS or not {"shape", "data", *_PARTS[kind]} <= arrays.keys():
        formats = f"a sparse matrix in one of the formats {', '.join(_PARTS)}"
        raise DatasetError(f"it does not hold {formats}.", "Save it with scipy.sparse.save_npz(file, matrix.tocsr()).", file)
    numbers = [arrays[name] for name in ("data", "shape", *_PARTS[kind])]
    if any(array.ndim != 1 for array in numbers) or numbers[0].dtype.kind not in "biuf" or len(numbers[1]) != 2:
        raise DatasetError("its arrays are not those of a sparse matrix of numbers.", "Save it again.", file)
    if any(array.dtype.kind not in "iu" for array in numbers[1:]):
        raise DatasetError("its indices or its shape are not whole numbers.", "Save it again.", file)
    cells, shape, first, second = numbers
    n_rows, n_columns = (int(size) for size in shape)
    check_width(n_columns, n_bytes, file)
    check_width(n_rows, n_bytes, file)
    kept = (np.int32, np.int64)
    first, second = (array if array.dtype in kept else array.astype(np.int64) for array in (first, second))
    given: Any
    if kind == "coo":
        if not len(cells) == len(first) == len(second):
            raise DatasetError("it has more values than indices, or fewer.", "Save it again.", file)
        given = sparse.coo_array((cells, (first, second)), shape=(n_rows, n_columns))
    else:
        made = sparse.csr_array if kind == "csr" else sparse.csc_array
        given = made((cells, first, second), shape=(n_rows, n_columns))
    try:
        check_sparse(given, "the matrix")
    except InputError as error:
        raise DatasetError(str(error), "", file) from error
    matrix = sparse.csr_array(given, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix
