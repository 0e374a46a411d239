"""Confidence intervals of mutual information, and confidence sets of the ranks of features by it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chndtrinc

from labelsieve.errors import InputError, one_of, require_same_rows, share, whole_number
from labelsieve.information import Codes, mutual_information
from labelsieve.tables.types import TableLike, TargetsLike

Real = NDArray[np.float64]
METHODS = ("asymptotic", "bootstrap")
_TRUST = 10  # noncentrality per degree of freedom at which the observed variance counts half


@dataclass(frozen=True, eq=False)
class InformationIntervals:
    """The result of :func:`information_intervals`.

    Attributes
    ----------
    estimate : ndarray of shape (n_features, n_targets)
        Mutual information in nats, corrected for bias (Miller and Madow) and not negative.
    lower, upper : ndarray of shape (n_features, n_targets)
        Confidence limits.
    confidence : float
        The confidence level of each interval.
    """

    estimate: Real
    lower: Real
    upper: Real
    confidence: float


def information_intervals(
    X: TableLike | Codes,
    Y: TargetsLike | Codes,
    *,
    confidence: float = 0.95,
    method: str = "asymptotic",
    n_resamples: int = 500,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
) -> InformationIntervals:
    r"""Compute confidence intervals of the mutual information of every column of ``X`` with every column of ``Y``.

    ``"asymptotic"``: :math:`2 n \hat I` is the likelihood-ratio statistic of independence, approximately noncentral chi-square
    with :math:`(r - 1)(c - 1)` degrees of freedom and noncentrality :math:`2 n I`. The interval consists of the noncentralities
    for which the observed value is not extreme; it includes the bias of the estimate and holds also for independent columns,
    where a normal interval fails. With more information than noise, the variance of :math:`\log p(x, y) / p(x) p(y)` in the
    sample replaces that of the noncentral chi-square.

    ``"bootstrap"``: quantiles of the information of bootstrap samples of the rows (percentile intervals, Efron and Tibshirani
    1993, chapter 13), less twice the bias :math:`(r - 1)(c - 1) / 2n` of Miller and Madow, since a bootstrap sample has the
    bias of the rows and its own; at least 0. It assumes no distribution.

    Parameters
    ----------
    X, Y : array-like, frame, sparse matrix or Codes of shape (n_rows, d) and (n_rows, q)
        Codes: whole numbers from 0, without missing cells.
    confidence : float, default=0.95
        Confidence level of each interval by itself.
    method : {"asymptotic", "bootstrap"}, default="asymptotic"
        See above.
    n_resamples : int, default=500
        Bootstrap samples.
    random_state : int, RandomState instance or None, default=0
        Seed of the bootstrap samples.
    n_jobs : int, default=None
        Threads that count bootstrap samples.

    Notes
    -----
    Rows must be independent, and bins must not depend on the targets. Cost: a product of one-hot columns, and d * q quantiles;
    or counting all pairs for each bootstrap sample, and d * q * n_resamples numbers.

    Examples
    --------
    >>> x = np.repeat([0, 0, 1, 1], [40, 10, 10, 40])
    >>> y = np.repeat([0, 1, 0, 1], [40, 10, 10, 40])
    >>> found = information_intervals(x[:, np.newaxis], y[:, np.newaxis])
    >>> found.lower.round(2), found.estimate.round(2), found.upper.round(2)
    (array([[0.1]]), array([[0.19]]), array([[0.32]]))
    """
    one_of(method, "method", METHODS)
    outside = (1 - share(confidence, "confidence")) / 2
    information, variance, freedom, n = _moments(X, Y)
    estimate = np.maximum(information - freedom / (2 * n), 0.0)
    if method == "bootstrap":
        _, drawn = _resampled(X, Y, n_resamples, random_state, n_jobs, "plugin")
        lower, upper = np.maximum(np.quantile(drawn, [outside, 1 - outside], axis=0) - freedom / n, 0.0)
        return InformationIntervals(estimate, lower, upper, float(confidence))
    # The statistic is scaled so that its variance is the observed one, the more so the more information there is.
    plain = np.maximum(freedom, 1.0)
    noncentral = np.maximum(2 * n * information - freedom, 0.0)
    trust = noncentral / (noncentral + _TRUST * plain)
    ratio = np.divide(variance, 2 * information, out=np.ones_like(variance), where=information > 1e-12)
    scale = np.clip(ratio, 0.05, 20.0) ** trust
    statistic = np.maximum(2 * n * information - (1 - scale) * freedom, 1e-10) / scale
    limits = [np.nan_to_num(chndtrinc(statistic, plain, level)) for level in (1 - outside, outside)]
    lower, upper = (np.where(limit > 1e-9, limit, 0.0) * scale / (2 * n) for limit in limits)  # no solution: almost 0
    constant = freedom == 0  # a column without information about anything
    lower, upper = np.where(constant, 0.0, lower), np.where(constant, 0.0, upper)
    return InformationIntervals(estimate, lower, upper, float(confidence))


def rank_intervals(scores: ArrayLike, resampled: ArrayLike, *, confidence: float = 0.95) -> NDArray[np.int64]:
    """Confidence sets of ranks: the smallest and the largest rank of each feature, at the same time for all features.

    A feature ranks behind another one with confidence if the difference of their scores, in standard errors, exceeds a quantile
    of the largest such difference among all pairs in resamples (Mogstad, Romano, Shaikh and Wilhelm 2024). Rank 1 is the
    largest score.

    Parameters
    ----------
    scores : array-like of shape (n_features,)
        Scores of the features.
    resampled : array-like of shape (n_resamples, n_features)
        Scores of resamples of the rows, such as bootstrap samples; at least ten.
    confidence : float, default=0.95
        Probability that the sets of all features contain the true ranks.

    Returns
    -------
    ndarray of int, shape (n_features, 2)

    Notes
    -----
    Cost: all pairs of features for each resample.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(scale=0.1, size=(200, 3))
    >>> rank_intervals([5.0, 1.0, 1.05], [5.0, 1.0, 1.05] + noise).tolist()
    [[1, 1], [2, 3], [2, 3]]
    """
    score, drawn = np.asarray(scores, dtype=np.float64), np.asarray(resampled, dtype=np.float64)
    if drawn.ndim != 2 or drawn.shape[1:] != score.shape or len(drawn) < 10:
        raise InputError(
            f"resampled must have ten rows at least and a column for each of {score.size} scores, not {drawn.shape}."
        )
    share(confidence, "confidence")
    deviation = drawn - drawn.mean(axis=0)
    covariance = deviation.T @ deviation / (len(drawn) - 1)
    spread = np.diag(covariance)[:, np.newaxis] + np.diag(covariance) - 2 * covariance
    error = np.sqrt(np.maximum(spread, 0.0))
    inverse = np.divide(1.0, error, out=np.zeros_like(error), where=error > 1e-12)
    largest = [float((np.abs(row[:, np.newaxis] - row) * inverse).max()) for row in deviation]
    critical = float(np.quantile(largest, confidence))
    difference = score[:, np.newaxis] - score
    behind = (difference < -critical * error) & (difference < 0)
    first, last = 1 + behind.sum(axis=1), len(score) - behind.sum(axis=0)
    return np.column_stack([first, last]).astype(np.int64)


def information_ranks(
    X: TableLike | Codes,
    Y: TargetsLike | Codes,
    *,
    confidence: float = 0.95,
    n_resamples: int = 200,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
) -> NDArray[np.int64]:
    """Compute confidence sets of the ranks of features by their mutual information, summed over the targets.

    See :func:`rank_intervals`. Resamples are bootstrap samples of the rows, ``n_resamples`` of them; scores and resamples are
    corrected for bias (Miller and Madow).

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(400, n_relevant=2, n_noisy_copies=0, n_xor_pairs=0, n_irrelevant=3)
    >>> information_ranks((np.asarray(data.X) > 0).astype(int), data.Y)[:, 0].min()
    np.int64(1)
    """
    scores, drawn = _resampled(X, Y, n_resamples, random_state, n_jobs, "miller-madow")
    return rank_intervals(scores.sum(axis=1), drawn.sum(axis=2), confidence=confidence)


def _resampled(
    X: TableLike | Codes,
    Y: TargetsLike | Codes,
    n_resamples: int,
    random_state: int | np.random.RandomState | None,
    n_jobs: int | None,
    estimator: str,
) -> tuple[Real, Real]:
    """Return the information of the rows, and of bootstrap samples of them (n_resamples x n_features x n_targets)."""
    from sklearn.utils import check_random_state  # loaded where it is needed: importing the package stays fast

    n_resamples = whole_number(n_resamples, "n_resamples", 10, 1_000_000)
    features, targets = _checked(X, Y)
    rng, n = check_random_state(random_state), features.n_rows
    options: dict[str, Any] = {"estimator": estimator, "n_jobs": n_jobs}
    scores = mutual_information(features, targets, **options)
    drawn = np.empty((n_resamples, *scores.shape))
    for one in drawn:
        weights = np.bincount(rng.randint(n, size=n), minlength=n)
        one[...] = mutual_information(features, targets, sample_weight=weights, **options)
    return scores, drawn


def _checked(X: TableLike | Codes, Y: TargetsLike | Codes) -> tuple[Codes, Codes]:
    features, targets = Codes.from_values(X), Codes.from_values(Y, what="Y")
    require_same_rows(features.n_rows, targets.n_rows)
    if features.has_missing or targets.has_missing:
        raise InputError("Intervals need tables without missing cells; fill them, or take them as a level.")
    return features, targets


def _moments(X: TableLike | Codes, Y: TargetsLike | Codes) -> tuple[Real, Real, Real, int]:
    """Return plug-in information, variance of the log ratio and degrees of freedom (n_features x n_targets), and rows."""
    features, targets = _checked(X, Y)
    n = features.n_rows
    left, right = _one_hot(features), _one_hot(targets)
    starts = [np.concatenate([[0], np.cumsum(codes.levels[:-1])]).astype(np.intp) for codes in (features, targets)]
    probability = np.asarray(left.T @ right) / n
    expected = np.outer(left.sum(axis=0), right.sum(axis=0)) / n**2
    ratio = np.log(np.divide(probability, expected, out=np.ones_like(probability), where=probability > 0))

    def by_pair(cells: Real) -> Real:
        return np.add.reduceat(np.add.reduceat(cells, starts[0], axis=0), starts[1], axis=1)

    information = np.maximum(by_pair(probability * ratio), 0.0)
    variance = np.maximum(by_pair(probability * ratio**2) - information**2, 0.0)
    occupied = [
        np.add.reduceat(table.sum(axis=0) > 0, start, dtype=np.int64)
        for table, start in zip((left, right), starts, strict=True)
    ]
    return information, variance, np.outer(occupied[0] - 1, occupied[1] - 1).astype(np.float64), n


def _one_hot(codes: Codes) -> Real:
    columns = [codes.column(j)[:, np.newaxis] == np.arange(codes.levels[j]) for j in range(codes.n_columns)]
    return np.hstack(columns).astype(np.float64)
