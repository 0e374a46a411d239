from typing import Any

import numpy as np

from labelsieve.metrics.label_ranks import Rows, Ties, average, find_places


def average_precision(Y: Any, scores: Any, *, ties: Ties = "worst", rows: Rows = "all", sample_weight: Any = None) -> float:
    r"""Label-ranking average precision: of the labels down to a true one, the share that is true.

    .. math:: \frac{1}{n} \sum_i \frac{1}{|Y_i|} \sum_{k \in Y_i}
        \frac{|\{l \in Y_i : \mathrm{rank}_i(l) \leq \mathrm{rank}_i(k)\}|}{\mathrm{rank}_i(k)}

    Equation 17 of the MLQPFS paper, averaged over rows and not, as the measure of the same name in information retrieval, over
    labels. Equal to scikit-learn's ``label_ranking_average_precision_score``.

    Parameters
    ----------
    Y : array-like, frame or sparse matrix of 0 and 1, shape (n_rows, n_labels)
    scores : array-like, frame or sparse matrix of the same shape
        Higher for labels that are more likely; what a sparse matrix does not store is 0.
    ties : {"worst", "earlier", "later"}
        Labels of equal score all get the last of their places (scikit-learn), or places in the order of their columns, or in
        the reverse order (Mulan, Matlab toolboxes).
    rows : {"all", "informative"}
        Rows without labels and rows with all of them cannot be ranked badly. They count 1, or are left out.
    sample_weight : array-like of shape (n_rows,), optional

    Returns
    -------
    float
        Above 0 and at most 1; 1 when no row is left.

    Notes
    -----
    Cost as :func:`ranking_loss`.

    Examples
    --------
    >>> round(average_precision([[1, 0, 0], [0, 1, 1]], [[0.9, 0.1, 0.2], [0.5, 0.3, 0.8]]), 4)
    0.9167
    """
    places, weights = find_places(Y, scores, ties, ("worst", "earlier", "later"), sample_weight)
    precision = np.where(places.informative, places.mean(places.own / places.place), 1.0)
    return average(precision, places, weights, rows, 1.0)
