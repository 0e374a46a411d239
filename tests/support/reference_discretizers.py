"""Naive twins of the discretizers: one column, plain loops over the definition, exact fractions where that is possible.

Each takes the values of rows that count once. Cut points lie half-way between two values.
"""

from bisect import bisect_right
from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise
from math import log2, sqrt


def middle(low, high):
    """Half-way between two values; the upper, where there is no number between them."""
    return (low + high) / 2 if low < (low + high) / 2 else high


def equal_frequency(values, n_bins):
    """Cut points, or the values that are kept as levels; and which of the two."""
    distinct = sorted(set(values))
    if len(distinct) <= n_bins:
        return distinct, True
    boundaries = [(Fraction(sum(x < high for x in values), len(values)), low, high) for low, high in pairwise(distinct)]
    chosen = [min(boundaries, key=lambda boundary: abs(boundary[0] - Fraction(i, n_bins))) for i in range(1, n_bins)]
    return [middle(low, high) for _, low, high in sorted(set(chosen))], False


def sum_of_squares(values):
    exact = [Fraction(x) for x in values]
    mean = sum(exact) / len(exact)
    return sum((x - mean) ** 2 for x in exact)


def k_means_cost(values, codes):
    clusters = {code: [x for x, c in zip(values, codes, strict=True) if c == code] for code in set(codes)}
    return sum(sum_of_squares(cluster) for cluster in clusters.values())


def least_k_means_cost(values, n_bins):
    """Over all ways to part the sorted values."""
    distinct = sorted(set(values))
    ways = combinations(distinct[1:], n_bins - 1)
    return min(k_means_cost(values, [bisect_right(way, x) for x in values]) for way in ways)


def mean_std(values, n_levels=3, factor=1.0, decimals=None):
    """All cut points of the definition, also those that part nothing."""
    exact = [Fraction(x) for x in values]
    mean = float(sum(exact) / len(exact))
    size = max(map(abs, exact)) or 1  # squares of tiny numbers are no doubles
    deviation = float(size) * sqrt(float(sum_of_squares(values) / (len(values) - 1) / size**2))
    steps = (-1, 1) if n_levels == 3 else (-2, -1, 1, 2)
    cuts = [mean + step * factor * deviation for step in steps]
    return cuts if decimals is None else [round(cut, decimals) for cut in cuts]


def H(classes):
    """Entropy in bits."""
    return -sum(n / len(classes) * log2(n / len(classes)) for n in Counter(classes).values())


def mdl(pairs, boundaries="rows"):
    """Fayyad and Irani's cut points; ``pairs`` are (value, class). Also how near the closest decision was."""
    pairs = sorted(pairs)
    distinct = sorted({value for value, _ in pairs})
    if len(distinct) < 2:
        return [], 1.0
    n, whole = len(pairs), [c for _, c in pairs]
    best, margin = None, 1.0
    for low, high in pairwise(distinct):
        left, right = [c for x, c in pairs if x <= low], [c for x, c in pairs if x >= high]
        within = len(left) / n * H(left) + len(right) / n * H(right)
        if best is not None:
            margin = min(margin, abs(within - best[0])) if abs(within - best[0]) > 0 else margin
        if best is None or within < best[0]:
            best = within, low, high, left, right
    within, low, high, left, right = best
    k, k1, k2 = (len(set(part)) for part in (whole, left, right))
    places = n - 1 if boundaries == "rows" else len(distinct) - 1
    delta = log2(3**k - 2) - (k * H(whole) - k1 * H(left) - k2 * H(right))
    surplus = H(whole) - within - (log2(places) + delta) / n
    margin = min(margin, abs(surplus))
    if surplus <= 0:
        return [], margin
    below, margin1 = mdl([pair for pair in pairs if pair[0] <= low], boundaries)
    above, margin2 = mdl([pair for pair in pairs if pair[0] >= high], boundaries)
    return [*below, middle(low, high), *above], min(margin, margin1, margin2)
