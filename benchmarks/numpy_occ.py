"""Feature selection of oCC in numpy: order, parents and features with one product of one-hot matrices per table."""

import numpy as np

from benchmarks.numpy_mlfs import n_log_n


class OneHot:
    """Columns of small codes as 0/1 matrices, to be multiplied with sets of rows."""

    def __init__(self, codes):
        codes = np.asarray(codes)
        self.n_rows = len(codes)
        self.levels = [np.float32(codes == level) for level in range(int(codes.max()) + 1)]

    def counts(self, row_sets):
        """Shape (sets, levels, columns)."""
        rows = np.stack(row_sets)
        return np.stack([rows @ level for level in self.levels], axis=1).astype(np.float64)

    def information(self, y):
        """I(column; y) for every column."""
        table = self.counts([y, 1 - y])
        total = n_log_n(table).sum(axis=(0, 1)) - n_log_n(table.sum(axis=0)).sum(axis=0)
        return (total - n_log_n(table.sum(axis=1)).sum(axis=0) + n_log_n(np.float64(self.n_rows))) / self.n_rows

    def given_column(self, y, z):
        """I(y; z | column) for every column."""
        table = self.counts([y * z, y * (1 - z), (1 - y) * z, (1 - y) * (1 - z)])
        table = table.reshape(2, 2, *table.shape[1:])
        total = n_log_n(table).sum(axis=(0, 1, 2)) + n_log_n(table.sum(axis=(0, 1))).sum(axis=0)
        total -= n_log_n(table.sum(axis=0)).sum(axis=(0, 1)) + n_log_n(table.sum(axis=1)).sum(axis=(0, 1))
        return total / self.n_rows


def chain_order(component, Y):
    """Algorithm 2 with one component and without the second term."""
    given, n_labels = OneHot(component), Y.shape[1]
    shared = np.zeros((n_labels, n_labels))
    for one in range(n_labels):
        for other in range(one):
            shared[one, other] = shared[other, one] = given.given_column(Y[:, one], Y[:, other])[0]
    order = [int(shared.sum(axis=1).argmax())]
    while len(order) < n_labels:
        scores = shared[:, order].sum(axis=1)
        scores[order] = -np.inf
        order.append(int(scores.argmax()))
    return order


def chain_parents(Y, order, k):
    """Eq. 33, label by label."""
    labels, parents = OneHot(Y), [[] for _ in order]
    for rank, label in enumerate(order):
        before = order[:rank]
        if rank <= k:
            parents[label] = before
            continue
        relevance, among = labels.information(Y[:, label]), np.zeros(len(order))
        for step in range(k):
            scores = (relevance + among / max(1, step))[before]
            scores[[before.index(parent) for parent in parents[label]]] = -np.inf
            parents[label].append(before[int(scores.argmax())])
            among += labels.given_column(Y[:, label], Y[:, parents[label][-1]])
    return parents


def label_features(X, Y, parents, labels, n_selected):
    """Eq. 43 for some labels."""
    features, rankings = OneHot(X), []
    for label in labels:
        y, own_parents = Y[:, label], parents[label]
        score = features.information(y) + sum(features.given_column(y, Y[:, p]) for p in own_parents) / max(1, len(own_parents))
        selected, among = [], np.zeros(X.shape[1])
        for step in range(n_selected):
            now = score + among / max(1, step)
            now[selected] = -np.inf
            selected.append(int(now.argmax()))
            # All levels of the newest feature count.
            among += information_of_pair(features, y, X[:, selected[-1]])
        rankings.append(selected)
    return np.array(rankings)


def information_of_pair(features, y, code):
    """I(y; code | column) for every column."""
    sets = [np.float32(code == level) for level in range(len(features.levels))]
    table = features.counts([y * rows for rows in sets] + [(1 - y) * rows for rows in sets])
    table = table.reshape(2, len(sets), *table.shape[1:])
    total = n_log_n(table).sum(axis=(0, 1, 2)) + n_log_n(table.sum(axis=(0, 1))).sum(axis=0)
    total -= n_log_n(table.sum(axis=0)).sum(axis=(0, 1)) + n_log_n(table.sum(axis=1)).sum(axis=(0, 1))
    return total / features.n_rows
