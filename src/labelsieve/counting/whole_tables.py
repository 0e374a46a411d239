"""Whole joint tables: counted with numpy, and information estimated from them.

For estimators that are no sums over cells (shrinkage), and for missing cells that are left out pair by pair.
:class:`JointTables` counts, :func:`table_information` estimates. Sums over the cells of a table are sums of integers, as
everywhere: they are the same bits for any order of the rows, of the levels, and for any backend.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.fixed_point import FixedPoint, table_log
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

    Cost: for every feature and target a step for each row and some passes over the cells, in one thread: see
    docs/choose/entropy_estimators.md for a comparison with the core. Columns of sparse tables are made dense block by block.
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
    fixed: FixedPoint,
    *,
    targets: slice = slice(None),
    estimator: Estimator = "shrinkage",
    missing: MissingLevels | None = None,
) -> Real:
    """Estimate sums of entropies in nats, all of a sum from one table, for ``shape`` features by targets.

    ``terms`` has factors and the variables of each entropy: "x" a feature, "y" a target, "z" the condition. Without a feature,
    or a target, in any of them there is one row, or one column. A table without rows has no information. ``fixed`` is the
    arithmetic of the counted rows, for ``estimator`` unless that is shrinkage.
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
    estimate = _shrunk_entropies if estimator == "shrinkage" else _entropies
    for block in backend.joint_counts(condition, targets=targets if with_targets else None, features=with_features):
        for features, counts in [(block.features, block.counts)] if missing is None else _without_missing(block, missing):
            whole = counts if fixed.unit == 1 else counts * fixed.unit  # quantized weights
            out[features, block.target] = estimate(whole, terms, fixed)
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


def _entropies(counts: Real, terms: Terms, fixed: FixedPoint) -> Real:
    """Return the sum of entropies of each of the stacked tables, as :class:`FixedPoint` has it for tables of all rows."""
    n = counts.sum(axis=(1, 2, 3))
    top = fixed(n)
    total = np.zeros(len(counts))
    for factor, names in terms:
        values = fixed(_margin(counts, names)).reshape(len(counts), -1)
        total += factor * (top - values.sum(axis=1))
    information: Real = total / (fixed.scale * np.maximum(n, 1.0))
    return information


def _shrunk_entropies(counts: Real, terms: Terms, fixed: FixedPoint) -> Real:
    r"""Return the sum of entropies of each of the stacked tables, shrunk towards uniform ones (James and Stein).

    Hausser and Strimmer (2009), eq. 6, whose sum of :math:`(t - p)^2` is the sum of :math:`p^2` less :math:`t`. The cells are
    the combinations of levels that occur. All operations are those of ``shrink`` in native/simd/log_terms.hpp, in the same
    order, so that both give the same bits; the reasons are explained there.
    """
    if counts.size == 0:  # a column without known values
        return np.zeros(len(counts))
    n = counts.sum(axis=(1, 2, 3))
    squares = np.einsum("txyz,txyz->t", counts, counts) if fixed.total < 2**26 else _sum_of_large_squares(counts)
    known = n > 0
    n[~known] = 1.0
    occurs = {name: _margin(counts, name) > 0 for name in "xyz"}
    x, y, z = (np.maximum(np.count_nonzero(occurs[name].reshape(len(n), -1), axis=1), 1).astype(np.float64) for name in "xyz")
    target, mean = 1.0 / (x * (z * y)), squares / n / n
    spread, doubt = (n / fixed.unit - 1.0) * (mean - target), 1.0 - mean
    share = np.divide(doubt, spread, out=np.ones_like(spread), where=(spread > 0) & (doubt < spread))
    share = np.maximum(share, 0.0)
    alpha, beta = share * target, (1.0 - share) / n
    factors: dict[str, float] = {}
    for factor, names in terms:
        factors[names] = factors.get(names, 0.0) + factor
    total, margins = np.zeros(len(counts)), []
    all_names = sorted(factors, key=lambda names: sum(1 << "xyz".index(name) for name in names))
    for names in all_names:
        uniform = (alpha if "x" in names else x * alpha) * ((1.0 if "y" in names else y) * (1.0 if "z" in names else z))
        p = _by_table(beta) * _margin(counts, names)
        p += _by_table(uniform)
        for name in names:
            if not occurs[name].all():
                p *= occurs[name]
        margins.append(p.reshape(len(p), -1))
    p = np.concatenate(margins, axis=1)  # one pass for all of them
    np.minimum(p, 1.0, out=p)
    of_cells = table_log(p)
    of_cells *= p
    of_cells *= -(2.0**52)
    of_cells += 0.5
    starts = np.cumsum([0, *(margin.shape[1] for margin in margins[:-1])])
    sums = np.add.reduceat(of_cells.astype(np.int64), starts, axis=1)
    for position, names in enumerate(all_names):
        total += factors[names] * (sums[:, position] * 2.0**-52)
    return np.where(known, total, 0.0)


def _sum_of_large_squares(counts: Real) -> Real:
    """Add up the squares of whole numbers, which a double does not hold: exactly, their high and low bits separately."""
    high = np.rint(counts * 2.0**-16)
    low = counts - high * 2.0**16
    of_high, of_both, of_low = ((a * b).sum(axis=(1, 2, 3)) for a, b in ((high, high), (high, low), (low, low)))
    squares: Real = of_high * 2.0**32 + of_both * 2.0**17 + of_low
    return squares


def _margin(counts: Real, names: str) -> Real:
    """Return the tables of some of the variables; the others have one level."""
    axes = tuple(axis for axis, name in enumerate("xyz", 1) if name not in names)
    return counts.sum(axis=axes, keepdims=True) if axes else counts


def _by_table(values: Real) -> Real:
    return values[:, np.newaxis, np.newaxis, np.newaxis]
