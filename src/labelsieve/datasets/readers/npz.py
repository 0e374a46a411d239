"""Pairs of files of scipy.sparse: features in ``NAME.X.npz`` and labels in ``NAME.Y.npz``."""

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labelsieve.datasets.readers.columns import AdjacentCells, Column, Table, check_width
from labelsieve.datasets.readers.files import DEFAULT_LIMIT, read_bytes, require_memory
from labelsieve.errors import DatasetError
from labelsieve.tables.frames import check_sparse
from labelsieve.tables.types import Matrix

COPIES = 3  # of the arrays of a matrix: as they are stored, with float64 and int32, and sorted by rows
FORMATS = ("csr", "csc", "coo")
REMEDY = "Name the features NAME.X.npz and the labels NAME.Y.npz (or X.NAME.npz and Y.NAME.npz), and give the first."
_NAME = re.compile(r"(?:(?<=^)|(?<=[._-]))X(?=[._-])")


def parse_npz(data: bytes, file: Path, max_bytes: int = DEFAULT_LIMIT) -> Table:
    """Read a pair of files from the content of the features; the labels are read from the file next to it."""
    labels = label_file(file)
    if not labels.is_file():
        raise DatasetError(f"there is no file {labels.name} with the labels next to it.", REMEDY, file)
    X = read_matrix(data, file, max_bytes)
    return pair_table(X, read_matrix(read_bytes(labels, max_bytes), labels, max_bytes), file)


def label_file(file: Path) -> Path:
    """Return the path of the labels that belongs to a path of features.

    >>> label_file(Path("songs.X.npz")).name, label_file(Path("X.trn.npz")).name
    ('songs.Y.npz', 'Y.trn.npz')
    """
    if not _NAME.search(file.name):
        raise DatasetError("its name does not say which file has the labels.", REMEDY, file)
    return file.with_name(_NAME.sub("Y", file.name, count=1))


def read_matrix(data: bytes, file: Path, max_bytes: int = DEFAULT_LIMIT) -> Any:
    """Read a sparse matrix that scipy.sparse.save_npz wrote, as a csr_array of float64 without zeros."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            content = sum(member.file_size for member in archive.infolist())
        require_memory(COPIES * content, f"an archive with {content:,} bytes of content", file, max_bytes)
        found = sparse.load_npz(io.BytesIO(data))
        if found.format not in FORMATS or found.dtype.kind not in "biuf":
            raise ValueError(f"it is in the format {found.format} with {found.dtype} values")
        for size in found.shape:  # memory is taken for every row and column when it is converted
            check_width(size, len(data), file)
        check_sparse(found, "the matrix")
        matrix = sparse.csr_array(found, dtype=np.float64, copy=True)
    except DatasetError:
        raise
    except Exception as error:  # a damaged file brings out errors of every kind, also requests for more memory than there is
        remedy = f"Save a matrix of numbers in one of the formats {', '.join(FORMATS)} with scipy.sparse.save_npz."
        raise DatasetError(f"it cannot be read as a sparse matrix of SciPy ({error}).", remedy, file) from error
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def pair_table(X: Matrix, Y: Matrix, file: Path) -> Table:
    """Make a table of features and labels."""
    if X.shape[0] != Y.shape[0]:
        raise DatasetError(
            f"it has {X.shape[0]} rows, and the labels have {Y.shape[0]}.", "Do the two files belong together?", file
        )
    if 0 in X.shape:
        raise DatasetError(f"it is a matrix of the shape {X.shape}.", "Is the file whole?", file)
    names = [Column(f"feature{i}") for i in range(X.shape[1])] + [Column(f"label{i}") for i in range(Y.shape[1])]
    return Table(file, tuple(names), AdjacentCells((X, Y)), n_labels=Y.shape[1])
