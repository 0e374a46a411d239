"""Conditional discoveries of tables of codes: tree knockoffs, and one linear model of all targets."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes
from labelsieve.statistics.knockoff_likelihood import likelihood_ratios
from labelsieve.statistics.knockoff_tree import TreeKnockoffs
from labelsieve.statistics.standard_columns import design_columns

Real = NDArray[np.float64]
_CELLS_AT_A_TIME = 2**25  # of knockoffs


def batches(generators: Sequence[np.random.Generator], n_cells: int) -> Iterator[Sequence[np.random.Generator]]:
    """Generators of the knockoffs, of ``n_cells`` each, that are drawn together."""
    size = max(1, _CELLS_AT_A_TIME // n_cells)
    return (generators[start : start + size] for start in range(0, len(generators), size))


def code_statistics(X: Codes, Y: Codes, *, n_repeats: int = 20, seed: int = 0) -> Real:
    """Statistics W of the features for ``n_repeats`` sets of knockoffs, shape (n_repeats, n_features); see :func:`e_q_values`.

    Knockoffs are drawn from a tree of pairwise dependences (:class:`TreeKnockoffs`); the statistic of a feature is its
    likelihood ratio (:func:`likelihood_ratios`), with a column for every level of a variable of three levels or more. Cost:
    for each set of knockoffs, drawing it and factorizing matrices of twice the columns, or of the rows.

    >>> rng = np.random.default_rng(0)
    >>> codes = rng.integers(0, 2, size=(500, 30))
    >>> labels = (codes[:, :12] @ rng.normal(size=(12, 4)) + 0.5 * rng.normal(size=(500, 4)) > 0).astype(int)
    >>> W = code_statistics(Codes.from_values(codes), Codes.from_values(labels), n_repeats=2)
    >>> W.shape, bool((W[:, :12] > 0).all())
    ((2, 30), True)
    """
    tree, targets = TreeKnockoffs.from_codes(X), design_columns(Y.to_dense(), Y.levels)[0]
    targets = targets[:, targets.any(axis=0)]
    statistics = np.zeros((n_repeats, X.n_columns))
    levels = np.tile(X.levels, 2)
    generators = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(n_repeats)]
    drawn = (copy for some in batches(generators, tree.codes.size) for copy in tree.sample(some))
    for repeat, copy in enumerate(drawn if targets.shape[1] else ()):
        design, owner = design_columns(np.hstack([tree.codes, copy]), levels)
        statistics[repeat] = likelihood_ratios(design, targets, owner)
    return statistics
