from typing import Any, Literal

import numpy as np

from labelsieve.errors import InputError, one_of
from labelsieve.metrics.label_ranks import Rows, Ties, average, rank_labels


def coverage(
    Y: Any,
    scores: Any,
    *,
    ties: Ties = "worst",
    count_from: int = 0,
    normalize: Literal["q", "q-1"] | None = None,
    rows: Rows = "all",
    sample_weight: Any = None,
) -> float:
    r"""Coverage: the mean number of steps down the ranked labels that cover all true ones.

    .. math:: \frac{1}{n} \sum_i \max_{l \in Y_i} \mathrm{rank}_i(l) - 1

    Equation 15 of the MLQPFS paper. scikit-learn's ``coverage_error`` counts from 1: ``count_from=1``. Mulan's is this one with
    ``ties="later"``. The Group-JMI paper reports a normalized coverage without defining the normalization.

    Parameters
    ----------
    Y : array-like, frame or sparse matrix of 0 and 1, shape (n_rows, n_labels)
    scores : array-like, frame or sparse matrix of the same shape
        Higher for labels that are more likely; what a sparse matrix does not store is 0.
    ties : {"worst", "earlier", "later"}, default="worst"
        Labels of equal score all get the last of their ranks (scikit-learn), or ranks in the order of their columns, or in the
        reverse order (Mulan, Matlab toolboxes).
    count_from : {0, 1}, default=0
        The number of the first rank. A row without labels counts 0 in both cases.
    normalize : {"q", "q-1"}, default=None
        Divide by the number of labels :math:`q`, or by the largest value when counting from 0. With one label, the latter is 0
        and so is the result.
    rows : {"all", "informative"}, default="all"
        "informative" leaves out rows without labels and rows with all labels.
    sample_weight : array-like of shape (n_rows,), optional

    Returns
    -------
    float
        Between 0 and :math:`q - 1`, plus ``count_from``; 0 if no row is left.

    Notes
    -----
    Cost as :func:`ranking_loss`.

    Examples
    --------
    >>> coverage([[1, 0, 0], [0, 1, 1]], [[0.9, 0.1, 0.2], [0.5, 0.3, 0.8]])
    1.0
    >>> coverage([[1, 0, 0], [0, 1, 1]], [[0.9, 0.1, 0.2], [0.5, 0.3, 0.8]], normalize="q-1")
    0.5
    """
    if count_from not in (0, 1):
        raise InputError(f"count_from must be 0 or 1, not {count_from!r}.")
    if normalize is not None:
        one_of(normalize, "normalize", ("q", "q-1"))
    ranks, weights = rank_labels(Y, scores, ties, ("worst", "earlier", "later"), sample_weight)
    steps = np.where(ranks.n_true > 0, ranks.largest(ranks.rank, empty=0.0) - 1.0 + count_from, 0.0)
    divisor = {None: 1, "q": ranks.n_labels, "q-1": max(ranks.n_labels - 1, 1)}[normalize]
    return average(steps, ranks, weights, rows, 0.0) / divisor
