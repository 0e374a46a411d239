"""ReliefF and RReliefF for several targets."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from labelsieve import core
from labelsieve.errors import InputError
from labelsieve.labelspace import Joint, Single, read_targets
from labelsieve.labelspace.base import RandomState
from labelsieve.parameters import AT_LEAST_ONE, POSITIVE, checked_fit, parameter
from labelsieve.progress import progress_bar
from labelsieve.resources import n_threads
from labelsieve.selectors.base import TARGET_TYPE, BaseRanking, Result
from labelsieve.tables.codes import Codes
from labelsieve.tables.problem import NumberProblem, Problem, read_numbers
from labelsieve.tables.targets import TargetTypes, target_place
from labelsieve.tables.types import Matrix, TableLike, TargetsLike, is_sparse

NO_ROW = 2**32 - 1
MAX_COLUMNS = 2**22  # their differences add up to less than 2^53: exact
# The core calculates with whole numbers from 0 to this one. It has many divisors, so that values 1/2, 1/3, ..., 1/18 of the way
# are whole, and rows tie where they tie on paper.
_GRID = 1_102_701_600.0  # 2^5 3^4 5^2 7 11 13 17
_LANE = 8  # the core adds eight columns at a time


class Neighbors:
    r"""Rows among which neighbors are sought, at the distance of Weka's ReliefF.

    .. math:: \delta(i, j) = \sum_f \frac{|x_{if} - x_{jf}|}{\max_f - \min_f}

    Scaled values are rounded to multiples of 1/1,102,701,600, and distances are exact sums of those: whether rows tie does
    not depend on the order of the features, on dense or sparse storage or on the processor, and features of up to 18 evenly
    spaced values tie where they should. A constant feature makes no difference.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_columns)
        Finite numbers.
    n_jobs : int, default=None
        Threads; None is one, -1 is all. Results do not depend on it.

    Notes
    -----
    Memory: one copy of X (two, when it is sparse), and a few numbers per row and thread. There is no table of all pairs.

    Examples
    --------
    >>> table = Neighbors(np.array([[0.0], [10.0], [4.0], [5.0]]))
    >>> table.nearest(np.array([3]), [np.arange(4)], k=2)
    array([[[2, 0]]], dtype=uint32)
    """

    def __init__(self, X: Matrix, n_jobs: int | None = None) -> None:
        self.n_rows, self.n_columns = X.shape
        if self.n_columns > MAX_COLUMNS:
            raise InputError(f"X has {self.n_columns:,} columns; distances are exact for {MAX_COLUMNS:,} at the most.")
        threads = n_threads(n_jobs)
        if is_sparse(X):
            columns = _scaled_columns(X)
            rows = columns.tocsr()
            arrays = [(side.indptr.astype(np.int64), side.indices.astype(np.uint32), side.data) for side in (rows, columns)]
            self._core = core.ReliefRows(*arrays[0], *arrays[1], threads)
        else:
            width = -(-self.n_columns // _LANE) * _LANE
            values = np.zeros((self.n_rows, width))
            low, high = X.min(axis=0), X.max(axis=0)
            for column in range(self.n_columns):
                values[:, column] = _scaled(X[:, column], low[column], high[column])
            self._core = core.ReliefRows(values, self.n_columns, threads)

    def nearest(self, references: NDArray[Any], groups: list[NDArray[Any]], k: int) -> NDArray[np.uint32]:
        """Return the nearest rows of every group, ``(n_references, n_groups, k)``, nearest first; ties go to the lowest row.

        A row is not its own neighbor. Positions that a small group cannot fill hold ``NO_ROW``.
        """
        starts = np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.int64)
        rows = np.concatenate(groups).astype(np.uint32) if groups else np.empty(0, dtype=np.uint32)
        out = np.empty(len(references) * len(groups) * k, dtype=np.uint32)
        self._core.nearest(references.astype(np.uint32), starts, rows, k, out)
        return out.reshape(len(references), len(groups), k)

    def weighted_differences(
        self, references: NDArray[Any], neighbors: NDArray[np.uint32], factors: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Add up the differences of references and their neighbors, times their factors, for every column: ``(n_columns,)``."""
        sums = np.zeros(self.n_columns)
        factors = np.ascontiguousarray(factors, dtype=np.float64)
        self._core.add(references.astype(np.uint32), np.ascontiguousarray(neighbors).reshape(-1), factors.reshape(-1), sums)
        return sums / _GRID


def _scaled(values: NDArray[Any], low: float, high: float) -> NDArray[np.float64]:
    """Scale values to whole numbers, 0 for ``low``. Halves are used, because a range of finite numbers may overflow."""
    values, low, high = np.asarray(values, dtype=np.float64) / 2, float(low) / 2, float(high) / 2
    if not high > low:
        return np.zeros(len(values))
    scaled: NDArray[np.float64] = np.rint((values - low) / (high - low) * _GRID)
    return scaled


def _scaled_columns(X: Matrix) -> Any:
    """Scale sparse columns to whole numbers, shifted so that zero stays zero; differences are those of a dense table."""
    columns = sp.csc_array(X, dtype=np.float64, copy=True)
    columns.sum_duplicates()
    for start, end in pairwise(columns.indptr):
        if start == end:
            continue
        values = columns.data[start:end]
        low, high, has_zeros = float(values.min()), float(values.max()), end - start < X.shape[0]
        if has_zeros:
            low, high = min(low, 0.0), max(high, 0.0)
        columns.data[start:end] = _scaled(values, low, high)
        if has_zeros:
            columns.data[start:end] -= _scaled(np.zeros(1), low, high)[0]
    columns.eliminate_zeros()
    columns.sort_indices()
    return columns


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
        """Return the reference rows: all, or ``n_samples`` of them, drawn without repetition."""
        if self.n_samples is None or self.n_samples >= n_rows:
            return np.arange(n_rows, dtype=np.intp)
        drawn = check_random_state(self.random_state).choice(n_rows, size=self.n_samples, replace=False)
        return np.sort(drawn).astype(np.intp)

    def _shares(self, neighbors: NDArray[np.uint32]) -> Array:
        r"""Return the weights of the neighbors that were found: equal, or :math:`e^{-(rank / \sigma)^2}`; they sum to 1."""
        ranks = np.arange(1, neighbors.shape[-1] + 1)
        by_rank = np.ones(len(ranks)) if self.sigma is None else np.exp(-((ranks / self.sigma) ** 2))
        if self.sigma is not None and by_rank[0] == 0:  # so narrow that only the nearest is left
            by_rank = (ranks == 1).astype(np.float64)
        shares = by_rank * (neighbors != NO_ROW)
        total = shares.sum(axis=-1, keepdims=True)
        normalized: Array = np.divide(shares, total, out=np.zeros_like(shares), where=total > 0)
        return normalized


def blocks(references: NDArray[np.intp], each: int) -> list[NDArray[np.intp]]:
    """Split the references into blocks for which ``each`` numbers per reference fit into memory."""
    size = max(1, AT_ONCE // max(1, each) // _TOGETHER) * _TOGETHER
    return [references[start : start + size] for start in range(0, len(references), size)]


class BaseGroupedRelief(BaseRelief):
    """The members of the family that look for neighbors in groups of rows, one group for each class or label."""

    @checked_fit
    def fit(self, X: TableLike | Problem, y: TargetsLike | None = None) -> Self:
        """Score the features of ``X`` for the targets ``y``: one column or many, classes or 0/1, dense or sparse."""
        return self._fit(X, y)

    def _select(self, problem: Problem) -> Result:
        X, targets = read_classes(type(self).__name__, problem)
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
        return self._best(problem, scores)

    def _groups(self, targets: Codes) -> tuple[list[NDArray[np.intp]], Any]:
        """Return groups of rows, and a function from references to the weight of each group, which is negative for hits."""
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


def read_classes(name: str, problem: Problem) -> tuple[Matrix, Codes]:
    """Read features as finite numbers, and targets as classes; unknown targets are refused."""
    X, targets = problem.numbers(name), problem.known_targets(name)
    if targets.is_numeric.any():
        place = target_place(int(np.argmax(targets.is_numeric)), targets.classes.names)
        remedy = "use RReliefF, or target_type='class' for whole numbers that are classes"
        raise InputError(f"{name} compares classes, and Y, {place} is numeric; {remedy}.")
    return X, targets.classes


class RReliefF(BaseRelief):
    r"""Rank features by the differences of near rows when, and only when, they differ in the target.

    .. math:: W_f = \frac{N_{df}}{N_d} - \frac{N_f - N_{df}}{m - N_d}

    with :math:`N_d = \sum_{ij} w_{ij} \delta(y_i, y_j)`, :math:`N_f = \sum_{ij} w_{ij} \delta_f(i, j)` and
    :math:`N_{df} = \sum_{ij} w_{ij} \delta(y_i, y_j) \delta_f(i, j)` over m rows i and their k nearest rows j;
    :math:`w_{ij}` is 1/k. Robnik-Sikonja and Kononenko (1997; 2003, eq. 15-21). Scores are averaged over the targets, as in
    Sechidis et al. (2019, section 5), whose "RReliefF 10" and "50" are ``n_neighbors``. Targets, like features, are scaled
    to [0, 1]; 0/1 labels are numbers too.

    Parameters
    ----------
    sigma : float, default=None
        Weigh the neighbor of rank r by :math:`e^{-(r / \sigma)^2}`; None weights all equally. Robnik-Sikonja and Kononenko
        (2003) recommend ``sigma=20`` with 70 neighbors.

    Notes
    -----
    A constant target scores 0, and so does a fraction whose denominator is 0. Neighbors do not depend on the targets: one
    search serves them all.

    Cost: m n d for the distances, m k q for the targets, m k d for the differences.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 4))
    >>> RReliefF(n_features_to_select=2).fit(X, np.column_stack([X[:, 2], X[:, 0] + X[:, 2]])).selected_
    array([2, 0])
    """

    @checked_fit
    def fit(self, X: TableLike | Problem, y: TargetsLike | None = None) -> Self:
        """Score the features of ``X`` for the numeric targets ``y``, one column or many, dense or sparse."""
        self._forget()
        problem = read_numbers(self, X, y)
        return self._keep(problem, self._select(problem))

    def _select(self, problem: NumberProblem) -> Result:  # type: ignore[override]
        X, Y = problem.X, problem.Y
        targets = _Targets(Y)
        references = self._references(X.shape[0])
        table = Neighbors(X, self.n_jobs)
        some = blocks(references, self.n_neighbors * max(1, Y.shape[1]))
        searched = []
        differing = np.zeros(Y.shape[1])
        with progress_bar(f"{type(self).__name__}: looking for neighbors") as progress:
            for done, block in enumerate(some):
                neighbors = table.nearest(block, [np.arange(X.shape[0])], self.n_neighbors)[:, 0]
                searched.append((neighbors, self._shares(neighbors)))
                differing += np.einsum("rk,rkt->t", searched[-1][1], targets.differences(block, neighbors))
                progress(done + 1, len(some))
        total = float(sum(shares.sum() for _, shares in searched))
        same = np.maximum(total - differing, 0.0)
        # W is linear in the differences of a feature: one factor for each pair of rows, whatever the targets.
        per_different = _inverse(differing) + _inverse(same)
        per_pair = np.where(targets.vary, _inverse(same), 0.0).sum() / Y.shape[1]
        scores = np.zeros(X.shape[1])
        for block, (neighbors, shares) in zip(some, searched, strict=True):
            factors = targets.differences(block, neighbors) @ per_different / Y.shape[1] - per_pair
            scores += table.weighted_differences(block, neighbors, shares * factors)
        return self._best(problem, scores)


def _inverse(values: Array) -> Array:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


class _Targets:
    """Differences of the targets, each scaled to [0, 1]; of a constant one, 0."""

    def __init__(self, Y: Matrix) -> None:
        self.Y = Y
        high, low = Y.max(axis=0), Y.min(axis=0)
        high, low = (side.toarray().ravel() if is_sparse(side) else np.asarray(side).ravel() for side in (high, low))
        self.half_range = high / 2 - low / 2  # halves: the whole may not be finite
        self.vary = self.half_range > 0

    def rows(self, rows: NDArray[Any]) -> Array:
        taken = self.Y[rows.ravel()]
        dense: Array = taken.toarray() if is_sparse(taken) else taken
        return np.reshape(dense, (*rows.shape, -1)) / 2

    def differences(self, references: NDArray[np.intp], neighbors: NDArray[np.uint32]) -> Array:
        """Return differences of the targets, ``(n_references, k, n_targets)``; without a neighbor they have no meaning."""
        rows = np.where(neighbors == NO_ROW, references[:, np.newaxis], neighbors)
        between = np.abs(self.rows(rows) - self.rows(references)[:, np.newaxis])
        return np.divide(between, self.half_range, out=np.zeros_like(between), where=self.vary)
