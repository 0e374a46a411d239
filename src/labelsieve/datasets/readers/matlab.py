"""MATLAB files of version 5, as the toolboxes of the field keep their data in."""

import io
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labelsieve.datasets.dataset_error import DatasetError, some_of
from labelsieve.datasets.readers.column_table import Column, Table, check_width
from labelsieve.datasets.readers.file_bytes import MAX_BYTES
from labelsieve.datasets.readers.matlab_check import TooLong, check_elements

# Names of features and labels, and whether the labels are q x n by custom (which matters only when q = n).
_PAIRS = (("data", "target", True), ("x", "y", False), ("features", "labels", False))
_NOT_NUMBERS = frozenset({"cell", "struct", "object", "char", "function", "opaque", "unknown"})
_PARTS = (("train_data", "train_target", True), ("test_data", "test_target", True))


def is_matlab(data: bytes) -> bool:
    """True for the first bytes of a MATLAB file, version 7.3 included."""
    return data.startswith((b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file", b"\x89HDF\r\n"))


def parse_matlab(data: bytes, file: Path, max_bytes: int = MAX_BYTES) -> Table:
    """Read ``data`` and ``target`` (or ``X`` and ``Y``, or parts ``train_data``, ..., joined) of a MATLAB file.

    Labels may lie in rows or in columns, as 0 and 1 or as -1 and 1. No variable may take more than ``max_bytes``.
    """
    from scipy import io as scipy_io

    if not data.startswith(b"MATLAB 5.0"):
        raise DatasetError("this is a MATLAB file of version 7.3.", "Save it with save(..., '-v7').", file)
    try:
        check_elements(data, max_bytes)
        listed = scipy_io.whosmat(io.BytesIO(data))
        known = {name.lower(): name for name, _, _ in listed}
        pairs = [_PARTS] if all(name in known for part in _PARTS for name in part[:2]) else [(pair,) for pair in _PAIRS]
        matched = next((pair for pair in pairs if all(name in known for part in pair for name in part[:2])), None)
        if matched is None:
            raise DatasetError(
                f"there are no variables 'data' and 'target'; there are {some_of(list(known.values()))}.",
                "Rename them: data is n x d, target is q x n.",
                file,
            )
        wanted = [known[name] for part in matched for name in part[:2]]
        for name, _, kind in listed:
            if name in wanted and kind in _NOT_NUMBERS:  # nor is it sure that these can be read safely
                raise _no_matrix(name, file)
        variables = scipy_io.loadmat(io.BytesIO(data), struct_as_record=True, variable_names=wanted)
    except (MemoryError, DatasetError):
        raise
    except TooLong as error:
        raise DatasetError(
            f"{error}, and {max_bytes:,} is the most.", "If that is right, pass a larger max_bytes=.", file
        ) from error
    except Exception as error:  # a damaged file brings out errors of every kind
        raise DatasetError(f"it cannot be read as MATLAB 5 ({error}).", "Fetch the file again.", file) from error
    blocks = []
    for features, labels, transposed in matched:
        X, Y = (_matrix(variables[known[name]], known[name], file) for name in (features, labels))
        n_rows = X.shape[0]
        if n_rows not in Y.shape:
            raise DatasetError(f"{known[features]} is {X.shape} and {known[labels]} is {Y.shape}: no common side.", file=file)
        if Y.shape[1] == n_rows and (transposed or Y.shape[0] != n_rows):
            Y = Y.T
        if not n_rows:
            raise DatasetError(f"{known[features]} has no rows.", "Is the file whole?", file)
        check_width(X.shape[1] + Y.shape[1], _memory(X) + _memory(Y), file)
        blocks.append((X, _zero_one(Y)))
    if len({(X.shape[1], Y.shape[1]) for X, Y in blocks}) > 1:
        raise DatasetError("its train and test parts have different columns.", file=file)
    scattered = any(sparse.issparse(X) for X, _ in blocks)
    rows = [sparse.hstack(block, format="csr") if scattered else np.hstack([block[0], _dense(block[1])]) for block in blocks]
    cells = sparse.csr_array(sparse.vstack(rows)) if scattered else np.vstack(rows)
    d, q = blocks[0][0].shape[1], blocks[0][1].shape[1]
    columns = [Column(f"feature{i + 1}") for i in range(d)] + [Column(f"label{i + 1}") for i in range(q)]
    return Table(file, tuple(columns), cells, n_labels=q)


def _no_matrix(name: str, file: Path) -> DatasetError:
    return DatasetError(f"variable {name!r} is not a matrix of numbers.", "Save it as a plain matrix.", file)


def _matrix(value: Any, name: str, file: Path) -> Any:
    kind = getattr(value, "dtype", np.dtype(object)).kind
    if kind not in "biuf" or value.ndim != 2:
        raise _no_matrix(name, file)
    if not sparse.issparse(value):
        return value.astype(np.float64)
    try:
        value.check_format(full_check=True)  # indices out of range would be written to
    except ValueError as error:
        raise DatasetError(f"variable {name!r} is damaged ({error}).", "Fetch the file again.", file) from error
    return sparse.csr_array(value, dtype=np.float64)


def _memory(values: Any) -> int:
    """Bytes of a matrix, unpacked: a packed file may be shorter than its columns are many."""
    if not sparse.issparse(values):
        return int(values.nbytes)
    return int(values.data.nbytes + values.indices.nbytes + values.indptr.nbytes)


def _dense(values: Any) -> Any:
    return values.toarray() if sparse.issparse(values) else values


def _zero_one(Y: Any) -> Any:
    """Labels of -1 and 1 as 0 and 1; others as they are."""
    if sparse.issparse(Y) and Y.nnz < Y.shape[0] * Y.shape[1]:
        return Y  # has zeros
    cells = _dense(Y)
    return (cells > 0).astype(np.float64) if (cells == -1).any() and np.isin(cells, (-1, 1)).all() else Y
