r"""James-Stein shrinkage of joint tables (Hausser and Strimmer 2009).

The cells of a table with :math:`c` cells are drawn towards the uniform table :math:`t = 1/c`,

.. math:: p^* = \lambda t + (1 - \lambda) p, \qquad \lambda = \frac{1 - \sum p^2}{(n - 1) \sum (t - p)^2} \in [0, 1],

and every entropy of a term comes from that one table: its margins belong together, so no information is negative. A level
counts when it occurs; a table has a cell for each combination of levels.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.information.codes import Codes
from labelsieve.information.joint import joint_variable
from labelsieve.information.memory import require_memory
from labelsieve.information.weights import read_weights

Real = NDArray[np.float64]
Terms = Sequence[tuple[int, str]]


def shrink(counts: Real) -> Real:
    """Shrunk probabilities of a table of counts.

    >>> shrink(np.array([8.0, 0.0])).round(4)
    array([1., 0.])
    >>> shrink(np.array([3.0, 1.0])).round(4)
    array([0.5, 0.5])
    """
    n, target = counts.sum(), 1.0 / counts.size
    p: Real = counts / n
    spread = float((n - 1.0) * ((target - p) ** 2).sum())
    doubt = float(1.0 - (p**2).sum())
    share = 1.0 if spread <= 0 or doubt >= spread else max(0.0, doubt / spread)
    return share * target + (1.0 - share) * p


def shrunk_information(tables: Sequence[Codes], terms: Terms, sample_weight: Any = None) -> Real:
    """Sums of entropies of shrunk tables, in nats, for every column of the first table with every column of the second.

    ``terms`` has signs and the variables of each entropy, of "x", "y" and "z": ``((1, "x"), (1, "y"), (-1, "xy"))`` is mutual
    information. All columns of a third table are one variable. Without a second table the shape is ``(d,)``.

    Cost: a pass over the rows and over the cells of a table for every pair of columns.
    """
    weights = read_weights(sample_weight, tables[0].n_rows)
    if weights is not None and not weights.all():
        rows = weights > 0
        tables, weights = [table.take_rows(rows) for table in tables], weights[rows]
    X = [_levels(tables[0].column(j)) for j in range(tables[0].n_columns)]
    Y = [_levels(tables[1].column(j)) for j in range(tables[1].n_columns)] if len(tables) > 1 else [_constant(tables[0].n_rows)]
    z = _levels(joint_variable(tables[2])[0]) if len(tables) > 2 else _constant(tables[0].n_rows)
    result = np.array([[_entropies(_table((x, y, z), weights), terms) for y in Y] for x in X])
    return result if len(tables) > 1 else result[:, 0]


def _levels(column: NDArray[Any]) -> tuple[NDArray[np.intp], int]:
    """Codes without gaps, and how many there are."""
    values, codes = np.unique(column, return_inverse=True)
    return codes.reshape(-1), len(values)


def _constant(n_rows: int) -> tuple[NDArray[np.intp], int]:
    return np.zeros(n_rows, dtype=np.intp), 1


def _table(variables: Sequence[tuple[NDArray[np.intp], int]], weights: Real | None) -> Real:
    shape = tuple(n for _, n in variables)
    n_cells = int(np.prod([float(n) for n in shape]))
    require_memory(24 * n_cells, f"a shrunk table has a cell for each combination of levels, here {n_cells:,};", 1, 1)
    cells = np.ravel_multi_index(tuple(codes for codes, _ in variables), shape)
    counts: Real = np.bincount(cells, weights=weights, minlength=n_cells).astype(np.float64).reshape(shape)
    return counts


def _entropies(counts: Real, terms: Terms) -> float:
    p = shrink(counts)
    total = 0.0
    for sign, names in terms:
        margin = p.sum(axis=tuple(axis for axis, name in enumerate("xyz") if name not in names))
        total -= sign * float((margin * np.log(margin, where=margin > 0, out=np.zeros_like(margin))).sum())
    return total
