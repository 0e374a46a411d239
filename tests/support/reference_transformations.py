"""Reference implementations of the problem transformations, with rows and lists."""

import numpy as np
from sklearn.base import clone


def powerset(base, X, Y, queries):
    """Predicted label rows, and of each label the sum of the probabilities of the rows with it."""
    names = ["".join(map(str, row)) for row in Y]
    model = clone(base).fit(X, names)
    chances = model.predict_proba(queries)
    probabilities = np.zeros((len(queries), Y.shape[1]))
    for name, chance in zip(model.classes_, chances.T, strict=True):
        for label, bit in enumerate(name):
            probabilities[:, label] += chance * int(bit)
    return np.array([[int(bit) for bit in name] for name in model.predict(queries)]), probabilities


def homer(base, X, Y, queries, nodes, place=0):
    """The labels of the queries, going down a given tree; models are learned anew from the rows with labels of the node."""
    present = np.zeros((len(queries), Y.shape[1]), dtype=int)
    node = nodes[place]
    labels = np.concatenate(node.clusters)
    rows = np.arange(len(X)) if place == 0 else np.flatnonzero(Y[:, labels].any(axis=1))
    for cluster, child in zip(node.clusters, node.children, strict=True):
        meta = Y[np.ix_(rows, cluster)].any(axis=1)
        if meta.all() or not meta.any():
            found = np.full(len(queries), meta.all())
        else:
            found = clone(base).fit(X[rows], meta).predict(queries)
        below = np.ones_like(present) if child is None else homer(base, X, Y, queries, nodes, child)
        present[:, cluster] = (found[:, np.newaxis] & below[:, cluster]).astype(int)
    return present


def calibrated_ranking(base, X, Y, queries):
    """For each query the votes of every label, and of the virtual label, which is last."""
    n_labels = Y.shape[1]
    votes = [[0] * (n_labels + 1) for _ in queries]
    # The virtual label is preferred to absent labels, and present labels are preferred to it.
    preferred = [[bool(y[label]) for label in range(n_labels)] + [None] for y in Y]
    for one in range(n_labels):
        for two in range(one + 1, n_labels + 1):
            rows = [i for i, y in enumerate(preferred) if two == n_labels or y[one] != y[two]]
            wins = [preferred[i][one] for i in rows]
            if not rows:
                continue
            constant = len(set(wins)) == 1
            answers = [wins[0]] * len(queries) if constant else clone(base).fit(X[rows], wins).predict(queries)
            for query, answer in enumerate(answers):
                votes[query][one if answer else two] += 1
    return votes


def meta_labels(base, X, Y, queries):
    """For each query the labels with the best scores, as many as a model of the number of labels says."""
    scores = []
    for y in Y.T:
        constant = len(set(y)) == 1
        scores.append([float(y[0])] * len(queries) if constant else clone(base).fit(X, y).predict_proba(queries)[:, 1])
    sizes = clone(base).fit(X, Y.sum(axis=1)).predict(queries)
    predicted = []
    for query, size in enumerate(sizes):
        best = sorted(range(Y.shape[1]), key=lambda label, query=query: (-scores[label][query], label))[:size]
        predicted.append([int(label in best) for label in range(Y.shape[1])])
    return predicted
