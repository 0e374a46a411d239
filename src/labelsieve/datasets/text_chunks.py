"""Text files of sparse rows and of attribute-relation format (ARFF), read block by block and stored by columns."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.datasets.chunk_files import ChunkFiles, TemporaryFolder, needs
from labelsieve.datasets.column_sources import ArrowColumns, ColumnSource, Rows
from labelsieve.datasets.dataset import with_names
from labelsieve.datasets.readers.arff import read_rows
from labelsieve.datasets.readers.arff_header import Header, read_header
from labelsieve.datasets.readers.column_table import Column, Table
from labelsieve.datasets.readers.file_bytes import decode, read_pieces
from labelsieve.datasets.readers.label_columns import Labels, label_names
from labelsieve.datasets.readers.libsvm import read_sizes, whole_lines
from labelsieve.datasets.readers.libsvm_blocks import parse_rows
from labelsieve.datasets.readers.memory_budget import DEFAULT_LIMIT
from labelsieve.datasets.readers.target_columns import targets
from labelsieve.datasets.sparse_source import SparseFiles, SparseSource
from labelsieve.errors import DatasetError
from labelsieve.fingerprint import text_print

_DATA = re.compile(rb"^\s*@data\b", re.IGNORECASE | re.MULTILINE)
STORED_CELLS = 2**20  # of a chunk that is written at once


def libsvm_source(path: Path) -> tuple[ColumnSource, NDArray[np.bool_]]:
    """Rows of labels and ``index:value`` pairs, as :func:`labelsieve.datasets.load` reads them, and which rows are not empty.

    Labels stay in memory: 16 bytes for each label of a row.
    """
    files = SparseFiles()
    sizes, line, lowest, n_features = None, 1, None, 0
    labels: list[NDArray[np.int64]] = []
    counts: list[NDArray[np.intp]] = []
    filled: list[NDArray[np.bool_]] = []
    for block in whole_lines(read_pieces(path), path, DEFAULT_LIMIT):
        if line == 1:
            sizes, block = read_sizes(block)
            line = 1 if sizes is None else 2
        rows = parse_rows(block, path, line)
        line += block.count(b"\n")
        labels.append(rows.labels)
        counts.append(rows.n_labels)
        filled.append((rows.n_labels > 0) | (rows.n_pairs > 0))
        if len(rows.indices):
            lowest = min(rows.indices.min(), rows.indices.max() if lowest is None else lowest)
            n_features = max(n_features, int(rows.indices.max()) + 1)
        starts = np.concatenate([[0], np.cumsum(rows.n_pairs)])
        chunk = sp.csr_array((rows.values, rows.indices, starts), shape=(len(rows.n_pairs), n_features))
        chunk.eliminate_zeros()
        files.add(chunk)
    kept = np.concatenate([np.zeros(0, dtype=bool), *filled])
    if not kept.any():
        raise DatasetError("there are no rows.", "Is the file whole?", path)
    if sizes is not None and sizes[0] == len(kept):
        kept = np.ones(len(kept), dtype=bool)
    base = 0 if sizes is not None or lowest == 0 else 1
    flat = np.concatenate(labels)
    known: Sequence[int]
    known, flat = (range(sizes[2]), flat) if sizes is not None else _distinct(flat)
    wide = n_features - base if sizes is None else sizes[1]
    if sizes is not None:
        fits = sizes[0] == np.count_nonzero(kept) and n_features <= wide
        if not fits or (len(flat) and not 0 <= flat.min() <= flat.max() < sizes[2]):
            promised = f"{sizes[0]} rows, {sizes[1]} features and {sizes[2]} labels"
            raise DatasetError(f"its first line promises {promised}, and that is not what follows.", file=path, line=1)
    ends = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    Y = sp.csr_array((np.ones(len(flat), dtype=np.uint8), flat, ends), shape=(len(kept), len(known)))
    Y.sum_duplicates()
    Y.data[:] = 1  # where a row names a label twice
    names = [f"feature{j + base}" for j in range(wide)], [f"label{label}" for label in known]
    return SparseSource(files.columns(base, wide), Y, names), kept


def arff_source(path: Path, labels: Labels | None) -> ColumnSource:
    """The rows of an ARFF file, dense or sparse, in blocks of lines."""
    blocks = whole_lines(read_pieces(path), path, DEFAULT_LIMIT)
    header, first = _header(blocks, path)
    found = label_names(Table(path, header.columns, None, header.relation), labels)
    is_label = np.array([column.name in set(found) for column in header.columns])
    position = {column.name: j for j, column in enumerate(header.columns)}
    order = [*np.flatnonzero(~is_label).tolist(), *(position[name] for name in found)]
    columns, n_labels = [header.columns[j] for j in order], len(found)
    cells = (some[:, order] for some in _cells(chain([first], blocks), header, path))
    one = next(cells, None)
    if one is None:
        raise DatasetError("there are no rows below @data.", "Is the file whole?", path, header.line - 1)
    if sp.issparse(one):
        return _sparse_arff(chain([one], cells), columns, n_labels, path)
    pyarrow, files = needs("pyarrow"), ChunkFiles()
    for chunk in _joined(chain([one], cells)):
        files.add(pyarrow.table({column.name: chunk[:, j] for j, column in enumerate(columns)}))
    return ArffColumns(files.dataset(), columns, n_labels, path, files.folder)


class ArffColumns(ArrowColumns):
    """Stored cells of an ARFF file: numbers, and positions among the declared values of nominal columns."""

    def __init__(self, dataset: object, columns: Sequence[Column], n_labels: int, file: Path, folder: TemporaryFolder) -> None:
        names = [column.name for column in columns]
        super().__init__(dataset, names[:-n_labels], names[-n_labels:], file=file, folder=folder)
        self._columns = {column.name: column for column in columns}

    @property
    def origin(self) -> str | None:
        """Cells, and what those of nominal columns stand for."""
        return text_print(str(super().origin), repr([column.values for column in self._columns.values()]))

    def features(self, columns: Sequence[int], rows: Rows) -> Any:
        names = [self._features[j] for j in columns]
        values = {name: values for name in names if (values := self._columns[name].values) is not None}
        return with_names(self._read_numbers(names, rows), names, values, copy=False)

    def label(self, column: int, rows: Rows) -> Any:
        name = self._labels[column]
        cells = self._read([name], rows).column(0).to_numpy()[:, np.newaxis]
        assert self._file is not None
        values, declared = targets(cells, [self._columns[name]], self._file), self._columns[name].values
        return with_names(values, [name], {} if declared is None or values.dtype == np.uint8 else {name: declared})


def _sparse_arff(chunks: Iterator[Any], columns: Sequence[Column], n_labels: int, path: Path) -> ColumnSource:
    files, Y = SparseFiles(), []
    for chunk in chunks:
        files.add(chunk[:, :-n_labels])
        Y.append(chunk[:, -n_labels:])
    names = [column.name for column in columns]
    values = targets(sp.vstack(Y, format="csr"), columns[-n_labels:], path)
    return SparseSource(files.columns(0, len(columns) - n_labels), values, (names[:-n_labels], names[-n_labels:]))


def _header(blocks: Iterator[bytes], path: Path) -> tuple[Header, bytes]:
    """The header, and the rows that its last block has."""
    text = b""
    for block in blocks:
        text += block
        if _DATA.search(text):
            break
    decoded = decode(text, path)
    header = read_header(decoded, path)
    for column in header.columns:
        if column.texts is not None:
            raise DatasetError(f"attribute {column.name!r} is text or a date.", "Load the file, or declare its values.", path)
    return header, decoded[header.end :].encode()


def _cells(blocks: Iterator[bytes], header: Header, path: Path) -> Iterator[Any]:
    line, is_sparse = header.line, None
    for block in blocks:
        cells = read_rows(decode(block, path), line, header.columns, path, is_sparse)
        line += block.count(b"\n")
        if cells is not None:
            is_sparse = sp.issparse(cells)
            yield cells


def _joined(chunks: Iterator[NDArray[np.float64]]) -> Iterator[NDArray[np.float64]]:
    waiting: list[NDArray[np.float64]] = []
    for chunk in chunks:
        waiting.append(chunk)
        if sum(some.size for some in waiting) >= STORED_CELLS:
            yield np.vstack(waiting)
            waiting = []
    if waiting:
        yield np.vstack(waiting)


def _distinct(labels: NDArray[np.int64]) -> tuple[list[int], NDArray[np.intp]]:
    distinct, position = np.unique(labels, return_inverse=True)
    return distinct.tolist(), position
