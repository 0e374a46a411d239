r"""James-Stein shrinkage of joint tables (Hausser and Strimmer 2009).

The cells of a table with :math:`c` cells are drawn towards the uniform table :math:`t = 1/c`,

.. math:: p^* = \lambda t + (1 - \lambda) p, \qquad \lambda = \frac{1 - \sum p^2}{(n - 1) \sum (t - p)^2} \in [0, 1],

and every entropy of a term comes from that one table: its margins belong together, so no information is negative. A level
counts when it occurs; a table has a cell for each combination of levels.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelsieve.counting.backends.joint_tables import Real, TableBackend, Terms
from labelsieve.counting.codes import Codes
from labelsieve.counting.joint_codes import joint_variable
from labelsieve.counting.row_weights import read_weights


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


def shrunk_information(tables: Sequence[Codes], terms: Terms, sample_weight: Any = None) -> Real:
    """Sums of entropies of shrunk tables, in nats, for every column of the first table with every column of the second.

    ``terms`` has signs and the variables of each entropy, of "x", "y" and "z": ``((1, "x"), (1, "y"), (-1, "xy"))`` is mutual
    information. All columns of a third table are one variable. Without a second table the shape is ``(d,)``.

    Cost: that of :class:`~labelsieve.counting.backends.joint_tables.TableBackend`.
    """
    weights = read_weights(sample_weight, tables[0].n_rows)
    if weights is not None and not weights.all():
        rows = weights > 0
        tables, weights = [table.take_rows(rows) for table in tables], weights[rows]
    Y = tables[1] if len(tables) > 1 else Codes.from_values(np.zeros((tables[0].n_rows, 1), dtype=np.uint8))
    given = joint_variable(tables[2])[0] if len(tables) > 2 else None
    result = TableBackend(tables[0], Y, shrink, weights=weights).information(terms, given)
    return result if len(tables) > 1 else result[:, 0]
