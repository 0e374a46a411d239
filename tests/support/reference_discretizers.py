"""Reference implementations of the discretizers: one column, plain loops over the definition, exact fractions where possible.

``REFERENCES`` maps the name of every discretizer to a function ``(discretizer, values, classes) -> codes``.
"""

from bisect import bisect_right
from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise
from math import ceil, floor, log2, sqrt

from tests.support.enrollment import References

REFERENCES = reference = References()  # ``@reference(name)`` enrolls a function


def codes_of(values, cuts):
    return [bisect_right(cuts, value) for value in values]


def middle(low, high):
    """Half-way between two values; the upper value if no number is between them."""
    return (low + high) / 2 if low < (low + high) / 2 else high


def equal_width(values, n_bins, closed="left"):
    """Codes and the number of levels of one column, in exact fractions."""
    exact = [Fraction(value) for value in values]
    distinct = sorted(set(exact))
    if len(distinct) <= n_bins:
        return [distinct.index(value) for value in exact], len(distinct)
    positions = [(value - distinct[0]) * n_bins / (distinct[-1] - distinct[0]) for value in exact]
    if closed == "left":
        return [min(floor(position), n_bins - 1) for position in positions], n_bins
    return [max(ceil(position) - 1, 0) for position in positions], n_bins


def lies_on_a_cut(values, n_bins, within=Fraction(1, 10**9)):
    """For every value, whether rounding of the cut point decides its bin."""
    exact = [Fraction(value) for value in values]
    low, high = min(exact), max(exact)
    positions = [(value - low) * n_bins / (high - low) if high > low else Fraction(0) for value in exact]
    return [abs(position - round(position)) <= within and 0 < round(position) < n_bins for position in positions]


def equal_frequency(values, n_bins):
    """Cut points, or the values kept as levels; and whether values are kept."""
    distinct = sorted(set(values))
    if len(distinct) <= n_bins:
        return distinct, True
    return [middle(low, high) for low, high in equal_frequency_boundaries(values, n_bins)], False


def equal_frequency_boundaries(values, n_bins, least=None):
    """Pairs of neighboring values to cut between. Bins that a heavy value leaves over have at least about ``least`` rows."""
    least = Fraction(len(values), 2 * n_bins) if least is None else least
    distinct = sorted(set(values))
    if len(distinct) <= n_bins or n_bins < 2:
        return list(pairwise(distinct)) if n_bins > 1 else []
    boundaries = [(Fraction(sum(x < high for x in values), len(values)), low, high) for low, high in pairwise(distinct)]
    nearest = [min(boundaries, key=lambda boundary: abs(boundary[0] - Fraction(i, n_bins))) for i in range(1, n_bins)]
    cuts = [(low, high) for _, low, high in sorted(set(nearest))]
    heaviest = max(distinct, key=lambda value: (values.count(value), -value))
    below, above = [x for x in values if x < heaviest], [x for x in values if x > heaviest]
    left = n_bins - 1
    if len(cuts) == left or left < bool(below) + bool(above):
        return cuts
    share = floor(Fraction(left * len(below), len(below) + len(above)) + Fraction(1, 2))
    for_below = min(max(share, 1), left - bool(above)) if below else 0
    bins_below, bins_above = (
        min(bins, max(1, floor(len(side) / least))) for side, bins in ((below, for_below), (above, left - for_below))
    )
    low_side = [*equal_frequency_boundaries(below, bins_below, least), (max(below), heaviest)] if below else []
    high_side = [(heaviest, min(above)), *equal_frequency_boundaries(above, bins_above, least)] if above else []
    return low_side + high_side


def sum_of_squares(values):
    exact = [Fraction(x) for x in values]
    mean = sum(exact) / len(exact)
    return sum((x - mean) ** 2 for x in exact)


def k_means_cost(values, codes):
    clusters = {code: [x for x, c in zip(values, codes, strict=True) if c == code] for code in set(codes)}
    return sum(sum_of_squares(cluster) for cluster in clusters.values())


def least_k_means_cost(values, n_bins):
    """The minimum over all partitions of the sorted values."""
    distinct = sorted(set(values))
    partitions = [codes_of(values, cuts) for cuts in combinations(distinct[1:], n_bins - 1)]
    return min(k_means_cost(values, codes) for codes in partitions)


def mean_std(values, n_levels=3, factor=1.0, decimals=None):
    """All cut points of the definition, also those that split nothing."""
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
    """Cut points by Fayyad and Irani's rule; ``pairs`` are (value, class). Also the margin of the closest decision."""
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
    k, k1, k2 = (len(set(subset)) for subset in (whole, left, right))
    n_boundaries = n - 1 if boundaries == "rows" else len(distinct) - 1
    delta = log2(3**k - 2) - (k * H(whole) - k1 * H(left) - k2 * H(right))
    surplus = H(whole) - within - (log2(n_boundaries) + delta) / n
    margin = min(margin, abs(surplus))
    if surplus <= 0:
        return [], margin
    below, margin1 = mdl([pair for pair in pairs if pair[0] <= low], boundaries)
    above, margin2 = mdl([pair for pair in pairs if pair[0] >= high], boundaries)
    return [*below, middle(low, high), *above], min(margin, margin1, margin2)


@reference("equal-width")
def equal_width_codes(discretizer, values, classes):
    return equal_width(values, discretizer.n_bins, discretizer.closed)[0]


@reference("equal-frequency")
def equal_frequency_codes(discretizer, values, classes):
    found, kept = equal_frequency(values, discretizer.n_bins)
    return [found.index(value) for value in values] if kept else codes_of(values, found)


@reference("k-means")
def k_means_codes(discretizer, values, classes):
    distinct = sorted(set(values))
    partitions = combinations(distinct[1:], min(discretizer.n_bins, len(distinct)) - 1)
    return min((codes_of(values, cuts) for cuts in partitions), key=lambda codes: k_means_cost(values, codes))


@reference("mean-std")
def mean_std_codes(discretizer, values, classes):
    if discretizer.keep_binary and set(values) <= {0, 1}:
        return [sorted(set(values)).index(value) for value in values]
    cuts = mean_std(values, discretizer.n_levels, discretizer.factor, discretizer.decimals)
    return codes_of(values, [cut for cut in cuts if min(values) < cut <= max(values)])


@reference("mdl")
def mdl_codes(discretizer, values, classes):
    return codes_of(values, mdl(list(zip(values, classes, strict=True)), discretizer.boundaries)[0])
