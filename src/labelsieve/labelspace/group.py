"""Groups of targets: the labelsets of each group are clustered by k-medoids into one variable."""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.errors import InputError, whole_number
from labelsieve.information import entropy, mutual_information
from labelsieve.labelspace.base import (
    EncodedTargets,
    LabelSpace,
    Produces,
    RandomState,
    Weights,
    label_space_name,
    random_generator,
)
from labelsieve.resources import n_threads
from labelsieve.tables.codes import Codes
from labelsieve.tables.targets import TargetTable

MAX_ROWS = 2500  # points of the search of medoids

Groups = Iterable[tuple[NDArray[np.int64], int]]  # the targets of a group, ascending, and its number of clusters


@dataclass(eq=False, repr=False)
class GroupSpace(LabelSpace):
    """Base of the group spaces: a subclass plans the groups and the number of clusters of each."""

    produces: ClassVar[Produces] = "groups"

    _: KW_ONLY
    random_state: RandomState = 0
    max_rows: int = MAX_ROWS
    n_jobs: int | None = None

    def plan(self, targets: TargetTable, weights: Weights, rng: np.random.Generator) -> Groups:
        """Return the targets, ascending, and the number of clusters of every group."""
        raise NotImplementedError

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """Encode one variable for each group: the cluster of every row."""
        targets.require_known(label_space_name(self))
        rng = random_generator(self.random_state)
        max_rows = whole_number(self.max_rows, "max_rows", 2, 50_000)
        groups = list(self.plan(targets, weights, rng))
        seeds = rng.integers(2**64, size=len(groups), dtype=np.uint64)
        clusters = medoid_clusters(targets, groups, weights, max_rows=max_rows, seeds=seeds, n_jobs=self.n_jobs)
        return EncodedTargets(Codes.from_values(clusters))

    def n_variables(self, n_targets: int) -> int:
        """Return the number of groups, at most, for ``n_targets`` targets."""
        return n_targets


@dataclass(eq=False, repr=False)
class RandomGroups(GroupSpace):
    """Base of the spaces with random groups, whose number is a parameter; None: the number of targets."""

    _: KW_ONLY
    n_groups: int | None = None

    def n_variables(self, n_targets: int) -> int:
        """Return the number of groups for ``n_targets`` targets."""
        return n_targets if self.n_groups is None else whole_number(self.n_groups, "n_groups", 1, 1_000_000)


@dataclass(eq=False, repr=False)
class Group(RandomGroups):
    r"""Random groups of targets, each clustered by k-medoids into one variable: the label space of Group-JMI.

    .. math:: \tilde y_i = \mathrm{Clustering}(Z_i, NoC), \quad Z_i \subset Y, \quad |Z_i| = PoT \cdot q, \quad i = 1 \dots q

    Sechidis et al. (2019), section 3. Targets are drawn without replacement within a group, and groups may overlap. The
    distance is the Hamming distance for classes and the Euclidean distance of standardized values for numeric targets; in a
    group of both it is the root of Hamming plus squared Euclidean. The groups depend only on the seed and the number of
    targets.

    Parameters
    ----------
    pot : float, default=0.5
        The proportion of targets in a group, rounded to whole targets, at least one.
    n_clusters : int, default=8
        Levels of each variable; fewer if a group has fewer distinct labelsets.
    n_groups : int, default=None
        Number of groups; None: the number of targets.
    random_state : int, RandomState instance or None, default=0
        The seed; None draws other groups each time.
    max_rows : int, default=2500
        The largest number of distinct labelsets in the search of medoids; of more, that many rows are sampled.
    n_jobs : int, default=None
        Number of threads; the clusters do not depend on it. None: that of the selector.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> Y = read_targets([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1], [1, 0, 1]])
    >>> Group(pot=0.67, n_clusters=2, random_state=0).encode(Y).codes
    Codes(5 rows, 3 columns, 2 levels, dense)
    """

    name = "group"

    _: KW_ONLY
    pot: float = 0.5
    n_clusters: int = 8

    def plan(self, targets: TargetTable, weights: Weights, rng: np.random.Generator) -> Groups:
        """Draw groups of equal size."""
        pot = _proportion(self.pot, "pot")
        n_clusters = whole_number(self.n_clusters, "n_clusters", 1, 65_535)
        for _ in range(self.n_variables(targets.n_columns)):
            yield _draw(targets.n_columns, pot, rng), n_clusters


@dataclass(eq=False, repr=False)
class GroupRand(RandomGroups):
    r"""As :class:`Group`, with the proportion and the number of clusters drawn for every group: Group-JMI-Rand.

    Sechidis et al. (2019), section 3.4: PoT uniform in [0.25, 0.75], NoC uniform in {4, ..., 16}. The authors' program
    draws the size of a group uniformly from the whole numbers between :math:`\lceil q/4 \rceil` and
    :math:`\lfloor 3q/4 \rfloor` instead.

    Parameters
    ----------
    pot : pair of float, default=(0.25, 0.75)
        The smallest and the largest proportion.
    n_clusters : pair of int, default=(4, 16)
        The smallest and the largest number of clusters, both included.
    n_groups, random_state, max_rows, n_jobs
        See :class:`Group`.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> Y = read_targets([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1], [1, 0, 1]])
    >>> GroupRand(random_state=3).encode(Y).codes.n_columns
    3
    """

    name = "group-rand"

    _: KW_ONLY
    pot: tuple[float, float] = (0.25, 0.75)
    n_clusters: tuple[int, int] = (4, 16)

    def plan(self, targets: TargetTable, weights: Weights, rng: np.random.Generator) -> Groups:
        """Draw groups of random sizes."""
        low, high = (_proportion(value, "pot") for value in _pair(self.pot, "pot"))
        fewest, most = (whole_number(value, "n_clusters", 1, 65_535) for value in _pair(self.n_clusters, "n_clusters"))
        for _ in range(self.n_variables(targets.n_columns)):
            yield _draw(targets.n_columns, rng.uniform(low, high), rng), int(rng.integers(fewest, most, endpoint=True))


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

    def plan(self, targets: TargetTable, weights: Weights, rng: np.random.Generator) -> Groups:
        """Link targets that share information to groups."""
        for name, value in (("shared", self.shared), ("power", self.power)):
            if not 0 <= value <= 1:
                raise InputError(f"{name} must be between 0 and 1, not {value!r}.")
        levels = whole_number(self.feature_levels, "feature_levels", 2, 65_535)
        most = whole_number(self.max_clusters, "max_clusters", 2, 65_535)
        n_clusters = affordable_clusters(targets.n_rows, self.detect, self.power, levels, most)
        group = linked_groups(normalized_information(targets.codes, weights), self.shared)
        for number in range(group.max() + 1):
            yield np.flatnonzero(group == number), n_clusters


def _draw(n_targets: int, pot: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw a proportion of the targets, at least one."""
    size = min(n_targets, max(1, int(np.floor(pot * n_targets + 0.5))))
    return np.sort(rng.choice(n_targets, size=size, replace=False))


def _proportion(value: object, name: str) -> float:
    if not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise InputError(f"{name} must be a proportion of the targets, above 0 and at most 1, not {value!r}.")
    return float(value)


def _pair(value: object, name: str) -> tuple[Any, Any]:
    if not isinstance(value, tuple | list) or len(value) != 2 or not value[0] <= value[1]:
        raise InputError(f"{name} must be a pair of numbers, the smaller first, not {value!r}.")
    return value[0], value[1]


def normalized_information(codes: Codes, weights: Weights) -> NDArray[np.float64]:
    """Divide the information of every pair of targets by the root of the product of their entropies; 0 if one is constant."""
    information = mutual_information(codes, codes, sample_weight=weights)
    entropies = entropy(codes, sample_weight=weights)
    scale = np.sqrt(np.outer(entropies, entropies))
    return np.divide(information, scale, out=np.zeros_like(information), where=scale > 1e-12)


def linked_groups(similarity: NDArray[np.float64], threshold: float) -> NDArray[np.int64]:
    """Find the group of every target by average linkage, cut at ``threshold``; groups are numbered by their first member."""
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
    """Return the largest number of clusters for which ``detect`` nats are detectable in ``n_rows`` rows; at least two.

    >>> affordable_clusters(200, 0.1, 0.8, 25, 16), affordable_clusters(2000, 0.1, 0.8, 25, 16)
    (5, 16)
    """
    from scipy.stats import chi2, ncx2  # loaded late: takes half a second, and no other label space needs it

    clusters = np.arange(2, most + 1)
    freedom = (levels - 1) * (clusters - 1)
    found = ncx2.sf(chi2.isf(0.05, freedom), freedom, 2 * n_rows * detect)
    return 2 + max(0, int(np.count_nonzero(found >= power)) - 1)


def medoid_clusters(
    targets: TargetTable,
    groups: Sequence[tuple[NDArray[np.int64], int]],
    weights: Weights,
    *,
    max_rows: int = MAX_ROWS,
    seeds: NDArray[np.uint64] | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.uint16]:
    """Find the cluster of every row in every group of targets by k-medoids; shape (number of rows, number of groups).

    A group has its columns, ascending, its number of clusters, and one of the ``seeds``. The distance is the Hamming distance
    for classes and the Euclidean distance of standardized values for numeric targets; in a group of both it is the root of
    Hamming plus squared Euclidean. Clusters minimize the sum of the distances of the rows to the nearest of ``k`` labelsets,
    the medoids. The search starts with the greedy choice of one medoid after the other (BUILD, Kaufman and Rousseeuw 1990), and
    exchanges a medoid for another labelset as long as that lowers the sum (FasterPAM, Schubert and Rousseeuw 2021). Ties go to
    the first labelset in ascending order, so neither the order of the rows nor the number of threads matters. With no more
    labelsets than clusters, each labelset is a cluster. Clusters are numbered by ascending medoids.

    Distinct labelsets are the points of the search, weighted by their number of rows. If there are more than ``max_rows``, the
    points are the labelsets of a random sample of that many rows, drawn without replacement, or by weight if the weights are
    not whole numbers. Among more than 1,280 labelsets of classes, two rounds of exchanges try a few hundred as medoids: those
    with the smallest summed distance to all rows and 64 random ones, then those with the smallest summed distance within each
    cluster. After a sample and after each round, medoids move to the best labelset of their cluster among all rows as long as
    that lowers the sum. Only the two samples depend on ``seeds``.

    Cost of a group with ``m`` distinct labelsets: ``m`` look-ups, and Hamming distances of up to ``max_rows`` points to at most
    1,280 others, 64 labels in one operation. A group with numeric targets, with more than 16 clusters, or with labelsets of
    more than 1,023 labels takes ``max_rows**2`` distances of 8 bytes, 50 MB by default.
    """
    categories = bool((targets.classes.levels[~targets.is_numeric] > 2).any())
    bits, first_bit = _bits(targets, categories)
    number_column = np.cumsum(targets.is_numeric) - 1
    of_bits, of_numbers = [], []
    for columns, _ in groups:
        real = targets.is_numeric[columns]
        of_numbers.append(number_column[columns[real]])
        columns = columns[~real]
        of_bits.append(
            np.concatenate([np.arange(first_bit[c], first_bit[c + 1]) for c in columns] or [columns])
            if categories
            else first_bit[columns]
        )
    clusters = np.empty((targets.n_rows, len(groups)), dtype=np.uint16, order="F")
    core.cluster_labelsets(
        bits,
        _standardized(targets.numbers, weights),
        None if weights is None else np.ascontiguousarray(weights, dtype=np.float64),
        *_as_lists(of_bits),
        *_as_lists(of_numbers),
        np.array([n_clusters for _, n_clusters in groups], dtype=np.uint32),
        max_rows,
        0.5 if categories else 1.0,
        np.zeros(len(groups), dtype=np.uint64) if seeds is None else seeds,
        n_threads(n_jobs),
        clusters,
    )
    return clusters


def _bits(targets: TargetTable, categories: bool) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Pack the rows into bits, the first in the highest place, and return them with the first bit of each target.

    One bit for each label; with ``categories``, one for each class of all targets, so that different classes differ in two.
    """
    codes = targets.classes.to_dense()
    n_bits = np.where(targets.is_numeric, 0, targets.classes.levels.astype(np.int64) if categories else 1)
    first = np.concatenate([[0], np.cumsum(n_bits)])
    is_set = codes[:, ~targets.is_numeric] if targets.is_numeric.any() else codes
    if categories:
        columns = np.repeat(np.arange(targets.n_columns), n_bits)
        is_set = codes[:, columns] == np.arange(first[-1]) - first[columns]
    n_words = -(-is_set.shape[1] // 64)
    packed = np.zeros((targets.n_rows, 8 * n_words), dtype=np.uint8)
    packed[:, : -(-is_set.shape[1] // 8)] = np.packbits(is_set.astype(bool, copy=False), axis=1)
    return packed.view(">u8").astype(np.uint64).reshape(targets.n_rows, n_words), first


def _standardized(numbers: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    """Center the columns and divide them by their standard deviations; constant columns become zero."""
    if numbers.shape[1] == 0:
        return np.asfortranarray(numbers)
    centered = numbers - np.average(numbers, axis=0, weights=weights)
    spread = np.sqrt(np.average(centered**2, axis=0, weights=weights))
    return np.asfortranarray(np.divide(centered, spread, out=np.zeros_like(centered), where=spread > 0) + 0.0)


def _as_lists(lists: list[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Join lists to one array, and return where each starts."""
    starts = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    return starts, np.concatenate([*lists, np.zeros(0, dtype=np.int64)]).astype(np.uint32)
