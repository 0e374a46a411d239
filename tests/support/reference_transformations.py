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


def copies(base, X, Y, queries, weighted):
    """Probabilities of a model that saw each row once for each label; labels never seen have none."""
    rows, classes, weights = [], [], []
    for x, y in zip(X, Y, strict=True):
        for label in np.flatnonzero(y):
            rows.append(x)
            classes.append(label)
            weights.append(1 / y.sum())
    model = clone(base).fit(np.array(rows), classes, sample_weight=weights if weighted else None)
    probabilities = np.zeros((len(queries), Y.shape[1]))
    probabilities[:, model.classes_] = model.predict_proba(queries)
    return probabilities


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
