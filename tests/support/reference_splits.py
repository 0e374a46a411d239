"""Iterative stratification, plain and slow, and the measures by which splits are judged."""

from fractions import Fraction

import numpy as np


def iterative_stratification(label_sets, targets, rng):
    """The algorithm of Sechidis, Tsoumakas and Vlahavas (2011), the sets recomputed at every turn.

    It draws from ``rng`` at the same occasions as the library: the order of the rows, a label among the rarest, a part among
    the most wanting. A part that has its target is closed.
    """
    labels = sorted(set().union(*label_sets))
    order = rng.permutation(len(label_sets)).tolist()
    n_parts = len(targets)
    desired = {label: [Fraction(sum(label in s for s in label_sets), n_parts)] * n_parts for label in labels}
    capacity, part, remaining = list(targets), {}, list(order)

    def place(row, label):
        best = [j for j in range(n_parts) if capacity[j] > 0]
        if label is not None:
            most = max(desired[label][j] for j in best)
            best = [j for j in best if desired[label][j] == most]
        most = max(capacity[j] for j in best)
        best = [j for j in best if capacity[j] == most]
        chosen = best[0] if len(best) == 1 else best[rng.integers(len(best))]
        part[row] = chosen
        capacity[chosen] -= 1
        for other in label_sets[row]:
            desired[other][chosen] -= 1
        remaining.remove(row)

    while remaining:
        rows_of = {label: [row for row in remaining if label in label_sets[row]] for label in labels}
        counts = {label: len(rows) for label, rows in rows_of.items() if rows}
        if not counts:
            for row in list(remaining):
                place(row, None)
            break
        rarest = [label for label, count in counts.items() if count == min(counts.values())]
        label = int(rng.choice(rarest))
        for row in rows_of[label]:
            place(row, label)
    return np.array([part[row] for row in range(len(label_sets))])


def label_deviation(Y, splits):
    """Mean distance of a label's share in a test part from its share in all rows."""
    return np.mean([np.abs(Y[test].mean(axis=0) - Y.mean(axis=0)) for _, test in splits])


def size_spread(splits):
    sizes = [len(test) for _, test in splits]
    return max(sizes) - min(sizes)


def synthetic_labels(n_rows=600, n_labels=14, seed=0):
    """Labels like those of yeast: some common, some rare, correlated, a few rows with none."""
    rng = np.random.default_rng(seed)
    mood = rng.normal(size=(n_rows, 3)) @ rng.normal(size=(3, n_labels))
    return (mood + rng.normal(size=mood.shape) > np.linspace(0, 4, n_labels)).astype(int)
