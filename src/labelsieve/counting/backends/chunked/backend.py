"""The backend that counts chunks of rows one after the other, for tables that do not fit into memory."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.backends.chunked.codes_file import MappedCodes
from labelsieve.counting.backends.chunked.packed_rows import CHUNK_ROWS, WORDS, Chunk, Layout, PackedRows, Part
from labelsieve.counting.backends.protocol import ALL_TARGETS, CodesBackend, Condition, Panel, Reduce, Sums, target_range
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.resources import available_memory, n_threads, require_memory
from labelsieve.tables.codes import Codes
from labelsieve.tables.weights import RowWeights

Counts = NDArray[np.int64]
NOT_COUNTED = np.iinfo(np.uint32).max  # as in the core
LEAST_COUNTS = 2**20  # that are kept at a time, whatever the limit: 8 MB
EVERY_ROW = np.zeros(1, dtype=np.uint32)  # the only cell of a variable with one level, which is counted
CONSTANT = -1  # in place of a target: one class for all entries


@dataclass(eq=False, repr=False, kw_only=True)
class ChunkedBackend(CodesBackend):
    """A :class:`~labelsieve.counting.backends.protocol.Backend` for more rows than fit into memory.

    Parameters
    ----------
    X, Y, fixed, weights, row_index, n_jobs
        As for :class:`~labelsieve.counting.backends.protocol.BackendFactory`. Codes may be in a mapped file.
    memory_limit : int, default=None
        Bytes for packed rows and counts; default: that of mapped codes, else half of the available
        memory. Rows beyond that go to a temporary file.
    chunk_rows : int, default=65536
        Rows that are packed and counted together. Results never depend on it.
    folder : path, default=None
        Folder of the temporary file.

    Notes
    -----
    A panel is one pass over the packed rows: about ``d / 512 * sum_l n_l`` vector additions, as in the core, where ``d`` is the
    number of one-hot columns and ``n_l`` the number of rows that have neither the most frequent class of target ``l`` nor the
    most frequent level of the condition. Weights are added bit by bit: as many passes as the largest has bits. Counts that do
    not fit into a quarter of the limit are counted in several passes, by targets or by blocks of features. Whole tables are
    counted one feature after the other.
    """

    memory_limit: int | None = None
    chunk_rows: int = CHUNK_ROWS
    folder: Path | str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        limit, mapped = self.memory_limit, self.X if isinstance(self.X, MappedCodes) else None
        if limit is None and mapped is not None:
            limit = mapped.memory_limit
        if self.folder is None and mapped is not None:
            self.folder = mapped.folder
        limit = (available_memory() or 2**32) // 2 if limit is None else limit
        self._entries = EntryChunks(self.Y, self.weights, self.row_index)
        self._counts = self._make_counts(limit, max(LEAST_COUNTS, limit // 32))

    def _make_counts(self, limit: int, most: int) -> "CellCounts":
        rows = PackedRows(self.X, chunk_rows=self.chunk_rows, in_memory=limit // 2, folder=self.folder)
        return ChunkCounts(rows, self._entries, most=most, n_threads=n_threads(self.n_jobs))

    def singles(self) -> tuple[Sums, Sums]:
        features = np.empty(self.n_features, dtype=np.int64)
        for part, _ in self._counts.groups(range(0), 0):
            margins = self._counts.margins(part, [])
            features[part.features] = self._sums(part)(margins.all_rows[np.newaxis])
        targets = [int(self.fixed(sizes).sum()) for sizes in self._counts.class_sizes]
        return features, np.array(targets, dtype=np.int64)

    def _sums(self, part: Part) -> "TableSums":
        return TableSums(part, self._counts.layout, self.fixed)

    def panel(self, given: Condition | None, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Panel:
        first, last = target_range(targets, self.n_targets)
        wanted = range(first, last)
        if not reduce:
            require_memory(8 * self.n_features * len(wanted), "sums of", self.n_features, len(wanted))
        column = None
        if given is not None:
            codes, n_levels = self.column(given)
            column = GivenColumn(codes, LevelCells(np.bincount(codes, minlength=n_levels)))
        pair = np.empty(self.n_features, dtype=np.int64)
        triple = np.zeros((self.n_features, 1 if reduce else len(wanted)), dtype=np.int64)
        for part, group in self._counts.groups(wanted, 0 if column is None else column.levels.n_counted):
            sums, margins = self._sums(part), self._counts.margins(part, group)
            with_given, of_targets = margins.all_rows[np.newaxis], [np.empty((0, 0, 0), dtype=np.int64)] * len(group)
            # A constant condition has no counted level: its panel is the margins.
            if column is not None and column.levels.n_counted:
                counted, *of_targets = self._counts.count(part, [CONSTANT, *group], column)
                with_given = complete(counted[0], margins.all_rows)
            pair[part.features] = sums(with_given)
            for target, counts in zip(group, of_targets, strict=True):
                with_class = margins.with_class[target]
                cells = with_class if len(with_given) == 1 else complete_pairs(counts, with_class, with_given)
                triple[part.features, 0 if reduce else target - first] += sums(cells)
        return Panel(pair, triple[:, 0] if reduce else triple)


class LevelCells:
    """The cells that the levels of a variable are counted in: not the most frequent level, unless ``every`` level is.

    Levels that do not occur have no cell.

    >>> cells = LevelCells(np.array([2, 0, 9]))
    >>> cells.cell, cells.n_counted
    (array([         0, 4294967295, 4294967295], dtype=uint32), 1)
    """

    def __init__(self, sizes: NDArray[np.integer], *, every: bool = False) -> None:
        occurs = np.flatnonzero(sizes)
        counted = np.arange(len(sizes)) if every else occurs[occurs != np.argmax(sizes)]
        self.cell = np.full(len(sizes), NOT_COUNTED, dtype=np.uint32)
        self.cell[counted] = np.arange(len(counted))
        self.n_counted = len(counted)


def complete(counted: Counts, all_rows: Counts) -> Counts:
    """Complete counts by those of the most frequent level, the rest of ``all_rows``; they come last.

    >>> complete(np.array([[1, 2], [0, 1]]), np.array([4, 9])).tolist()
    [[1, 2], [0, 1], [3, 6]]
    """
    rest = all_rows - counted.sum(axis=0)
    return np.concatenate([counted, rest[np.newaxis]])


def complete_pairs(counted: Counts, with_class: Counts, with_given: Counts) -> Counts:
    """Complete counts to those of all pairs of a class and a given level, one after the other.

    ``counted`` has shape ``(classes - 1, levels - 1, columns)``; the margins have all classes and all given levels.
    """
    # First the most frequent given level of every counted class, from the margin of the class; then the most frequent class
    # with every given level, from the margin of the level.
    rest = with_class[:-1] - counted.sum(axis=1)
    of_classes = np.concatenate([counted, rest[:, np.newaxis]], axis=1)
    last = with_given - of_classes.sum(axis=0)
    return np.concatenate([of_classes, last[np.newaxis]]).reshape(-1, counted.shape[-1])


class TableSums:
    """Sums over the cells of the tables of some features with any variable."""

    def __init__(self, part: Part, layout: Layout, fixed: FixedPoint) -> None:
        self._fixed, self._n_features = fixed, len(part.features)
        n_columns = layout.levels[part.features] - 1
        with_columns = np.flatnonzero(n_columns)
        # reduceat below needs features in the order of their columns, which is not that of their numbers.
        self._order = with_columns[np.argsort(part.first[with_columns], kind="stable")]
        self._first = part.first[self._order]

    def __call__(self, counts: Counts) -> Counts:
        """Return the sum over the rows of ``counts`` and all levels, for each feature."""
        columns, sizes = counts[:, :-1], counts[:, -1]
        sums = np.full(self._n_features, self._fixed(sizes).sum())  # of features with one level
        if len(self._order):
            # Columns between features are always zero, and so are their values.
            of_levels = np.add.reduceat(self._fixed(columns).sum(axis=0), self._first)
            # The first level of a feature has no column: it is in the rows that none of the others has.
            left_out = sizes[:, np.newaxis] - np.add.reduceat(columns, self._first, axis=1)
            sums[self._order] = of_levels + self._fixed(left_out).sum(axis=0)
        return sums


class Entries(NamedTuple):
    """The entries of a chunk: their positions among all, and their rows in the chunk (None: all of its rows in order)."""

    where: slice | NDArray[np.intp]
    rows: NDArray[np.uint32] | None
    size: int


class EntryChunks:
    """The targets, weights and repeated rows of chunks: everything that is not a feature."""

    def __init__(self, Y: Codes, weights: RowWeights | None, row_index: NDArray[np.uint32] | None) -> None:
        self.Y, self._row_weights, self._row_index = Y, weights, row_index
        self.weights = None if weights is None else weights.of(row_index)
        self._order: NDArray[np.intp] | None = None
        # Rows in another order are sorted once, so that a chunk of rows is a range of entries.
        if row_index is not None and (row_index[1:] < row_index[:-1]).any():
            self._order = np.argsort(row_index, kind="stable")
            self._row_index = row_index[self._order]

    def of_rows(self, start: int, n_rows: int) -> Entries:
        """Return the entries of ``n_rows`` rows from ``start``."""
        if self._row_index is None:
            return Entries(slice(start, start + n_rows), None, n_rows)
        low, high = np.searchsorted(self._row_index, (start, start + n_rows)).tolist()
        where = slice(low, high) if self._order is None else self._order[low:high]
        return Entries(where, self._row_index[low:high] - np.uint32(start), high - low)

    def row_weights(self, start: int, n_rows: int) -> NDArray[np.uint64] | None:
        """Return the weights of ``n_rows`` rows from ``start``."""
        return None if self._row_weights is None else self._row_weights.values[start : start + n_rows]

    def part(self, start: int, n_rows: int) -> "tuple[Entries, EntryChunks]":
        """Return the entries of some rows, and what is known of them, which can be sent to another process."""
        some, weights = self.of_rows(start, n_rows), self.row_weights(start, n_rows)
        of_part = None if weights is None else RowWeights(weights, 1.0, int(weights.sum()))
        Y = Codes(some.size, self.Y.levels, dense=self.classes(some, range(self.Y.n_columns)))
        return some, EntryChunks(Y, of_part, some.rows)

    def classes(self, entries: Entries, targets: Sequence[int]) -> NDArray[Any]:
        """Return the codes of some targets, ``(entries, targets)``."""
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
        """Count the entries of every level of a column, or add up their weights."""
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


class CellCounts(ABC):
    """Counts one-hot columns in the cells of other variables; subclasses know where the rows are.

    At most ``most`` counts are kept at a time. ``classes`` are the cells of the targets, by default by the sizes of the classes
    in these entries.
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

    @abstractmethod
    def count(self, part: Part, targets: Sequence[int], given: GivenColumn | None) -> list[Counts]:
        """Count for each target ``(classes, given levels, columns + 1)``; the last column has the sizes of the cells.

        The most frequent class, and the most frequent given level, are not counted. One pass over all chunks.
        """

    def groups(self, targets: range, n_given: int) -> Iterator[tuple[Part, list[int]]]:
        """Yield parts of the columns and targets whose cells with ``n_given`` given levels fit; each needs one pass."""
        sets = [(n_given + 1) * (1 + self.classes[target].n_counted) for target in targets]
        largest = max([n_given + 1, *sets])
        parts = self.layout.parts()
        # All columns in one pass if one target fits; else block by block, with a pass over the chunks for each.
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
        """Return the counts without a condition; those of all targets are kept if they fit."""
        key = part.blocks.start or 0, int(part.listed)
        if key in self._kept:
            return self._kept[key]
        n_sets = 1 + sum(classes.n_counted for classes in self.classes)
        # Margins are the same at every step; they are counted for all targets if those of all parts can be kept.
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


class RowChunks(Protocol):
    """Packed rows in chunks, such as :class:`PackedRows`."""

    @property
    def layout(self) -> Layout:
        """Where the columns of every feature are."""

    def chunks(self) -> Iterator[Chunk]:
        """Yield all chunks, one after the other."""


class ChunkCounts(CellCounts):
    """Counts the chunks of packed rows in this process."""

    def __init__(
        self,
        rows: RowChunks,
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
    """Yield consecutive targets whose sets fit into ``capacity``; one empty list when there are no targets."""
    group: list[int] = []
    used = 0
    for target, n_sets in zip(targets, sets, strict=True):
        if group and used + n_sets > capacity:
            yield group
            group, used = [], 0
        group.append(target)
        used += n_sets
    yield group


def narrow(codes: NDArray[np.integer], n_levels: int) -> NDArray[Any]:
    """Return codes in as few bytes as they need, to be sent to another process."""
    return codes.astype(np.uint8 if n_levels <= 256 else np.uint16 if n_levels <= 65_536 else np.uint32)
