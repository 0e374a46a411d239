"""The quadratic program written to be read: the whole matrix, the published means, and an interior-point solver."""

import numpy as np
import pytest

from tests.support import reference_information as references


def program_reference(X, Y, **options):
    """``H``, ``F`` and ``alpha`` of eq. 5 and 12, in bits, from dictionaries of counts.

    A corrected estimate can be negative; alpha stays between 0 and 1.
    """
    H = references.mutual_information(X, X, base="bit", **options)
    F = references.mutual_information(X, Y, base="bit", **options).mean(axis=1)
    total = H.mean() + F.mean()
    return H, F, float(np.clip(H.mean() / total, 0, 1)) if total > 0 else 0.0


def gradient_of(H, F, alpha, weights, shift=0.0):
    return (1 - alpha) * (H @ weights + shift * weights) - alpha * F


def objective_of(H, F, alpha, weights, shift=0.0):
    return 0.5 * (1 - alpha) * (weights @ H @ weights + shift * weights @ weights) - alpha * F @ weights


def violation_of(H, F, alpha, weights, shift=0.0):
    """Largest gradient of a weighted feature minus the lowest of all."""
    gradient = gradient_of(H, F, alpha, weights, shift)
    return gradient[weights > 0].max() - gradient.min()


def clarabel_weights(H, F, alpha, shift):
    """The solution by Clarabel, an interior-point solver for convex programs."""
    clarabel = pytest.importorskip("clarabel", reason="clarabel is not installed: nothing to compare the solver with")
    import scipy.sparse as sp

    d = len(F)
    matrix = sp.csc_matrix(np.triu((1 - alpha) * (H + shift * np.eye(d))))
    constraints = sp.vstack([np.ones((1, d)), -sp.eye(d)]).tocsc()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(d)]
    solver = clarabel.DefaultSolver(matrix, -alpha * F, constraints, np.r_[1.0, np.zeros(d)], cones, settings)
    weights = np.maximum(np.array(solver.solve().x), 0)
    return weights / weights.sum()
