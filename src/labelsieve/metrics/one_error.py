from typing import Any

import numpy as np

from labelsieve.metrics.label_ranks import Rows, Ties, average, rank_labels


def one_error(Y: Any, scores: Any, *, ties: Ties = "worst", rows: Rows = "all", sample_weight: Any = None) -> float:
    r"""Fraction of the rows in which the label with the highest score is absent.

    .. math:: \frac{1}{n} \sum_i [\arg\max_l f_{il} \notin Y_i]

    Equation 14 of the MLQPFS paper, which omits the negation. scikit-learn does not have it.

    Parameters
    ----------
    Y : array-like, frame or sparse matrix of 0 and 1, shape (n_rows, n_labels)
    scores : array-like, frame or sparse matrix of the same shape
        Higher for labels that are more likely; what a sparse matrix does not store is 0.
    ties : {"worst", "half", "best", "earlier", "later"}, default="worst"
        If several labels share the highest score: an error if one of them is absent, the fraction of absent ones among them, an
        error if all are absent ("best": Matlab toolboxes), or if the first ("earlier": ``argmax``) or the last ("later": Mulan)
        of them is absent.
    rows : {"all", "informative"}, default="all"
        A row without labels is always an error, a row with all labels never. "informative" leaves both out.
    sample_weight : array-like of shape (n_rows,), optional

    Returns
    -------
    float
        Between 0 and 1; 0 if no row is left.

    Notes
    -----
    Cost as :func:`ranking_loss`, twice that for ``ties="half"``.

    Examples
    --------
    >>> one_error([[1, 0, 0], [0, 1, 1]], [[0.9, 0.1, 0.2], [0.5, 0.3, 0.2]])
    0.5
    """
    allowed = ("worst", "half", "best", "earlier", "later")
    ranks, weights = rank_labels(Y, scores, "worst" if ties == "half" else ties, allowed, sample_weight)
    above = -ranks.largest(-ranks.absent_above, empty=-1.0)  # absent labels above the best true label
    errors = np.minimum(above, 1.0)
    if ties == "half":
        best, _ = rank_labels(Y, scores, "best", allowed, None)
        beaten = best.largest(-best.absent_above, empty=-1.0) < 0
        first_rank = -ranks.largest(-ranks.rank, empty=-1.0)
        errors = np.where(beaten, 1.0, above / first_rank)
    return average(errors, ranks, weights, rows, 0.0)
