"""Rankings by regressions, factors and graphs in plain numpy, from the papers: what the selectors are compared with.

Every function takes features that are scaled already and targets as numbers, and returns what the ranking is by.
"""

from itertools import permutations

import numpy as np
from scipy.linalg import solve_sylvester
from scipy.spatial.distance import cdist
from sklearn.metrics import mutual_info_score

TINY = 1e-12


def correlation_distances(X, Y):
    """1 - r; constant columns have no correlation."""
    table = np.ones((X.shape[1], Y.shape[1]))
    for f, x in enumerate(X.T):
        for label, y in enumerate(Y.T):
            if np.ptp(x) > 0 and np.ptp(y) > 0:
                table[f, label] = 1 - np.corrcoef(x, y)[0, 1]
    return table


def mgfs(X, Y, damping=0.85):
    """PageRank as the solution of its linear system."""
    edges = cdist(correlation_distances(X, Y), correlation_distances(X, Y))
    d = len(edges)
    transition = np.array([edge / edge.sum() for edge in edges]).T
    return np.linalg.solve(np.eye(d) - damping * transition, np.full(d, (1 - damping) / d))


def bmfs(X, Y):
    """The order of the features; every matching is tried."""
    distances, order = correlation_distances(X, Y), []
    labels = sorted(range(Y.shape[1]), key=lambda label: -Y[:, label].mean())
    while len(order) < len(distances):
        left = [f for f in range(len(distances)) if f not in order]
        n_matched = min(len(left), len(labels))
        best = min(
            ((features, some) for features in permutations(left, n_matched) for some in _subsets(len(labels), n_matched)),
            key=lambda match: sum(distances[f, label] for f, label in zip(*match, strict=True)),
        )
        of_label = dict(zip(best[1], best[0], strict=True))
        order += [of_label[label] for label in labels if label in of_label]
    return order


def _subsets(n_labels, size):
    return [some for some in permutations(range(n_labels), size) if list(some) == sorted(some)]


def ridge(X, Y, penalty=10.0):
    return np.linalg.inv(X.T @ X + penalty * np.eye(X.shape[1])) @ X.T @ Y


def mfs_mcdm(X, Y, entropy=True):
    """TOPSIS in loops."""
    ratings = ridge(X, Y)
    if entropy:
        shares = [(y.mean(), 1 - y.mean()) for y in Y.T]
        weights = np.array([-sum(p * np.log2(p) for p in share if p > 0) for share in shares])
        ratings = ratings * weights / weights.sum()
    best, worst = ratings.max(axis=0), ratings.min(axis=0)
    to_best = [np.sqrt(sum((a - b) ** 2 for a, b in zip(row, best, strict=True))) for row in ratings]
    to_worst = [np.sqrt(sum((a - b) ** 2 for a, b in zip(row, worst, strict=True))) for row in ratings]
    return np.array([far / (near + far) for near, far in zip(to_best, to_worst, strict=True)])


def pmfs(X, Y):
    """Fronts by peeling: what nothing left dominates is the next one."""
    v = ridge(X, Y)
    gains = np.column_stack([v.max(axis=1), cdist(v, v).sum(axis=1)])
    fronts, left, front = np.zeros(len(v)), set(range(len(v))), 0
    while left:
        front += 1
        members = [f for f in left if not any((gains[g] >= gains[f]).all() and (gains[g] > gains[f]).any() for g in left)]
        fronts[members] = front
        left -= set(members)
    crowding = np.zeros(len(v))
    for front in set(fronts):
        for gain in gains.T:
            members = sorted(np.flatnonzero(fronts == front), key=lambda f: gain[f])
            span = gain[members[-1]] - gain[members[0]]
            crowding[[members[0], members[-1]]] = np.inf
            for before, f, after in zip(members, members[1:], members[2:], strict=False):
                crowding[f] += (gain[after] - gain[before]) / span
    return -fronts - 1 / (1 + crowding)


def grro(codes, Y, alpha=100.0, beta=0.1):
    """The Sylvester equation by scipy, information by scikit-learn."""
    bits = np.log(2)
    relevance = np.array([[mutual_info_score(x, y) / bits for y in Y.T] for x in codes.T])
    redundancy = np.array([[mutual_info_score(x, z) / bits for z in codes.T] for x in codes.T])
    np.fill_diagonal(redundancy, 1.0)
    unlike = cdist(Y.T.astype(float), Y.T.astype(float), "cosine")
    return solve_sylvester(np.eye(len(redundancy)) + alpha * redundancy, beta * unlike, relevance)


def binary_laplacian(rows, k):
    """Of the graph (W + W') / 2, W with ones for the k nearest others."""
    distances = cdist(rows, rows)
    np.fill_diagonal(distances, np.inf)
    graph = np.zeros_like(distances)
    for row, others in enumerate(np.argsort(distances, axis=1, kind="stable")[:, :k]):
        graph[row, others] = 1
    graph = (graph + graph.T) / 2
    return np.diag(graph.sum(axis=1)) - graph


def heat_graph(rows, k):
    """Weights exp(-d^2 / w^2) if one is among the k nearest of the other, w the mean distance of neighbors."""
    distances = cdist(rows, rows)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :k]
    width = np.mean([distances[row, others] for row, others in enumerate(nearest)])
    graph = np.zeros_like(distances)
    for row, others in enumerate(nearest):
        graph[row, others] = np.exp(-((distances[row, others] / width) ** 2))
    return np.maximum(graph, graph.T)


def l21(W):
    return np.sqrt((W**2).sum(axis=1) + TINY).sum()


def mssl_objective(X, Y, W, alpha, beta, k):
    graph = heat_graph(X.T, k)
    smooth = sum(graph[f, g] * ((W[f] - W[g]) ** 2).sum() for f in range(len(W)) for g in range(f))
    b = Y.mean(axis=0) - X.mean(axis=0) @ W
    return ((X @ W + b - Y) ** 2).sum() + alpha * smooth + beta * l21(W)


def rfs_objective(X, Y, W, gamma):
    return l21(X @ W - (Y - Y.mean(axis=0))) + gamma * l21(W)


def mdfs_objective(X, Y, W, F, alpha, beta, gamma, k):
    of_rows, of_labels = binary_laplacian(X, k), binary_laplacian(Y.T, k)
    b = (F - X @ W).mean(axis=0)
    fit = ((X @ W + b - F) ** 2).sum() + ((F - Y) ** 2).sum()
    return np.trace(F.T @ of_rows @ F) + alpha * fit + beta * np.trace(F @ of_labels @ F.T) + gamma * l21(W)


def gradient(objective, *matrices, step=1e-8):
    """Central differences, small against the smoothing of the norm; a convex function is smallest where all are 0."""
    slopes = []
    for matrix in matrices:
        for index in np.ndindex(matrix.shape):
            kept = matrix[index]
            matrix[index] = kept + step
            above = objective(*matrices)
            matrix[index] = kept - step
            slopes.append((above - objective(*matrices)) / (2 * step))
            matrix[index] = kept
    return np.array(slopes)


def ssfs(X, Y, V, Q, M, n_steps, alpha=1.0, beta=1.0, gamma=1.0, k=5):
    """Multiplicative updates with whole matrices; yields the objective and Q."""
    S = heat_graph(X, k)
    D = np.diag(S.sum(axis=1))
    for step in range(n_steps + 1):
        fit = np.linalg.norm(X - V @ Q.T) ** 2 + alpha * np.linalg.norm(Y - V @ M) ** 2
        yield fit + beta * np.trace(V.T @ (D - S) @ V) + gamma * l21(Q), Q
        if step < n_steps:
            V = V * (X @ Q + alpha * Y @ M.T + beta * S @ V) / (V @ Q.T @ Q + alpha * V @ M @ M.T + beta * D @ V)
            M = M * (V.T @ Y) / (V.T @ V @ M)
            E = np.diag(1 / (2 * np.sqrt((Q**2).sum(axis=1) + TINY)))
            Q = Q * (X.T @ V) / (Q @ V.T @ V + gamma * E @ Q)


def scmfs(X, Y, W, V, Q, B, n_steps, alpha=0.1, beta=0.1, gamma=0.1):
    """Multiplicative updates with whole matrices; yields the objective and W."""
    for step in range(n_steps + 1):
        factors = alpha * np.linalg.norm(X - V @ Q) ** 2 + beta * np.linalg.norm(Y - V @ B) ** 2
        yield np.linalg.norm(X @ W - V) ** 2 + factors + gamma * l21(W), W
        if step < n_steps:
            E = np.diag(1 / (2 * np.sqrt((W**2).sum(axis=1) + TINY)))
            W = W * (X.T @ V) / (X.T @ X @ W + gamma * E @ W)
            V = V * (X @ W + alpha * X @ Q.T + beta * Y @ B.T) / (V + alpha * V @ Q @ Q.T + beta * V @ B @ B.T)
            Q = Q * (V.T @ X) / (V.T @ V @ Q)
            B = B * (V.T @ Y) / (V.T @ V @ B)


def manifold_mifs(X, Y, V, B, n_steps, alpha=1.0, beta=0.1, gamma=1.0, k=5):
    """Gradient steps of V, B and W in turn, with Armijo's rule; yields the objective and W."""
    S = heat_graph(X, k)
    L = np.diag(S.sum(axis=1)) - S
    Y = Y - Y.mean(axis=0)
    W, lengths = np.zeros((X.shape[1], V.shape[1])), {"V": 1.0, "B": 1.0, "W": 1.0}

    def objective(W, V, B):
        fit = np.linalg.norm(X @ W - V) ** 2 + alpha * np.linalg.norm(Y - V @ B) ** 2
        return fit + beta * np.trace(V.T @ L @ V) + gamma * l21(W)

    def move(name, point, slope, value):
        length = 2 * lengths[name]
        while value(point - length * slope) > value(point) - 1e-4 * length * (slope**2).sum():
            length /= 2
        lengths[name] = length
        return point - length * slope

    yield objective(W, V, B), W
    for _ in range(n_steps):
        slope = 2 * (V - X @ W) + 2 * alpha * (V @ B - Y) @ B.T + 2 * beta * L @ V
        V = move("V", V, slope, lambda v, W=W, B=B: objective(W, v, B))
        B = move("B", B, 2 * alpha * V.T @ (V @ B - Y), lambda b, W=W, V=V: objective(W, V, b))
        slope = 2 * X.T @ (X @ W - V) + gamma * W / np.sqrt((W**2).sum(axis=1, keepdims=True) + TINY)
        W = move("W", W, slope, lambda w, V=V, B=B: objective(w, V, B))
        yield objective(W, V, B), W
