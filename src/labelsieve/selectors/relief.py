"""ReliefF for many labels: near rows of one class should have similar features, near rows of other classes should not."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from labelsieve.counting.checked_features import check_numbers, required
from labelsieve.counting.checked_parameters import AT_LEAST_ONE, POSITIVE, parameter
from labelsieve.counting.codes import Codes
from labelsieve.counting.target_table import target_place
from labelsieve.counting.target_types import TargetTypes
from labelsieve.errors import InputError, require_same_rows
from labelsieve.labelspace import Joint, Single, read_targets
from labelsieve.labelspace.base_space import RandomState
from labelsieve.progress import progress_bar
from labelsieve.selectors.base import TARGET_TYPE, BaseRanking, BaseSieve
from labelsieve.selectors.relief_rows import NO_ROW, Neighbors
from labelsieve.selectors.selector_input import named_labels
from labelsieve.table_types import Matrix, TableLike, TargetsLike

Array = NDArray[np.float64]
AT_ONCE = 2**22  # neighbors, or differences of targets, that are held in memory at a time
_TOGETHER = 64  # references that the core adds up together: blocks are multiples


@dataclass(eq=False, repr=False, kw_only=True)
class BaseRelief(BaseRanking):
    r"""Parameters of the Relief family, and walking over the reference rows.

    Parameters
    ----------
    n_neighbors : int, default=10
        The number :math:`k` of neighbors; all rows of a class that has fewer.
    n_samples : int, default=None
        m: the number of rows, drawn at random, that are compared with their neighbors. None takes all.
    sigma : float, default=None
        Weigh the neighbor of rank r by :math:`e^{-(r / \sigma)^2}`; None weights all equally.
    random_state : int, RandomState instance or None, default=None
        Seed of the rows that ``n_samples`` draws.
    """

    needs_distinct_rows: ClassVar[bool] = True  # a row that occurs twice is its own neighbor
    n_neighbors: int = parameter(10, AT_LEAST_ONE)
    n_samples: int | None = parameter(None, AT_LEAST_ONE)
    sigma: float | None = parameter(None, POSITIVE)
    random_state: RandomState = None
    n_jobs: int | None = None

    def _references(self, n_rows: int) -> NDArray[np.intp]:
        """All rows, or as many of them as were asked for, drawn without repetition."""
        if self.n_samples is None or self.n_samples >= n_rows:
            return np.arange(n_rows, dtype=np.intp)
        drawn = check_random_state(self.random_state).choice(n_rows, size=self.n_samples, replace=False)
        return np.sort(drawn).astype(np.intp)

    def _shares(self, neighbors: NDArray[np.uint32]) -> Array:
        r"""What each neighbor counts among those found: all the same, or :math:`e^{-(rank / \sigma)^2}`; they add up to 1."""
        ranks = np.arange(1, neighbors.shape[-1] + 1)
        by_rank = np.ones(len(ranks)) if self.sigma is None else np.exp(-((ranks / self.sigma) ** 2))
        if self.sigma is not None and by_rank[0] == 0:  # so narrow that only the nearest is left
            by_rank = (ranks == 1).astype(np.float64)
        shares = by_rank * (neighbors != NO_ROW)
        total = shares.sum(axis=-1, keepdims=True)
        normalized: Array = np.divide(shares, total, out=np.zeros_like(shares), where=total > 0)
        return normalized


def blocks(references: NDArray[np.intp], each: int) -> list[NDArray[np.intp]]:
    """The references in blocks for which ``each`` numbers per reference fit into memory."""
    size = max(1, AT_ONCE // max(1, each) // _TOGETHER) * _TOGETHER
    return [references[start : start + size] for start in range(0, len(references), size)]


class BaseGroupedRelief(BaseRelief):
    """The members of the family that look for neighbors in groups of rows, one group for each class or label."""

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Score the features of ``X`` for the targets ``y``: one column or many, classes or 0/1, dense or sparse."""
        y = named_labels(self, y)
        X, targets = read_classes(self, X, y)
        groups, weigh = self._groups(targets)
        references = self._references(X.shape[0])
        scores = np.zeros(X.shape[1])
        table = Neighbors(X, self.n_jobs)
        some = blocks(references, len(groups) * self.n_neighbors) if groups else []
        with progress_bar(f"{type(self).__name__}: looking for neighbors") as progress:
            for done, block in enumerate(some):
                neighbors = table.nearest(block, groups, self.n_neighbors)
                factors = self._shares(neighbors) * (weigh(block) / len(references))[:, :, np.newaxis]
                scores += table.weighted_differences(block, neighbors, factors)
                progress(done + 1, len(some))
        self._keep_best(scores, X, y)
        return self

    def _groups(self, targets: Codes) -> tuple[list[NDArray[np.intp]], Any]:
        """Groups of rows, and the function that gives for references the weight of each group: negative for hits."""
        raise NotImplementedError


@dataclass(eq=False, repr=False, kw_only=True)
class ReliefF(BaseGroupedRelief):
    r"""Rank features by their differences to near rows of other classes, minus those to near rows of the same class.

    .. math:: W_f = \frac{1}{m k} \sum_i \Big[ \sum_{c \ne c_i} \frac{P(c)}{1 - P(c_i)} \sum_{j \in M_{ic}} \delta_f(i, j)
              - \sum_{j \in H_i} \delta_f(i, j) \Big]

    :math:`H_i` are the k nearest rows of the class of row i, :math:`M_{ic}` those of class c, and :math:`\delta_f` the
    difference of feature f, scaled to [0, 1]; the distance of two rows is the sum of their differences. Kononenko (1994);
    Robnik-Sikonja and Kononenko (2003). With the defaults the scores are those of Weka on numeric features.

    Parameters
    ----------
    targets : {"single", "joint"}, default="single"
        ``"single"``: the mean of the scores for every target; ``"joint"``: the label powerset is the class (Spolaor et al.
        2012).
    target_type : {"auto", "class"}, dict or sequence, default="auto"
        As for :class:`labelsieve.Sieve`. Numeric targets are refused: :class:`RReliefF` is for these.

    Attributes
    ----------
    feature_scores_ : ndarray of float, shape (n_features,)
        Scores of all features, from -1 to 1.

    Notes
    -----
    Of rows at the same distance, the first is the nearer. A target of one class is uninformative and scores 0. Features are
    numbers; encode categories as 0/1 columns. Sample weights are not supported: a row that counts twice would be its own
    neighbor.

    Cost: m n d for the distances, exact and without a table of all pairs, m n for each target to pick neighbors, and
    2 m k d differences for each target, or fewer, where rows are neighbors for many targets.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_labels=2, n_relevant=2, n_noisy_copies=0, n_xor_pairs=0, n_irrelevant=6)
    >>> sorted(ReliefF(n_features_to_select=2).fit(data.X, data.Y).selected_.tolist()) == data.columns("relevant")
    True
    """

    targets: Literal["single", "joint"] = "single"
    target_type: TargetTypes = parameter("auto", *TARGET_TYPE)

    def _groups(self, targets: Codes) -> tuple[list[NDArray[np.intp]], Any]:
        space = (Joint() if self.targets == "joint" else Single()).encode(read_targets(targets)).codes
        groups: list[NDArray[np.intp]] = []
        of_targets: list[tuple[NDArray[np.intp], Array]] = []  # of each target, the class of every row and their shares
        for column in range(space.n_columns):
            classes, of_row, counts = np.unique(space.column(column), return_inverse=True, return_counts=True)
            if len(classes) > 1:
                groups += np.split(np.argsort(of_row, kind="stable"), np.cumsum(counts)[:-1])
                of_targets.append((of_row, counts / space.n_rows))

        def weigh(rows: NDArray[np.intp]) -> Array:
            weights = []
            for of_row, shares in of_targets:
                classes_of_rows = of_row[rows]
                weight = shares / (1 - shares[classes_of_rows])[:, np.newaxis]
                weight[np.arange(len(rows)), classes_of_rows] = -1.0
                weights.append(weight)
            return np.concatenate(weights, axis=1) / space.n_columns

        return groups, weigh


class ReliefFML(BaseGroupedRelief):
    r"""ReliefF for rows with several labels.

    .. math:: W_f = \frac{1}{m k} \sum_i \Big[ \sum_{l \notin Y_i} \frac{P(l)}{\sum_{l' \notin Y_i} P(l')} \sum_{j \in G_{il}}
              \delta_f(i, j) - \sum_{l \in Y_i} \frac{P(l)}{\sum_{l' \in Y_i} P(l')} \sum_{j \in G_{il}} \delta_f(i, j) \Big]

    :math:`G_{il}` are the k rows nearest to row i that have label l: hits where row i has it, misses where it has not, each
    weighted by the frequency of the label. After Pupo, Morell and Ventura Soto (2013); with exactly one label
    in every row it is ReliefF on the class. A row without labels has misses alone, a row with all of them hits alone.

    Notes
    -----
    Cost: as :class:`ReliefF`, but neighbors are sought among the rows that have a label only.

    Examples
    --------
    >>> X = [[0.0, 5.0], [0.1, 9.0], [1.0, 5.0], [0.9, 9.0]]
    >>> ReliefFML(n_neighbors=1, n_features_to_select=1).fit(X, [[1, 0], [1, 0], [0, 1], [0, 1]]).selected_
    array([0])
    """

    def _groups(self, targets: Codes) -> tuple[list[NDArray[np.intp]], Any]:
        several = np.flatnonzero(targets.levels > 2)
        if len(several):
            raise InputError(
                f"ReliefFML: Y, column {several[0]} has {targets.levels[several[0]]} classes; labels must be 0 or 1. "
                "Turn classes into labels first, for example with sklearn.preprocessing.OneHotEncoder."
            )
        labels = np.asarray(targets.to_dense() == 1)
        occurring = np.flatnonzero(labels.any(axis=0))
        groups = [np.flatnonzero(labels[:, label]) for label in occurring]
        shares = np.array([len(group) for group in groups]) / targets.n_rows

        def weigh(rows: NDArray[np.intp]) -> Array:
            has = labels[np.ix_(rows, occurring)]
            total = np.where(has, (has @ shares)[:, np.newaxis], (~has @ shares)[:, np.newaxis])
            return np.where(has, -shares, shares) / total

        return groups, weigh


def read_classes(selector: BaseSieve, X: TableLike, Y: TargetsLike | None) -> tuple[Matrix, Codes]:
    """``X`` as finite numbers, and targets that are classes, all of them known."""
    Y, name = required(selector, Y), type(selector).__name__
    X = check_numbers(selector, X, dtype="numeric")
    targets = read_targets(Y, getattr(selector, "target_type", "class")).require_known(name)
    require_same_rows(X.shape[0], targets.n_rows)
    if targets.is_numeric.any():
        place = target_place(int(np.argmax(targets.is_numeric)), targets.classes.names)
        remedy = "use RReliefF, or target_type='class' for whole numbers that are classes"
        raise InputError(f"{name} compares classes, and Y, {place} is numeric; {remedy}.")
    selector.target_types_ = targets.types
    selector._warn_of_constant(targets)
    return X, targets.classes
