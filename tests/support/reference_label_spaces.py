"""Naive twins of the label spaces, from their definitions: they do repeat the rows.

A twin takes a list of label rows (tuples of 0 and 1) and gives a list of ``(row, classes, weight)``: what is counted, with the
classes of one or several variables.
"""

from collections import Counter
from fractions import Fraction

TWINS = {}


def twin(name):
    """Enrol a function as the twin of a label space."""

    def enrol(function):
        TWINS[name] = function
        return function

    return enrol


def labels_of(row):
    return [label for label, there in enumerate(row) if there]


def label_counts(rows):
    return [sum(row[label] for row in rows) for label in range(len(rows[0]))]


@twin("single")
def single(rows):
    return [(i, row, 1) for i, row in enumerate(rows)]


@twin("joint")
def joint(rows):
    return [(i, (row,), 1) for i, row in enumerate(rows)]


@twin("pruned")
def pruned(rows, min_count=3, split=False):
    counts = Counter(rows)
    counted = []
    for i, row in enumerate(rows):
        if counts[row] >= min_count:
            counted.append((i, (row,), 1))
        elif split:
            rest = set(labels_of(row))
            while True:
                fits = [one for one in counts if counts[one] >= min_count and any(one) and set(labels_of(one)) <= rest]
                if not fits:
                    break
                best = min(fits, key=lambda one: (-sum(one), -counts[one], labels_of(one)))
                counted.append((i, (best,), 1))
                rest -= set(labels_of(best))
    return counted


@twin("copy")
def copy(rows):
    return [(i, (label,), 1) for i, row in enumerate(rows) for label in labels_of(row)]


@twin("copy-weight")
def copy_weight(rows):
    return [(i, (label,), Fraction(1, sum(row))) for i, row in enumerate(rows) for label in labels_of(row)]


@twin("select-max")
def select_max(rows):
    counts = label_counts(rows)
    return [(i, (max(labels_of(row), key=lambda label: counts[label]),), 1) for i, row in enumerate(rows) if any(row)]


@twin("select-min")
def select_min(rows):
    counts = label_counts(rows)
    return [(i, (min(labels_of(row), key=lambda label: counts[label]),), 1) for i, row in enumerate(rows) if any(row)]


@twin("ignore")
def ignore(rows):
    return [(i, (labels_of(row)[0],), 1) for i, row in enumerate(rows) if sum(row) == 1]
