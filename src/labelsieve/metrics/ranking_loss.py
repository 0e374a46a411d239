from typing import Any

import numpy as np

from labelsieve.metrics.label_ranks import Rows, Ties, average, rank_labels


def ranking_loss(Y: Any, scores: Any, *, ties: Ties = "worst", rows: Rows = "informative", sample_weight: Any = None) -> float:
    r"""Fraction of the pairs of a true and an absent label that are ranked in the wrong order, averaged over the rows.

    .. math:: \frac{1}{n} \sum_i \frac{1}{|Y_i| |\bar Y_i|} |\{(k, l) \in Y_i \times \bar Y_i : f_{ik} \leq f_{il}\}|

    Equation 16 of the MLQPFS paper. scikit-learn's ``label_ranking_loss`` counts rows without a pair as 0: ``rows="all"``.
    With ``ties="half"`` it is 1 minus the mean area under the ROC curve of the rows.

    Parameters
    ----------
    Y : array-like, frame or sparse matrix of 0 and 1, shape (n_rows, n_labels)
    scores : array-like, frame or sparse matrix of the same shape
        Higher for labels that are more likely; what a sparse matrix does not store is 0.
    ties : {"worst", "half", "best", "earlier", "later"}, default="worst"
        A tie of a true and an absent label is wrong ("worst": the papers, scikit-learn, Matlab toolboxes), half wrong, right,
        or broken in favor of the earlier or the later column ("later": Mulan).
    rows : {"informative", "all"}, default="informative"
        Rows without labels and rows with all labels have no pairs. They are left out, or (scikit-learn, Mulan) count 0.
    sample_weight : array-like of shape (n_rows,), optional

    Returns
    -------
    float
        Between 0 and 1; 0 if no row has a pair.

    Notes
    -----
    Cost: one sort of every row, in blocks of a million cells; sparse input is never dense as a whole.

    Examples
    --------
    >>> ranking_loss([[1, 0, 0], [0, 1, 1]], [[0.9, 0.1, 0.2], [0.5, 0.3, 0.8]])
    0.25
    """
    ranks, weights = rank_labels(Y, scores, ties, ("worst", "half", "best", "earlier", "later"), sample_weight)
    losses = ranks.mean(ranks.absent_above) / np.maximum(ranks.n_labels - ranks.n_true, 1)
    return average(losses, ranks, weights, rows, 0.0)
