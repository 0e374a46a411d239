"""The Relief family as loops: plain, slow, obviously right."""

import numpy as np


def scaled(X):
    X = np.asarray(X, dtype=float)
    span = X.max(axis=0) - X.min(axis=0)
    return np.where(span > 0, (X - X.min(axis=0)) / np.where(span > 0, span, 1), 0)


def nearest(Z, row, candidates, k):
    others = [j for j in candidates if j != row]
    return sorted(others, key=lambda j: (round(np.abs(Z[row] - Z[j]).sum(), 9), j))[:k]


def shares(n, sigma):
    weights = [1.0 if sigma is None else np.exp(-((rank / sigma) ** 2)) for rank in range(1, n + 1)]
    return [weight / sum(weights) for weight in weights]


def mean_difference(Z, row, near, sigma):
    if not near:
        return np.zeros(Z.shape[1])
    return sum(share * np.abs(Z[row] - Z[j]) for share, j in zip(shares(len(near), sigma), near, strict=True))


def relieff(X, y, k, sigma=None):
    Z, y = scaled(X), np.asarray(y)
    weights = np.zeros(Z.shape[1])
    probability = {c: np.mean(y == c) for c in set(y.tolist())}
    if len(probability) == 1:
        return weights
    for i in range(len(Z)):
        for c, p in probability.items():
            difference = mean_difference(Z, i, nearest(Z, i, np.flatnonzero(y == c), k), sigma)
            weights += -difference if c == y[i] else p / (1 - probability[y[i].item()]) * difference
    return weights / len(Z)


def relieff_ml(X, Y, k, sigma=None):
    Z, Y = scaled(X), np.asarray(Y)
    weights = np.zeros(Z.shape[1])
    probability = Y.mean(axis=0)
    for i in range(len(Z)):
        for has, sign in ((1, -1), (0, 1)):
            labels = [label for label in range(Y.shape[1]) if Y[i, label] == has and probability[label] > 0]
            total = sum(probability[label] for label in labels)
            for label in labels:
                near = nearest(Z, i, np.flatnonzero(Y[:, label]), k)
                weights += sign * probability[label] / total * mean_difference(Z, i, near, sigma)
    return weights / len(Z)


def rrelieff(X, y, k, sigma=None):
    Z, t = scaled(X), scaled(np.reshape(y, (-1, 1)))[:, 0]
    if np.ptp(t) == 0:
        return np.zeros(Z.shape[1])
    different, in_feature, in_both = 0.0, np.zeros(Z.shape[1]), np.zeros(Z.shape[1])
    for i in range(len(Z)):
        near = nearest(Z, i, range(len(Z)), k)
        for share, j in zip(shares(len(near), sigma), near, strict=True):
            different += share * abs(t[i] - t[j])
            in_feature += share * np.abs(Z[i] - Z[j])
            in_both += share * abs(t[i] - t[j]) * np.abs(Z[i] - Z[j])
    return in_both / different - (in_feature - in_both) / (len(Z) - different)
