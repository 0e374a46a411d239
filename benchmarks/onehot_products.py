"""Baseline: counting by matrix products of one-hot matrices in numpy.

Level 0 of every feature, class 0 of every target and the most frequent level of the newest feature are left
out of the products and follow from the marginals. Single-precision products count exactly up to 2**24 rows.
"""

import numpy as np


def one_hot(codes, levels):
    """(rows, (levels - 1) * columns) as float32, ordered by level, level 0 left out; rows are contiguous."""
    rows, columns = codes.shape
    hot = np.empty((rows, levels - 1, columns), dtype=np.float32)
    for level in range(1, levels):
        hot[:, level - 1] = codes == level
    return hot.reshape(rows, (levels - 1) * columns)


class OneHotProducts:
    """JMI's numbers for the first ``candidates`` features, by BLAS."""

    def __init__(self, workload, x, y, values, candidates):
        self.workload, self.x, self.values, self.candidates = workload, x, values, candidates
        self.features = one_hot(x[:, :candidates], workload.levels)
        # A last column of ones counts the rows themselves: the table of (candidate, newest).
        hot_targets = one_hot(y, workload.classes)
        self.targets = np.hstack([hot_targets, np.ones((workload.rows, 1), dtype=np.float32)])
        self.margin = self.targets.sum(axis=0)
        self.pairs = self.features.T @ self.targets

    def relevance(self):
        return self.table_sums(self.pairs, self.margin)

    def gains(self, newest):
        given = self.x[:, newest]
        mode = np.bincount(given, minlength=self.workload.levels).argmax()
        rest, rest_margin = self.pairs.copy(), self.margin.copy()
        gains = np.zeros(self.candidates, dtype=np.int64)
        for level in range(self.workload.levels):
            if level == mode:
                continue
            rows = np.flatnonzero(given == level)
            targets = self.targets[rows]
            counts, margin = self.features[rows].T @ targets, targets.sum(axis=0)
            gains += self.table_sums(counts, margin)
            rest -= counts
            rest_margin -= margin
        return gains + self.table_sums(rest, rest_margin)

    def table_sums(self, counts, margin):
        """Per candidate, in the counted rows: f-sums of (x, y) over the targets, less q f-sums of x."""
        shape = self.workload
        counts = counts.reshape(shape.levels - 1, self.candidates, -1)
        level0 = margin - counts.sum(axis=0)
        return sum(self.level_sums(cells) for cells in (level0, *counts))

    def level_sums(self, counts):
        shape = self.workload
        totals = counts[:, -1].astype(np.int64)
        by_class = counts[:, :-1].astype(np.int64).reshape(self.candidates, shape.classes - 1, shape.targets)
        class0 = totals[:, None] - by_class.sum(axis=1)
        sums = self.values[by_class].sum(axis=(1, 2)) + self.values[class0].sum(axis=1)
        return sums - shape.targets * self.values[totals]
