from typing import Any

import numpy as np

from labelsieve.metrics.label_ranks import Rows, Ties, average, find_places


def one_error(Y: Any, scores: Any, *, ties: Ties = "worst", rows: Rows = "all", sample_weight: Any = None) -> float:
    r"""Share of the rows in which the label with the highest score is not a true one.

    .. math:: \frac{1}{n} \sum_i [\arg\max_l f_{il} \notin Y_i]

    Equation 14 of the MLQPFS paper, which forgets the negation. scikit-learn does not have it.

    Parameters
    ----------
    Y : array-like, frame or sparse matrix of 0 and 1, shape (n_rows, n_labels)
    scores : array-like, frame or sparse matrix of the same shape
        Higher for labels that are more likely; what a sparse matrix does not store is 0.
    ties : {"worst", "half", "best", "earlier", "later"}
        When several labels share the highest score: wrong if one of them is absent, the share of the absent ones among
        them, right if one of them is true ("best": Matlab toolboxes), or as the earliest ("earlier": ``argmax``) or the
        latest ("later": Mulan) of them.
    rows : {"all", "informative"}
        A row without labels is always wrong and one with all labels always right. "informative" leaves both out.
    sample_weight : array-like of shape (n_rows,), optional

    Returns
    -------
    float
        Between 0 and 1; 0 when no row is left.

    Notes
    -----
    Cost as :func:`ranking_loss`, twice that for ``ties="half"``.

    Examples
    --------
    >>> one_error([[1, 0, 0], [0, 1, 1]], [[0.9, 0.1, 0.2], [0.5, 0.3, 0.2]])
    0.5
    """
    allowed = ("worst", "half", "best", "earlier", "later")
    places, weights = find_places(Y, scores, "worst" if ties == "half" else ties, allowed, sample_weight)
    ahead = -places.largest(-places.ahead, empty=-1.0)  # of the best true label
    errors = np.minimum(ahead, 1.0)
    if ties == "half":
        best, _ = find_places(Y, scores, "best", allowed, None)
        beaten = best.largest(-best.ahead, empty=-1.0) < 0
        place = -places.largest(-places.place, empty=-1.0)
        errors = np.where(beaten, 1.0, ahead / place)
    return average(errors, places, weights, rows, 0.0)
