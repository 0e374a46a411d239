"""Groups of targets that share information, with a number of clusters that the number of rows supports."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.target_table import TargetTable
from labelsieve.errors import InputError, whole_number
from labelsieve.information import Codes, entropy, mutual_information
from labelsieve.labelspace.base_space import Weights
from labelsieve.labelspace.group import GroupSpace


@dataclass(eq=False, repr=False)
class GroupAuto(GroupSpace):
    r"""Groups of targets that share information, with a number of clusters that the number of rows supports.

    Sechidis et al. (2019) leave both choices to future work; this rule is ours.

    Groups: average linkage merges targets as long as their average normalized information is at least ``shared``,

    .. math:: \frac{I(Y_l; Y_m)}{\sqrt{H(Y_l) H(Y_m)}}

    so every target is in exactly one group, possibly alone. Clusters: the largest number, up to ``max_clusters``, for which a
    G-test detects an information of ``detect`` nats between a variable of ``feature_levels`` levels (a pair of features) and
    the clusters, at the 5 % level and with the given ``power``; :math:`2 N I` is then chi-squared with :math:`(r-1)(c-1)`
    degrees of freedom and noncentrality :math:`2 N I`.

    Parameters
    ----------
    shared : float, default=0.05
        The smallest average normalized information within a group: from 0 (all targets in one group) to 1 (only identical
        targets together).
    detect, power : float, default=0.1 and 0.8
        The information in nats that the test has to detect, and the probability with which it does.
    feature_levels : int, default=25
        Number of levels of the variable; 25 are those of two features of five bins.
    max_clusters : int, default=16
        The largest number of clusters of a group, as in Group-JMI-Rand.
    random_state, max_rows, n_jobs
        See :class:`Group`.

    Notes
    -----
    Cost: the information of all pairs of targets, then one clustering for each group.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> Y = read_targets([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
    >>> GroupAuto().encode(Y).codes.n_columns
    2
    """

    name = "group-auto"

    _: KW_ONLY
    shared: float = 0.05
    detect: float = 0.1
    power: float = 0.8
    feature_levels: int = 25
    max_clusters: int = 16

    def plan(self, targets: TargetTable, weights: Weights, rng: np.random.Generator) -> Iterable[tuple[NDArray[np.int64], int]]:
        """Groups that share information."""
        for name, value in (("shared", self.shared), ("power", self.power)):
            if not 0 <= value <= 1:
                raise InputError(f"{name} must be between 0 and 1, not {value!r}.")
        levels = whole_number(self.feature_levels, "feature_levels", 2, 65_535)
        most = whole_number(self.max_clusters, "max_clusters", 2, 65_535)
        n_clusters = affordable_clusters(targets.n_rows, self.detect, self.power, levels, most)
        group = linked_groups(normalized_information(targets.codes, weights), self.shared)
        for number in range(group.max() + 1):
            yield np.flatnonzero(group == number), n_clusters


def normalized_information(codes: Codes, weights: Weights) -> NDArray[np.float64]:
    """Information of every pair of targets, divided by the root of the product of their entropies; 0 if one is constant."""
    information = mutual_information(codes, codes, sample_weight=weights)
    entropies = entropy(codes, sample_weight=weights)
    scale = np.sqrt(np.outer(entropies, entropies))
    return np.divide(information, scale, out=np.zeros_like(information), where=scale > 1e-12)


def linked_groups(similarity: NDArray[np.float64], threshold: float) -> NDArray[np.int64]:
    """The group of every target: average linkage, cut at a similarity of ``threshold``. Groups are numbered by first member."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    n_targets = len(similarity)
    if n_targets == 1:
        return np.zeros(1, dtype=np.int64)
    distance = np.clip(1 - np.round((similarity + similarity.T) / 2, 12), 0, 1)
    np.fill_diagonal(distance, 0)
    found = fcluster(linkage(squareform(distance, checks=False), "average"), 1 - threshold + 1e-9, "distance")
    _, first, number = np.unique(found, return_index=True, return_inverse=True)
    rank: NDArray[np.int64] = np.argsort(np.argsort(first))[number]
    return rank


def affordable_clusters(n_rows: int, detect: float, power: float, levels: int, most: int) -> int:
    """The largest number of clusters for which ``detect`` nats are detectable in ``n_rows`` rows; at least two.

    >>> affordable_clusters(200, 0.1, 0.8, 25, 16), affordable_clusters(2000, 0.1, 0.8, 25, 16)
    (5, 16)
    """
    from scipy.stats import chi2, ncx2  # loaded late: takes half a second, and no other label space needs it

    clusters = np.arange(2, most + 1)
    freedom = (levels - 1) * (clusters - 1)
    found = ncx2.sf(chi2.isf(0.05, freedom), freedom, 2 * n_rows * detect)
    return 2 + max(0, int(np.count_nonzero(found >= power)) - 1)
