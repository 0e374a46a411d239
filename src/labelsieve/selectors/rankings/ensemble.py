"""RankEnsemble: the rankings of several selectors, or of several samples of the rows, as one."""

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from labelsieve.errors import InputError, is_whole
from labelsieve.labelspace.base import RandomState
from labelsieve.parameters import AT_LEAST_ONE, HasMethods, Interval, checked_fit, parameter, take_rows
from labelsieve.selectors.auto.folds import for_all_rows, ranked, read_selectors
from labelsieve.selectors.base import BaseRanking, Result
from labelsieve.selectors.stability import row_samples
from labelsieve.statistics import stability_index
from labelsieve.tables.problem import Problem
from labelsieve.tables.types import TableLike, TargetsLike, as_table

SELECTORS = ({"criterion": "cmim", "estimator": "miller-madow"}, "l1")
N_COMPARED = 10  # features of every list whose stability is computed, where the number to select is not a number


@dataclass(eq=False, repr=False)
class RankEnsemble(BaseRanking):
    r"""Aggregate the rankings of several selectors, from all rows or from samples of them, by Borda's count.

    Selector :math:`m` ranks the features on every sample :math:`b` of the rows. With :math:`r_{mb}(f)` the rank of a feature,
    from 1 for the best of :math:`d`, it scores

    .. math:: J(f) = \frac{1}{B \sum_m w_m} \sum_m w_m \sum_{b=1}^{B} \Big( 1 - \frac{r_{mb}(f) - 1}{d - 1} \Big)

    between 0 and 1: Borda's count, divided by its largest value. Features that a list of length :math:`L` does not contain
    share the mean of the remaining ranks, :math:`(L + 1 + d) / 2`.

    Parameters
    ----------
    selectors : str, mapping, selector, or a sequence of these, default=cmim with Miller-Madow entropies and l1
        Names that ``labelsieve methods`` lists, settings such as ``{"criterion": "cmim", "estimator": "miller-madow"}``, or
        selectors that rank the features for all targets together.
    combine : {"borda", "stability"}, default="borda"
        The weights :math:`w_m`: all equal, or the stability of the selector over the samples (``n_repeats`` of 2 or more),
        0 if it is negative. Where none is positive, or it is not defined, weights are equal.
    n_repeats : int, default=1
        Samples of the rows, the same for all selectors; 1 is all rows, without sampling.
    resample : {"bootstrap", "subsample"}, default="bootstrap"
        As many rows as there are, drawn with replacement, or a ``fraction`` of them without. Selectors that look for
        neighbors need ``"subsample"``, because a row that is drawn twice is its own neighbor.
    fraction : float, default=0.5
        Share of the rows in a subsample.
    list_length : int, default=100
        Length of the lists; None: complete rankings, for which a greedy search takes as many steps as there are features.
    random_state : int, RandomState or None, default=0
        For the samples.
    n_jobs : int, default=None
        Threads that fit selectors; the result does not depend on it.

    Attributes
    ----------
    feature_scores_ : ndarray of float, shape (n_features,)
        Normalized Borda counts.
    mean_ranks_ : ndarray of float, shape (n_features,)
        Weighted means of the ranks.
    weights_ : ndarray of float, shape (n_selectors,)
        Weights of the selectors; they add up to 1.
    stability_ : float or None
        Stability of all lists together, their first ``n_features_to_select`` features (10 where that is a rule or None):
        :func:`labelsieve.statistics.stability_index`. None for a single list, or if all features are compared.
    selector_stability_ : ndarray of float, shape (n_selectors,)
        The same for the lists of each selector, NaN where it is not defined; if there are samples.
    selector_names_ : ndarray of str, shape (n_selectors,)
        Names of the selectors.

    Notes
    -----
    Borda (1784); for feature selection Saeys, Abeel and Van de Peer (2008); stability as in Nogueira, Sechidis and Brown
    (2018). Cost: ``n_selectors * n_repeats`` fits. Bootstrap samples show how stable a ranking is; on the data sets of
    docs/choose/selectors.md they did not improve it.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_xor_pairs=0, n_noisy_copies=0)
    >>> ensemble = RankEnsemble(("cmim", "mean-f", "l1"), n_features_to_select=4).fit(data.X, data.Y)
    >>> sorted(ensemble.selected_.tolist()) == data.columns("relevant")
    True
    >>> round(ensemble.stability_, 2)
    1.0
    """

    selectors: Any = parameter(SELECTORS, str, dict, HasMethods(["fit"]), "array-like")
    _: KW_ONLY
    combine: Literal["borda", "stability"] = "borda"
    n_repeats: int = parameter(1, AT_LEAST_ONE)
    resample: Literal["bootstrap", "subsample"] = "bootstrap"
    fraction: float = parameter(0.5, Interval(Real, 0, 1, closed="right"))
    list_length: int | None = parameter(100, AT_LEAST_ONE)
    random_state: RandomState = 0
    n_jobs: int | None = None

    @checked_fit
    def fit(self, X: TableLike | Problem, y: TargetsLike | None = None) -> Self:
        """Rank the features of ``X`` for the targets ``y`` by every selector, and aggregate the rankings."""
        return self._fit(X, y)

    def _select(self, problem: Problem) -> Result:
        # Members leave out rows without a known target by themselves, so they get all rows.
        X = problem.X if problem.known_rows is None else as_table(problem.source.X)
        y, n_features = as_table(problem.source.y), problem.n_features
        members = {name: for_all_rows(selector, y) for name, selector in read_selectors(self.selectors, "selectors").items()}
        if self.combine == "stability" and self.n_repeats < 2:
            raise InputError("RankEnsemble: weights by stability need samples of the rows; set n_repeats to 2 or more.")
        self._check_sampling(members)
        n_rows = X.shape[0]
        samples: list[Any] = [None]
        if self.n_repeats > 1:
            samples = row_samples(n_rows, self.n_repeats, self.resample, self.fraction, self.random_state)
        length = None if self.list_length is None else min(int(self.list_length), n_features)
        jobs = [(name, rows) for name in members for rows in samples]
        lists = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(_list)(members[name], X, y, rows, length, name) for name, rows in jobs
        )
        stability, of_selectors = self._stability(lists, len(members), n_features)
        ranks = np.array([ranks_of(columns, n_features) for columns in lists])
        by_selector = ranks.reshape(len(members), len(samples), -1).mean(axis=1)
        weights = np.ones(len(members))
        if self.combine == "stability" and of_selectors is not None:
            positive = np.nan_to_num(np.maximum(of_selectors, 0.0))
            weights = positive if positive.any() else weights
        weights = weights / weights.sum()
        mean_ranks = (weights[:, np.newaxis] * by_selector).sum(axis=0)
        return self._best(
            problem,
            1 - (mean_ranks - 1) / max(1, n_features - 1),
            selector_names=np.array(list(members), dtype=object),
            stability=stability,
            selector_stability=of_selectors,
            weights=weights,
            mean_ranks=mean_ranks,
        )

    def _check_sampling(self, members: dict[str, Any]) -> None:
        for name, selector in members.items():
            distinct = getattr(selector, "needs_distinct_rows", False)
            if distinct and self.n_repeats > 1 and self.resample == "bootstrap":
                raise InputError(
                    f"RankEnsemble: {name} looks for neighbors, and a row that is drawn twice is its own; use "
                    "resample='subsample'."
                )

    def _stability(
        self, lists: list[list[int]], n_members: int, n_features: int
    ) -> tuple[float | None, NDArray[np.float64] | None]:
        """Return the stability of all lists, and that of each selector over the samples of the rows."""
        count = self._count
        numbers = is_whole(count) or isinstance(count, float)
        compared = self._n_wanted(n_features, n_features) if numbers else min(N_COMPARED, n_features)
        masks = np.zeros((len(lists), n_features), dtype=bool)
        for mask, columns in zip(masks, lists, strict=True):
            mask[columns[:compared]] = True
        index = float("nan") if len(masks) == 1 else float(stability_index(masks).index)
        of_selectors = None
        if self.n_repeats > 1:
            of_selectors = np.array([stability_index(group).index for group in np.split(masks, n_members)])
        return None if np.isnan(index) else index, of_selectors

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        members = read_selectors(self.selectors, "selectors").values()
        tags.input_tags.allow_nan = all(get_tags(member).input_tags.allow_nan for member in members)
        return tags


def ranks_of(columns: list[int], n_features: int) -> NDArray[np.float64]:
    """Return the ranks of all features from a list of the best; features not in it share the mean of the remaining ranks.

    >>> ranks_of([2, 0], 5)
    array([2., 4., 1., 4., 4.])
    """
    ranks = np.full(n_features, (len(columns) + 1 + n_features) / 2)
    ranks[columns] = np.arange(1, len(columns) + 1)
    return ranks


def _list(
    selector: BaseEstimator, X: TableLike, Y: TargetsLike, rows: NDArray[np.intp] | None, length: int | None, name: str
) -> list[int]:
    if rows is not None:
        X, Y = take_rows(X, rows), take_rows(Y, rows)
    return ranked(selector, X, Y, length, name)[:length]
