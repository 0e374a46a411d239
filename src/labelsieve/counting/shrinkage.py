r"""James-Stein shrinkage of joint tables (Hausser and Strimmer 2009).

The cells of a table with :math:`c` cells are shrunk towards the uniform table :math:`t = 1/c`,

.. math:: p^* = \lambda t + (1 - \lambda) p, \qquad \lambda = \frac{1 - \sum p^2}{(n - 1) \sum (t - p)^2} \in [0, 1],

and every entropy of a term comes from that one table: its margins are consistent, so no information is negative. A level
counts when it occurs; a table has a cell for each combination of levels.
"""

from collections.abc import Sequence

import numpy as np

from labelsieve.counting.backends.native import NativeBackend
from labelsieve.counting.backends.protocol import Column
from labelsieve.counting.codes import Codes
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.joint_codes import constant_column, joint_variable
from labelsieve.counting.row_weights import quantized_weights, read_weights
from labelsieve.counting.whole_tables import MissingLevels, Real, Terms, table_information
from labelsieve.table_types import WeightsLike


def shrunk_information(tables: Sequence[Codes], terms: Terms, sample_weight: WeightsLike = None) -> Real:
    """Sums of entropies of shrunk tables, in nats, for every column of the first table with every column of the second.

    ``terms`` has signs and the variables of each entropy, of "x", "y" and "z": ``((1, "x"), (1, "y"), (-1, "xy"))`` is mutual
    information. All columns of a third table are one variable. Rows in which a column of the second table is missing are left
    out for this column. Without a second table the shape is ``(d,)``.

    Cost: counts as for the other estimators, and a logarithm for each cell of a table and of its margins. Tables of a column of
    ``X`` with more than 33 levels, or of other variables with more than 64, are counted with numpy
    (:class:`~labelsieve.counting.backends.joint_tables.JointTables`).
    """
    weights = read_weights(sample_weight, tables[0].n_rows)
    if weights is not None and not weights.all():
        rows = weights > 0
        tables, weights = [table.take_rows(rows) for table in tables], weights[rows]
    X = tables[0]
    Y = tables[1] if len(tables) > 1 else constant_column(X.n_rows)
    given = Column(*joint_variable(tables[2])) if len(tables) > 2 else None
    shape = X.n_columns, Y.n_columns
    missing = None
    if Y.missing is not None:
        missing = MissingLevels(np.zeros(X.n_columns, dtype=bool), Y.missing, given=False)
    quantized = quantized_weights(weights, "shrinkage")
    backend = NativeBackend(X, Y, FixedPoint.for_data(X.n_rows, quantized), weights=quantized)
    result = table_information(backend, terms, given, shape, missing=missing)
    return result if len(tables) > 1 else result[:, 0]
