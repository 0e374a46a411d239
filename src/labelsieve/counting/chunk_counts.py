"""Raw counts of all chunks, added up, and the entries of chunks: classes of the targets, given codes and weights.

An entry is a row of the targets. It belongs to one row of the features; a row index can name a row several times.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.codes import Codes
from labelsieve.counting.packed_rows import WORDS, Chunk, Layout, PackedRows, Part
from labelsieve.counting.raw_tables import Counts, LevelCells, complete
from labelsieve.counting.row_weights import RowWeights

EVERY_ROW = np.zeros(1, dtype=np.uint32)  # the only cell of a variable with one level, which is counted
CONSTANT = -1  # in place of a target: one class for all entries


class Entries(NamedTuple):
    """The entries of a chunk: their positions among all, and their rows in the chunk (None: all of its rows in order)."""

    where: slice | NDArray[np.intp]
    rows: NDArray[np.uint32] | None
    size: int


class EntryChunks:
    """Everything of a chunk that is not a feature.

    Parameters
    ----------
    Y, weights, row_index
        As for :class:`~labelsieve.counting.backends.protocol.BackendFactory`.
    """

    def __init__(self, Y: Codes, weights: RowWeights | None, row_index: NDArray[np.uint32] | None) -> None:
        self.Y, self._row_weights, self._row_index = Y, weights, row_index
        self.weights = None if weights is None else weights.of(row_index)
        self._order: NDArray[np.intp] | None = None
        if row_index is not None and (row_index[1:] < row_index[:-1]).any():
            self._order = np.argsort(row_index, kind="stable")
            self._row_index = row_index[self._order]

    def of_rows(self, start: int, n_rows: int) -> Entries:
        """The entries of ``n_rows`` rows from ``start``."""
        if self._row_index is None:
            return Entries(slice(start, start + n_rows), None, n_rows)
        low, high = np.searchsorted(self._row_index, (start, start + n_rows)).tolist()
        where = slice(low, high) if self._order is None else self._order[low:high]
        return Entries(where, self._row_index[low:high] - np.uint32(start), high - low)

    def row_weights(self, start: int, n_rows: int) -> NDArray[np.uint64] | None:
        """Weights of ``n_rows`` rows from ``start``."""
        return None if self._row_weights is None else self._row_weights.values[start : start + n_rows]

    def classes(self, entries: Entries, targets: Sequence[int]) -> NDArray[Any]:
        """``(entries, targets)``: codes of these targets."""
        Y = self.Y
        wide = Y.sparse is not None or (Y.dense is not None and Y.dense.dtype == np.uint16)
        out = np.zeros((entries.size, len(targets)), dtype=np.uint16 if wide else np.uint8, order="F")
        for position, target in enumerate(targets):
            if target == CONSTANT:
                continue
            if Y.dense is not None:
                out[:, position] = Y.dense[entries.where, target]
            elif isinstance(entries.where, slice):
                self._fill_sparse(out[:, position], entries.where, target)
            else:
                out[:, position] = Y.column(target)[entries.where]
        return out

    def _fill_sparse(self, out: NDArray[np.uint16], where: slice, target: int) -> None:
        sparse = self.Y.sparse
        assert sparse is not None
        listed = slice(sparse.starts[target], sparse.starts[target + 1])
        low, high = np.searchsorted(sparse.rows[listed], (where.start, where.stop))
        out[:] = sparse.implicit[target]
        out[sparse.rows[listed][low:high] - np.uint32(where.start)] = sparse.codes[listed][low:high]

    def sizes(self, column: NDArray[np.integer], n_levels: int) -> NDArray[np.int64]:
        """Entries of every level of a column, or their weight."""
        weights = None if self.weights is None else self.weights.values.astype(np.float64)
        return np.bincount(column, weights=weights, minlength=n_levels).astype(np.int64)  # exact: weights are below 2^53


class GivenColumn(NamedTuple):
    """A column to condition on, and its cells."""

    codes: NDArray[np.uint32]
    levels: LevelCells


class Margins(NamedTuple):
    """Counts of the columns of a part in all rows, and with every class of some targets."""

    all_rows: Counts
    with_class: dict[int, Counts]


class CellCounts:
    """Counts of one-hot columns in the cells of other variables, wherever the rows are.

    Parameters
    ----------
    layout : Layout
        Of the columns.
    entries : EntryChunks
    most : int
        Counts that may be kept at a time.
    classes : list of LevelCells, default=None
        Cells of the targets; default: by the sizes of the classes in these entries.
    """

    def __init__(self, layout: Layout, entries: EntryChunks, *, most: int, classes: list[LevelCells] | None = None) -> None:
        self.layout, self._entries, self._most = layout, entries, most
        self._kept: dict[tuple[int, int], Margins] = {}
        self.classes = [LevelCells(sizes) for sizes in self.class_sizes] if classes is None else classes

    @cached_property
    def class_sizes(self) -> list[Counts]:
        """Rows of every class of every target, or their weight."""
        Y = self._entries.Y
        return [self._entries.sizes(Y.column(target), int(Y.levels[target])) for target in range(Y.n_columns)]

    def count(self, part: Part, targets: Sequence[int], given: GivenColumn | None) -> list[Counts]:
        """For each target ``(classes, given levels, columns + 1)``: counts, and in the last column the size of the cell.

        The most frequent class, and the most frequent given level, are not counted. One pass over all chunks.
        """
        raise NotImplementedError

    def groups(self, targets: range, n_given: int) -> Iterator[tuple[Part, list[int]]]:
        """Parts of the columns and targets whose cells with ``n_given`` given levels fit; one pass for each."""
        sets = [(n_given + 1) * (1 + self.classes[target].n_counted) for target in targets]
        largest = max([n_given + 1, *sets])
        parts = self.layout.parts()
        if any(largest * (part.n_columns + 1) > self._most for part in parts):
            parts = self.layout.parts(by_block=True)
        for part in parts:
            capacity = self._most // (part.n_columns + 1)
            if largest > capacity:
                raise MemoryError(
                    f"A table of {largest:,} combinations of levels (condition and target) and {part.n_columns:,} columns "
                    f"needs {8 * largest * part.n_columns / 1e9:.1f} GB for its counts, and a quarter of the memory limit is "
                    f"{8 * self._most / 1e9:.1f} GB; raise the limit, or use fewer bins, fewer classes, or a criterion that "
                    "conditions on one feature at a time."
                )
            yield from ((part, group) for group in _fitting(targets, sets, capacity))

    def margins(self, part: Part, targets: list[int]) -> Margins:
        """Counts without a condition; those of all targets are kept if they fit."""
        key = part.blocks.start or 0, int(part.listed)
        if key in self._kept:
            return self._kept[key]
        n_sets = 1 + sum(classes.n_counted for classes in self.classes)
        keep = n_sets * (part.n_columns + 1) * len(self.layout.parts(by_block=True)) <= self._most
        counted = list(range(len(self.classes))) if keep else targets
        all_rows, *with_class = self.count(part, [CONSTANT, *counted], None)
        margins = Margins(
            all_rows[0, 0],
            {target: complete(counts[:, 0], all_rows[0, 0]) for target, counts in zip(counted, with_class, strict=True)},
        )
        if keep:
            self._kept[key] = margins
        return margins


class ChunkCounts(CellCounts):
    """Counts of the chunks of packed rows in this process.

    Parameters
    ----------
    rows : PackedRows
    entries, most, classes
        See :class:`CellCounts`.
    n_threads : int
    """

    def __init__(
        self,
        rows: PackedRows,
        entries: EntryChunks,
        *,
        most: int,
        n_threads: int,
        classes: list[LevelCells] | None = None,
    ) -> None:
        super().__init__(rows.layout, entries, most=most, classes=classes)
        self._rows, self._counter = rows, core.RawCounter(n_threads)

    def count(self, part: Part, targets: Sequence[int], given: GivenColumn | None) -> list[Counts]:
        cells = EVERY_ROW if given is None else given.levels.cell
        n_given = 1 if given is None else given.levels.n_counted
        n_classes = [1 if target == CONSTANT else self.classes[target].n_counted for target in targets]
        levels = np.array([1 if t == CONSTANT else self._entries.Y.levels[t] for t in targets], dtype=np.uint32)
        class_cells = np.concatenate([EVERY_ROW if target == CONSTANT else self.classes[target].cell for target in targets])
        ends = np.cumsum(n_classes) * n_given
        counts = np.zeros((int(ends[-1]), part.n_columns), dtype=np.int64)
        sizes = np.zeros(len(counts), dtype=np.int64)
        for chunk in self._rows.chunks() if len(counts) else ():
            entries = self._entries.of_rows(chunk.start, chunk.n_rows)
            if entries.size == 0:
                continue
            codes = np.zeros(entries.size, dtype=np.uint32) if given is None else given.codes[entries.where]
            self._counter.add(
                _words(chunk, part),
                chunk.n_rows,
                chunk.starts if part.listed else np.zeros(1, dtype=np.int64),
                chunk.columns if part.listed else np.empty(0, dtype=np.uint32),
                part.n_columns if part.listed else 0,
                entries.rows,
                codes,
                cells,
                self._entries.classes(entries, targets),
                levels,
                class_cells,
                self._entries.row_weights(chunk.start, chunk.n_rows),
                counts.reshape(-1),
                sizes,
            )
        whole = np.concatenate([counts, sizes[:, np.newaxis]], axis=1)
        of_targets = np.split(whole, ends[:-1])
        return [of.reshape(n, n_given, part.n_columns + 1) for of, n in zip(of_targets, n_classes, strict=True)]


def _words(chunk: Chunk, part: Part) -> NDArray[np.uint64]:
    of_block = (chunk.n_rows + 1) * WORDS
    return chunk.words[(part.blocks.start or 0) * of_block : part.blocks.stop * of_block]


def _fitting(targets: range, sets: list[int], capacity: int) -> Iterator[list[int]]:
    """Consecutive targets whose sets fit into ``capacity``; one empty list when there are no targets."""
    group: list[int] = []
    used = 0
    for target, n_sets in zip(targets, sets, strict=True):
        if group and used + n_sets > capacity:
            yield group
            group, used = [], 0
        group.append(target)
        used += n_sets
    yield group
