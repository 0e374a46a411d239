"""Exact sums of products of columns: what the least-squares gain needs, additive over rows as counts are.

Whatever has rows answers a :class:`Wanted` with :class:`LinearSums`, and those of several parts of the rows are added. A
:class:`SumSource` is asked once for the margins and the products with the targets, and at every step for the products of all
columns with the columns of the newest feature. :class:`RowSums` is the source for rows in memory; chunks and workers have
sources of their own, made of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.whole_columns import Digits, Lists, Part, Vectors, WholeColumns, WholeTargets, Wide

VECTORS_AT_ONCE = 32  # targets that go through dense columns together: in blocks of 4,096 rows they stay in a cache


KEPT_BYTES = 2**28  # of products with columns that several gains share
CACHE = 2**22  # bytes of digits that a cache holds: beyond it reading them takes longer than multiplying
AHEAD = 4  # columns that are multiplied together then


class Wanted(NamedTuple):
    """What a source is asked for, in one pass over its rows."""

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
    crossed : Wide, shape (n_columns,)
        Products of every column with the next one of the same numeric feature; 0 for others.
    with_targets : Wide, shape (n_columns, n_targets)
    with_columns : Wide, shape (n_columns, n_asked)
    """

    sums: Wide
    squares: Wide
    crossed: Wide
    with_targets: Wide
    with_columns: Wide

    def __add__(self, other: "LinearSums") -> "LinearSums":
        return LinearSums(
            self.sums + other.sums,
            self.squares + other.squares,
            self.crossed + other.crossed,
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
    per_feature : int, default=1
        Columns of a numeric feature.
    threads : Threads
    """

    def __init__(
        self,
        groups: Sequence[WholeColumns],
        targets: WholeTargets,
        weights: NDArray[np.int64] | None,
        threads: core.Threads,
        *,
        per_feature: int = 1,
    ) -> None:
        self.starts = starts_of(np.concatenate([group.widths for group in groups]))
        self._targets, self._weights, self._threads, self._per_feature = targets, weights, threads, per_feature
        self._parts: list[tuple[Part, NDArray[np.intp]]] = []
        first = 0
        for group in groups:
            self._parts += [(part, first + places) for part, places in zip(group.parts, group.places, strict=True)]
            first += group.n_columns
        self._n_rows = targets.columns.shape[0]
        dense = sum(part.cells.nbytes for part, _ in self._parts if isinstance(part, Digits))
        self.ahead = AHEAD if dense > CACHE else 1

    def sums(self, wanted: Wanted) -> LinearSums:
        """Add up what is wanted over these rows."""
        n_columns = int(self.starts[-1])
        sums, squares, crossed = (Wide.zeros(n_columns if wanted.margins else 0) for _ in range(3))
        with_targets = Wide.zeros(n_columns, wanted.targets[1] - wanted.targets[0])
        with_columns = Wide.zeros(n_columns, len(wanted.columns))
        ones = Vectors.of(np.ones((1, self._n_rows), dtype=np.int32), self._weights) if wanted.margins else None
        chosen = np.array([self._column(column) for column in wanted.columns], dtype=np.int32).reshape(-1, self._n_rows)
        newest = Vectors.of(chosen, self._weights)
        for part, places in self._parts:
            if ones is not None:
                part.add_products(ones, into := Wide.zeros(part.n_columns, 1), self._threads)
                _put(sums, places, into[:, 0])
                for lag in range(self._per_feature if part.n_columns > 1 else 1):
                    part.add_squares(self._weights, lag, into := Wide.zeros(part.n_columns, 1), self._threads)
                    _put((squares, crossed)[lag], places, into[:, 0])
            if newest.size:
                part.add_products(newest, into := Wide.zeros(part.n_columns, newest.size), self._threads)
                _put(with_columns, places, into)
            if with_targets.shape[1]:
                _put(with_targets, places, self._with_targets(part, *wanted.targets))
        return LinearSums(sums, squares, crossed, with_targets, with_columns)

    def _with_targets(self, part: Part, first: int, last: int) -> Wide:
        targets = (
            self._targets if (first, last) == (0, self._targets.n_columns) else self._targets.take_columns(slice(first, last))
        )
        out = Wide.zeros(part.n_columns, last - first)
        if isinstance(part, Lists):
            part.add_listed(targets, self._weights, out, self._threads)
            return out
        for start, stop in pairwise([*range(0, last - first, VECTORS_AT_ONCE), last - first]):
            values = targets.columns[:, start:stop].toarray().T
            part.add_products(
                Vectors.of(values, self._weights), into := Wide.zeros(part.n_columns, stop - start), self._threads
            )
            out.high[:, start:stop], out.low[:, start:stop] = into.high, into.low
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
        return LinearSums(margins.sums, margins.squares, margins.crossed, found.with_targets, with_columns)


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
