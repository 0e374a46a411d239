"""Statistics that contrast features with their knockoffs: likelihood ratios of a linear model, and the lasso."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from labelsieve.discoveries.knockoff_tree import TreeKnockoffs
from labelsieve.tables.codes import Codes

Real = NDArray[np.float64]
_SMALLEST, _ROUNDING = 1e-8, 1e-9  # of variances; of statistics, which are 0 if they are smaller
_SHARE_AT_START, _UPDATES = 0.25, 3  # first guess of the share of features that act; updates of it in each step
_SHARES = np.linspace(0.02, 0.98, 25)  # tried shares of the targets' variance that the columns explain
N_FOLDS, N_PENALTIES, SMALLEST_PENALTY = 3, 12, 0.03  # of the lasso
_CELLS_AT_A_TIME = 2**25  # of knockoffs in memory


def likelihood_ratios(X: Real, Y: Real, owner: NDArray[np.intp] | None = None, *, n_steps: int = 6) -> Real:
    r"""Compute for every feature the log odds that it, and not its knockoff, acts on the targets.

    Masked likelihood ratios (Spector and Fithian 2024): if neither the feature a nor its knockoff b is marked as the knockoff,
    one of three hypotheses holds. Neither is relevant, or one of them has coefficients :math:`b_l \sim N(0, \tau)` in

    .. math:: y_l = \sum_j x_j b_{jl} + \epsilon_l, \quad \epsilon_l \sim N(0, \sigma^2) , \qquad
              W = \log \frac{p_0 / 2 + p_a}{p_0 / 2 + p_b} .

    Probabilities :math:`p` are those given the targets. All other pairs are replaced by normal coefficients of their second
    moments, as in sparse Bayesian learning (Wipf and Rao 2007); ``n_steps`` rounds update these, :math:`\tau`, and the fraction
    of features that act. Correlated targets count as :math:`(\mathrm{tr} R)^2 / \mathrm{tr} R^2` ones, R being their
    correlation matrix.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        Standardized columns of the features and of their knockoffs.
    Y : ndarray of shape (n_rows, n_targets)
        Standardized targets.
    owner : ndarray of int, shape (n_columns,), default=None
        The variable of each column: j for a feature, d + j for its knockoff, for d features. Default: a column for each.
    n_steps : int, default=6
        Rounds of updates.

    Returns
    -------
    ndarray of shape (d,)
        0 for a feature that is equal to its knockoff; swapping both changes the sign.

    Notes
    -----
    Cost: a factorization of min(n, columns) unknowns for each step, for any number of targets.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 6))  # three features and their knockoffs
    >>> Y = X[:, [0, 1]] @ np.array([[1, 0.5, 0], [0, 0.5, 1]]) + 0.5 * rng.standard_normal((200, 3))
    >>> likelihood_ratios(X, Y).round(1)[:2] > 5, abs(likelihood_ratios(X, Y)[2].round(1)) < 1
    (array([ True,  True]), np.True_)
    """
    owner = np.arange(X.shape[1]) if owner is None else owner
    columns = _columns_of_variables(owner)
    d, padded = len(columns) // 2, columns == X.shape[1]
    n_real = np.maximum((~padded).sum(axis=1), 1)
    explained, noise = variance_components(X, Y)
    n_targets = _effective_number(Y)
    variances = np.full(X.shape[1] + 1, explained / X.shape[1])
    slab, active = 2 * explained / (_SHARE_AT_START * X.shape[1]), _SHARE_AT_START
    pairs, by_rows = np.hstack([columns[:d], columns[d:]]), len(X) <= X.shape[1]
    products = (X, Y) if by_rows else (X.T @ X, X.T @ Y)
    for _ in range(n_steps + 1):
        # The evidence of each pair given normal coefficients of all other pairs ...
        before = (_from_rows if by_rows else _from_columns)(*products, variances[:-1], noise, pairs)
        values, squares = _own_axes(*_without_own_pair(*before, variances[pairs]))
        # ... updates the variance of coefficients that act (slab), the share of features that act, and then the coefficients.
        for _ in range(_UPDATES):
            shrunk = slab / (1 + slab * values)
            evidence = n_targets / 2 * (shrunk * squares - np.log1p(slab * values)).sum(axis=1)
            log_odds = np.log(active / (1 - active)) + evidence.reshape(2, d)  # each against twice "neither"
            ratio = np.logaddexp(0, log_odds[0]) - np.logaddexp(0, log_odds[1])
            total = np.logaddexp(np.logaddexp(*log_odds), np.log(2))
            probability = np.exp(log_odds - total).ravel()
            moment = (shrunk**2 * squares + shrunk).sum(axis=1) - slab * padded.sum(axis=1)
            slab = max(float(probability @ moment / max(probability @ n_real, _SMALLEST)), _SMALLEST)
            active = float(np.clip((probability.sum() + 0.5) / (d + 1), 0.5 / d, 0.9))
        variances = np.append(np.maximum(probability * moment / n_real, _SMALLEST)[owner], 1.0)
    return np.where(np.abs(ratio) > _ROUNDING, ratio, 0.0)


def _columns_of_variables(owner: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the columns of each variable, shape (2 d, most columns), padded with the number of columns."""
    counts = np.bincount(owner)
    order = np.argsort(owner, kind="stable")
    place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    columns = np.full((len(counts), counts.max()), len(owner))
    columns[owner[order], place] = order
    return columns


def _effective_number(Y: Real) -> float:
    """Return the number of uncorrelated targets that correlated ones count as."""
    products = Y @ Y.T if len(Y) < Y.shape[1] else Y.T @ Y
    return float((Y**2).sum() ** 2 / (products**2).sum())


def _from_rows(X: Real, Y: Real, variances: Real, noise: float, pairs: NDArray[np.intp]) -> tuple[Real, Real]:
    """Return :math:`x' C^{-1} x` and :math:`x' C^{-1} y` for the columns x of every pair; C is the covariance of a target."""
    weighted = X * np.sqrt(variances)
    matrix = weighted @ weighted.T
    matrix[np.diag_indices(len(X))] += noise
    factor = la.cholesky(matrix, lower=True, check_finite=False)
    columns = la.solve_triangular(factor, X, lower=True, check_finite=False)
    projection = columns.T @ la.solve_triangular(factor, Y, lower=True, check_finite=False)
    own = np.append(columns.T, np.zeros((1, len(X))), axis=0)[pairs]
    return own @ own.transpose(0, 2, 1), np.append(projection, np.zeros((1, Y.shape[1])), axis=0)[pairs]


def _from_columns(gram: Real, product: Real, variances: Real, noise: float, pairs: NDArray[np.intp]) -> tuple[Real, Real]:
    """Compute what :func:`_from_rows` does from X' X and X' Y, with as many unknowns as columns."""
    root = np.sqrt(variances)
    matrix = gram * np.outer(root, root) / noise
    matrix[np.diag_indices(len(root))] += 1.0
    inverse = la.lapack.dpotri(la.cholesky(matrix, lower=True, check_finite=False), lower=1)[0]
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    projection = (inverse @ (root[:, np.newaxis] * product)) / (noise * root[:, np.newaxis])
    padded, scale = np.zeros((len(root) + 1, len(root) + 1)), np.append(root, 1.0)[pairs]
    padded[:-1, :-1] = np.eye(len(root)) - inverse
    precision = padded[pairs[:, :, np.newaxis], pairs[:, np.newaxis]] / (scale[:, :, np.newaxis] * scale[:, np.newaxis])
    return precision, np.append(projection, np.zeros((1, product.shape[1])), axis=0)[pairs]


def _without_own_pair(precision: Real, projection: Real, variances: Real) -> tuple[Real, Real]:
    """Remove the own pair from the covariance C, which then is that of all other pairs and the noise."""
    size = precision.shape[1]
    both = np.concatenate([precision, projection], axis=2)
    both = np.linalg.solve(np.eye(size) - precision * variances[:, np.newaxis], both)
    return both[..., :size], both[..., size:]


def _own_axes(precision: Real, projection: Real) -> tuple[Real, Real]:
    """Return eigenvalues of the block of each variable, and mean squares of its projections on the eigenvectors."""
    half = precision.shape[1] // 2
    blocks = np.concatenate([precision[:, :half, :half], precision[:, half:, half:]])
    own = np.concatenate([projection[:, :half], projection[:, half:]])
    values, vectors = np.linalg.eigh((blocks + blocks.transpose(0, 2, 1)) / 2)
    return np.maximum(values, 0.0), np.asarray(((vectors.transpose(0, 2, 1) @ own) ** 2).mean(axis=2))


def variance_components(X: Real, Y: Real) -> tuple[float, float]:
    """Split the variance of the targets into a part that all columns explain equally and noise, by marginal likelihood."""
    n, d = X.shape
    if n <= d:
        values, vectors = la.eigh(X @ X.T / d, check_finite=False)
        parts = ((vectors.T @ Y) ** 2).mean(axis=1)
        n_zero, of_zero = 0, 0.0
    else:
        values, vectors = la.eigh(X.T @ X / d, check_finite=False)
        values = np.clip(values, 1e-12, None)
        parts = ((vectors.T @ (X.T @ Y)) ** 2).mean(axis=1) / (values * d)
        n_zero, of_zero = n - d, max(0.0, float((Y**2).sum(axis=0).mean() - parts.sum()))
    values = np.clip(values, 0.0, None)
    found = (np.inf, 0.5, 0.5)
    for explained in _SHARES:
        spectrum = explained * values + 1 - explained
        scale = (float((parts / spectrum).sum()) + of_zero / (1 - explained)) / n
        if scale <= 0:
            continue
        loss = float(np.log(spectrum).sum()) + n_zero * np.log(1 - explained) + n * np.log(scale)
        found = min(found, (loss, explained * scale, (1 - explained) * scale))
    return found[1], found[2]


def lasso_importance(X: Real, Y: Real) -> Real:
    """Sum absolute coefficients of the lasso over the targets, with penalties from cross-validation.

    ``X`` and ``Y`` are standardized. Penalties are few and folds too, since a contrast with knockoffs needs no accurate
    optimum. Cost: four paths of penalties for every target.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 4))
    >>> lasso_importance(X, X[:, [0]] + 0.1 * rng.standard_normal((200, 1))).round(1)
    array([0.9, 0. , 0. , 0. ])
    """
    from sklearn.exceptions import ConvergenceWarning  # loaded where it is needed: importing the package stays fast
    from sklearn.linear_model import LassoCV

    total = np.zeros(X.shape[1])
    n_folds = min(N_FOLDS, len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for target in Y.T:
            model = LassoCV(
                cv=n_folds,
                alphas=N_PENALTIES,
                eps=SMALLEST_PENALTY,
                max_iter=200,
                tol=1e-2,
                precompute=X.shape[1] <= 4 * len(X),
            )
            total += np.abs(model.fit(X, target).coef_)
    return total


def standardized(table: NDArray[Any]) -> Real:
    """Scale columns to mean 0 and variance 1; constant ones become 0."""
    centered = table - table.mean(axis=0)
    scale = centered.std(axis=0)
    return np.asarray(centered / np.where(scale > 1e-12, scale, np.inf))


def design_columns(table: NDArray[Any], levels: NDArray[np.integer] | None = None) -> tuple[Real, NDArray[np.intp]]:
    """Return standardized columns, one for each level of a variable with three or more, and the variable of each column.

    ``levels`` are the numbers of levels of codes; None: numbers.
    """
    if levels is None:
        return standardized(table), np.arange(table.shape[1])
    shown = [np.arange(1, 2) if count <= 2 else np.arange(count) for count in levels.tolist()]
    owner = np.repeat(np.arange(len(levels)), [len(some) for some in shown])
    return standardized((table[:, owner] == np.concatenate(shown)).astype(np.float64)), owner


def batches(generators: Sequence[np.random.Generator], n_cells: int) -> Iterator[Sequence[np.random.Generator]]:
    """Split generators into batches whose knockoffs, of ``n_cells`` each, fit in memory together."""
    size = max(1, _CELLS_AT_A_TIME // n_cells)
    return (generators[start : start + size] for start in range(0, len(generators), size))


def code_statistics(X: Codes, Y: Codes, *, n_repeats: int = 20, seed: int = 0) -> Real:
    """Compute statistics W of coded features for ``n_repeats`` sets of knockoffs: shape (n_repeats, n_features).

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
