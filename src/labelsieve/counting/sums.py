r"""Exact sums of products of columns: what the least-squares gain needs, additive over rows as counts are.

Whatever has rows answers a :class:`Wanted` with :class:`LinearSums`, and those of several parts of the rows are added. A
:class:`SumSource` is asked once for the margins and the products with the targets, and at every step for the products of all
columns with the columns of the newest feature. :class:`RowSums` is the source for rows in memory; chunks and workers have
sources of their own, made of it.

Columns of whole numbers: features and targets, scaled so that sums of their products are exact integers.

A numeric column becomes :math:`z = \mathrm{round}(2^e x) - k` with at most 23 bits and a sign. The exponent :math:`e` and the
shift :math:`k` follow from the lowest and the highest value alone, so they do not depend on the order of the rows. Whole
numbers of a range below :math:`2^{23}` stay exact. Rounding adds a variance of 1/12 to that of z: a share of 3e-14 to 1e-13
for a range of ten standard deviations, and of at most :math:`N / (12 \cdot 2^{44})` for the worst outlier, which is 5e-9 at a
million rows. A nominal column has a column of zeros and ones for each level.

The first half of the module makes such columns, :func:`whole_columns` those of a table and :class:`WholeTargets` those of
targets; the second half adds up their products.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.tables.codes import require_finite
from labelsieve.tables.frames import NumberTable
from labelsieve.tables.targets import TargetTable
from labelsieve.tables.weights import RowWeights

Real = NDArray[np.float64]
BITS = 24  # of a whole number, with its sign
LARGEST = 2 ** (BITS - 1) - 1
LABEL_BITS = 22  # a label with unknown cells is 0 or 2^22, and its mean where it is unknown
BLOCK = 4096  # rows whose digits lie together, as in the core
FEW_CELLS = 0.2  # of a vector: with fewer other than 0, lists are multiplied row by row
SPARSE = 0.2  # an array with a smaller share of cells other than 0 is multiplied faster as lists
MOST_LEVELS, FEW_ROWS = 20, 10  # a nominal column of more levels has those of fewer rows pooled
WORD = 2**32 - 1
MANY_TARGETS = 256  # beyond them rows are taken from a copy of the targets by rows


@dataclass(frozen=True, eq=False)
class Wide:
    """An array of whole numbers of up to 95 bits: ``high * 2**32 + low`` with ``0 <= low < 2**32``.

    >>> (Wide.of([-1, 2**40]) + Wide.of([3, 5])).to_ints()
    [2, 1099511627781]
    """

    high: NDArray[np.int64]
    low: NDArray[np.int64]

    @classmethod
    def of(cls, values: Any) -> "Wide":
        """Make one of integers of Python."""
        listed = np.asarray(values, dtype=object)
        return cls((listed >> 32).astype(np.int64), (listed & WORD).astype(np.int64))

    @classmethod
    def zeros(cls, *shape: int) -> "Wide":
        """Make an array of zeros."""
        return cls(np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64))

    def __add__(self, other: "Wide") -> "Wide":
        low = self.low + other.low
        return Wide(self.high + other.high + (low >> 32), low & WORD)

    def __lshift__(self, bits: int) -> "Wide":
        """Multiply by a power of two."""
        high, low = self.high, self.low
        for step in [31] * (bits // 31) + [bits % 31]:
            high, low = (high << step) + (low << step >> 32), low << step & WORD
        return Wide(high, low)

    def __getitem__(self, key: Any) -> "Wide":
        return Wide(self.high[key], self.low[key])

    @property
    def shape(self) -> tuple[int, ...]:
        return self.high.shape

    def to_ints(self) -> Any:
        """Return integers of Python, in lists."""
        return (self.high.astype(object) * 2**32 + self.low.astype(object)).tolist()


# Vectors that columns are multiplied with.


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors of whole numbers of up to 63 bits, in pieces of 24 bits: see :meth:`of`."""

    pieces: NDArray[np.int32]
    shifts: NDArray[np.int32]
    into: NDArray[np.int32]
    size: int

    @classmethod
    def of(cls, values: NDArray[Any], weights: NDArray[np.int64] | None) -> "Vectors":
        """Cut vectors ``(n, n_rows)`` of at most 24 bits, times the weights of the rows, into pieces."""
        if weights is None:
            n = len(values)
            return cls(
                np.ascontiguousarray(values, dtype=np.int32), np.zeros(n, dtype=np.int32), np.arange(n, dtype=np.int32), n
            )
        found = [pieces_of(vector.astype(np.int64) * weights) for vector in values]
        empty = np.empty((0, values.shape[1]), dtype=np.int32)
        return cls(
            np.concatenate([empty, *(np.array(pieces) for pieces in found)]),
            np.array([BITS * k for pieces in found for k in range(len(pieces))], dtype=np.int32),
            np.array([number for number, pieces in enumerate(found) for _ in pieces], dtype=np.int32),
            len(values),
        )


def row_numbers(indices: NDArray[Any]) -> NDArray[np.uint32]:
    """Return the indices of a sparse matrix as the core reads them, in place where they have 32 bits."""
    return indices.view(np.uint32) if indices.dtype == np.int32 else indices.astype(np.uint32)


def pieces_of(values: NDArray[np.int64]) -> list[NDArray[np.int32]]:
    """Cut numbers of 63 bits into as many pieces of 24 bits, with signs, as the largest needs.

    >>> [piece.tolist() for piece in pieces_of(np.array([2**24 + 5, -1]))]
    [[5, -1], [1, 0]]
    """
    pieces: list[NDArray[np.int32]] = []
    while len(pieces) < 3:
        low = values & (2**BITS - 1)
        above = low > LARGEST
        pieces.append((low - (above.astype(np.int64) << BITS)).astype(np.int32))
        values = (values >> BITS) + above
        if not values.any():
            break
    return pieces


# Three ways to keep columns. Those on a GPU are in the package of its backend.


class Part(Protocol):
    """Some columns of whole numbers, and what adds up their products."""

    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...

    def take_rows(self, start: int, stop: int) -> Self:
        """Return some rows; ``start`` is a multiple of 4,096, and ``stop`` is one or the end."""

    def column(self, column: int) -> NDArray[np.int32]:
        """Return the numbers of a column."""

    def add_products(self, vectors: Vectors, out: Wide, threads: core.Threads) -> None:
        """Add the sums of products of all columns with vectors, ``(n_columns, n_vectors)``."""

    def add_squares(self, weights: NDArray[np.int64] | None, out: Wide, threads: core.Threads) -> None:
        """Add the sums of squares of every column, ``(n_columns, 1)``."""


@dataclass(frozen=True, eq=False)
class Digits:
    """Dense columns: two digits of 12 bits for each cell, in the layout of the core."""

    cells: NDArray[np.int16]
    n_rows: int
    n_columns: int

    @classmethod
    def empty(cls, n_rows: int, n_columns: int, memory: NDArray[np.int16] | None = None) -> Self:
        """Make columns whose cells are set later, in ``memory`` if it is given."""
        size = 2 * (-(-n_rows // 32) * 32) * n_columns
        return cls(np.empty(size, dtype=np.int16) if memory is None else memory[:size], n_rows, n_columns)

    def put(self, first: int, columns: "Digits") -> None:
        """Copy columns of the same rows to these, the first of them to column ``first``."""
        for start, stop in ((0, self.n_rows // BLOCK * BLOCK), (self.n_rows // BLOCK * BLOCK, self.n_rows)):
            if start < stop:
                # Blocks, in each column after column; what is left of the rows is one of them, filled up to groups of 32.
                size = 2 * min(BLOCK, -(-(stop - start) // 32) * 32)
                ours, theirs = (of.take_rows(start, stop).cells.reshape(-1, of.n_columns, size) for of in (self, columns))
                ours[:, first : first + columns.n_columns] = theirs

    def take_rows(self, start: int, stop: int) -> Self:
        end = 2 * stop * self.n_columns if stop < self.n_rows else len(self.cells)
        return replace(self, cells=self.cells[2 * start * self.n_columns : end], n_rows=stop - start)

    def column(self, column: int) -> NDArray[np.int32]:
        out = np.empty(self.n_rows, dtype=np.int32)
        core.digit_column(self.cells, self.n_columns, column, out)
        return out

    def add_products(self, vectors: Vectors, out: Wide, threads: core.Threads) -> None:
        of_vectors = vectors.pieces, vectors.shifts, vectors.into
        core.add_digit_products(self.cells, self.n_columns, *of_vectors, out.high, out.low, threads)

    def add_own_products(self, columns: NDArray[np.int64], out: Wide, threads: core.Threads) -> None:
        """Add the sums of products of all columns with some of them, ``(n_columns, n_some)``."""
        core.add_own_products(self.cells, self.n_rows, self.n_columns, columns, out.high, out.low, threads)

    def add_squares(self, weights: NDArray[np.int64] | None, out: Wide, threads: core.Threads) -> None:
        of_rows = None if weights is None else weights.astype(np.uint64)
        core.add_digit_squares(self.cells, self.n_rows, self.n_columns, of_rows, out.high, out.low, threads)


@dataclass(frozen=True, eq=False)
class LevelColumns:
    """The columns of a nominal feature: column ``k`` is 1 where the level is ``k + 1``; level 0 has none."""

    levels: NDArray[np.uint16]
    n_columns: int

    @property
    def n_rows(self) -> int:
        return len(self.levels)

    def take_rows(self, start: int, stop: int) -> Self:
        return replace(self, levels=self.levels[start:stop])

    def column(self, column: int) -> NDArray[np.int32]:
        return np.asarray(self.levels == column + 1, dtype=np.int32)

    def add_products(self, vectors: Vectors, out: Wide, threads: core.Threads) -> None:
        core.add_level_products(self.levels, vectors.pieces, vectors.shifts, vectors.into, out.high, out.low)

    def add_squares(self, weights: NDArray[np.int64] | None, out: Wide, threads: core.Threads) -> None:
        """Add squares, which are the numbers themselves."""
        self.add_products(Vectors.of(np.ones((1, self.n_rows), dtype=np.int32), weights), out, threads)


@dataclass(frozen=True, eq=False)
class Lists:
    """Sparse columns: the rows where a column is not 0, and its numbers there, as in a CSC matrix."""

    starts: NDArray[np.int64]
    rows: NDArray[np.uint32]
    numbers: NDArray[np.int32]
    n_rows: int

    @property
    def n_columns(self) -> int:
        return len(self.starts) - 1

    def take_rows(self, start: int, stop: int) -> Self:
        inside = (self.rows >= start) & (self.rows < stop)
        before = np.concatenate([[0], np.cumsum(inside)])
        rows = self.rows[inside] - np.uint32(start)
        return replace(self, starts=before[self.starts], rows=rows, numbers=self.numbers[inside], n_rows=stop - start)

    def column(self, column: int) -> NDArray[np.int32]:
        out, cells = np.zeros(self.n_rows, dtype=np.int32), slice(self.starts[column], self.starts[column + 1])
        out[self.rows[cells]] = self.numbers[cells]
        return out

    @cached_property
    def _by_row(self) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int32]]:
        """Return the same numbers listed by rows, which is faster for vectors with few rows."""
        matrix = sp.csc_array((self.numbers, self.rows, self.starts), shape=(self.n_rows, self.n_columns)).tocsr()
        return matrix.indptr.astype(np.int64), row_numbers(matrix.indices), matrix.data

    def add_products(self, vectors: Vectors, out: Wide, threads: core.Threads) -> None:
        of_vectors = vectors.pieces, vectors.shifts, vectors.into
        if np.count_nonzero(vectors.pieces) < FEW_CELLS * vectors.pieces.size:
            for piece, shift, into in zip(*of_vectors, strict=True):
                rows = np.flatnonzero(piece)
                values = piece[rows]
                core.add_row_products(*self._by_row, rows.astype(np.uint32), values, int(shift), int(into), out.high, out.low)
            return
        core.add_list_products(self.starts, self.rows, self.numbers, *of_vectors, out.high, out.low, threads)

    def add_listed(self, targets: "WholeTargets", weights: NDArray[np.int64] | None, out: Wide, threads: core.Threads) -> None:
        """Add the sums of products with targets, ``(n_columns, n_targets)``: the cost is that of the rows' targets."""
        by_row = targets.by_row
        pieces = [by_row.data]
        if weights is not None:
            pieces = pieces_of(by_row.data * np.repeat(weights, np.diff(by_row.indptr)))
        listed = by_row.indptr.astype(np.int64), row_numbers(by_row.indices)
        for number, piece in enumerate(pieces):
            columns = self.starts, self.rows, self.numbers
            core.add_listed_vectors(*columns, *listed, piece, BITS * number, out.high, out.low, threads)

    def add_squares(self, weights: NDArray[np.int64] | None, out: Wide, threads: core.Threads) -> None:
        if not len(self.numbers):
            return
        pieces = [self.numbers] if weights is None else pieces_of(self.numbers * weights[self.rows])
        shifts, into = np.array([BITS * k for k in range(len(pieces))], dtype=np.int32), np.zeros(len(pieces), dtype=np.int32)
        cells = np.arange(len(self.numbers), dtype=np.uint32)  # the entries themselves are the rows here
        core.add_list_products(self.starts, cells, self.numbers, np.array(pieces), shifts, into, out.high, out.low, threads)


@dataclass(frozen=True, eq=False)
class WholeColumns:
    """Some features as columns of whole numbers.

    Attributes
    ----------
    parts : list of Part
    places : list of ndarray of int
        The columns that each part has, among all of these features.
    widths : ndarray of int, shape (n_features,)
        Columns of each feature.
    """

    parts: list[Part]
    places: list[NDArray[np.intp]]
    widths: NDArray[np.int64]

    @property
    def n_columns(self) -> int:
        return int(self.widths.sum())


def whole_columns(
    table: NumberTable, weights: RowWeights | None, threads: core.Threads, *, allow_missing: bool = True
) -> WholeColumns:
    """Scale the features of a table, with all of its rows, to columns of whole numbers.

    Missing cells of a numeric feature have the mean of the others, rounded. A nominal feature has a column for each level but
    the most frequent one, missing cells being a level; levels of fewer than ten rows share a column if there are more than 20.

    Cost: two passes over the values; sorting for levels. Memory: 4 bytes for a cell, 8 for one that is listed.
    """
    n_features = table.shape[1]
    numeric = np.array([j for j in range(n_features) if j not in table.nominal], dtype=np.intp)
    widths = np.ones(n_features, dtype=np.int64)
    levels: dict[int, LevelColumns] = {}
    listed: dict[int, list[NDArray[np.uint32]]] = {}  # the rows of every level but the most frequent one
    for column in sorted(table.nominal):
        if table.dense is None:
            listed[column] = listed_levels(table.sparse, column, weights)
            widths[column] = len(listed[column])
        else:
            levels[column] = level_columns(table.column(column), weights)
            widths[column] = levels[column].n_columns
    if not allow_missing or table.dense is None:
        require_finite(table, allow_missing=allow_missing)
    values: Any = table.values if len(numeric) == n_features else table.values[:, numeric]
    first = np.cumsum(widths) - widths
    parts: list[Part] = []
    places: list[NDArray[np.intp]] = []
    if len(numeric):
        parts.append(_scaled(table, values, weights, threads))
        places.append(first[numeric])
    if listed:
        every = [of_level for of_column in listed.values() for of_level in of_column]
        sizes = np.array([len(of_level) for of_level in every], dtype=np.int64)
        rows = np.concatenate([np.empty(0, dtype=np.uint32), *every])
        parts.append(Lists(starts_of(sizes), rows, np.ones(len(rows), dtype=np.int32), table.shape[0]))
        places.append(np.concatenate([np.arange(first[column], first[column] + widths[column]) for column in listed]))
    for column, part in levels.items():
        parts.append(part)
        places.append(np.arange(first[column], first[column] + part.n_columns))
    return WholeColumns(parts, places, widths)


def _scaled(table: NumberTable, values: Any, weights: RowWeights | None, threads: core.Threads) -> Part:
    """Scale numbers, an array or a CSC matrix; an array with few cells other than 0 becomes lists, too."""
    n_rows, n_columns = values.shape
    if isinstance(values, np.ndarray):
        low, high = np.empty(n_columns), np.empty(n_columns)
        n_missing, n_zeros = np.empty(n_columns, dtype=np.int64), np.empty(n_columns, dtype=np.int64)
        core.scan_columns(values, low, high, n_missing, n_zeros, threads)
        if np.isinf(low[low <= high]).any() or np.isinf(high[low <= high]).any() or (n_missing == n_rows).any():
            require_finite(table, allow_missing=True)  # names the first infinite value
        if values.size - n_zeros.sum() >= SPARSE * values.size:
            return _digits(values, scales(low, high), n_missing, weights, threads)
        values = sp.csc_array(values, dtype=np.float64)
    low, high = listed_ranges(values)
    exponents, shifts = scales(low, high)
    of_cell = np.repeat(np.arange(n_columns), np.diff(values.indptr))
    scaled = np.rint(np.ldexp(values.data.astype(np.float64), exponents[of_cell])) - shifts[of_cell]
    missing = np.isnan(scaled)
    numbers = np.where(missing, 0.0, scaled).astype(np.int32)
    part = Lists(values.indptr.astype(np.int64), values.indices.astype(np.uint32), numbers, n_rows)
    if missing.any():
        gaps = np.bincount(of_cell[missing], None if weights is None else weights.values[part.rows[missing]], n_columns)
        fills = _means(part, gaps.astype(np.int64), weights, threads)
        part.numbers[missing] = fills[of_cell[missing]]
    return part


def _digits(
    values: NDArray[Any],
    found: tuple[NDArray[np.int32], Real],
    n_missing: NDArray[np.int64],
    weights: RowWeights | None,
    threads: core.Threads,
) -> Digits:
    n_rows, n_columns = values.shape
    part = Digits.empty(n_rows, n_columns)
    core.split_columns(values, *found, np.zeros(n_columns), part.cells, threads)
    if n_missing.any():
        gaps = n_missing
        if weights is not None:
            holes = np.flatnonzero(n_missing)
            gaps = np.zeros(n_columns, dtype=np.int64)
            gaps[holes] = [int(weights.values[np.isnan(values[:, column])].sum()) for column in holes]
        core.split_columns(values, *found, _means(part, gaps, weights, threads).astype(np.float64), part.cells, threads)
    return part


def _means(part: Part, gaps: NDArray[np.int64], weights: RowWeights | None, threads: core.Threads) -> NDArray[np.int32]:
    """Return the means of columns whose missing cells, of weights ``gaps`` in all, are 0; rounded."""
    total, of_rows = row_total(weights, part.n_rows)
    sums = Wide.zeros(part.n_columns, 1)
    part.add_products(Vectors.of(np.ones((1, part.n_rows), dtype=np.int32), of_rows), sums, threads)
    fills = np.zeros(part.n_columns, dtype=np.int32)
    for column in np.flatnonzero(gaps).tolist():
        known = total - int(gaps[column])
        fills[column] = (2 * sums[column].to_ints()[0] + known) // (2 * known) if known else 0
    return fills


def row_total(weights: RowWeights | None, n_rows: int) -> tuple[int, NDArray[np.int64] | None]:
    """Return what all rows weigh, and the weight of each, None: 1."""
    return (n_rows, None) if weights is None else (int(weights.values.sum()), weights.values.astype(np.int64))


def listed_ranges(values: Any) -> tuple[Real, Real]:
    """Return the lowest and highest numbers of the columns of a CSC matrix, whose cells that are not stored are 0."""
    stored = np.diff(values.indptr)
    low, high = np.where(stored < values.shape[0], 0.0, np.inf), np.where(stored < values.shape[0], 0.0, -np.inf)
    some = np.flatnonzero(stored)
    if len(some):
        low[some] = np.fmin(low[some], np.fmin.reduceat(values.data, values.indptr[some]))
        high[some] = np.fmax(high[some], np.fmax.reduceat(values.data, values.indptr[some]))
    return low, high


def scales(low: Real, high: Real) -> tuple[NDArray[np.int32], Real]:
    """Return the exponent and the shift of every column from its lowest and highest value.

    The shift is 0 for a column whose range has 0, so that cells that a sparse matrix does not store stay 0, and that of the
    middle of the range otherwise. The exponent is the largest for which no number exceeds 23 bits and a sign.

    >>> scales(np.array([0.0]), np.array([7.0]))
    (array([20], dtype=int32), array([0.]))
    """
    known = low <= high
    low, high = np.where(known, low, 0.0), np.where(known, high, 0.0)
    middle = np.where((low <= 0) & (high >= 0), 0.0, low / 2 + high / 2)
    most = np.maximum(high - middle, middle - low)
    exponents = np.where(most > 0, BITS - 1 - np.frexp(most)[1], 0).astype(np.int32)
    for _ in range(2):  # rounding may reach the next power of two
        shifts = np.rint(np.ldexp(middle, exponents))
        reached = np.maximum(np.rint(np.ldexp(high, exponents)) - shifts, shifts - np.rint(np.ldexp(low, exponents)))
        exponents = np.where(reached > LARGEST, exponents - 1, exponents).astype(np.int32)
    return exponents, np.rint(np.ldexp(middle, exponents))


def level_columns(values: NDArray[Any], weights: RowWeights | None) -> LevelColumns:
    """Make the columns of a nominal feature; missing cells (NaN) are a level.

    >>> level_columns(np.array([7.0, 5.0, 5.0, 9.0]), None).levels
    array([1, 0, 0, 2], dtype=uint16)
    """
    _, index = np.unique(values, return_inverse=True)  # NaN is one value, the last
    of_rows = None if weights is None else weights.values.astype(np.float64)  # sums are below 2^53: exact
    number = _column_of_levels(np.bincount(index, of_rows), weights)
    return LevelColumns(number[index], int(number.max()))


def _column_of_levels(counts: NDArray[Any], weights: RowWeights | None) -> NDArray[np.uint16]:
    """Return the column of every level, from 1, and 0 for the most frequent one; rare ones share a column if there are many."""
    pool = np.arange(len(counts))
    if len(counts) > MOST_LEVELS:
        rare = counts < FEW_ROWS * (1.0 if weights is None else weights.unit)
        pool = np.where(rare, 0, np.cumsum(~rare))
        counts = np.bincount(pool, counts)
    occurs = np.flatnonzero(counts)
    others = occurs[occurs != np.argmax(counts)]
    number = np.zeros(len(counts), dtype=np.uint16)
    number[others] = np.arange(1, len(others) + 1)
    return number[pool]


def listed_levels(values: Any, column: int, weights: RowWeights | None) -> list[NDArray[np.uint32]]:
    """Return the rows of every level but the most frequent one of a nominal column of a CSC matrix."""
    cells = slice(values.indptr[column], values.indptr[column + 1])
    rows = values.indices[cells]
    others = values.shape[0] - len(rows)  # rows that are not listed, where the value is 0: one more entry, with their weight
    total, of_rows = row_total(weights, values.shape[0])
    entries = np.full(len(rows), 1.0) if of_rows is None else of_rows[rows].astype(np.float64)  # sums are below 2^53: exact
    found = values.data[cells]
    if others:
        found, entries = np.append(found, 0), np.append(entries, total - entries.sum())
    _, index = np.unique(found, return_inverse=True)
    numbers = _column_of_levels(np.bincount(index, entries), weights)[index]
    levels = [rows[numbers[: len(rows)] == level] for level in range(1, int(numbers.max()) + 1)]
    if others and numbers[-1]:
        is_other = np.ones(values.shape[0], dtype=bool)
        is_other[rows] = False
        of_zero = int(numbers[-1]) - 1
        levels[of_zero] = np.union1d(levels[of_zero], np.flatnonzero(is_other))
    return [of_level.astype(np.uint32) for of_level in levels]


# Targets.


@dataclass(frozen=True, eq=False)
class WholeTargets:
    """Targets as columns of whole numbers.

    Labels of two known classes are 0 and 1, of more classes a column for each. Numeric targets are scaled as features are. A
    label with unknown cells is 0 or 2^22, and its mean where it is unknown.

    Attributes
    ----------
    columns : CSC array of int32
    unit : ndarray of float, shape (n_columns,)
        What 1 is worth: a power of two for labels, which count by their variance; 0 for numbers, which are standardized.
    target : ndarray of int, shape (n_columns,)
        The target that each column belongs to.
    """

    columns: Any
    unit: Real
    target: NDArray[np.intp]

    @classmethod
    def of(cls, targets: TargetTable, weights: RowWeights | None) -> "WholeTargets":
        """Make the columns of all targets, each in order of its classes."""
        codes, n_rows = targets.classes, targets.n_rows
        numbers = iter(np.asarray(targets.numbers, dtype=np.float64).T)
        index = np.int32 if n_rows < 2**31 else np.int64  # as in SciPy, so that it copies nothing
        every = np.arange(n_rows, dtype=index)
        listed: list[tuple[NDArray[Any], NDArray[Any] | None]] = []  # rows and numbers; None: 1
        kinds: list[tuple[float, int]] = []
        for target in range(targets.n_columns):
            if targets.is_numeric[target]:
                listed.append((every, _whole_numbers(next(numbers), weights)))
                kinds.append((0.0, target))
                continue
            unknown = codes.missing is not None and bool(codes.missing[target])
            n_classes = int(codes.levels[target]) - unknown
            if codes.sparse is not None and n_classes <= 2 and not unknown and not codes.sparse.implicit[target]:
                cells = slice(codes.sparse.starts[target], codes.sparse.starts[target + 1])
                rows = codes.sparse.rows[cells][codes.sparse.codes[cells] == 1]
                listed.append((rows.astype(index), None))
                kinds.append((1.0, target))
                continue
            classes = codes.column(target)
            for level in range(1, 2) if n_classes <= 2 else range(n_classes):
                if not unknown:
                    listed.append(((classes == level).nonzero()[0].astype(index), None))
                    kinds.append((1.0, target))
                    continue
                column = ((classes == level) & (level < n_classes)).astype(np.int64) << LABEL_BITS
                listed.append((every, _with_mean(column, classes == n_classes, weights)))
                kinds.append((2.0**-LABEL_BITS, target))
        starts = np.cumsum([0, *(len(rows) for rows, _ in listed)])
        data = np.ones(starts[-1], dtype=np.int32)
        for start, (rows, values) in zip(starts[:-1].tolist(), listed, strict=True):
            if values is not None:
                data[start : start + len(rows)] = values
        matrix = sp.csc_array((data, np.concatenate([rows for rows, _ in listed]), starts), shape=(n_rows, len(listed)))
        unit, of_target = zip(*kinds, strict=True)
        return cls(matrix, np.array(unit), np.array(of_target, dtype=np.intp))

    @property
    def n_columns(self) -> int:
        return len(self.unit)

    @cached_property
    def by_row(self) -> Any:
        """The columns as a CSR array: the targets of every row."""
        return self.columns.tocsr()

    def take_rows(self, start: int, stop: int) -> Self:
        """Return the targets of some rows."""
        if self.n_columns > MANY_TARGETS:
            return replace(self, columns=self.by_row[start:stop].tocsc())
        columns, data, rows = self.columns, [], []
        for first, last in pairwise(columns.indptr.tolist()):
            low, high = first + np.searchsorted(columns.indices[first:last], (start, stop))
            data.append(columns.data[low:high])
            rows.append(columns.indices[low:high] - start)
        starts = np.cumsum([0, *map(len, rows)])
        shape = stop - start, self.n_columns
        return replace(self, columns=sp.csc_array((np.concatenate(data), np.concatenate(rows), starts), shape=shape))

    def take_columns(self, columns: Sequence[int] | slice) -> Self:
        """Return some of the columns."""
        return replace(self, columns=self.columns[:, columns], unit=self.unit[columns], target=self.target[columns])

    def _listed(self) -> Lists:
        indptr, indices = self.columns.indptr.astype(np.int64), row_numbers(self.columns.indices)
        return Lists(indptr, indices, self.columns.data, self.columns.shape[0])

    def common_rows(self, threads: core.Threads) -> NDArray[np.int64]:
        """Return the numbers of rows that labels of zeros and ones have in common, ``(n_columns, n_columns)``."""
        counts, columns = np.empty((self.n_columns, self.n_columns), dtype=np.int64), self.columns
        core.count_common(columns.indptr.astype(np.int64), row_numbers(columns.indices), columns.shape[0], counts, threads)
        return counts

    def dense(self, first: int, last: int) -> NDArray[np.int32]:
        """Return some columns, one after the other, with a number for each row: ``(last - first, n_rows)``."""
        columns = self.columns
        out, starts = np.zeros((last - first, columns.shape[0]), dtype=np.int32), columns.indptr[first : last + 1].tolist()
        for column, (start, stop) in zip(out, pairwise(starts), strict=True):
            column[columns.indices[start:stop]] = columns.data[start:stop]
        return out

    def margins(self, weights: RowWeights | None, threads: core.Threads) -> tuple[Wide, Wide]:
        """Return the sums of all columns, and of their squares."""
        if weights is None and (self.columns.data == 1).all():
            counts = Wide(np.zeros(self.n_columns, dtype=np.int64), np.diff(self.columns.indptr).astype(np.int64))
            return counts, counts
        _, of_rows = row_total(weights, self.columns.shape[0])
        part = self._listed()
        sums, squares = Wide.zeros(self.n_columns, 1), Wide.zeros(self.n_columns, 1)
        part.add_products(Vectors.of(np.ones((1, part.n_rows), dtype=np.int32), of_rows), sums, threads)
        part.add_squares(of_rows, squares, threads)
        return sums[:, 0], squares[:, 0]


def _whole_numbers(values: Real, weights: RowWeights | None) -> NDArray[np.int32]:
    """Scale a numeric target; unknown cells have the mean of the others."""
    unknown = np.isnan(values)
    low, high = np.fmin.reduce(values, initial=np.inf), np.fmax.reduce(values, initial=-np.inf)
    exponents, shifts = scales(np.array([low]), np.array([high]))
    whole = np.rint(np.ldexp(np.where(unknown, 0.0, values), exponents[0])) - shifts[0]
    return _with_mean(np.where(unknown, 0.0, whole).astype(np.int64), unknown, weights)


def _with_mean(column: NDArray[np.int64], unknown: NDArray[np.bool_], weights: RowWeights | None) -> NDArray[np.int32]:
    """Give unknown cells, which are 0, the mean of the others, rounded."""
    if not unknown.any():
        return column.astype(np.int32)
    total, of_rows = row_total(weights, len(column))
    column = np.where(unknown, 0, column)
    known = total - int(np.count_nonzero(unknown) if of_rows is None else of_rows[unknown].sum())
    pieces = pieces_of(column if of_rows is None else column * of_rows)
    added = sum(int(piece.sum(dtype=np.int64)) << BITS * number for number, piece in enumerate(pieces))
    mean = (2 * added + known) // (2 * known) if known else 0
    return np.where(unknown, mean, column).astype(np.int32)


# Sums of products.

VECTORS_AT_ONCE = 32  # targets that go through dense columns together: in blocks of 4,096 rows they stay in a cache
KEPT_BYTES = 2**28  # of products with columns that several gains share
CACHE = 2**25  # bytes of digits that a cache holds: beyond it reading them takes longer than multiplying
AHEAD = 4  # columns that are multiplied together then


class Wanted(NamedTuple):
    """The sums that a source is asked for, in one pass over its rows."""

    margins: bool = False
    """Sums and squares of all columns."""
    targets: tuple[int, int] = (0, 0)
    """Products of all columns with a range of the columns of the targets."""
    columns: tuple[int, ...] = ()
    """Products of all columns with these."""


@dataclass(frozen=True, eq=False)
class LinearSums:
    """Weighted sums over some rows; those of different rows are added by ``+``. What was not asked for is empty.

    Attributes
    ----------
    sums, squares : Wide, shape (n_columns,)
        Of every column, and of its squares.
    with_targets : Wide, shape (n_columns, n_targets)
    with_columns : Wide, shape (n_columns, n_asked)
    """

    sums: Wide
    squares: Wide
    with_targets: Wide
    with_columns: Wide

    def __add__(self, other: "LinearSums") -> "LinearSums":
        return LinearSums(
            self.sums + other.sums,
            self.squares + other.squares,
            self.with_targets + other.with_targets,
            self.with_columns + other.with_columns,
        )


class SumSource(Protocol):
    """Whatever can add up products over all rows: an array, chunks of a file, many machines."""

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first column of every feature, and the end of the last."""

    @property
    def ahead(self) -> int:
        """How many columns it is best asked for at once: more than one where a pass over the rows costs more than the sums."""

    def sums(self, wanted: Wanted) -> LinearSums:
        """Add up what is wanted over all rows, in one pass."""


def starts_of(widths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first column of every feature, and the end of the last, from the numbers of their columns.

    >>> starts_of(np.array([1, 3, 1]))
    array([0, 1, 4, 5])
    """
    return np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)


class RowSums:
    """Some rows, of all features, in memory: they answer with their sums.

    Parameters
    ----------
    groups : sequence of WholeColumns
        The columns of all features, some features after the other.
    targets : WholeTargets
        Of these rows.
    weights : ndarray of int64, default=None
        Weights of these rows; None: 1.
    threads : Threads
    """

    def __init__(
        self,
        groups: Sequence[WholeColumns],
        targets: WholeTargets,
        weights: NDArray[np.int64] | None,
        threads: core.Threads,
    ) -> None:
        self.starts = starts_of(np.concatenate([group.widths for group in groups]))
        self._targets, self._weights, self._threads = targets, weights, threads
        self._parts: list[tuple[Part, NDArray[np.intp]]] = []
        first = 0
        for group in groups:
            self._parts += [(part, first + places) for part, places in zip(group.parts, group.places, strict=True)]
            first += group.n_columns
        self._n_rows = targets.columns.shape[0]
        dense = sum(part.cells.nbytes for part, _ in self._parts if isinstance(part, Digits))
        self.ahead = AHEAD if dense > CACHE else 1

    @property
    def own_digits(self) -> Digits | None:
        """All columns as digits of rows that count once; None where they are anything else."""
        part = self._parts[0][0] if len(self._parts) == 1 else None
        return part if isinstance(part, Digits) and self._weights is None else None

    @property
    def listed(self) -> Lists | None:
        """All features as one set of sparse columns, at most one for each feature; None where they are anything else."""
        parts = [(part, places) for part, places in self._parts if isinstance(part, Lists)]
        if len(parts) < len(self._parts) or np.diff(self.starts).max(initial=0) > 1:
            return None
        sizes = np.zeros(int(self.starts[-1]), dtype=np.int64)
        for part, places in parts:
            sizes[places] = np.diff(part.starts)
        starts = starts_of(sizes)
        rows, numbers = np.empty(starts[-1], dtype=np.uint32), np.empty(starts[-1], dtype=np.int32)
        for part, places in parts:
            where = np.repeat(starts[places] - part.starts[:-1], sizes[places]) + np.arange(len(part.rows))
            rows[where], numbers[where] = part.rows, part.numbers
        return Lists(starts, rows, numbers, self._n_rows)

    def sums(self, wanted: Wanted) -> LinearSums:
        """Add up what is wanted over these rows."""
        n_columns = int(self.starts[-1])
        sums, squares = (Wide.zeros(n_columns if wanted.margins else 0) for _ in range(2))
        with_targets = self._with_targets(*wanted.targets)
        with_columns = Wide.zeros(n_columns, len(wanted.columns))
        ones = Vectors.of(np.ones((1, self._n_rows), dtype=np.int32), self._weights) if wanted.margins else None
        asked, newest = np.array(wanted.columns, dtype=np.int64), None
        for part, places in self._parts:
            if ones is not None:
                part.add_products(ones, into := Wide.zeros(part.n_columns, 1), self._threads)
                _put(sums, places, into[:, 0])
                part.add_squares(self._weights, into := Wide.zeros(part.n_columns, 1), self._threads)
                _put(squares, places, into[:, 0])
            if not len(asked):
                continue
            into = Wide.zeros(part.n_columns, len(asked))
            if isinstance(part, Digits) and self._weights is None and len(places) == n_columns:  # it has the columns
                part.add_own_products(asked, into, self._threads)
            else:
                if newest is None:
                    chosen = np.array([self._column(column) for column in wanted.columns], dtype=np.int32)
                    newest = Vectors.of(chosen, self._weights)
                part.add_products(newest, into, self._threads)
            _put(with_columns, places, into)
        return LinearSums(sums, squares, with_targets, with_columns)

    def _with_targets(self, first: int, last: int) -> Wide:
        """Add up the products of all columns with some targets, which are made dense once for all columns that need it."""
        out = Wide.zeros(int(self.starts[-1]), last - first)
        if first == last:
            return out
        everything = (first, last) == (0, self._targets.n_columns)
        targets = self._targets if everything else self._targets.take_columns(slice(first, last))
        dense = []
        for part, places in self._parts:
            if not isinstance(part, Lists):
                dense.append((part, places))
            elif part.n_columns == out.shape[0]:
                part.add_listed(targets, self._weights, out, self._threads)
            else:
                part.add_listed(targets, self._weights, into := Wide.zeros(part.n_columns, last - first), self._threads)
                _put(out, places, into)
        for start, stop in pairwise([*range(0, last - first, VECTORS_AT_ONCE), last - first] if dense else []):
            vectors = Vectors.of(targets.dense(start, stop), self._weights)
            for part, places in dense:
                part.add_products(vectors, into := Wide.zeros(part.n_columns, stop - start), self._threads)
                out.high[places, start:stop], out.low[places, start:stop] = into.high, into.low
        return out

    def _column(self, column: int) -> NDArray[np.int32]:
        for part, places in self._parts:
            position = np.searchsorted(places, column)
            if position < len(places) and places[position] == column:
                return part.column(int(position))
        raise IndexError(f"column {column} of {self.starts[-1]}")


def _put(out: Wide, places: NDArray[np.intp], values: Wide) -> None:
    out.high[places], out.low[places] = values.high, values.low


class SharedSums:
    """Sums for several gains, each of some of the targets: what one of them asked for is kept for the others.

    Parameters
    ----------
    source : SumSource
        With all targets.
    """

    def __init__(self, source: SumSource) -> None:
        self._source = source
        self._margins: LinearSums | None = None
        self._columns: dict[int, Wide] = {}
        self._most = max(1, KEPT_BYTES // (16 * max(1, int(source.starts[-1]))))

    def of_targets(self, first: int) -> "TargetSums":
        """Return the source for a gain whose first target is column ``first`` of all targets."""
        return TargetSums(self, first, self._source.starts)

    def sums(self, wanted: Wanted) -> LinearSums:
        """Add up what is not known yet; the oldest products with columns are forgotten where there are too many."""
        if self._margins is None:
            self._margins = self._source.sums(Wanted(margins=True))
        missing = tuple(column for column in wanted.columns if column not in self._columns)
        known = [self._columns[column] for column in wanted.columns if column in self._columns]
        if missing or wanted.targets[1] > wanted.targets[0]:
            found = self._source.sums(Wanted(targets=wanted.targets, columns=missing))
        else:
            found = self._margins
        for position, column in enumerate(missing):
            self._columns[column] = found.with_columns[:, position]
        with_columns = found.with_columns
        if known:
            every = [self._columns[column] for column in wanted.columns]
            with_columns = Wide(*(np.column_stack(parts) for parts in ([w.high for w in every], [w.low for w in every])))
        for column in list(self._columns)[: max(0, len(self._columns) - self._most)]:
            del self._columns[column]
        margins = self._margins
        return LinearSums(margins.sums, margins.squares, found.with_targets, with_columns)


@dataclass(frozen=True, eq=False)
class TargetSums:
    """The source of a gain for some of the targets: see :class:`SharedSums`."""

    shared: SharedSums
    first: int
    starts: NDArray[np.int64]
    ahead: int = 1

    def sums(self, wanted: Wanted) -> LinearSums:
        """Add up what is wanted; targets are numbered from the first of this source."""
        first, last = wanted.targets
        return self.shared.sums(wanted._replace(targets=(self.first + first, self.first + last)))
