"""Rankings that are no formula of information, from their definitions: plain, slow, obviously right."""

import numpy as np
import scipy.linalg
from scipy.stats import chi2_contingency

LARGEST_F = float(np.finfo(np.float32).max)  # the F statistic of a feature that separates the classes perfectly


def chi_square_statistic(x, y, weights):
    """What scipy says of the table without empty rows and columns."""
    table = np.zeros((x.max() + 1, y.max() + 1))
    np.add.at(table, (x, y), weights)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    return chi2_contingency(table, correction=False).statistic if table.size else 0.0


def chi_square(codes, Y, space, weights):
    """Statistics of every feature (rows) and target (columns) in a label space."""
    if space == "single":
        return np.array([[chi_square_statistic(x, y, weights) for y in Y.T] for x in codes.T])
    if space == "joint":
        powers = 2 ** np.arange(Y.shape[1])
        return np.array([[chi_square_statistic(x, Y @ powers, weights)] for x in codes.T])
    rows, labels = np.nonzero(Y)  # every row once for each of its labels
    of_copy = weights[rows] / (Y.sum(axis=1)[rows] if space == "copy-weight" else 1)
    if not len(rows):
        return np.zeros((codes.shape[1], 1))
    return np.array([[chi_square_statistic(x[rows], labels, of_copy)] for x in codes.T])


def f_statistic(x, y):
    """One-way analysis of variance: the mean square between the classes over that within them; 0 for a constant feature."""
    if len(set(x.tolist())) < 2:
        return 0.0
    groups = [x[y == level] for level in set(y.tolist())]
    between = sum(len(group) * (group.mean() - x.mean()) ** 2 for group in groups)
    within = sum(((group - group.mean()) ** 2).sum() for group in groups)
    if within <= 1e-12 * between:
        return LARGEST_F
    return between / (len(groups) - 1) / (within / (len(x) - len(groups)))


def f_statistics(X, Y):
    """F statistics of every feature (rows) with every target that is not constant (columns)."""
    varying = [y for y in Y.T if len(set(y.tolist())) > 1]
    return np.array([[f_statistic(x, y) for y in varying] for x in X.T]).reshape(X.shape[1], len(varying))


def unlike(Y):
    """1 - cos of the labels, zeros on the diagonal."""
    lengths = np.sqrt((Y**2).sum(axis=0))
    R = 1 - Y.T @ Y / np.outer(lengths, lengths)
    np.fill_diagonal(R, 0)
    return R


def llsf_objective(X, Y, W, alpha, beta):
    """The objective of LLSF and the largest entry of its smallest subgradient, for labels that occur."""
    X, occurring = np.asarray(X), Y.any(axis=0)
    Y, W = Y[:, occurring], W[:, occurring]
    R = unlike(Y)
    value = ((X @ W - Y) ** 2).sum() / 2 + alpha / 2 * np.trace(R @ W.T @ W) + beta * np.abs(W).sum()
    gradient = X.T @ (X @ W - Y) + alpha * W @ R
    residual = np.where(W == 0, np.maximum(np.abs(gradient) - beta, 0), np.abs(gradient + beta * np.sign(W)))
    return value, residual.max(initial=0.0)


def mddm_problem(X, Y, mu):
    """Both matrices of the generalized eigenproblem of MDDM, by the book."""
    H = np.eye(len(X)) - 1 / len(X)
    return X.T @ H @ Y @ Y.T @ H @ X, mu * X.T @ X + (1 - mu) * np.eye(X.shape[1])


def mddm_eigenvalues(X, Y, mu):
    """All eigenvalues of the problem, the largest first."""
    return scipy.linalg.eigh(*mddm_problem(X, Y, mu), eigvals_only=True)[::-1]
