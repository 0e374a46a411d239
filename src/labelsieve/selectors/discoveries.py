"""Selectors with an error rate: features that are associated with targets, each by itself or given all other features."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from labelsieve.discoveries import (
    GaussianKnockoffs,
    TreeKnockoffs,
    e_q_values,
    information_intervals,
    knockoff_e_values,
    lasso_importance,
    likelihood_ratios,
)
from labelsieve.discoveries.association import TESTS, TestSettings, association_tests, row_codes
from labelsieve.discoveries.error_rates import FamilyRule, MarginalEvidence
from labelsieve.discoveries.knockoff_filter import knockoff_reproducibility, reproducibility_note
from labelsieve.discoveries.knockoff_gaussian import distinct_codes
from labelsieve.discoveries.knockoff_statistics import batches, design_columns, standardized
from labelsieve.discretize import Discretizer, one_table
from labelsieve.discretize.base import Missing
from labelsieve.errors import InputError, unknown_name
from labelsieve.information import conditional_mutual_information, mutual_information
from labelsieve.labelspace import TargetTable
from labelsieve.labelspace.base import RandomState
from labelsieve.parameters import AT_LEAST_ONE, BETWEEN_0_AND_1, StrOptions, checked_fit, parameter
from labelsieve.plotting import Axes, figure_function, report_function
from labelsieve.registry import CRITERIA, make_discretizer, make_target_discretizer
from labelsieve.resources import n_threads, thread_context
from labelsieve.selection.information import level_for_any_label as of_any_label
from labelsieve.selection.selection import Summary, column_names, frame_of_columns
from labelsieve.selectors.base import TARGET_TYPE, BaseSieve, Result
from labelsieve.selectors.regressions.base import class_indicators
from labelsieve.selectors.sieve import Sieve
from labelsieve.tables.codes import Codes
from labelsieve.tables.problem import Names, Problem, read
from labelsieve.tables.targets import TargetTypes
from labelsieve.tables.types import TableLike, TargetsLike, is_sparse
from labelsieve.tables.weights import Estimator

Real = NDArray[np.float64]
MODELS = ("likelihood-ratio", "lasso")  # importances of features from linear models of all targets
ESTIMATOR: Estimator = "miller-madow"  # of the information that is shown
CONFIDENCE = 0.95  # of the intervals of information
# Many targets reveal errors of a shrunk correlation matrix, and have power to spare: correlations are shrunk less.
MANY_TARGETS, WEAK_SHRINKAGE = 50, 1 / 3


@dataclass(eq=False, repr=False, kw_only=True)
class BaseDiscoveries(BaseSieve):
    """Parameters, reading and fitted attributes of selectors that control the false discovery rate.

    A subclass calls :meth:`_encode` to get codes and hands its results to :meth:`_set_discoveries`.

    Parameters
    ----------
    discretizer : str, Discretizer, dict or None, default="auto"
        How numeric columns become codes, as for :class:`labelsieve.Sieve`; supervised discretizers are refused, because the
        codes must not depend on the targets. :class:`ConditionalDiscoveries` uses the codes for ``sampler="tree"`` and
        ``information_``.

    Attributes
    ----------
    label_names_ : ndarray of str, shape (n_targets,)
        Names of the targets, where ``y`` has them.
    n_rows_left_out_ : int
        Rows in which no target is known.
    feature_scores_ : ndarray of float, shape (n_features,)
        Information of every feature, summed over the targets, in nats.
    discretizer_, target_discretizer_, target_types_
        As for :class:`labelsieve.Sieve`.
    """

    alpha: float = parameter(0.05, BETWEEN_0_AND_1)
    discretizer: str | Discretizer | dict[Any, Any] | None = "auto"
    missing: Missing | None = None
    target_type: TargetTypes = parameter("auto", *TARGET_TYPE)
    target_discretizer: str | Discretizer = "auto"
    n_jobs: int | None = None

    finds_pairs: ClassVar[bool] = True  # discoveries are pairs of a feature and a label, not features alone

    def _encode(self, problem: Problem) -> tuple[Codes, Codes]:
        """Encode features and targets in the rows in which some target is known."""
        name, rule = type(self).__name__, "equal-frequency" if self.discretizer == "auto" else self.discretizer
        self.discretizer_ = make_discretizer(rule, missing=self.missing)
        self.discretizer_.require_unsupervised(name)
        self.target_discretizer_ = make_target_discretizer(self.target_discretizer)
        targets = problem.binned_targets(self.target_discretizer_).codes
        self.n_rows_left_out_ = problem.n_left_out
        with thread_context(self.n_jobs):
            return one_table(problem.codes(self.discretizer_, targets), name), targets

    def _discoveries(
        self, information: Real, p_values: Real | None, q_values: Real, label_q_values: Real, reason: str = ""
    ) -> Result:
        """Select the features with a q-value of at most ``alpha``, the smallest first.

        ``information`` (nats), ``p_values`` and ``label_q_values`` have features in rows and labels in columns, NaN where there
        is no value; ``q_values`` has one for each feature.
        """
        scores = np.nansum(information, axis=1)
        order = np.lexsort((-scores, q_values))
        selected = order[q_values[order] <= self.alpha].astype(np.intp)
        return Result(
            selected,
            scores[selected],
            {
                "information": information,
                "p_values": p_values,
                "q_values": q_values,
                "label_q_values": label_q_values,
                "feature_scores": scores,
                "reason": reason,
            },
        )

    @property
    def pair_support_(self) -> NDArray[np.bool_]:
        """Mask of the discovered pairs of a feature (rows) and a label (columns)."""
        check_is_fitted(self)
        with np.errstate(invalid="ignore"):
            pairs: NDArray[np.bool_] = (self.label_q_values_ <= self.alpha) & self.support_[:, np.newaxis]
        return pairs

    @property
    def discoveries_(self) -> Any:
        """A data frame of the discovered pairs, the smallest q-values first: feature, label, information (nats), p, q.

        It is of the first of pandas, polars and pyarrow that is installed, or a dict of lists.
        """
        return frame_of_columns(self.discovery_table(), None)

    def discovery_table(self, names: Names = None, label_names: Names = None) -> dict[str, list[Any]]:
        """Return the columns of ``discoveries_`` as lists; names are those of the fitted frames by default, or numbers."""
        pairs = np.argwhere(self.pair_support_)
        names = vars(self).get("feature_names_in_") if names is None else names
        label_names = self.label_names_ if label_names is None else label_names
        features = column_names(None, names, self.n_features_in_, "feature")
        labels = column_names(None, label_names, self.label_q_values_.shape[1], "label")
        at = pairs[:, 0], pairs[:, 1]
        q, information = self.label_q_values_[at], self.information_[at]
        p = None if self.p_values_ is None else self.p_values_[at]
        order = np.lexsort((-information, q if p is None else p, q))
        columns: dict[str, list[Any]] = {
            "feature": [features[feature] for feature in at[0][order]],
            "label": [labels[label] for label in at[1][order]],
            "information": information[order].tolist(),
        }
        if p is not None:
            columns["p"] = p[order].tolist()
        return {**columns, "q": q[order].tolist()}

    def summary(self, *arguments: Any, **options: Any) -> "DiscoverySummary":
        """Return the discoveries as text, and the reason where there are none; see :meth:`labelsieve.Sieve.summary`."""
        plain = super().summary(*arguments, **options)
        names = options.get("names"), options.get("label_names")
        return DiscoverySummary(plain.selection, plain.redundant, plain.confidence, self, *names)

    def plot_discoveries(self, *, names: Names = None, label_names: Names = None, ax: Axes | None = None) -> Axes:
        """Draw information against q-values: see :func:`labelsieve.report.figures.discovery_volcano`."""
        return figure_function("discovery_volcano")(self, names=names, label_names=label_names, ax=ax)

    def plot_discovery_map(self, *, names: Names = None, label_names: Names = None, ax: Axes | None = None) -> Axes:
        """Draw the discovered pairs of features and labels: see :func:`labelsieve.report.figures.discovery_map`."""
        return figure_function("discovery_map")(self, names=names, label_names=label_names, ax=ax)


@dataclass(frozen=True, repr=False)
class DiscoverySummary(Summary):
    """The discoveries of a fitted selector as text; in a notebook, the table of the selected features."""

    selector: BaseDiscoveries | None = None
    names: Names = None
    label_names: Names = None

    def __str__(self) -> str:
        text = report_function("discovery_text")
        return str(text(self.selector, names=self.names, label_names=self.label_names, confidence=self.confidence))

    __repr__ = __str__


@dataclass(eq=False, repr=False, kw_only=True)
class MarginalDiscoveries(BaseDiscoveries):
    r"""Select the features that are associated with some label, and these labels, at a false discovery rate.

    Every pair of a feature and a label is tested for independence; the p-values of a feature are combined; features are
    selected by Benjamini and Hochberg's procedure, and labels inside of selected features at the selection-adjusted level
    (Peterson, Bogomolov, Benjamini and Sabatti 2016). At most a fraction :math:`\alpha` of the selected features is expected to
    be independent of all labels; and over the selected features, at most a fraction :math:`\alpha` of the labels listed for a
    feature is expected to be independent of it, on average.

    Parameters
    ----------
    alpha : float, default=0.05
        The false discovery rate, of features and of labels.
    method : {"hierarchical", "pooled"}, default="hierarchical"
        ``"hierarchical"``: in two levels, as above. ``"pooled"``: all pairs together, with the false discovery rate of pairs;
        selected features are those of discovered pairs and have no error rate.
    combine : {"simes", "fisher"}, default="simes"
        The p-value of a feature. Fisher's is for independent labels only: with correlated labels it is too small.
    correction : {"bh", "by"}, default="bh"
        Benjamini and Hochberg (1995), for independent or positively dependent tests; Benjamini and Yekutieli (2001), for any
        dependence, with less power.
    n_permutations : int, default=9999
        Random permutations for pairs whose p-value is neither exact nor asymptotic; their p-values are at least
        ``1 / (n_permutations + 1)``.
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations.

    Attributes
    ----------
    p_values_ : ndarray of shape (n_features, n_labels)
        p-value of every pair.
    information_ : ndarray of shape (n_features, n_labels)
        Mutual information in nats, corrected for bias (Miller and Madow), given the strata if there are any.
    q_values_ : ndarray of shape (n_features,)
        The smallest ``alpha`` at which the feature is selected.
    label_q_values_ : ndarray of shape (n_features, n_labels)
        The smallest ``alpha`` at which the pair is discovered.
    pair_support_ : ndarray of bool, shape (n_features, n_labels)
        Mask of the discovered pairs.
    discoveries_ : data frame
        The discovered pairs: feature, label, information, p, q.
    tests_ : ndarray of str, shape (n_features, n_labels)
        How each p-value was obtained: ``"exact"``, ``"g-test"``, ``"permutation"``, or ``"none"`` for constant columns.
    minimum_information_, detectable_information_ : float
        Observed information, in nats and not corrected for bias, at which a single pair is discovered if no other is; and the
        true information for which this happens with a probability of 80 %. For the most frequent degrees of freedom, by the
        chi-square distribution of G.
    reason_ : str
        The tests that were used and, where nothing was discovered, what could have been.
    selected_, scores_, support_, feature_scores_
        Features in order of their q-values, and their information about all labels, in nats.

    See Also
    --------
    labelsieve.stopping.FDR : the same as a stopping rule.

    Notes
    -----
    The page docs/trust/discoveries.md describes which test is used when. The null hypothesis is marginal: a feature that is
    associated with a label only through another feature is a discovery. Constant features and labels are not tested, and do not
    count in the corrections. Cost: counting all pairs once, and the exact or permutation tests of pairs with few rows.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(400, n_relevant=2, n_noisy_copies=0, n_xor_pairs=0, n_irrelevant=20)
    >>> found = MarginalDiscoveries(alpha=0.05).fit(data.X, data.Y)
    >>> sorted(found.selected_.tolist()) == data.columns("relevant")
    True
    >>> found.p_values_.shape == (data.X.shape[1], data.Y.shape[1])
    True
    """

    method: Literal["hierarchical", "pooled"] = "hierarchical"
    combine: Literal["simes", "fisher"] = "simes"
    correction: Literal["bh", "by"] = "bh"
    n_permutations: int = parameter(9999, AT_LEAST_ONE)
    random_state: RandomState = 0

    @checked_fit
    def fit(
        self,
        X: TableLike | Problem,
        y: TargetsLike | None = None,
        *,
        strata: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Test the features of ``X`` for association with the targets ``y``, dense or sparse, one column or many.

        Parameters
        ----------
        X, y : array-like, frame or sparse matrix
            Features and targets; unknown targets (NaN) are left out pair by pair.
        strata : array-like of shape (n_rows,), default=None
            Batches or sites: association is tested within them, and rows are permuted within them only.
        groups : array-like of shape (n_rows,), default=None
            Rows that belong together, such as samples of one patient: they are permuted as a whole, among groups of the same
            stratum and, if targets vary inside of groups, of the same size. All p-values are from permutations then.
        """
        self._forget()
        problem = read(X, y, target_type=self.target_type, estimator=self)
        return self._keep(problem, self._select(problem, strata, groups))

    def _select(self, problem: Problem, strata: ArrayLike | None = None, groups: ArrayLike | None = None) -> Result:
        features, targets = self._encode(problem)
        n_rows, kept = features.n_rows + problem.n_left_out, problem.known_rows
        of_rows = [row_codes(strata, n_rows, "strata"), row_codes(groups, n_rows, "groups")]
        of_rows = [codes if codes is None or kept is None else codes[kept] for codes in of_rows]
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        settings = TestSettings(of_rows[0], of_rows[1], self.n_permutations, seed, self.n_jobs)
        tests = association_tests(features, targets, settings)
        self.test_codes_ = tests.tests
        rule = FamilyRule(self.method, self.combine, self.correction)
        q_values, label_q_values = rule.q_values(tests)
        evidence = MarginalEvidence(tests, features, targets, self.alpha, rule)
        self.minimum_information_ = evidence.minimum_information
        self.detectable_information_ = evidence.detectable_information
        reason = evidence.reason(self.n_permutations, found=bool((q_values <= self.alpha).any()))
        # The tests are of the plug-in estimate. What is shown is corrected for its bias, as for the default of Sieve.
        known: dict[str, Any] = {"estimator": ESTIMATOR, "n_jobs": self.n_jobs}
        if of_rows[0] is None:
            information = mutual_information(features, targets, **known)
        else:
            information = conditional_mutual_information(features, targets, of_rows[0], **known)
        return self._discoveries(information, tests.p_values, q_values, label_q_values, reason)

    @property
    def tests_(self) -> NDArray[np.str_]:
        """How each p-value was obtained: ``"exact"``, ``"g-test"``, ``"permutation"``, or ``"none"`` for constant columns."""
        return np.array(TESTS)[self.test_codes_]


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
        Distribution of the features. ``"tree"``: :class:`labelsieve.discoveries.TreeKnockoffs` of discrete features, and of
        bins of others. ``"gaussian"``: a Gaussian copula, :class:`labelsieve.discoveries.GaussianKnockoffs`, for numeric
        features; with 50 targets or more its correlations are shrunk less, by ``shrinkage=1/3``. ``"auto"``: the copula if more
        than half of the features have more than ten values, else a tree of the values of the others and of bins. A callable
        ``sampler(X, generator)`` returns knockoffs of the array ``X``.
    statistic : str or estimator, default="likelihood-ratio"
        Importance of features. ``"likelihood-ratio"``: :func:`labelsieve.discoveries.likelihood_ratios`, one linear model of
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
        Evidence against the null hypothesis of every feature, see :func:`labelsieve.discoveries.knockoff_e_values`.
    statistics_ : ndarray of shape (n_repeats, n_features)
        W for each set of knockoffs.
    frequency_ : ndarray of shape (n_features,)
        The fraction of the sets of knockoffs for which the knockoff+ filter selects the feature.
    reproducibility_ : ndarray of shape (n_features,)
        The fraction of resamples of the sets of knockoffs with which the feature is selected: see
        :func:`labelsieve.discoveries.knockoff_reproducibility`. NaN with ``n_repeats=1``.
    sampler_ : object
        The sampler that was used.
    label_q_values_ : ndarray of shape (n_features, n_targets)
        1: the statistics are of all targets together, and no pair of a feature and a target is discovered.
    information_ : ndarray of shape (n_features, n_targets)
        Mutual information of each feature with each target, in nats, corrected for bias (Miller and Madow); not used for the
        selection.
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

    @checked_fit
    def fit(self, X: TableLike | Problem, y: TargetsLike | None = None) -> Self:
        """Draw knockoffs of the features of ``X`` and compare their importance for the targets ``y``."""
        return self._fit(X, y)

    def _select(self, problem: Problem) -> Result:
        codes, targets = self._encode(problem)
        if codes.n_rows < 3:
            raise InputError(f"ConditionalDiscoveries needs three rows at least, and X has n_samples={codes.n_rows}.")
        table, y = problem.known_targets(type(self).__name__), problem.source.y
        jobs = n_threads(self.n_jobs)
        with threadpool_limits(1):  # signs of eigenvectors, and so the knockoffs, depend on the threads of BLAS
            columns, levels = self._model_features(problem, codes, targets.n_columns)
            responses = standardized(_indicators(table))
            statistic = KnockoffStatistic(check_statistic(self.statistic), responses[:, responses.any(axis=0)], y, levels)
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            generators = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(self.n_repeats)]
            self.statistics_ = self._contrasts(columns, statistic, generators, jobs)
        self.e_values_ = knockoff_e_values(self.statistics_, self.alpha)
        single = [knockoff_e_values(row[np.newaxis], self.alpha) > 0 for row in self.statistics_]
        self.frequency_ = np.mean(single, axis=0)
        information = mutual_information(codes, targets, estimator=ESTIMATOR, n_jobs=self.n_jobs)
        q_values = e_q_values(self.e_values_)
        found = self._discoveries(information, None, q_values, np.ones(information.shape))
        support = np.isin(np.arange(problem.n_features), found.selected)
        self.information_interval_ = np.array([_interval(codes, targets, j, information[j]) for j in found.selected])
        self.reproducibility_ = knockoff_reproducibility(self.statistics_, self.alpha)
        reason = "" if support.any() else self._no_discovery(statistic, np.any(single, axis=1))
        note = f"{reason} {reproducibility_note(self.reproducibility_, support)}".strip()
        return replace(found, attributes={**found.attributes, "reason": note})

    def _model_features(
        self, problem: Problem, codes: Codes, n_targets: int
    ) -> tuple[NDArray[Any], NDArray[np.integer] | None]:
        """Set ``sampler_``; return the features as an array of codes or numbers, and the numbers of levels of codes."""
        kind = self.sampler
        if kind == "auto":
            discrete = distinct_codes(problem.X, codes)
            kind, codes = ("gaussian", codes) if discrete is None else ("tree", discrete)
        if kind == "tree":
            tree = TreeKnockoffs.from_codes(codes)
            self.sampler_: Any = tree
            return tree.codes, codes.levels
        try:
            numbers = problem.numbers("ConditionalDiscoveries")
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
        self, X: NDArray[Any], statistic: "KnockoffStatistic", generators: Sequence[np.random.Generator], jobs: int
    ) -> NDArray[np.float64]:
        """Compute the statistics W of every set of knockoffs; as many sets are drawn together as fit in memory."""
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

    def _no_discovery(self, statistic: "KnockoffStatistic", passed: NDArray[np.bool_]) -> str:
        """Say why nothing was selected."""
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
        """Return the selected features with the target about which each is most informative, confidence limits and q-values."""
        names = vars(self).get("feature_names_in_") if names is None else names
        label_names = self.label_names_ if label_names is None else label_names
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


@dataclass(frozen=True, eq=False)
class KnockoffStatistic:
    """The statistic W of features: how much more important each is than its knockoff copy."""

    importance: Any  # a name of ``MODELS`` or of a criterion, or an estimator to clone
    targets: Real  # standardized, a column for each class of a target with more than two
    y: TargetsLike  # targets for criteria and estimators
    # numbers of levels of features that are codes; each of three or more levels is a column of a linear model
    levels: NDArray[np.integer] | None

    def contrast(self, X: NDArray[Any], copy: NDArray[Any], generator: np.random.Generator) -> Real:
        """Return the importance of each feature minus that of its copy.

        Which of the two comes first is random, so that no learner can prefer features by their position.
        """
        if isinstance(self.importance, str) and self.importance == "likelihood-ratio":
            design, owner = self._design(np.hstack([X, copy]))
            return likelihood_ratios(design, self.targets, owner) if self.targets.shape[1] else np.zeros(X.shape[1])
        swap = generator.random(X.shape[1]) < 0.5
        table = np.hstack([np.where(swap, copy, X), np.where(swap, X, copy)])
        first, second = np.split(self._importances(table), 2)
        return np.asarray(np.where(swap, second - first, first - second))

    def _importances(self, table: NDArray[Any]) -> Real:
        if not isinstance(self.importance, str):
            return fitted_importances(clone(self.importance).fit(table, self.y), table.shape[1])
        if self.importance == "lasso":
            design, owner = self._design(table)
            squares = lasso_importance(design, self.targets) ** 2
            return np.sqrt(np.bincount(owner, weights=squares, minlength=table.shape[1]))
        sieve = Sieve(self.importance, n_features_to_select=1, discretizer="equal-frequency").fit(table, self.y)
        return np.asarray(sieve.feature_scores_)

    def _design(self, table: NDArray[Any]) -> tuple[Real, NDArray[np.intp]]:
        return design_columns(table, None if self.levels is None else np.tile(self.levels, 2))


def check_statistic(statistic: object) -> Any:
    """Return the name or estimator if importances can be read from it; refuse it otherwise."""
    if isinstance(statistic, str):
        if statistic.lower() in (*MODELS, *CRITERIA):
            return statistic.lower()
        raise unknown_name("statistic", statistic, [*MODELS, *CRITERIA], more=", or an estimator")
    if isinstance(statistic, BaseEstimator) and hasattr(statistic, "fit"):
        return statistic
    raise InputError(
        f"statistic must be {', '.join(map(repr, MODELS))}, the name of a criterion, or an estimator with coef_, "
        f"feature_importances_ or ranking_ after fit, not {statistic!r}."
    )


def fitted_importances(estimator: BaseEstimator, n_columns: int) -> Real:
    """Read ``feature_importances_``, absolute ``coef_`` summed over the targets, or the inverse of ``ranking_``."""
    if hasattr(estimator, "feature_importances_"):
        found = np.asarray(estimator.feature_importances_, dtype=np.float64)
    elif hasattr(estimator, "coef_"):
        found = np.abs(np.atleast_2d(estimator.coef_)).sum(axis=0)
    elif hasattr(estimator, "ranking_"):
        found = 1.0 / np.asarray(estimator.ranking_, dtype=np.float64)
    else:
        raise InputError(f"{type(estimator).__name__} has no coef_, feature_importances_ or ranking_ after fit.")
    if found.shape != (n_columns,):
        raise InputError(f"{type(estimator).__name__} has importances of shape {found.shape} for {n_columns} columns.")
    return found


def _indicators(table: TargetTable) -> NDArray[np.float64]:
    """Return all targets as numbers: numeric ones, and a column for each class of a target with more than two."""
    classes = (table.classes.column(column) for column in np.flatnonzero(~table.is_numeric).tolist())
    return np.column_stack([table.numbers, *class_indicators(classes)]).astype(np.float64)


def _interval(codes: Codes, targets: Codes, feature: int, information: NDArray[np.float64]) -> tuple[float, float]:
    """Return confidence limits of the information of a feature about its most informative target."""
    best = int(information.argmax())
    pair = codes.column(feature)[:, np.newaxis], targets.column(best)[:, np.newaxis]
    found = information_intervals(*pair, confidence=of_any_label(CONFIDENCE, targets.n_columns))
    return float(found.lower[0, 0]), float(found.upper[0, 0])
