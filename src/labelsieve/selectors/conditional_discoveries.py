"""Features that have information about the targets given all other features, at a false discovery rate: knockoffs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from threadpoolctl import threadpool_limits

from labelsieve.counting.checked_features import check_features, check_numbers
from labelsieve.counting.checked_parameters import AT_LEAST_ONE, parameter
from labelsieve.counting.resources import n_threads
from labelsieve.errors import InputError
from labelsieve.information import Codes, mutual_information
from labelsieve.labelspace import TargetTable, read_targets
from labelsieve.labelspace.base_space import RandomState
from labelsieve.selectors.base_discoveries import BaseDiscoveries
from labelsieve.selectors.base_model import class_indicators
from labelsieve.selectors.column_frames import Names, column_names
from labelsieve.selectors.feature_confidence import of_any_label
from labelsieve.selectors.knockoff_statistics import KnockoffStatistic, check_statistic
from labelsieve.statistics import GaussianKnockoffs, TreeKnockoffs, e_q_values, information_intervals, knockoff_e_values
from labelsieve.statistics.knockoff_filter import knockoff_reproducibility, reproducibility_note
from labelsieve.statistics.knockoff_likelihood import batches
from labelsieve.statistics.knockoff_models import distinct_codes
from labelsieve.statistics.standard_columns import standardized
from labelsieve.table_types import TableLike, TargetsLike, is_sparse

CONFIDENCE = 0.95
MANY_TARGETS, WEAK_SHRINKAGE = 50, 1 / 3  # so many show errors of the correlation matrix, and have power to spare
Sampler = Callable[[NDArray[Any], np.random.Generator], Any]


@dataclass(eq=False, repr=False, kw_only=True)
class ConditionalDiscoveries(BaseDiscoveries):
    r"""Select features that have information about the targets given all other features, at a false discovery rate.

    A feature is a null feature if it is independent of all targets given all other features. Model-X knockoffs (Candès et al.
    2018) are random copies of the features that depend on each other as the features do but not on the targets. The statistic
    :math:`W_j` of a feature is its importance, in a model of all targets with all features and all knockoffs, minus that of its
    knockoff; for null features either sign is equally likely. The knockoff+ filter turns the numbers of negative and positive
    statistics into a bound of the false discovery rate. It is applied to several sets of knockoffs, and e-values combine the
    results (Ren and Barber 2024), so that they hardly depend on the random numbers.

    Parameters
    ----------
    alpha : float, default=0.1
        The false discovery rate: the expected fraction of null features among those selected. At least ``1 / alpha`` features
        are selected, or none.
    sampler : {"auto", "tree", "gaussian"} or callable, default="auto"
        Distribution of the features. ``"tree"``: :class:`labelsieve.statistics.TreeKnockoffs` of discrete features, and of bins
        of others. ``"gaussian"``: a Gaussian copula, :class:`labelsieve.statistics.GaussianKnockoffs`, for numeric features;
        with 50 targets or more its correlations are shrunk less, by ``shrinkage=1/3``.
        ``"auto"``: the copula if more than half of the features have more than ten values, else a tree
        of the values of the others and of bins. A callable ``sampler(X, generator)`` returns knockoffs of the array ``X``.
    statistic : str or estimator, default="likelihood-ratio"
        Importance of features. ``"likelihood-ratio"``: :func:`labelsieve.statistics.likelihood_ratios`, one linear model of
        all targets. ``"lasso"``: absolute coefficients, the penalty by cross-validation, summed over the targets. The name of
        a criterion: its score for the first step. An estimator: its ``feature_importances_``, absolute ``coef_``, or inverse
        ``ranking_``, which selectors such as :class:`labelsieve.Sieve` have.
    n_repeats : int, default=20
        Number of sets of knockoffs. With 1, the result is that of the knockoff+ filter and depends on the seed.
    random_state : int, RandomState or None, default=0
        Seed of the knockoffs. The same number gives the same knockoffs and the same result.

    Attributes
    ----------
    q_values_ : ndarray of shape (n_features,)
        The smallest false discovery rate at which e-BH selects the feature, given the e-values.
    e_values_ : ndarray of shape (n_features,)
        Evidence against the null hypothesis of every feature, see :func:`labelsieve.statistics.knockoff_e_values`.
    statistics_ : ndarray of shape (n_repeats, n_features)
        W for each set of knockoffs.
    frequency_ : ndarray of shape (n_features,)
        The fraction of the sets of knockoffs for which the knockoff+ filter selects the feature.
    reproducibility_ : ndarray of shape (n_features,)
        The fraction of resamples of the sets of knockoffs with which the feature is selected: see
        :func:`labelsieve.statistics.knockoff_reproducibility`. NaN with ``n_repeats=1``.
    sampler_ : object
        The sampler that was used.
    label_q_values_ : ndarray of shape (n_features, n_targets)
        1: the statistics are of all targets together, and no pair of a feature and a target is discovered.
    information_ : ndarray of shape (n_features, n_targets)
        Mutual information of each feature with each target, in nats; not used for the selection.
    information_interval_ : ndarray of shape (n_selected, 2)
        Confidence limits (95 %, corrected for the choice of the target) of the information of each selected feature about its
        most informative target: see :meth:`labelsieve.Sieve.information_confidence`.
    reason_ : str
        Why nothing was selected; and whether other knockoffs may lead to another selection.

    Notes
    -----
    The false discovery rate is controlled if the sampler has the distribution of the features; with a wrong or
    estimated model it holds approximately, as far as the knockoffs are right (Barber, Candès and Samworth 2020). A feature that
    others determine, such as a duplicate, is a null feature. Rows must be independent. Cost: for each set of knockoffs,
    sampling it and fitting a model with twice the features.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 40))
    >>> Y = X[:, :15] @ rng.choice([-1, 1], (15, 3)) + rng.normal(size=(400, 3))
    >>> found = ConditionalDiscoveries().fit(X, Y)
    >>> set(range(15)) <= set(found.selected_.tolist()), len(found.selected_)
    (True, 16)
    """

    alpha: float = 0.1
    sampler: Any = parameter("auto", StrOptions({"auto", "tree", "gaussian"}), callable)
    statistic: Any = parameter("likelihood-ratio", str, object)
    n_repeats: int = parameter(20, AT_LEAST_ONE)
    random_state: RandomState = 0

    finds_pairs: ClassVar[bool] = False

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Draw knockoffs of the features of ``X`` and compare their importance for the targets ``y``."""
        codes, targets = self._encode(X, y)
        if codes.n_rows < 3:
            raise InputError(f"ConditionalDiscoveries needs three rows at least, and X has n_samples={codes.n_rows}.")
        table = read_targets(y, self.target_type).require_known(type(self).__name__)
        jobs = n_threads(self.n_jobs)
        with threadpool_limits(1):  # signs of eigenvectors, and so the knockoffs, depend on the threads of BLAS
            columns, levels = self._model_features(X, codes, targets.n_columns)
            responses = standardized(_indicators(table))
            statistic = KnockoffStatistic(check_statistic(self.statistic), responses[:, responses.any(axis=0)], y, levels)
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            generators = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(self.n_repeats)]
            self.statistics_ = self._contrasts(columns, statistic, generators, jobs)
        self.e_values_ = knockoff_e_values(self.statistics_, self.alpha)
        single = [knockoff_e_values(row[np.newaxis], self.alpha) > 0 for row in self.statistics_]
        self.frequency_ = np.mean(single, axis=0)
        information = mutual_information(codes, targets, n_jobs=self.n_jobs)
        q_values = e_q_values(self.e_values_)
        self._set_discoveries(information, None, q_values, np.ones(information.shape))
        self.information_interval_ = np.array([_interval(codes, targets, j, information[j]) for j in self.selected_])
        self.reproducibility_ = knockoff_reproducibility(self.statistics_, self.alpha)
        reason = "" if self.support_.any() else self._no_discovery(statistic, np.any(single, axis=1))
        self.reason_ = f"{reason} {reproducibility_note(self.reproducibility_, self.support_)}".strip()
        return self

    def _model_features(self, X: TableLike, codes: Codes, n_targets: int) -> tuple[NDArray[Any], NDArray[np.integer] | None]:
        """The features as an array, codes or numbers, and the numbers of levels of codes; the sampler is set."""
        kind = self.sampler
        if kind == "auto":
            discrete = distinct_codes(check_features(self, X), codes)
            kind, codes = ("gaussian", codes) if discrete is None else ("tree", discrete)
        if kind == "tree":
            tree = TreeKnockoffs.from_codes(codes)
            self.sampler_: Any = tree
            return tree.codes, codes.levels
        try:
            numbers = check_numbers(self, X)
        except InputError as error:
            raise InputError(f'{error} With sampler="tree", text and missing cells are levels.') from None
        numbers = numbers.toarray() if is_sparse(numbers) else np.asarray(numbers)
        self.sampler_ = self.sampler
        if kind == "gaussian":
            weak = n_targets >= MANY_TARGETS
            self.sampler_ = GaussianKnockoffs.from_values(numbers, shrinkage=WEAK_SHRINKAGE if weak else 1.0)
        return numbers, None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.sampler == "tree" and tags.input_tags.allow_nan  # a level of missing values
        return tags

    def _contrasts(
        self, X: NDArray[Any], statistic: KnockoffStatistic, generators: Sequence[np.random.Generator], jobs: int
    ) -> NDArray[np.float64]:
        """The statistics W of every set of knockoffs; knockoffs are drawn some at a time."""
        rows: list[Any] = []
        for some in batches(generators, X.size):
            copies = self._copies(X, some)
            calls = (delayed(statistic.contrast)(X, copy, one) for copy, one in zip(copies, some, strict=True))
            rows += Parallel(n_jobs=jobs, prefer="threads")(calls)
        return np.array(rows)

    def _copies(self, X: NDArray[Any], generators: Sequence[np.random.Generator]) -> Any:
        if isinstance(self.sampler_, TreeKnockoffs | GaussianKnockoffs):
            return self.sampler_.sample(generators)
        copies = [np.asarray(self.sampler_(X, generator)) for generator in generators]
        for copy in copies:
            if copy.shape != X.shape or not np.isfinite(copy).all():
                raise InputError(f"sampler returned an array of shape {copy.shape}, or one with NaN; X has shape {X.shape}.")
        return copies

    def _no_discovery(self, statistic: KnockoffStatistic, passed: NDArray[np.bool_]) -> str:
        """Why nothing was selected."""
        if not statistic.targets.shape[1]:
            return "All targets are constant: there is nothing to discover."
        fewest = int(np.ceil(round(1 / self.alpha, 9)))
        if self.n_features_in_ < fewest:
            return f"The filter selects at least 1 / alpha = {fewest} features or none, and there are {self.n_features_in_}."
        share = f"{np.count_nonzero(passed)} of {len(passed)} sets of knockoffs"
        return (
            f"At least {fewest} features (1 / alpha) must be more important than their knockoffs, with few exceptions; "
            f"this held for {share}. Fewer features may be associated: use MarginalDiscoveries, or a larger alpha."
        )

    def discovery_table(self, names: Names = None, label_names: Names = None) -> dict[str, list[Any]]:
        """The selected features: the target that each has the most information about, with confidence limits, and q-values."""
        names = getattr(self, "feature_names_in_", None) if names is None else names
        label_names = getattr(self, "label_names_", None) if label_names is None else label_names
        features = column_names(None, names, self.n_features_in_, "feature")
        labels = column_names(None, label_names, self.information_.shape[1], "label")
        best = self.information_.argmax(axis=1)
        return {
            "feature": [features[j] for j in self.selected_],
            "label": [labels[best[j]] for j in self.selected_],
            "information": [float(self.information_[j, best[j]]) for j in self.selected_],
            "lower": self.information_interval_[:, 0].tolist() if len(self.selected_) else [],
            "upper": self.information_interval_[:, 1].tolist() if len(self.selected_) else [],
            "reproduced": self.reproducibility_[self.selected_].tolist(),
            "q": self.q_values_[self.selected_].tolist(),
        }


def _interval(codes: Codes, targets: Codes, feature: int, information: NDArray[np.float64]) -> tuple[float, float]:
    """Confidence limits of the information about the most informative target."""
    best = int(information.argmax())
    pair = codes.column(feature)[:, np.newaxis], targets.column(best)[:, np.newaxis]
    found = information_intervals(*pair, confidence=of_any_label(CONFIDENCE, targets.n_columns))
    return float(found.lower[0, 0]), float(found.upper[0, 0])


def _indicators(table: TargetTable) -> NDArray[np.float64]:
    """All targets as numbers: a column for each class of a target with more than two, and the numeric ones."""
    classes = (table.classes.column(column) for column in np.flatnonzero(~table.is_numeric).tolist())
    return np.column_stack([table.numbers, *class_indicators(classes)]).astype(np.float64)
