"""Iterative stratification: the rarest column first, each unit to the part that still wants it most."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

NONE_LEFT = np.iinfo(np.uint32).max


def assign(
    column_counts: sparse.csr_array,
    sizes: NDArray[np.int64],
    targets: NDArray[np.int64],
    shares: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    shuffle: bool = True,
    exact: bool = True,
) -> NDArray[np.intp]:
    """The part of every unit, so that every part gets its fraction of every column of ``column_counts``.

    The algorithm of Sechidis, Tsoumakas and Vlahavas (2011). Again and again, the column with the fewest rows left
    is taken, and each of its units goes to the part that lacks most of that column; among equals to the part that lacks most
    rows, then to a random one. Units without any of them come last and fill the parts up.

    A unit is a row or a group of rows: ``column_counts`` holds how many of its rows have the column, ``sizes`` how many rows it
    has. Among the units of a column those with most rows of it come first, for they are the hardest to place. ``targets``
    are the rows wanted per part and sum to all rows, ``shares`` the fractions of every column. ``exact`` closes a part that has
    its rows; the paper does not, and its parts come out a few rows larger or smaller.

    Cost: for n units, p parts and c columns, n p plus p per entry of the counts, and a scan of the c remaining counts for
    every column taken, of which there are at most min(n, c).

    >>> labels = sparse.csr_array(np.array([[1, 0], [1, 0], [0, 1], [0, 1]]))
    >>> part = assign(labels, np.ones(4, int), np.array([2, 2]), np.array([0.5, 0.5]), np.random.default_rng(0))
    >>> sorted(part[:2].tolist()), sorted(part[2:].tolist())
    ([0, 1], [0, 1])
    """
    units = column_counts.shape[0]
    visit = rng.permutation(units) if shuffle else np.arange(units)
    rank = np.empty(units, dtype=np.int64)
    rank[visit] = np.arange(units)

    wanted = np.asarray(column_counts.sum(axis=0), dtype=np.int64).ravel()
    column_counts, wanted = column_counts[:, wanted > 0], wanted[wanted > 0]
    by_column = column_counts.tocsc()
    amounts = column_counts.data.astype(np.uint32)
    # The rows left of every column, less one: a column that is used up wraps to the largest number and is never the minimum.
    spare = (wanted - 1).astype(np.uint32)
    # Whole counts, a row per column: parts of equal shares that took equally much tie exactly.
    taken = np.zeros((wanted.size, targets.size), dtype=np.int32)
    capacity = targets.astype(np.int64)
    part = np.full(units, -1, dtype=np.intp)

    def place(unit: int, wish: NDArray[np.float64] | None) -> None:
        best = _most_wanting(wish, capacity, exact, rng)
        span = slice(column_counts.indptr[unit], column_counts.indptr[unit + 1])
        columns = column_counts.indices[span]
        part[unit] = best
        capacity[best] -= sizes[unit]
        taken[columns, best] += column_counts.data[span]
        spare[columns] -= amounts[span]

    while spare.size and (fewest := spare.min()) < NONE_LEFT:
        column = int(rng.choice(np.flatnonzero(spare == fewest)))
        span = slice(by_column.indptr[column], by_column.indptr[column + 1])
        here, counts = by_column.indices[span], by_column.data[span]
        open_ = part[here] < 0
        here, counts = here[open_], counts[open_]
        for unit in here[np.lexsort((rank[here], -counts))].tolist():
            place(unit, wanted[column] * shares - taken[column])
    rest = visit[part[visit] < 0]
    for unit in rest[np.argsort(-sizes[rest], kind="stable")].tolist():
        place(unit, None)
    return part


def _most_wanting(wish: NDArray[np.float64] | None, capacity: NDArray[np.int64], exact: bool, rng: np.random.Generator) -> int:
    """The part with the largest wish; among equals with most capacity; among those a random one."""
    parts = np.flatnonzero(capacity > 0) if exact else np.arange(capacity.size)
    if wish is not None:
        wishes = wish[parts]
        parts = parts[wishes == wishes.max()]
    if parts.size > 1:
        free = capacity[parts]
        parts = parts[free == free.max()]
    return int(parts[0] if parts.size == 1 else parts[rng.integers(parts.size)])


def whole_targets(total: int, parts: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """``total`` rows in equal parts; which parts get one row more is drawn.

    >>> sorted(whole_targets(11, 3, np.random.default_rng(0)).tolist())
    [3, 4, 4]
    """
    targets = np.full(parts, total // parts, dtype=np.int64)
    targets[rng.permutation(parts)[: total % parts]] += 1
    return targets
