"""Files in libsvm format and in the text format of the extreme classification repository.

:class:`LibsvmRows` lets scikit-learn parse the text in blocks of whole lines, so that the text may be longer than the memory.
:func:`parse_libsvm` joins the blocks; a :class:`~labelsieve.datasets.ChunkedTable` stores them in files.
"""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.readers.columns import AdjacentCells, Column, Table, check_width
from labelsieve.datasets.readers.files import CELL, DEFAULT_LIMIT, require_memory, whole_lines
from labelsieve.errors import DatasetError

BLOCK = 2**19  # bytes of text that are parsed at a time
WORKING_BYTES = 80  # for each byte of a block, at most, while it is parsed
COLUMN_BYTES = 400  # of a column: its name, and what describes it
LARGEST_LABEL = 2**53  # scikit-learn reads labels as floats
# Possessive (++, *+): a long number is read once, and not again from each of its digits.
SIZES = re.compile(r"(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})\s*")


def parse_libsvm(data: bytes | Iterable[bytes], file: Path, max_bytes: int = DEFAULT_LIMIT) -> Table:
    r"""Read rows of labels and ``index:value`` pairs; a first line of three numbers gives rows, features and labels.

    Features count from 1, unless an index 0 occurs or the first line gives the sizes: then from 0. Where the sizes are given,
    empty lines are rows if the number of rows is right with them only.

    ``data`` may be the content in pieces of any size. What is read takes 12 bytes for each pair and each label, and as much
    again while it is joined.

    >>> parse_libsvm(b"1,3 1:0.5\n 2:1\n", Path("a.svm")).cells.toarray()
    array([[0.5, 0. , 1. , 1. ],
           [0. , 1. , 0. , 0. ]])
    """
    rows = LibsvmRows([data] if isinstance(data, bytes) else data, file, max_bytes)
    blocks = list(rows)
    layout = rows.layout()
    ends = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(block.indptr) for block in blocks]), dtype=np.int64)])
    indices = np.concatenate([block.indices for block in blocks])
    indices -= np.asarray(layout.first_index, indices.dtype)
    values = np.concatenate([block.data for block in blocks])
    del blocks
    # Indices of one width, or scipy copies them.
    X = sparse.csr_array((values, indices, ends.astype(indices.dtype)), shape=(len(ends) - 1, layout.n_features))
    if not values.all():
        X.eliminate_zeros()
    X, Y = (X, layout.Y) if layout.is_row.all() else (X[layout.is_row], layout.Y[layout.is_row])
    columns = tuple(map(Column, (*layout.feature_names, *layout.label_names)))
    return Table(file, columns, AdjacentCells((X, Y)), n_labels=Y.shape[1])


@dataclass(frozen=True, eq=False)
class LibsvmLayout:
    """The labels and the sizes of a file, which are known when all its lines have been read."""

    is_row: NDArray[np.bool_]  # False for empty lines, unless they are needed for the number of rows in the first line
    first_index: int  # of the first feature, 0 or 1
    n_features: int
    Y: Any  # csr_array of float, a row for every line
    label_numbers: Sequence[int]  # numbers that the file has for the labels

    @property
    def feature_names(self) -> list[str]:
        return [f"feature{index + self.first_index}" for index in range(self.n_features)]

    @property
    def label_names(self) -> list[str]:
        return [f"label{number}" for number in self.label_numbers]


class LibsvmRows:
    r"""Iterates over the features of a file, block by block; labels are collected on the way, and :meth:`layout` returns them.

    >>> rows = LibsvmRows([b"1,3 3:0.25 5:1\n", b"2\n"], Path("a.txt"), 2**30)
    >>> [block.toarray().tolist() for block in rows], rows.layout().label_names
    ([[[0.0, 0.0, 0.0, 0.25, 0.0, 1.0]], [[0.0]]], ['label1', 'label2', 'label3'])
    """

    def __init__(self, pieces: Iterable[bytes], file: Path, max_bytes: int) -> None:
        self._pieces, self._file, self._max_bytes = pieces, file, max_bytes
        self._sizes: tuple[int, int, int] | None = None  # rows, features and labels, if the first line gives them
        self._filled: list[NDArray[np.bool_]] = []
        self._labels: list[NDArray[Any]] = []
        self._n_labels: list[NDArray[np.int64]] = []
        self._n_bytes = self._n_cells = self._width = 0
        self._lowest = 1  # index, or 0 as soon as that occurs

    def __iter__(self) -> Iterator[sparse.csr_array]:
        """Yield the features of blocks of lines, a row for every line; a column 0 is empty if features count from 1."""
        line = 1
        size = max(2**14, min(BLOCK, self._max_bytes // (4 * WORKING_BYTES)))
        for block in whole_lines(self._pieces, self._file, size):
            if line == 1:
                first, _, rest = block.partition(b"\n")
                if found := SIZES.fullmatch(first.decode("latin-1")):
                    self._sizes, block, line = (int(found[1]), int(found[2]), int(found[3])), rest, 2
            self._n_bytes += len(block)
            what = f"text of at least {self._n_bytes:,} bytes with {self._n_cells:,} cells"
            require_memory(WORKING_BYTES * len(block) + CELL * self._n_cells, what, self._file, self._max_bytes)
            yield self._read_block(block.split(b"\n")[:-1], line)
            line += block.count(b"\n")

    def _read_block(self, lines: list[bytes], first_line: int) -> sparse.csr_array:
        try:
            X, labels = _parse(lines)
        except (ValueError, OverflowError):
            raise self._refusal(lines, first_line) from None
        filled = np.array([bool(line.partition(b"#")[0].strip()) for line in lines], dtype=bool)
        n_pairs, n_labels = np.zeros((2, len(lines)), np.int64)
        n_pairs[filled], n_labels[filled] = np.diff(X.indptr), [len(of_row) for of_row in labels]
        flat = np.fromiter(chain.from_iterable(labels), np.float64, count=int(n_labels.sum()))
        self._check_numbers(flat, n_labels, (flat == np.rint(flat)) & (np.abs(flat) <= LARGEST_LABEL), "label", first_line)
        if self._sizes is not None:
            _, d, q = self._sizes
            self._check_numbers(X.indices, n_pairs, X.indices < d, "feature", first_line)
            self._check_numbers(flat, n_labels, (flat >= 0) & (flat < q), "label", first_line)
        self._labels.append(flat.astype(np.int32 if np.abs(flat).max(initial=0) < 2**31 else np.int64))
        self._n_labels.append(n_labels)
        self._filled.append(filled)
        self._n_cells += len(flat) + X.nnz
        if X.nnz:
            self._width = max(self._width, X.shape[1])
            self._lowest = min(self._lowest, int(X.indices.min()))
        ends = np.concatenate([[0], np.cumsum(n_pairs)])
        # A copy, because scikit-learn's array has room for more values.
        return sparse.csr_array((X.data.copy(), X.indices, ends), shape=(len(lines), X.shape[1]))

    def _check_numbers(
        self, numbers: NDArray[Any], counts: NDArray[np.int64], right: NDArray[np.bool_], what: str, first_line: int
    ) -> None:
        """Refuse the first label or index that is not right; ``counts`` are how many of them each line has."""
        if right.all():
            return
        wrong = int(np.argmin(right))
        line = int(np.searchsorted(np.cumsum(counts), wrong, side="right"))
        if self._sizes is None or not float(numbers[wrong]).is_integer():
            problem = f"label {numbers[wrong]:.16g} is no whole number, or too large."
        else:
            promised = self._sizes[1 if what == "feature" else 2]
            problem = f"{what} {numbers[wrong]:.0f}: the first line promises {promised} {what}s, numbered from 0."
        raise DatasetError(problem, file=self._file, line=first_line + line)

    def _refusal(self, lines: list[bytes], first_line: int) -> DatasetError:
        """Say what is wrong with the first line that scikit-learn does not parse: lines are halved until it is alone."""
        first, last, error = 0, len(lines), ""
        while first < last:
            middle = (first + last) // 2
            try:
                _parse(lines[first : middle + 1])
                first = middle + 1
            except (ValueError, OverflowError) as caught:
                last, error = middle, str(caught)
        row, number = lines[first].decode("latin-1").strip(), first_line + first
        if "sorted" in error:
            return DatasetError("its indices do not rise.", "Sort them; none may be twice.", self._file, number)
        if "too large" in error:
            return DatasetError(f"an index of {row[:40]!r} is too large.", file=self._file, line=number)
        problem = f"{row[:40]!r} is not of the form 1,3 5:0.2 7:1 (labels, then index:value)."
        return DatasetError(problem, file=self._file, line=number)

    def layout(self) -> LibsvmLayout:
        """Return the labels of all lines, and the features and labels that occur, after all blocks have been read."""
        filled = np.concatenate(self._filled) if self._filled else np.zeros(0, dtype=bool)
        if not filled.any():
            raise DatasetError("there are no rows.", "Is the file whole?", self._file)
        labels, n_labels = np.concatenate(self._labels), np.concatenate(self._n_labels)
        self._labels.clear()
        numbers: Sequence[int]
        if self._sizes is not None:
            n, n_features, many = self._sizes
            filled = np.ones(len(filled), dtype=bool) if len(filled) == n else filled
            if np.count_nonzero(filled) != n:
                problem = f"its first line promises {n} rows, but {np.count_nonzero(filled)} follow."
                raise DatasetError(problem, file=self._file, line=1)
            first_index, numbers = 0, range(many)
        else:
            first_index, n_features = self._lowest, max(0, self._width - self._lowest)
            distinct, labels = np.unique(labels, return_inverse=True)
            numbers = distinct.tolist()
        n_columns = n_features + len(numbers)
        check_width(n_columns, self._n_bytes, self._file)
        require_memory(COLUMN_BYTES * n_columns, f"a table of {n_columns:,} columns", self._file, self._max_bytes)
        ends = np.concatenate([[0], np.cumsum(n_labels)])
        Y = sparse.csr_array((np.ones(len(labels)), labels, ends), shape=(len(filled), len(numbers)))
        Y.sum_duplicates()
        Y.data[:] = 1  # where a row names a label twice
        return LibsvmLayout(filled, first_index, n_features, Y, numbers)


def _parse(lines: list[bytes]) -> tuple[sparse.csr_array, Sequence[tuple[float, ...]]]:
    """Parse the lines that are not empty with scikit-learn: features and labels."""
    from sklearn.datasets import load_svmlight_file

    X, labels = load_svmlight_file(io.BytesIO(b"\n".join(lines)), multilabel=True, zero_based=True)
    return sparse.csr_array(X), labels
