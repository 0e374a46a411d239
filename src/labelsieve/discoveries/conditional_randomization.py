"""The conditional randomization test: p-values of chosen features given all others, by drawing their columns anew."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from labelsieve.discoveries.knockoff_gaussian import feature_model
from labelsieve.discoveries.knockoff_statistics import standardized, variance_components
from labelsieve.discoveries.knockoff_tree import TreeKnockoffs
from labelsieve.errors import InputError, require_same_rows, whole_number
from labelsieve.tables.frames import read_table
from labelsieve.tables.targets import label_matrix
from labelsieve.tables.types import TableLike, TargetsLike

Real = NDArray[np.float64]


def conditional_randomization_test(
    X: TableLike,
    Y: TargetsLike,
    features: Iterable[int],
    *,
    sampler: object = "auto",
    n_resamples: int = 999,
    random_state: int | None = 0,
) -> Real:
    r"""Test chosen features for independence of all targets given all other features; returns p-values.

    The column of a feature is drawn anew given the other columns, B times; such a column depends on the other features as the
    observed one does, but not on the targets (Candès et al. 2018, section F). With a statistic T of a column,

    .. math:: p = \frac{1 + \#\{b : T(x^{(b)}) \ge T(x)\}}{1 + B} .

    The statistic is distilled (Liu, Katsevich, Janson and Ramdas 2022): a ridge regression of the targets on the other features
    is fitted once, and T is the sum over the targets of the squared covariances of the column with the residuals.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_rows, n_features)
        The features.
    Y : array-like, frame or sparse matrix of shape (n_rows, n_targets)
        Labels of 0 and 1, or numbers.
    features : iterable of int
        Columns of ``X``.
    sampler : {"auto", "tree", "gaussian"}, object or callable, default="auto"
        As for :class:`labelsieve.selectors.ConditionalDiscoveries`; an object with ``sample_given_others(j, n_samples,
        generator)``, or a function with these arguments, which returns an array of shape (n_samples, n_rows).
    n_resamples : int, default=999
        B; p-values are multiples of ``1 / (B + 1)``.
    random_state : int or None, default=0
        The p-value of a feature does not depend on which other features are tested.

    Returns
    -------
    ndarray of shape (number of features,)

    Notes
    -----
    P-values are exact if the sampler has the distribution of the features, for any distribution of the targets. Cost: for each
    feature, one system of linear equations, and B times n * q operations.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 10))
    >>> X[:, 1] += X[:, 0]  # associated with the target, but not given column 0
    >>> y = X[:, [0]] + rng.normal(size=(200, 1)) > 0
    >>> conditional_randomization_test(X, y, [0, 1])
    array([0.002, 0.575])
    """
    n_resamples = whole_number(n_resamples, "n_resamples", 1, 10_000_000)
    model = feature_model(X, sampler) if isinstance(sampler, str) else sampler
    draw = getattr(model, "sample_given_others", model)
    if not callable(draw):
        raise InputError(f"sampler must be a name, an object with sample_given_others, or a function, not {sampler!r}.")
    nominal = isinstance(model, TreeKnockoffs)
    columns: NDArray[Any] = model.codes if isinstance(model, TreeKnockoffs) else _numbers(X, "X")
    targets = standardized(_numbers(label_matrix(Y), "Y"))
    require_same_rows(len(columns), len(targets))
    p_values = []
    for feature in features:
        j = whole_number(feature, "features", 0, columns.shape[1] - 1)
        generator = np.random.default_rng(None if random_state is None else [random_state, j])
        drawn = np.vstack([columns[:, j], np.asarray(draw(j, n_resamples, generator))])
        residuals = _residuals(_design(np.delete(columns, j, axis=1), nominal), targets)
        statistics = np.sum([_statistics(table, residuals) for table in _tables(drawn, nominal)], axis=0)
        p_values.append((1 + np.count_nonzero(statistics[1:] >= statistics[0] * (1 - 1e-12))) / (1 + n_resamples))
    return np.array(p_values)


def _numbers(table: TargetsLike, what: str) -> Real:
    read = read_table(table, what=what)
    return np.asarray(read.sparse.toarray() if read.dense is None else read.dense, dtype=np.float64)


def _tables(values: NDArray[Any], nominal: bool) -> list[Real]:
    """Return numbers as one table, and levels as one table of indicators for each level but the first."""
    return [(values == level).astype(np.float64) for level in np.unique(values)[1:]] if nominal else [values]


def _design(columns: NDArray[Any], nominal: bool) -> Real:
    """Return standardized columns, with an indicator for each level of a nominal column but the first."""
    if not columns.shape[1]:
        return np.zeros((len(columns), 1))
    blocks = [table for column in columns.T for table in _tables(column, nominal)]
    return standardized(np.column_stack(blocks) if blocks else np.zeros((len(columns), 1)))


def _residuals(X: Real, Y: Real) -> Real:
    """Return residuals of a ridge regression whose penalty has the largest marginal likelihood."""
    explained, noise = variance_components(X, Y)
    penalty = noise * X.shape[1] / explained
    if X.shape[0] <= X.shape[1]:
        matrix = X @ X.T + penalty * np.eye(len(X))
        return np.asarray(penalty * la.solve(matrix, Y, assume_a="pos"))
    return np.asarray(Y - X @ la.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ Y, assume_a="pos"))


def _statistics(drawn: Real, residuals: Real) -> Real:
    """Return for each row of ``drawn`` its squared covariances with the residuals; rows are centered at their common mean."""
    products = (drawn - drawn.mean(axis=0)) @ residuals
    return np.asarray((products**2).sum(axis=1))
