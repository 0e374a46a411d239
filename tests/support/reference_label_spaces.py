"""Reference implementations of the label spaces, from their definitions: they repeat the rows.

A reference takes a list of labelsets (tuples of 0 and 1) and returns a list of ``(row, classes, weight)``: the counted rows
with the classes of one or several variables.
"""

from collections import Counter
from fractions import Fraction
from math import sqrt

import numpy as np

from labelsieve.labelspace.base import random_generator
from tests.support.enrollment import References
from tests.support.reference_information import H

REFERENCES = reference = References()  # ``@reference(name)`` enrolls a function


def labels_of(row):
    return [label for label, present in enumerate(row) if present]


def label_counts(rows):
    return [sum(row[label] for row in rows) for label in range(len(rows[0]))]


@reference("single")
def single(rows):
    return [(i, row, 1) for i, row in enumerate(rows)]


@reference("cumulative")
def cumulative(rows):
    return single(rows)  # labels of 0 and 1 have one cut point


@reference("frequent")
def frequent(rows, min_count=3):
    counts = label_counts(rows)
    return [(i, tuple(row[label] for label in range(len(row)) if counts[label] >= min_count), 1) for i, row in enumerate(rows)]


@reference("sampled")
def sampled(rows, n_labels=1000):
    q = len(rows[0])
    drawn = random_generator(0).choice(q, size=min(q, n_labels), replace=False)
    return [(i, tuple(row[label] for label in drawn), 1) for i, row in enumerate(rows)]


@reference("clusters")
def clusters(rows, n_clusters=1000):
    counts, q = label_counts(rows), len(rows[0])
    centers = sorted(range(q), key=lambda label: (-counts[label], label))[:n_clusters]
    members = {center: {center} for center in centers}
    for label in set(range(q)) - set(centers):
        common = {center: sum(row[label] & row[center] for row in rows) for center in centers}
        nearest = max(centers, key=lambda center: common[center] / sqrt(counts[center]))  # ties: the first
        if common[nearest]:
            members[nearest].add(label)
    return [(i, tuple(int(any(row[label] for label in members[c])) for c in centers), 1) for i, row in enumerate(rows)]


@reference("joint")
def joint(rows):
    return [(i, (row,), 1) for i, row in enumerate(rows)]


@reference("pruned")
def pruned(rows, min_count=3, split=False):
    counts = Counter(rows)
    counted = []
    for i, row in enumerate(rows):
        if counts[row] >= min_count:
            counted.append((i, (row,), 1))
        elif split:
            rest = set(labels_of(row))
            while True:
                fits = [
                    other for other in counts if counts[other] >= min_count and any(other) and set(labels_of(other)) <= rest
                ]
                if not fits:
                    break
                largest = lambda other: (-sum(other), -counts[other], labels_of(other))  # noqa: E731
                smallest = lambda other: (sum(other), other)  # noqa: E731
                best = min(fits, key=smallest if split == "smallest" else largest)
                counted.append((i, (best,), 1))
                rest -= set(labels_of(best))
    return counted


@reference("copy")
def copy(rows):
    return [(i, (label,), 1) for i, row in enumerate(rows) for label in labels_of(row)]


@reference("copy-weight")
def copy_weight(rows):
    return [(i, (label,), Fraction(1, sum(row))) for i, row in enumerate(rows) for label in labels_of(row)]


@reference("select-max")
def select_max(rows):
    counts = label_counts(rows)
    return [(i, (max(labels_of(row), key=lambda label: counts[label]),), 1) for i, row in enumerate(rows) if any(row)]


@reference("select-min")
def select_min(rows):
    counts = label_counts(rows)
    return [(i, (min(labels_of(row), key=lambda label: counts[label]),), 1) for i, row in enumerate(rows) if any(row)]


@reference("ignore")
def ignore(rows):
    return [(i, (labels_of(row)[0],), 1) for i, row in enumerate(rows) if sum(row) == 1]


@reference("select-random")
def select_random(rows):
    draws = random_generator(0).random(len(rows))
    return [(i, (labels_of(row)[int(draws[i] * sum(row))],), 1) for i, row in enumerate(rows) if any(row)]


def grouped(rows, groups):
    """The labelsets of some groups of labels, each a class: with enough clusters, no two labelsets share one."""
    return [(i, tuple(tuple(row[label] for label in group) for group in groups), 1) for i, row in enumerate(rows)]


def group_size(pot, n_labels):
    return min(n_labels, max(1, int(pot * n_labels + 0.5)))


@reference("group")
def group(rows, pot=0.5, n_clusters=8):
    rng, q = random_generator(0), len(rows[0])
    return grouped(rows, [sorted(rng.choice(q, size=group_size(pot, q), replace=False)) for _ in range(q)])


@reference("group-rand")
def group_rand(rows, pot=(0.25, 0.75), n_clusters=(4, 16)):
    rng, q = random_generator(0), len(rows[0])
    groups = []
    for _ in range(q):
        groups.append(sorted(rng.choice(q, size=group_size(rng.uniform(*pot), q), replace=False)))
        rng.integers(*n_clusters, endpoint=True)
    return grouped(rows, groups)


@reference("group-auto")
def group_auto(rows, shared=0.05, detect=0.1, max_clusters=16):
    columns = list(zip(*rows, strict=True))

    def similarity(a, b):
        scale = sqrt(H(columns[a]) * H(columns[b]))
        return (H(columns[a]) + H(columns[b]) - H(columns[a], columns[b])) / scale if scale else 0.0

    def linkage(pair):
        return float(np.mean([similarity(a, b) for a in groups[pair[0]] for b in groups[pair[1]]]))

    groups = [[label] for label in range(len(columns))]
    while len(groups) > 1:
        first, second = max(((i, j) for j in range(len(groups)) for i in range(j)), key=linkage)
        if linkage((first, second)) < shared:
            break
        groups[first] += groups.pop(second)
    return grouped(rows, sorted(sorted(group) for group in groups))
