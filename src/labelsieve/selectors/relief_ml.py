"""ReliefF-ML: Relief with hits and misses for every label of a row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes
from labelsieve.errors import InputError
from labelsieve.selectors.base import Count
from labelsieve.selectors.relief import Array, BaseGroupedRelief
from labelsieve.stopping import StoppingRule


class ReliefFML(BaseGroupedRelief):
    r"""ReliefF in which a row has many labels at once.

    .. math:: W_f = \frac{1}{m k} \sum_i \Big[ \sum_{l \notin Y_i} \frac{P(l)}{\sum_{l' \notin Y_i} P(l')} \sum_{j \in G_{il}}
              \delta_f(i, j) - \sum_{l \in Y_i} \frac{P(l)}{\sum_{l' \in Y_i} P(l')} \sum_{j \in G_{il}} \delta_f(i, j) \Big]

    :math:`G_{il}` are the k rows nearest to row i that have label l: hits where row i has it, misses where it has not, each
    weighted by the frequency of the label. After Pupo, Morell and Ventura Soto (2013), as we read them; with exactly one label
    in every row it is ReliefF on the class. A row without labels has misses alone, a row with all of them hits alone.

    Parameters
    ----------
    n_neighbors, n_samples, sigma, n_features_to_select, random_state, n_jobs
        As for :class:`ReliefF`.

    Attributes
    ----------
    feature_scores_, selected_, scores_, support_
        As for :class:`ReliefF`.

    Notes
    -----
    Cost: as :class:`ReliefF`, but neighbors are sought among the rows that have a label only.

    Examples
    --------
    >>> X = [[0.0, 5.0], [0.1, 9.0], [1.0, 5.0], [0.9, 9.0]]
    >>> ReliefFML(n_neighbors=1, n_features_to_select=1).fit(X, [[1, 0], [1, 0], [0, 1], [0, 1]]).selected_
    array([0])
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 10,
        n_samples: int | None = None,
        sigma: float | None = None,
        n_features_to_select: Count | StoppingRule = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_samples = n_samples
        self.sigma = sigma
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _groups(self, targets: Codes) -> tuple[list[NDArray[np.intp]], Any]:
        labels = labels_of(targets, type(self).__name__)
        occurring = np.flatnonzero(labels.any(axis=0))
        groups = [np.flatnonzero(labels[:, label]) for label in occurring]
        shares = np.array([len(group) for group in groups]) / targets.n_rows

        def weigh(rows: NDArray[np.intp]) -> Array:
            has = labels[np.ix_(rows, occurring)]
            total = np.where(has, (has @ shares)[:, np.newaxis], (~has @ shares)[:, np.newaxis])
            return np.where(has, -shares, shares) / total

        return groups, weigh


def labels_of(targets: Codes, who: str) -> NDArray[np.bool_]:
    """Labels as truth values; targets of more than two classes are refused."""
    several = np.flatnonzero(targets.levels > 2)
    if len(several):
        raise InputError(
            f"{who}: Y, column {several[0]} has {targets.levels[several[0]]} classes; labels must be 0 or 1. "
            "Turn classes into labels first, for example with sklearn.preprocessing.OneHotEncoder."
        )
    return np.asarray(targets.to_dense() == 1)
