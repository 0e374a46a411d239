"""Groups of targets, each clustered into one variable."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes
from labelsieve.counting.labelset_clusters import MAX_ROWS, medoid_clusters
from labelsieve.counting.target_table import TargetTable
from labelsieve.errors import InputError, whole_number
from labelsieve.labelspace.base_space import (
    EncodedTargets,
    LabelSpace,
    Produces,
    RandomState,
    Weights,
    label_space_name,
    random_generator,
)


@dataclass(eq=False, repr=False)
class GroupSpace(LabelSpace):
    """Base of the group spaces: ``plan`` returns the groups and the number of clusters of each."""

    produces: ClassVar[Produces] = "groups"

    _: KW_ONLY
    random_state: RandomState = 0
    max_rows: int = MAX_ROWS
    n_jobs: int | None = None
    n_groups: int | None = field(default=None, init=False)  # a parameter of some subclasses; None: the number of targets

    def plan(self, targets: TargetTable, weights: Weights, rng: np.random.Generator) -> Iterable[tuple[NDArray[np.int64], int]]:
        """The targets and the number of clusters of every group."""
        raise NotImplementedError

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """One variable for each group: the cluster of every row."""
        targets.require_known(label_space_name(self))
        rng = random_generator(self.random_state)
        max_rows = whole_number(self.max_rows, "max_rows", 2, 50_000)
        groups = list(self.plan(targets, weights, rng))
        seeds = rng.integers(2**64, size=len(groups), dtype=np.uint64)
        clusters = medoid_clusters(targets, groups, weights, max_rows=max_rows, seeds=seeds, n_jobs=self.n_jobs)
        return EncodedTargets(Codes.from_values(clusters))

    def n_variables(self, n_targets: int) -> int:
        """Number of variables for ``n_targets`` targets."""
        return n_targets if self.n_groups is None else whole_number(self.n_groups, "n_groups", 1, 1_000_000)


@dataclass(eq=False, repr=False)
class Group(GroupSpace):
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
    n_groups: int | None = None

    def plan(self, targets: TargetTable, weights: Weights, rng: np.random.Generator) -> Iterable[tuple[NDArray[np.int64], int]]:
        """Groups of equal size."""
        pot = _proportion(self.pot, "pot")
        n_clusters = whole_number(self.n_clusters, "n_clusters", 1, 65_535)
        for _ in range(self.n_variables(targets.n_columns)):
            yield _draw(targets.n_columns, pot, rng), n_clusters


@dataclass(eq=False, repr=False)
class GroupRand(GroupSpace):
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
    n_groups: int | None = None

    def plan(self, targets: TargetTable, weights: Weights, rng: np.random.Generator) -> Iterable[tuple[NDArray[np.int64], int]]:
        """Groups of random sizes."""
        low, high = (_proportion(value, "pot") for value in _pair(self.pot, "pot"))
        fewest, most = (whole_number(value, "n_clusters", 1, 65_535) for value in _pair(self.n_clusters, "n_clusters"))
        for _ in range(self.n_variables(targets.n_columns)):
            yield _draw(targets.n_columns, rng.uniform(low, high), rng), int(rng.integers(fewest, most, endpoint=True))


def _draw(n_targets: int, pot: float, rng: np.random.Generator) -> NDArray[np.int64]:
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
