"""Naive references of the measures: dictionaries of counts and the definitions, written to be read, not to be fast.

A table is a list of rows (or an array). Weights are frequencies: a row of weight 2.5 is two and a half rows.
"""

from collections import Counter
from math import fsum, log

import numpy as np


def columns_of(table):
    """The columns of a table as lists of plain Python numbers; one dimension is one column."""
    rows = np.asarray(table).tolist()
    return [rows] if not isinstance(rows[0], list) else [list(column) for column in zip(*rows, strict=True)]


def count_cells(columns, weights=None):
    """How often every combination of values occurs; combinations without weight do not occur."""
    if weights is None:
        return Counter(zip(*columns, strict=True))
    cells = Counter()
    for values, weight in zip(zip(*columns, strict=True), np.asarray(weights).tolist(), strict=True):
        if weight > 0:
            cells[values] += weight
    return cells


def H(*columns, weights=None, estimator="plugin", base="nat"):
    """Entropy of the joint variable of some columns."""
    counts = count_cells(columns, weights).values()
    n = fsum(counts)
    nats = -fsum(count / n * log(count / n) for count in counts)
    if estimator == "miller-madow":
        nats += (len(counts) - 1) / (2 * n)
    return nats / log(2) if base == "bit" else nats


def sum_of_cells(table_of_values, *columns):
    """The integer that a backend owes: the sum over the cells of the value of their counts."""
    return sum(int(table_of_values[count]) for count in count_cells(columns).values())


def over_pairs(X, Y, measure):
    return np.array([[measure(x, y) for y in columns_of(Y)] for x in columns_of(X)])


def entropy(X, **options):
    return np.array([H(x, **options) for x in columns_of(X)])


def joint_entropy(X, Y, **options):
    return over_pairs(X, Y, lambda x, y: H(x, y, **options))


def mutual_information(X, Y=None, **options):
    Y = X if Y is None else Y
    return over_pairs(X, Y, lambda x, y: H(x, **options) + H(y, **options) - H(x, y, **options))


def conditional_mutual_information(X, Y, Z, **options):
    z = columns_of(Z)
    return over_pairs(X, Y, lambda x, y: H(x, *z, **options) + H(y, *z, **options) - H(x, y, *z, **options) - H(*z, **options))


def joint_mutual_information(X, Y, Z, **options):
    z = columns_of(Z)
    return over_pairs(X, Y, lambda x, y: H(x, *z, **options) + H(y, **options) - H(x, y, *z, **options))


def interaction_information(X, Y, Z, **options):
    return mutual_information(X, Y, **options) - conditional_mutual_information(X, Y, Z, **options)


# Every measure and its arguments after X.
MEASURES = {
    "entropy": (entropy, ""),
    "joint_entropy": (joint_entropy, "Y"),
    "mutual_information": (mutual_information, "Y"),
    "conditional_mutual_information": (conditional_mutual_information, "YZ"),
    "joint_mutual_information": (joint_mutual_information, "YZ"),
    "interaction_information": (interaction_information, "YZ"),
}
