r"""James-Stein shrinkage of joint tables (Hausser and Strimmer 2009).

The cells of a table with :math:`c` cells are shrunk towards the uniform table :math:`t = 1/c`,

.. math:: p^* = \lambda t + (1 - \lambda) p, \qquad \lambda = \frac{1 - \sum p^2}{(n - 1) \sum (t - p)^2} \in [0, 1],

and every entropy of a term comes from that one table: its margins are consistent, so no information is negative. A level
counts when it occurs; a table has a cell for each combination of levels.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.joint_tables import JointTables
from labelsieve.counting.backends.protocol import ALL_TARGETS, Backend, Column, Condition
from labelsieve.counting.codes import Codes
from labelsieve.counting.joint_codes import constant_column, joint_variable
from labelsieve.counting.row_weights import read_weights

Real = NDArray[np.float64]
Terms = Sequence[tuple[float, str]]
Probabilities = Callable[[Real], Real]


def shrink(counts: Real) -> Real:
    """Shrunk probabilities of tables of counts, which are stacked along the first axis.

    >>> shrink(np.array([[8.0, 0.0], [3.0, 1.0]])).round(4)
    array([[1. , 0. ], [0.5, 0.5]])
    """
    flat = counts.reshape(len(counts), -1)
    n, target = flat.sum(axis=1, keepdims=True), 1.0 / flat.shape[1]
    p: Real = flat / n
    spread = (n - 1.0) * ((target - p) ** 2).sum(axis=1, keepdims=True)
    doubt = 1.0 - (p**2).sum(axis=1, keepdims=True)
    share = np.divide(doubt, spread, out=np.ones_like(spread), where=(spread > 0) & (doubt < spread))
    share = np.maximum(share, 0.0)
    shrunk: Real = share * target + (1.0 - share) * p
    return shrunk.reshape(counts.shape)


def table_information(
    source: Backend | JointTables,
    terms: Terms,
    given: Condition | None,
    shape: tuple[int, int],
    *,
    targets: slice = ALL_TARGETS,
    probabilities: Probabilities = shrink,
) -> Real:
    """Sums of entropies in nats, all of a sum from one table, for ``shape`` features by targets.

    ``terms`` has factors and the variables of each entropy: "x" a feature, "y" a target, "z" the condition. Without a feature,
    or a target, in any of them there is one row, or one column. ``probabilities`` is the estimator: probabilities from counts,
    for tables that are stacked along the first axis.
    """
    mentioned = set("".join(names for _, names in terms))
    with_features, with_targets = "x" in mentioned, "y" in mentioned
    out = np.empty((shape[0] if with_features else 1, shape[1] if with_targets else 1))
    condition = given if "z" in mentioned else None
    for block in source.joint_counts(condition, targets=targets if with_targets else None, features=with_features):
        out[block.features, block.target] = _sums_of_entropies(probabilities(block.counts), terms)
    return out


def _sums_of_entropies(p: Real, terms: Terms) -> Real:
    """For each of the stacked tables."""
    total = np.zeros(len(p))
    for factor, names in terms:
        margin = p.sum(axis=tuple(axis for axis, name in enumerate("xyz", 1) if name not in names))
        margin = margin.reshape(len(p), -1)
        logs = np.log(margin, where=margin > 0, out=np.zeros_like(margin))
        total -= factor * np.einsum("tc,tc->t", margin, logs)
    return total


def shrunk_information(tables: Sequence[Codes], terms: Terms, sample_weight: Any = None) -> Real:
    """Sums of entropies of shrunk tables, in nats, for every column of the first table with every column of the second.

    ``terms`` has signs and the variables of each entropy, of "x", "y" and "z": ``((1, "x"), (1, "y"), (-1, "xy"))`` is mutual
    information. All columns of a third table are one variable. Without a second table the shape is ``(d,)``.

    Cost: that of :class:`~labelsieve.counting.backends.joint_tables.JointTables`.
    """
    weights = read_weights(sample_weight, tables[0].n_rows)
    if weights is not None and not weights.all():
        rows = weights > 0
        tables, weights = [table.take_rows(rows) for table in tables], weights[rows]
    X = tables[0]
    Y = tables[1] if len(tables) > 1 else constant_column(X.n_rows)
    given = Column(*joint_variable(tables[2])) if len(tables) > 2 else None
    shape = X.n_columns, Y.n_columns
    result = table_information(JointTables(X, Y, weights=weights), terms, given, shape)
    return result if len(tables) > 1 else result[:, 0]
