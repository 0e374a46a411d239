"""Naive sums of products, in integers and fractions of Python: one cell after the other."""

from fractions import Fraction
from math import floor, frexp, isnan

import numpy as np


def rounded(x):
    """Round to the nearest whole number, ties to the even one."""
    return round(Fraction(x))


def whole_numbers(values, weights):
    """Scale a column to 24 bits; missing cells have the mean of the others."""
    known = [float(x) for x in values if not isnan(x)]
    if not known:
        return [0] * len(values)
    low, high = min(known), max(known)
    middle = 0.0 if low <= 0 <= high else low / 2 + high / 2
    most = max(high - middle, middle - low)
    exponent = 23 - frexp(most)[1] if most > 0 else 0

    def scaled(x, exponent):
        return rounded(Fraction(x) * Fraction(2) ** exponent) - rounded(Fraction(middle) * Fraction(2) ** exponent)

    while max(abs(scaled(low, exponent)), abs(scaled(high, exponent))) >= 2**23:
        exponent -= 1
    pairs = [(scaled(float(x), exponent), w) for x, w in zip(values, weights, strict=True) if not isnan(x)]
    mean = Fraction(sum(z * w for z, w in pairs), sum(w for _, w in pairs))
    return [floor(mean + Fraction(1, 2)) if isnan(x) else scaled(float(x), exponent) for x in values]


def level_columns(values, weights, unit=1):
    """Return a column of zeros and ones for each level but the most frequent one; rare ones of many share a column."""
    keys = ["nan" if isnan(x) else float(x) for x in values]
    levels = sorted({key for key in keys if key != "nan"}) + (["nan"] if "nan" in keys else [])
    count = {level: sum(w for key, w in zip(keys, weights, strict=True) if key == level) for level in levels}
    groups = [[level] for level in levels]
    if len(levels) > 20:
        rare = [level for level in levels if count[level] < 10 * unit]
        groups = ([rare] if rare else []) + [[level] for level in levels if count[level] >= 10 * unit]
    sizes = [sum(count[level] for level in group) for group in groups]
    others = [group for position, group in enumerate(groups) if position != int(np.argmax(sizes))]
    return [[int(key in group) for key in keys] for group in others]


def product(left, right, weights):
    return sum(int(a) * int(b) * int(w) for a, b, w in zip(left, right, weights, strict=True))
