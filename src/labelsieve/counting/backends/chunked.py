"""Counting in chunks of rows: raw counts are added up, and sums over their cells are taken at the end."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.backends.protocol import ALL_TARGETS, Condition, Panel, Reduce, Sums
from labelsieve.counting.backends.table_backend import TableBackend, target_range
from labelsieve.counting.chunk_counts import CONSTANT, CellCounts, ChunkCounts, EntryChunks, GivenColumn
from labelsieve.counting.joint_codes import sum_of_levels
from labelsieve.counting.mapped_codes import MappedCodes
from labelsieve.counting.packed_rows import CHUNK_ROWS, PackedRows, Part
from labelsieve.counting.raw_tables import LevelCells, TableSums, complete, complete_pairs, values_of
from labelsieve.counting.resources import available_memory, n_threads, require_memory

LEAST_COUNTS = 2**20  # that are kept at a time, whatever the limit: 8 MB


@dataclass(eq=False, repr=False, kw_only=True)
class ChunkedBackend(TableBackend):
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

    def _make_counts(self, limit: int, most: int) -> CellCounts:
        rows = PackedRows(self.X, chunk_rows=self.chunk_rows, in_memory=limit // 2, folder=self.folder)
        return ChunkCounts(rows, self._entries, most=most, n_threads=n_threads(self.n_jobs))

    def singles(self) -> tuple[Sums, Sums]:
        features = np.empty(self.n_features, dtype=np.int64)
        for part, _ in self._counts.groups(range(0), 0):
            margins = self._counts.margins(part, [])
            features[part.features] = self._sums(part)(margins.all_rows[np.newaxis])
        targets = [int(values_of(self.fixed, sizes).sum()) for sizes in self._counts.class_sizes]
        return features, np.array(targets, dtype=np.int64)

    def pairs(self, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Sums:
        return self._panel(None, targets, reduce).triple

    def panel(self, given: Condition, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Panel:
        return self._panel(self._column(given), targets, reduce)

    def given_targets(self, given: Condition) -> Sums:
        codes, n_levels = self._column(given)
        sums = np.empty(self.n_targets, dtype=np.int64)
        for target in range(self.n_targets):
            joint = codes.copy()
            n_joint = core.refine(joint, n_levels, self.Y.column(target), int(self.Y.levels[target]))
            sums[target] = sum_of_levels(joint, n_joint, self.fixed, self._entries.weights)
        return sums

    def _column(self, given: Condition) -> tuple[NDArray[np.uint32], int]:
        codes, n_levels = self.conditions.column(given)
        return np.ascontiguousarray(codes, dtype=np.uint32), n_levels

    def _sums(self, part: Part) -> TableSums:
        return TableSums(part, self._counts.layout, self.fixed)

    def _panel(self, given: tuple[NDArray[np.uint32], int] | None, targets: slice, reduce: Reduce) -> Panel:
        first, last = target_range(targets, self.n_targets, reduce)
        wanted = range(first, last)
        if not reduce:
            require_memory(8 * self.n_features * len(wanted), "sums of", self.n_features, len(wanted))
        column = None
        if given is not None:
            column = GivenColumn(given[0], LevelCells(np.bincount(given[0], minlength=given[1])))
        pair = np.empty(self.n_features, dtype=np.int64)
        triple = np.zeros((self.n_features, 1 if reduce else len(wanted)), dtype=np.int64)
        for part, group in self._counts.groups(wanted, 0 if column is None else column.levels.n_counted):
            sums, margins = self._sums(part), self._counts.margins(part, group)
            with_given, of_targets = margins.all_rows[np.newaxis], [np.empty((0, 0, 0), dtype=np.int64)] * len(group)
            if column is not None and column.levels.n_counted:
                counted, *of_targets = self._counts.count(part, [CONSTANT, *group], column)
                with_given = complete(counted[0], margins.all_rows)
            pair[part.features] = sums(with_given)
            for target, counts in zip(group, of_targets, strict=True):
                with_class = margins.with_class[target]
                cells = with_class if len(with_given) == 1 else complete_pairs(counts, with_class, with_given)
                triple[part.features, 0 if reduce else target - first] += sums(cells)
        return Panel(pair, triple[:, 0] if reduce else triple)
