from typing import Any

import numpy as np

from labelsieve.metrics.label_ranks import Rows, Ties, average, rank_labels


def average_precision(Y: Any, scores: Any, *, ties: Ties = "worst", rows: Rows = "all", sample_weight: Any = None) -> float:
    r"""Label-ranking average precision: the precision of the labels ranked at or above each true label, averaged.

    .. math:: \frac{1}{n} \sum_i \frac{1}{|Y_i|} \sum_{k \in Y_i}
        \frac{|\{l \in Y_i : \mathrm{rank}_i(l) \leq \mathrm{rank}_i(k)\}|}{\mathrm{rank}_i(k)}

    Equation 17 of the MLQPFS paper. The mean is over rows, unlike that of the measure of the same name in information
    retrieval, which is over labels. Equal to scikit-learn's ``label_ranking_average_precision_score``.

    Parameters
    ----------
    Y : array-like, frame or sparse matrix of 0 and 1, shape (n_rows, n_labels)
    scores : array-like, frame or sparse matrix of the same shape
        Higher for labels that are more likely; what a sparse matrix does not store is 0.
    ties : {"worst", "earlier", "later"}, default="worst"
        Labels of equal score all get the last of their ranks (scikit-learn), or ranks in the order of their columns, or in the
        reverse order (Mulan, Matlab toolboxes).
    rows : {"all", "informative"}, default="all"
        Rows without labels and rows with all labels have no wrong ranking. They count 1, or are left out.
    sample_weight : array-like of shape (n_rows,), optional

    Returns
    -------
    float
        Above 0 and at most 1; 1 if no row is left.

    Notes
    -----
    Cost as :func:`ranking_loss`.

    Examples
    --------
    >>> round(average_precision([[1, 0, 0], [0, 1, 1]], [[0.9, 0.1, 0.2], [0.5, 0.3, 0.8]]), 4)
    0.9167
    """
    ranks, weights = rank_labels(Y, scores, ties, ("worst", "earlier", "later"), sample_weight)
    precision = np.where(ranks.informative, ranks.mean(ranks.true_above / ranks.rank), 1.0)
    return average(precision, ranks, weights, rows, 1.0)
