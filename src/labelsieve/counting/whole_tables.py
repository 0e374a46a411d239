"""Whole joint tables: counted with numpy, and information estimated from them.

For estimators that are no sums over cells (shrinkage), and for missing cells that are left out pair by pair.
:class:`JointTables` counts, :func:`table_information` estimates.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve.resources import require_memory
from labelsieve.tables.codes import Codes
from labelsieve.tables.weights import Estimator

if TYPE_CHECKING:
    from labelsieve.counting.backends.protocol import Backend, Condition

Integers = NDArray[np.integer]
Real = NDArray[np.float64]
Terms = Sequence[tuple[float, str]]  # factors of entropies, and the variables of each

CODES_AT_ONCE = 2**20  # of a block of features: rows times columns, about what a cache holds
CELLS_AT_ONCE = 2**18  # of the tables of a block
KEPT = 2**24  # codes of features that are kept in the form in which they are counted, 8 bytes each


class CountBlock(NamedTuple):
    """Whole joint tables of some features with one target."""

    features: NDArray[np.intp]
    target: int
    """Position among the targets asked for."""
    counts: NDArray[np.float64]
    """``(features, levels of a feature, levels of the target, levels of the condition)``; an absent variable has one level."""


class JointTables:
    """Joint tables (feature, target, condition) in blocks of features with the same number of levels.

    Parameters
    ----------
    X, Y, row_index
        As for :class:`~labelsieve.counting.backends.protocol.BackendFactory`.
    weights : ndarray of float, default=None
        The weight of each row of ``Y``.

    Notes
    -----
    Cost: for every feature and target a step for each row and some passes over the cells, in one thread: see
    docs/entropy_estimators.md for a comparison with the core. Columns of sparse tables are made dense block by block.
    """

    def __init__(
        self, X: Codes, Y: Codes, *, weights: NDArray[np.float64] | None = None, row_index: NDArray[np.uint32] | None = None
    ) -> None:
        self._X, self._n_rows, self._row_index, self._weights = X, Y.n_rows, row_index, weights
        self._targets = [_without_gaps(Y.column(target)) for target in range(Y.n_columns)]
        self._levels = np.array([_without_gaps(self._feature(j))[1] for j in range(X.n_columns)])
        self._kept: dict[tuple[int, int], Integers] = {}
        self._keeps = X.n_columns * Y.n_rows <= KEPT

    def joint_counts(
        self, given: Integers | None = None, *, targets: slice | None = slice(None), features: bool = True
    ) -> Iterator[CountBlock]:
        """Count the tables of a condition, its codes in every row of ``Y``.

        See :meth:`labelsieve.counting.backends.protocol.Backend.joint_counts`.
        """
        n_rows = self._n_rows
        no_variable = np.zeros(n_rows, dtype=np.int64), 1
        z, z_levels = no_variable if given is None else _without_gaps(given)
        columns = [no_variable] if targets is None else self._targets[targets]
        others = [(y * z_levels + z, y_levels) for y, y_levels in columns]
        widest = max((y_levels * z_levels for _, y_levels in others), default=1)
        one_block = [(np.zeros(1, dtype=np.intp), np.zeros((n_rows, 1), dtype=np.int64), 1)]
        for members, block, n_levels in self._blocks(widest) if features else one_block:
            weights = None if self._weights is None else np.repeat(self._weights, len(members))
            for target, (codes, y_levels) in enumerate(others):
                n_cells = y_levels * z_levels
                cells = (block * n_cells + codes[:, np.newaxis]).ravel()
                counts = np.bincount(cells, weights=weights, minlength=len(members) * n_levels * n_cells)
                shape = len(members), n_levels, y_levels, z_levels
                yield CountBlock(members, target, counts.reshape(shape).astype(np.float64))

    def _blocks(self, n_others: int) -> Iterator[tuple[NDArray[np.intp], Integers, int]]:
        """Yield features with the same number of levels: their indices, codes (numbered on from feature to feature), levels."""
        for n_levels in np.unique(self._levels):
            same = np.flatnonzero(self._levels == n_levels)
            n_cells = int(n_levels) * n_others
            require_memory(32 * n_cells, f"a whole table has a cell for each combination of levels, here {n_cells:,};", 1, 1)
            width = max(1, min(CODES_AT_ONCE // max(1, self._n_rows), CELLS_AT_ONCE // n_cells))
            for start in range(0, len(same), width):
                features = same[start : start + width]
                yield features, self._codes(features, int(n_levels)), int(n_levels)

    def _codes(self, features: NDArray[np.intp], n_levels: int) -> Integers:
        key = int(features[0]), len(features)
        if key in self._kept:
            return self._kept[key]
        codes = np.empty((self._n_rows, len(features)), dtype=np.int64)
        for position, feature in enumerate(features):
            codes[:, position] = _without_gaps(self._feature(int(feature)))[0] + position * n_levels
        if self._keeps:
            self._kept[key] = codes
        return codes

    def _feature(self, j: int) -> Integers:
        column = self._X.column(j)
        return column if self._row_index is None else column[self._row_index]


def _without_gaps(column: Integers) -> tuple[Integers, int]:
    """Return the codes of the levels that occur, numbered in order, and the number of those levels.

    >>> _without_gaps(np.array([7, 2, 7]))
    (array([1, 0, 1]), 2)
    """
    occurs = np.bincount(column) > 0
    renumbered = np.cumsum(occurs) - 1
    return renumbered[column], int(renumbered[-1]) + 1


class MissingLevels(NamedTuple):
    """Flags of the variables whose last level stands for missing cells: features, targets (those asked for), the condition."""

    features: NDArray[np.bool_]
    targets: NDArray[np.bool_]
    given: bool


def table_information(
    backend: "Backend",
    terms: Terms,
    given: "Condition | None",
    shape: tuple[int, int],
    *,
    targets: slice = slice(None),
    estimator: Estimator = "shrinkage",
    missing: MissingLevels | None = None,
) -> Real:
    """Estimate sums of entropies in nats, all of a sum from one table, for ``shape`` features by targets.

    ``terms`` has factors and the variables of each entropy: "x" a feature, "y" a target, "z" the condition. Without a feature,
    or a target, in any of them there is one row, or one column. A table without rows has no information.
    """
    mentioned = set("".join(names for _, names in terms))
    with_features, with_targets = "x" in mentioned, "y" in mentioned
    out = np.empty((shape[0] if with_features else 1, shape[1] if with_targets else 1))
    condition = given if "z" in mentioned else None
    if missing is not None:
        missing = MissingLevels(
            missing.features if with_features else np.zeros(1, dtype=bool),
            missing.targets if with_targets else np.zeros(1, dtype=bool),
            missing.given and condition is not None,
        )
    if estimator == "shrinkage" and missing is None and with_features:
        shrunk = backend.shrunk_information(terms, condition, targets if with_targets else None)
        if shrunk is not None:
            return shrunk
    for block in backend.joint_counts(condition, targets=targets if with_targets else None, features=with_features):
        for features, counts in [(block.features, block.counts)] if missing is None else _without_missing(block, missing):
            out[features, block.target] = _sums_of_entropies(counts, terms, estimator, missing is not None)
    return out


def _without_missing(block: CountBlock, missing: MissingLevels) -> Iterator[tuple[NDArray[np.intp], Real]]:
    """Yield features and their tables without the level for missing cells."""
    counts = block.counts[..., :-1] if missing.given else block.counts
    if missing.targets[block.target]:
        counts = counts[:, :, :-1]
    flagged = missing.features[block.features]
    if not flagged.all():
        yield block.features[~flagged], counts[~flagged]
    if flagged.any():
        yield block.features[flagged], counts[flagged][:, :-1]


def shrink(counts: Real, possible: NDArray[np.bool_] | None = None) -> Real:
    """Return shrunk probabilities of tables of counts, which are stacked along the first axis (James and Stein).

    ``possible`` marks the cells that have a probability (default: all).

    >>> shrink(np.array([[8.0, 0.0], [3.0, 1.0]])).round(4)
    array([[1. , 0. ], [0.5, 0.5]])
    """
    flat = counts.reshape(len(counts), -1)
    n, target = (
        flat.sum(axis=1, keepdims=True),
        np.array(1.0 / max(flat.shape[1], 1)),
    )  # no cells: a column without known values
    if possible is not None:
        cells = possible.reshape(flat.shape)
        n, target = np.where(n > 0, n, 1.0), cells / np.maximum(cells.sum(axis=1, keepdims=True), 1)
    p: Real = flat / n
    spread = (n - 1.0) * ((target - p) ** 2).sum(axis=1, keepdims=True)
    doubt = 1.0 - (p**2).sum(axis=1, keepdims=True)
    share = np.divide(doubt, spread, out=np.ones_like(spread), where=(spread > 0) & (doubt < spread))
    share = np.maximum(share, 0.0)
    shrunk: Real = share * target + (1.0 - share) * p
    return shrunk.reshape(counts.shape)


def _sums_of_entropies(counts: Real, terms: Terms, estimator: Estimator, cut: bool) -> Real:
    """Return the sum of entropies of each of the stacked tables; ``cut``: some levels may not occur any more."""
    n = counts.sum(axis=(1, 2, 3))
    n[n == 0] = 1.0
    if estimator == "shrinkage":
        p = shrink(counts, _occurring(counts) if cut else None)
    else:
        p = counts / n[:, np.newaxis, np.newaxis, np.newaxis]
    total = np.zeros(len(p))
    for factor, names in terms:
        margin = p.sum(axis=tuple(axis for axis, name in enumerate("xyz", 1) if name not in names))
        margin = margin.reshape(len(p), -1)
        logs = np.log(margin, where=margin > 0, out=np.zeros_like(margin))
        total -= factor * np.einsum("tc,tc->t", margin, logs)
        if estimator == "miller-madow":
            total += factor * np.maximum(np.count_nonzero(margin, axis=1) - 1, 0) / (2.0 * n)
    return total


def _occurring(counts: Real) -> NDArray[np.bool_]:
    """Mark the combinations of levels that occur."""
    cells = np.ones(counts.shape, dtype=bool)
    for axis in (1, 2, 3):
        others = tuple(other for other in (1, 2, 3) if other != axis)
        cells &= counts.sum(axis=others, keepdims=True) > 0
    return cells
