"""Text of libsvm and of the extreme classification repository, and pairs of matrices of SciPy."""

import io
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

from labelsieve.datasets.writers.save_check import CheckedDataset
from labelsieve.datasets.writers.text_writers import BLOCK, number_texts
from labelsieve.errors import DatasetError
from labelsieve.table_types import CompressedMatrix


def write_libsvm(data: CheckedDataset, raw: BinaryIO) -> None:
    """Write rows, features and labels in the first line, and then rows like ``0,2 4:0.2 6:1``, counting from 0."""
    X, Y = _matrices(data, "libsvm")
    raw.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n".encode())
    for first, last in _blocks(X):
        rows, labels = X[first:last], Y[first:last]
        texts = number_texts(rows.data, "nan")
        pairs = [f"{position}:{text}" for position, text in zip(rows.indices.tolist(), texts, strict=True)]
        names = list(map(str, labels.indices.tolist()))
        ends = np.column_stack([labels.indptr[:-1], labels.indptr[1:], rows.indptr[:-1], rows.indptr[1:]])
        # A row without features gets a zero, lest it look like an empty line or like a row of a table.
        raw.write(
            "".join(
                f"{','.join(names[start:stop])} {' '.join(pairs[begin:end]) or '0:0'}\n"
                for start, stop, begin, end in ends.tolist()
            ).encode()
        )


def write_npz_features(data: CheckedDataset, raw: BinaryIO) -> None:
    """Write the features as scipy.sparse.load_npz reads them."""
    _save(_matrices(data, "npz")[0], raw)


def write_npz_labels(data: CheckedDataset, raw: BinaryIO) -> None:
    """Write the labels, with ones in a byte each."""
    _save(_matrices(data, "npz")[1].astype(np.uint8), raw)


def _save(matrix: CompressedMatrix, raw: BinaryIO) -> None:
    archive = io.BytesIO()  # an archive goes back to write sizes, which a packed file cannot
    sparse.save_npz(archive, matrix)
    raw.write(archive.getbuffer())


def _matrices(data: CheckedDataset, form: str) -> tuple[Any, Any]:
    """Features and labels by rows, without zeros; refuse what the format does not keep."""
    if not data.binary:
        raise DatasetError(f"{form} with many labels holds labels of 0 and 1 only.", "Save as ARFF or Parquet.", data.file)
    for name, values in data.dataset.categories.items():
        if list(values) != [str(position) for position in range(len(values))]:  # {0,1} are numbers too
            raise DatasetError(
                f"feature {name!r} is nominal, and {form} knows numbers only.",
                "Save as ARFF or Parquet, or make one column of each value.",
                data.file,
            )
    X, Y = sparse.csr_array(data.X), sparse.csr_array(data.Y)
    for cells in (X, Y):
        cells.sum_duplicates()
        cells.eliminate_zeros()
    return X, Y


def _blocks(X: CompressedMatrix) -> Iterator[tuple[int, int]]:
    """Consecutive rows with about :data:`BLOCK` cells, whose texts are in memory at the same time."""
    first = 0
    while first < X.shape[0]:
        enough = int(np.searchsorted(X.indptr, int(X.indptr[first]) + BLOCK, side="right")) - 1
        last = min(max(first + 1, enough), first + BLOCK, X.shape[0])
        yield first, last
        first = last
