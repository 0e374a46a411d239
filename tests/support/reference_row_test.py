"""The row test, written from its description: plain matrices, least squares, distributions of SciPy."""

import numpy as np
from scipy import integrate, stats

LEAST_LEFT = 0.01
SURE = 1e-6


def standardized(values):
    known = ~np.isnan(values)
    scaled = np.zeros(len(values))
    if known.any() and np.ptp(values[known]) > 0:
        scaled[known] = (values[known] - values[known].mean()) / values[known].std()
    return scaled


def ranks(values):
    found, known = np.full(len(values), np.nan), ~np.isnan(values)
    found[known] = (stats.rankdata(values[known]) - 0.5) / known.sum()
    return found


def columns_of(values, nominal):
    if nominal:
        levels = sorted(set(values), key=lambda level: (-np.sum(values == level), level))
        return [standardized((values == level).astype(float)) for level in levels[: max(1, len(levels) - 1)]]
    u = standardized(ranks(values))
    return [standardized(values), u, standardized(np.where(np.isnan(values), np.nan, u**2))]


def residual(vector, others):
    """What is left of a vector after least squares on others and the constant."""
    table = np.column_stack([np.ones(len(vector)), *others])
    return vector - table @ np.linalg.lstsq(table, vector, rcond=1e-8)[0]


def rank(others, n_rows):
    return int(np.linalg.matrix_rank(np.column_stack([np.ones(n_rows), *others]), tol=1e-5))


def squares_moments(b, R):
    """Mean and variance of the squared length of b'PR over permutations: Kazi-Aoual et al. (1995), for any two matrices."""
    A, W, n = np.outer(b, b), R @ R.T, len(b)
    t, t2, s2 = (lambda M: np.trace(M)), (lambda M: np.trace(M @ M)), (lambda M: np.sum(np.diag(M) ** 2))
    mean = t(A) * t(W) / (n - 1)
    first = 2 * ((n - 1) * t2(A) - t(A) ** 2) * ((n - 1) * t2(W) - t(W) ** 2) / ((n - 1) ** 2 * (n + 1) * (n - 2))
    second = np.prod([n * (n + 1) * s2(M) - (n - 1) * (t(M) ** 2 + 2 * t2(M)) for M in (A, W)])
    return mean, first + second / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))


def squares_third_cumulant(b, R):
    """Third cumulant of the squared length of b'PR, for rows that are drawn from R with replacement."""
    W, G, n = R @ R.T, R.T @ R, len(b)
    level, p3, p4, p6 = np.diag(W), np.sum(b**3), np.sum(b**4), np.sum(b**6)
    # Moments of one row: of all orders that occur, summed over targets as they are connected.
    t1, t2, t3 = np.trace(G) / n, np.trace(G @ G) / n**2, np.trace(G @ G @ G) / n**3
    forms, triples, pairs = np.sum(level @ W**2) / n**2, np.sum(W**3) / n**2, level @ W @ level / n**2
    fourth, sixth = np.mean(level**2), np.mean(level**3)
    cumulant_6 = sixth - 3 * t1 * fourth - 12 * forms - 6 * pairs - 4 * triples + 2 * (t1**3 + 6 * t1 * t2 + 8 * t3)
    return 8 * t3 + 12 * p4 * (forms - t1 * t2 - 2 * t3) + p3**2 * (6 * pairs + 4 * triples) + p6 * cumulant_6


def tail(t, b, r, degrees):
    n, z = len(b), t * np.sqrt(degrees)
    skewness = (n - 1) ** 1.5 * n * np.sum(b**3) * np.sum(r**3) / ((n - 1) * (n - 2))
    towards = skewness * np.sign(z)
    one_sided = stats.pearson3.sf(abs(z), towards) if towards > 1e-4 else stats.norm.sf(abs(z))
    kurtosis = max(0, n * np.sum(b**4) - 3) * max(0, n * np.sum(r**4) - 3) / n - 1.5 * max(0, towards) ** 2
    if 2 * one_sided <= 0.01 and kurtosis > 0.02:
        one_sided = max(one_sided, mixture_tail(abs(z), kurtosis))
    return min(1.0, 2 * one_sided)


def mixture_tail(z, kurtosis):
    """The tail of a normal variable whose variance has a gamma distribution."""
    variance = stats.gamma(3 / kurtosis, scale=kurtosis / 3)
    return integrate.quad(lambda v: variance.pdf(v) * stats.norm.sf(z / np.sqrt(v)), 0, np.inf, epsabs=0, limit=500)[0]


def row_test_p_values(features, targets, n_candidates, nominal=(), numeric=()):
    """p-values of the selected features; targets without unknown cells."""
    n, n_selected = features.shape
    Y = [standardized(stats.norm.ppf(ranks(y)) if j in numeric else y) for j, y in enumerate(targets.T)]
    columns = [columns_of(features[:, k], k in nominal) for k in range(n_selected)]
    factors = [of_feature[0 if k in nominal else 1] for k, of_feature in enumerate(columns)]
    return np.array([_p_value(k, columns, factors, Y, n_candidates - k, n) for k in range(n_selected)])


def _p_value(k, columns, factors, Y, n_left, n):
    shown = columns if 1 + sum(map(len, columns[:k])) <= n / 3 else [of_feature[:1] for of_feature in columns]
    before = [column for of_feature in shown[:k] for column in of_feature]
    degrees = n - rank(before, n)
    R = [residual(y, before) for y in Y]
    R = [r / np.linalg.norm(r) for y, r in zip(Y, R, strict=True) if r @ r > 1e-10 * n]
    B, mine = [], list(before)
    for column in shown[k]:
        left = residual(column, mine)
        mine.append(column)
        if column.any() and left @ left >= LEAST_LEFT * (column @ column):
            B.append(left / np.linalg.norm(left))
    if not B or not R or degrees < 3:
        return 1.0
    R = np.column_stack(R)
    q, G = R.shape[1], R.T @ R
    mean, variance = squares_moments(B[0], R)
    skewness = max(2 * np.sqrt(variance) / mean, 8 * np.trace(G @ G @ G) / (2 * np.trace(G @ G)) ** 1.5)
    skewness = max(skewness, squares_third_cumulant(B[0], R) / variance**1.5)
    z = (np.sum((B[0] @ R) ** 2) * degrees / (n - 1) - mean) / np.sqrt(variance)
    a = stats.pearson3.sf(z, skewness)
    b = len(B) * q * min(tail(v @ r, v, r, degrees) for v in B for r in R.T)
    if 3 * n_left * b <= SURE:
        return 3 * n_left * b
    products, c = [], 1.0
    for s in range(k):
        product = factors[k] * factors[s]
        left = residual(product, mine)
        if left @ left > LEAST_LEFT * n * product.var() and product.var() > 0:
            products.append(left / np.linalg.norm(left))
    if products:
        pairs = [(v, r) for v in products for r in R.T]
        own = [2 * stats.norm.sf(abs(v @ r) / np.sqrt(np.sum(v**2 * r**2))) for v, r in pairs]
        c = len(products) * q * min(max(tail(v @ r, v, r, degrees), p) for (v, r), p in zip(pairs, own, strict=True))
    return min(1.0, 3 * n_left * min(1.0, a, b, c))
