"""Files of libsvm with many labels, their sizes in the first line."""

from typing import BinaryIO

import numpy as np
from scipy import sparse

from labelsieve.datasets.dataset_error import DatasetError
from labelsieve.datasets.writers.arff_writer import number_texts
from labelsieve.datasets.writers.save_check import CheckedDataset


def write_libsvm(data: CheckedDataset, raw: BinaryIO) -> None:
    """Write rows, features and labels in the first line, and then rows like ``0,2 4:0.2 6:1``, counting from 0."""
    if not data.binary:
        raise DatasetError(
            "libsvm with many labels holds labels of 0 and 1 only.", file=data.file, remedy="Save as ARFF or Parquet."
        )
    for name, values in data.dataset.categories.items():
        if list(values) != [str(position) for position in range(len(values))]:  # {0,1} are numbers too
            raise DatasetError(
                f"feature {name!r} is nominal, and libsvm knows numbers only.",
                file=data.file,
                remedy="Save as ARFF or Parquet, or make one column of each value.",
            )
    X, Y = sparse.csr_array(data.X), sparse.csr_array(data.Y)
    for cells in (X, Y):
        cells.sum_duplicates()
        cells.eliminate_zeros()
    pairs = [f"{position}:{text}" for position, text in zip(X.indices.tolist(), number_texts(X.data, "nan"), strict=True)]
    labels = [str(position) for position in Y.indices.tolist()]
    raw.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n".encode())
    ends = np.column_stack([Y.indptr[:-1], Y.indptr[1:], X.indptr[:-1], X.indptr[1:]])
    for start in range(0, len(ends), 1024):
        # A row without features gets a zero, lest it look like an empty line or like a row of a table.
        raw.write(
            "".join(
                f"{','.join(labels[first:last])} {' '.join(pairs[begin:end]) or '0:0'}\n"
                for first, last, begin, end in ends[start : start + 1024].tolist()
            ).encode()
        )
