r"""Exact tests of independence of two discrete variables, one of which has two levels.

Given the margins of a table, and if the variables are independent, every permutation of the rows is equally likely. The
p-value is the probability of a table with at least the observed information,

.. math:: p = P(I \ge I_{obs} \mid \text{margins}),

which needs no asymptotics and no random permutations.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

Real = NDArray[np.float64]
Whole = NDArray[np.int64]

TIES = 1e-9  # tables whose information differs by less, relative to the largest term, are ties
CELLS = 2048  # of the grid of conditional entropies


def fourfold_p_values(n_rows: Whole, of_x: Whole, of_y: Whole, information: Real) -> Real:
    r"""Exact p-values of tables of two by two levels, as arrays of any shape.

    The count of the first cell has a hypergeometric distribution; :math:`I` is convex in it, so the tables with at least the
    observed information are two tails. Cost: a bisection, and the terms of both tails, for all tables at once.

    Parameters
    ----------
    n_rows, of_x, of_y : ndarray of int
        Rows of a table, and rows with the first level of either variable.
    information : ndarray of float
        Observed mutual information, in nats.

    >>> fourfold_p_values(np.array([8]), np.array([4]), np.array([4]), np.array([np.log(2)]))  # 2 of 70 tables
    array([0.02857143])
    """
    n, a, b, nats = (np.asarray(values, dtype=np.float64) for values in np.broadcast_arrays(n_rows, of_x, of_y, information))
    shape = n.shape
    n, a, b, nats = (values.ravel() for values in (n, a, b, nats))
    lowest, highest, center = np.maximum(0.0, a + b - n), np.minimum(a, b), a * b / n
    margins = xlogy(a, a) + xlogy(n - a, n - a) + xlogy(b, b) + xlogy(n - b, n - b) - xlogy(n, n)
    wanted = n * nats - TIES * (1.0 + np.abs(margins))

    def reaches(k: Real) -> NDArray[np.bool_]:
        cells = (k, a - k, b - k, n - a - b + k)
        reached: NDArray[np.bool_] = sum(xlogy(cell, cell) for cell in cells) - margins >= wanted
        return reached

    upper = _first_true(reaches, np.ceil(center), highest, 1.0)
    lower = _first_true(reaches, np.minimum(np.floor(center), upper - 1), lowest, -1.0)
    total = _tail(upper, n, a, b, highest, 1.0) + _tail(lower, n, a, b, lowest, -1.0)
    return np.minimum(total, 1.0).reshape(shape)


def _first_true(reaches: Callable[[Real], NDArray[np.bool_]], start: Real, end: Real, step: float) -> Real:
    """The count nearest to the center, from ``start`` to ``end``, that reaches; one step behind the end if none does."""
    near, far = start.copy(), end + step  # far: reaches, or is behind the end
    while True:
        open_ = (far - near) * step > 0
        if not open_.any():
            return far
        middle = np.where(open_, near + step * np.floor(np.abs(far - near) / 2), near)
        inside = (end - middle) * step >= 0
        yes = reaches(np.where(inside, middle, end)) & inside
        yes |= ~inside
        far = np.where(open_ & yes, middle, far)
        near = np.where(open_ & ~yes, middle + step, near)


def _tail(k: Real, n: Real, a: Real, b: Real, end: Real, step: float) -> Real:
    """Hypergeometric probability of ``k`` and all counts behind it, away from the center."""
    exists = (end - k) * step >= 0
    at = np.where(exists, k, end)
    log_p = _log_choose(a, at) + _log_choose(n - a, b - at) - _log_choose(n, b)
    total, term, active = np.ones_like(at), np.ones_like(at), np.flatnonzero(exists)
    current = at.copy()
    while len(active):
        j, m, x, y = current[active], n[active], a[active], b[active]
        up = (x - j) * (y - j) / ((j + 1) * (m - x - y + j + 1)) if step > 0 else None
        ratio = up if up is not None else j * (m - x - y + j) / ((x - j + 1) * (y - j + 1))
        term[active] *= ratio
        total[active] += term[active]
        current[active] += step
        active = active[term[active] > 1e-17 * total[active]]
    result: Real = np.where(exists, np.exp(log_p) * total, 0.0)
    return result


def _log_choose(n: Real, k: Real) -> Real:
    result: Real = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return result


def two_column_p_values(margin: Whole, of_second: Whole, information: Real) -> Real:
    r"""Exact p-values of tables with these counts of levels, and a variable of two levels.

    With :math:`k_a` rows of the second level among the :math:`n_a` of level :math:`a`, :math:`n H(y \mid x) = \sum_a h_a(k_a)`
    is a sum over the levels, and the probability of the counts is :math:`\prod_a \binom{n_a}{k_a} / \binom{n}{m}`. One
    recursion over the levels therefore has the distribution for all :math:`m`. Values of :math:`h_a` are rounded down to a
    grid, so the p-value is an upper bound and never too small: equal to the exact value where few tables are possible, and up
    to half larger for some tables with dozens of rows of the second level.

    Cost: ``(levels - 2) * m^2 / 2 * 2048`` additions for the largest :math:`m`.

    Parameters
    ----------
    margin : ndarray of int
        Rows of every level of the first variable, all positive.
    of_second : ndarray of int
        Rows :math:`m` of the rarer level of the second variable, for every test.
    information : ndarray of float
        Observed mutual information of every test, in nats.

    >>> two_column_p_values(np.array([2, 2, 2]), np.array([2]), np.array([np.log(3) - 2 * np.log(2) / 3]))
    array([0.2])
    """
    levels, n, largest = np.sort(margin), int(margin.sum()), int(of_second.max())
    entropy = n * np.log(n) - xlogy(of_second, of_second) - xlogy(n - of_second, n - of_second)
    observed = np.maximum(0.0, entropy - n * information) + TIES * n * np.log(n)
    width = max(float(observed.max()), 1e-300) / CELLS
    limit = np.minimum(np.floor(observed / width), CELLS).astype(np.intp)
    share = float(of_second.mean()) / n
    state = np.zeros((largest + 1, CELLS + 1))
    for step, size in enumerate(levels[:-1]):
        weights, cells = _level(int(size), largest, share, width)
        if not step:
            inside = np.flatnonzero(cells <= CELLS)
            state[inside, cells[inside]] = weights[inside]
            continue
        before, state = state, np.zeros_like(state)
        for k in np.flatnonzero(cells <= CELLS).tolist():
            cell = int(cells[k])
            state[k:, cell:] += weights[k] * before[: largest + 1 - k, : CELLS + 1 - cell]
    below = np.cumsum(state, axis=1)
    weights, cells = _level(int(levels[-1]), largest, share, width)
    p_values = np.empty(len(of_second))
    for m in np.unique(of_second).tolist():
        tests = np.flatnonzero(of_second == m)
        others = np.arange(max(0, m - len(weights) + 1), m + 1)  # rows of the second level among all levels but the last
        left = limit[tests] - cells[m - others][:, np.newaxis]
        terms = np.where(left >= 0, below[others[:, np.newaxis], np.maximum(left, 0)], 0.0)
        log_all = _log_choose(np.float64(n), np.float64(m)) + m * np.log(share) + (n - m) * np.log1p(-share)  # type: ignore[arg-type]
        p_values[tests] = weights[m - others] @ terms / np.exp(log_all)
    return np.minimum(p_values, 1.0)


def _level(size: int, largest: int, share: float, width: float) -> tuple[Real, NDArray[np.intp]]:
    """Binomial weights of 0, 1, ... rows of the second level among ``size``, and their cells of the grid."""
    k = np.arange(min(size, largest) + 1, dtype=np.float64)
    weights = np.exp(_log_choose(np.float64(size), k) + k * np.log(share) + (size - k) * np.log1p(-share))  # type: ignore[arg-type]
    costs = xlogy(size, size) - xlogy(k, k) - xlogy(size - k, size - k)
    return weights, np.floor(np.maximum(costs, 0.0) / width).astype(np.intp)
