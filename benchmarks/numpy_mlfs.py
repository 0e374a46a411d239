"""MLFS for single labels in numpy, without a counting core. For 0/1 data."""

import numpy as np


def numpy_mlfs(X, Y, parents, labels, n_selected):
    """MLFS for one label after the other with one product of 0/1 matrices per parent and step."""
    X, Y = X.astype(np.float32), Y.astype(np.float32)
    rankings = []
    for label in labels:
        y = Y[:, label]
        relevance = table_information(X, y)
        score = relevance + sum(given_candidate(X, y, Y[:, p]) for p in parents[label]) / max(1, len(parents[label]))
        selected, among = [], np.zeros(X.shape[1])
        for step in range(n_selected):
            now = score + among / max(1, step)
            now[selected] = -np.inf
            selected.append(int(now.argmax()))
            among += given_candidate(X, y, X[:, selected[-1]])
        rankings.append(selected)
    return np.array(rankings)


def cells(X, row_sets):
    """Counts of rows with x = 1 and x = 0 in each set of rows, for every column."""
    sizes = np.array([rows.sum() for rows in row_sets], dtype=np.float64)
    ones = (np.stack(row_sets) @ X).astype(np.float64)
    return np.stack([ones, sizes[:, np.newaxis] - ones])


def n_log_n(counts):
    return np.where(counts > 0, counts * np.log(np.maximum(counts, 1)), 0.0)


def table_information(X, y):
    """I(x; y) for every column."""
    table = cells(X, [y, 1 - y])
    tables = n_log_n(table).sum(axis=(0, 1)) - n_log_n(table.sum(axis=0)).sum(axis=0) - n_log_n(table.sum(axis=1)).sum(axis=0)
    return (tables + n_log_n(np.float64(len(y)))) / len(y)


def given_candidate(X, y, z):
    """I(y; z | x) for every column."""
    table = cells(X, [y * z, y * (1 - z), (1 - y) * z, (1 - y) * (1 - z)]).reshape(2, 2, 2, -1)
    tables = n_log_n(table).sum(axis=(0, 1, 2)) + n_log_n(table.sum(axis=(1, 2))).sum(axis=0)
    tables -= n_log_n(table.sum(axis=1)).sum(axis=(0, 1)) + n_log_n(table.sum(axis=2)).sum(axis=(0, 1))
    return tables / len(y)
