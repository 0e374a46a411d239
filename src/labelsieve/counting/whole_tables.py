"""Information terms from whole joint tables: for estimators that are not sums over cells, and for missing cells.

A level that stands for missing cells is cut off, so a term counts the rows in which all of its variables are known.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.joint_tables import JointTables
from labelsieve.counting.backends.protocol import ALL_TARGETS, Backend, Condition, CountBlock
from labelsieve.counting.row_weights import Estimator

SHRUNK_LEVELS, SHRUNK_CLASSES = 33, 64  # of a feature, and of a target or condition, whose tables are shrunk in the core

Real = NDArray[np.float64]
Terms = Sequence[tuple[float, str]]


class MissingLevels(NamedTuple):
    """The variables whose last level stands for missing cells: features, targets (those asked for), the condition."""

    features: NDArray[np.bool_]
    targets: NDArray[np.bool_]
    given: bool


def table_information(
    source: Backend | JointTables,
    terms: Terms,
    given: Condition | None,
    shape: tuple[int, int],
    *,
    targets: slice = ALL_TARGETS,
    estimator: Estimator = "shrinkage",
    missing: MissingLevels | None = None,
) -> Real:
    """Sums of entropies in nats, all of a sum from one table, for ``shape`` features by targets.

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
        in_core = getattr(source, "shrunk_information", None)
        shrunk: Real | None = None if in_core is None else in_core(terms, condition, targets if with_targets else None)
        if shrunk is not None:
            return shrunk
    for block in source.joint_counts(condition, targets=targets if with_targets else None, features=with_features):
        for features, counts in [(block.features, block.counts)] if missing is None else _without_missing(block, missing):
            out[features, block.target] = _sums_of_entropies(counts, terms, estimator, missing is not None)
    return out


def _without_missing(block: CountBlock, missing: MissingLevels) -> Iterator[tuple[NDArray[np.intp], Real]]:
    """Features and their tables without the level for missing cells."""
    counts = block.counts[..., :-1] if missing.given else block.counts
    if missing.targets[block.target]:
        counts = counts[:, :, :-1]
    flagged = missing.features[block.features]
    if not flagged.all():
        yield block.features[~flagged], counts[~flagged]
    if flagged.any():
        yield block.features[flagged], counts[flagged][:, :-1]


def shrink(counts: Real, possible: NDArray[np.bool_] | None = None) -> Real:
    """Shrunk probabilities of tables of counts, which are stacked along the first axis; ``possible`` are cells (default: all).

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
    """For each of the stacked tables; ``cut``: some levels may not occur any more."""
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
    """The combinations of levels that occur."""
    cells = np.ones(counts.shape, dtype=bool)
    for axis in (1, 2, 3):
        others = tuple(other for other in (1, 2, 3) if other != axis)
        cells &= counts.sum(axis=others, keepdims=True) > 0
    return cells
