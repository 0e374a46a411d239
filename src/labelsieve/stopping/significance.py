"""Stopping rules that test: whether the next feature is significant, or which features are associated with a target."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, gammaln, xlogy
from sklearn.utils import check_random_state

from labelsieve.counting.joint_codes import joint_variable
from labelsieve.counting.workspace import Workspace
from labelsieve.discoveries.association import SMALLEST, TestSettings, association_tests
from labelsieve.discoveries.error_rates import COMBINATIONS, CORRECTIONS, FamilyRule, MarginalEvidence
from labelsieve.discoveries.knockoff_filter import e_q_values, knockoff_e_values, knockoff_reproducibility, reproducibility_note
from labelsieve.discoveries.knockoff_statistics import code_statistics
from labelsieve.discoveries.permutations import permutation_within, permuted_rows
from labelsieve.errors import InputError, not_negative, one_of, share, whole_number
from labelsieve.formula.evaluation import Scorer
from labelsieve.labelspace.base import RandomState
from labelsieve.stopping.base import Rows, SelectionPath, StoppingRule, require_plain_rows
from labelsieve.tables.codes import Codes

Column = NDArray[np.integer]
G_TEST_REMEDY = "use PermutationTest, CrossValidated or a fixed number."
FAR = 16  # standard deviations, and counts, from the mean of a count: what is beyond has a probability below 1e-12
PERMUTATION_REMEDY = "use CrossValidated, Knee, ScoreThreshold or a fixed number."


@dataclass(eq=False, repr=False)
class GTest(StoppingRule):
    r"""Keep features as long as the information that they add is significant.

    For the feature :math:`X_k` with the best score and every target, :math:`G = 2N \, I(X_k; Y_l \mid Z)` is about chi-square
    distributed with :math:`(r_k - 1)(c_l - 1) \prod_{j \in Z} r_j` degrees of freedom if the feature and the target are
    independent given :math:`Z`; values that do not occur in a stratum are not counted. With few rows in a cell G is larger than
    that, so it is multiplied by the degrees of freedom and divided by its exact mean over all tables with the same margins. The
    feature passes if some target has

    .. math:: p \cdot q \cdot m \le \alpha

    for :math:`q` targets and :math:`m` candidates, of which it is the best. The correction covers all of these tests: if all
    candidates are irrelevant, the first one passes with probability :math:`\alpha` at most, and so does any feature after the
    last relevant one.

    Every test has the rows in which the target is known. Assumes independent rows. With labels of few rows, or with one or two
    rows in a cell, the test is conservative in simulations, and may miss features that :class:`PermutationTest` finds. The
    codes are treated as fixed: supervised bins (MDL) depend on the targets, and then p-values are too small.

    Parameters
    ----------
    alpha : float, default=0.05
        The significance level.
    given : {"each", "all"}, default="each"
        The conditioning set :math:`Z`. ``"all"``: all selected features as one variable; the number of strata multiplies, so
        the data allow only a few features. ``"each"``: every selected feature separately, with the largest p-value; the feature
        must add information to each of them. This works for any number of features, but does not condition on two of them
        jointly.
    correction : {"bonferroni", "sidak"}, default="bonferroni"
        :math:`q m p`, which is valid under any dependence of the candidates (Holm's first step is the same), or
        :math:`1 - (1 - p)^{qm}`, the distribution of the smallest of independent p-values.
    min_rows : float, default=5.0
        The smallest number of rows for each degree of freedom of a test; below it the selection stops. For a label and five
        bins of both features there are 20 degrees of freedom, so that 100 rows are needed.
    max_features : int, default=None
        The largest number of features; None: all.

    Attributes
    ----------
    p_values_ : ndarray
        Corrected p-values of the selected features; NaN for forced ones.
    p_value_left_out_ : float or None
        Corrected p-value of the first feature that failed; None if there was none or no test was possible.
    reason_ : str
        Why it stopped.

    Notes
    -----
    Refused for weighted rows, label spaces that count rows several times, and supervised bins. Forced features are part of
    :math:`Z`. Cost: for each step one pass over the rows for every target, and with ``"each"`` for every target and selected
    feature.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_xor_pairs=0)
    >>> sieve = Sieve("cmim", n_features_to_select=GTest()).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in sieve.selected_][:4]
    ['relevant', 'relevant', 'relevant', 'relevant']
    >>> bool((sieve.stopping_.p_values_ <= 0.05).all())
    True
    """

    name = "g-test"
    is_test = True

    alpha: float = 0.05
    _: KW_ONLY
    given: Literal["each", "all"] = "each"
    correction: Literal["bonferroni", "sidak"] = "bonferroni"
    min_rows: float = 5.0
    max_features: int | None = None

    def decide(self, path: SelectionPath) -> int:
        """Return the number of features before the first one that is not significant."""
        alpha = share(self.alpha, "alpha")
        one_of(self.given, "given", ("each", "all"))
        one_of(self.correction, "correction", ("bonferroni", "sidak"))
        not_negative(self.min_rows, "min_rows")
        path.require_plain_rows("GTest", G_TEST_REMEDY)
        p_values = [np.nan] * path.n_forced

        def passes(kept: int) -> bool:
            p, n_untested = self._p_value(path, kept)
            p_values.append(p)
            if p <= alpha:
                return True
            few = f"fewer than {self.min_rows:g} rows for each degree of freedom"
            self.reason_ = f"The next feature has p = {p:.3g}."
            if np.isnan(p):
                self.reason_ = f"The next test would have {few}."
            elif n_untested:
                of = f"{n_untested} of {len(path.target_indices)} targets"
                self.reason_ = f"The next feature has p = {p:.3g}; {of} have {few}, without a test."
            return False

        kept = self._extend_while(passes, path)
        self.p_values_ = np.array(p_values[:kept])
        left_out = p_values[kept] if len(p_values) > kept else np.nan
        self.p_value_left_out_ = None if np.isnan(left_out) else float(left_out)
        return kept

    def _p_value(self, path: SelectionPath, kept: int) -> tuple[float, int]:
        """Corrected p-value of the feature selected after ``kept`` others, and the number of targets without a test."""
        X, Y = path.workspace.X, path.workspace.Y
        best = path.search.selected[kept]
        conditions = self._conditions(X, path.search.selected[:kept])
        smallest, n_tested = np.inf, 0
        for target in path.target_indices:
            tests = []
            for strata, rows in conditions:
                known = rows & X.is_known(best) & Y.is_known(target)
                if not known.any():
                    break
                test = g_statistic(X.column(best)[known], Y.column(target)[known], None if strata is None else strata[known])
                if test.degrees * self.min_rows > np.count_nonzero(known):
                    break
                tests.append(test)
            else:
                smallest, n_tested = min(smallest, max(test.p_value for test in tests)), n_tested + 1
        n_targets = len(path.target_indices)
        if not n_tested:
            return float("nan"), n_targets
        return corrected(smallest, n_targets * int(path.candidates(kept).sum()), self.correction), n_targets - n_tested

    def _conditions(self, X: Codes, selected: list[int]) -> list[tuple[Column | None, NDArray[np.bool_]]]:
        """Return the strata of the test, and the rows in which they are known."""
        if not selected:
            return [(None, np.ones(X.n_rows, dtype=bool))]
        columns, known = [X.column(feature) for feature in selected], [X.is_known(feature) for feature in selected]
        if self.given == "each":
            return list(zip(columns, known, strict=True))
        joint = Codes(X.n_rows, X.levels[selected], dense=np.column_stack(columns))
        return [(joint_variable(joint)[0], np.logical_and.reduce(known))]


def corrected(p: float, n_tests: int, correction: str) -> float:
    """Correct a p-value that is the smallest of ``n_tests``.

    >>> corrected(0.01, 3, "bonferroni"), round(corrected(0.01, 3, "sidak"), 6)
    (0.03, 0.029701)
    """
    if correction == "bonferroni" or p >= 1:
        return min(1.0, n_tests * p)
    return float(-np.expm1(n_tests * np.log1p(-p)))


class GStatistic(NamedTuple):
    """The likelihood-ratio statistic, its degrees of freedom, and its mean over all tables with the same margins."""

    value: float
    degrees: int
    mean: float

    @property
    def p_value(self) -> float:
        """Upper tail probability of the chi-square distribution, for the statistic scaled to its mean; 1 without degrees."""
        return max(float(chdtrc(self.degrees, self.value * self.degrees / self.mean)), SMALLEST) if self.degrees else 1.0


def g_statistic(x: Column, y: Column, strata: Column | None = None) -> GStatistic:
    r"""Likelihood-ratio test of independence of ``x`` and ``y`` within strata: :math:`G = 2N \, I(x; y \mid s)`.

    Degrees of freedom are :math:`\sum_s (r_s - 1)(c_s - 1)` over the strata, with the values of x and y that occur in each:
    :math:`(r - 1)(c - 1) \prod_j r_j` when all occur everywhere. Cost: one pass over the rows and one over the cells.

    >>> g_statistic(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    GStatistic(value=5.54..., degrees=1, mean=1.84...)
    """
    s = np.zeros(len(x), dtype=np.int64) if strata is None else strata.astype(np.int64)
    r, c, n_strata = int(x.max()) + 1, int(y.max()) + 1, int(s.max()) + 1
    counts = np.bincount((s * r + x) * c + y, minlength=n_strata * r * c).reshape(n_strata, r, c)
    of_x, of_y = counts.sum(axis=2), counts.sum(axis=1)
    n_x, n_y = np.count_nonzero(of_x, axis=1), np.count_nonzero(of_y, axis=1)
    margins = _n_log_n(of_x) + _n_log_n(of_y) - _n_log_n(of_x.sum(axis=1))
    value, mean = 2 * (_n_log_n(counts) - margins), 2 * (_mean_n_log_n(of_x, of_y) - margins)
    return GStatistic(max(0.0, value), int(((n_x - 1) * (n_y - 1))[n_x > 0].sum()), mean)


def _mean_n_log_n(of_x: NDArray[np.integer], of_y: NDArray[np.integer]) -> float:
    """Return the sum of n log n over all cells, as its mean over all tables with these margins in every stratum.

    The count of a cell has a hypergeometric distribution, which is summed up to far beyond the tails that matter.
    """
    stratum, i, j = np.nonzero((of_x[:, :, np.newaxis] > 0) & (of_y[:, np.newaxis, :] > 0))
    margins = np.stack([of_x.sum(axis=1)[stratum], of_x[stratum, i], of_y[stratum, j]])
    (n, r, c), times = np.unique(margins, axis=1, return_counts=True)
    center, reach = r * (c / n), FAR + FAR * np.sqrt(r * (c / n) * (1 - r / n))
    low = np.maximum(np.maximum(0, r + c - n), np.floor(center - reach)).astype(np.int64)
    high = np.minimum(np.minimum(r, c), np.ceil(center + reach)).astype(np.int64)
    sizes, starts = high - low + 1, np.concatenate([[0], np.cumsum(high - low + 1)[:-1]])
    count = np.arange(sizes.sum()) + np.repeat(low - starts, sizes)
    n, r, c, of_center = (np.repeat(values, sizes) for values in (n, r, c, xlogy(center, center)))
    logs = -gammaln(count + 1.0) - gammaln(r - count + 1.0) - gammaln(c - count + 1.0) - gammaln(n - r - c + count + 1.0)
    shares = np.exp(logs - np.repeat(np.maximum.reduceat(logs, starts), sizes))
    # Relative to the value at the center, which is large, so that rounding of the shares is not multiplied by it.
    differences = np.add.reduceat(shares * (xlogy(count, count) - of_center), starts) / np.add.reduceat(shares, starts)
    return float(times @ (differences + xlogy(center, center)))


def _n_log_n(counts: NDArray[np.integer]) -> float:
    positive = counts[counts > 0].astype(np.float64)
    return float((positive * np.log(positive)).sum())


@dataclass(eq=False, repr=False)
class PermutationTest(StoppingRule):
    r"""Keep features as long as the best score is larger than the best score for permuted targets.

    Whole labelsets are permuted among the rows that agree in all selected features. That preserves the dependence among the
    targets, among the features, and between the targets and the selected features; it removes the information that the other
    features add. With :math:`B` permutations and the largest score among all candidates,

    .. math:: p = \frac{1 + \#\{b : \max_k J^{(b)}_k \ge J\}}{1 + B} .

    The maximum corrects for taking the best of many candidates. If no remaining feature adds information about the targets, the
    permuted data are as likely as the observed ones, so the next feature passes with probability :math:`\alpha` at most, for
    any criterion, any number of rows and any label frequency. For the first feature this is exact; for later ones it assumes
    that the selected features are the relevant ones.

    Assumes that rows are exchangeable: no time order, no groups of related rows. Unknown labels are permuted with the known
    ones of their row, so whether a label is known must not depend on the features. The codes are treated as fixed: supervised
    bins (MDL) depend on the targets, and then p-values are too small. The more features are selected, the fewer rows agree in
    all of them; when no two rows do, no permutation is left and the selection stops, so the rule cannot reach many features
    with many levels each.

    Parameters
    ----------
    alpha : float, default=0.05
        The significance level.
    n_permutations : int, default=199
        :math:`B`; p-values are multiples of :math:`1 / (B + 1)`. A feature that fails is detected earlier (Besag and Clifford
        1991: if :math:`h = \lfloor \alpha (B + 1) \rfloor` of :math:`l` permutations are at least as good, :math:`p = h / l`).
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations.
    max_features : int, default=None
        The largest number of features; None: all.

    Attributes
    ----------
    p_values_ : ndarray
        p-values of the selected features; NaN for forced ones.
    p_value_left_out_ : float or None
        p-value of the first feature that failed; None if there was none.
    reason_ : str
        Why it stopped.

    Notes
    -----
    Refused for weighted rows, label spaces that count rows several times, and supervised bins. Forced features define
    strata and are not tested. Cost: every feature needs :math:`B` times packing the features and scoring again with all
    selected ones, so :math:`K` features need up to :math:`B K^2 / 2` passes over all features and targets.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_rows=400, n_relevant=2, n_noisy_copies=0, n_xor_pairs=0, n_irrelevant=5)
    >>> sieve = Sieve("jmi", n_features_to_select=PermutationTest(n_permutations=99)).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in sieve.selected_]
    ['relevant', 'relevant']
    >>> sieve.stopping_.p_values_
    array([0.01, 0.01])
    """

    name = "permutation"
    is_test = True

    alpha: float = 0.05
    _: KW_ONLY
    n_permutations: int = 199
    random_state: RandomState = 0
    max_features: int | None = None

    def decide(self, path: SelectionPath) -> int:
        """Return the number of features before the first one that is not significant."""
        alpha = share(self.alpha, "alpha")
        whole_number(self.n_permutations, "n_permutations", 1, 2**31)
        path.require_plain_rows("PermutationTest", PERMUTATION_REMEDY)
        self._formula(path)
        random = check_random_state(self.random_state)
        p_values = [np.nan] * path.n_forced

        def passes(kept: int) -> bool:
            p_values.append(self._p_value(path, kept, alpha, random))
            self.reason_ = self.reason_ if p_values[-1] <= alpha else f"The next feature has p = {p_values[-1]:.3g}."
            return p_values[-1] <= alpha

        kept = self._extend_while(passes, path)
        self.p_values_ = np.array(p_values[:kept])
        left_out = p_values[kept] if len(p_values) > kept else np.nan
        self.p_value_left_out_ = None if np.isnan(left_out) else float(left_out)
        return kept

    def _formula(self, path: SelectionPath) -> Scorer:
        """Return the scorer of the criterion's formula, which can score features for permuted targets, too."""
        if not isinstance(path.search.gain, Scorer):
            raise InputError(
                f"PermutationTest permutes the targets of a formula, and the scores are of {path.search.gain.name}; use GTest, "
                "CrossValidated or a fixed number."
            )
        return path.search.gain

    def _p_value(self, path: SelectionPath, kept: int, alpha: float, random: np.random.RandomState) -> float:
        """Return the p-value of the feature that is selected after ``kept`` others."""
        search, workspace, formula = path.search, path.workspace, self._formula(path)
        selected, observed = search.selected[:kept], search.scores[kept]
        columns = [workspace.X.column(feature) for feature in selected]
        strata = np.zeros(workspace.X.n_rows, dtype=np.uint32)
        if selected:
            joint = Codes(len(strata), workspace.X.levels[selected], dense=np.column_stack(columns))
            strata, n_strata = joint_variable(joint)
            if n_strata == len(strata):
                return 1.0
        penalty = np.where(path.candidates(kept), 0.0, -np.inf)
        # Rounded before the floor: 0.05 * 200 is a little more or less than ten.
        enough = max(1, int(np.floor(round(alpha * (self.n_permutations + 1), 9))))
        as_good = 0
        for n_done in range(1, self.n_permutations + 1):
            permuted = workspace.with_targets(permuted_rows(workspace.Y, permutation_within(strata, random)))
            scorer = formula.rebind(permuted, targets=path.targets, parents=path.parents)
            for feature in selected:
                scorer.select(feature)
            as_good += bool((scorer.scores() + penalty).max() >= observed)
            if as_good == enough and enough / n_done > alpha:
                return enough / n_done
        return (1 + as_good) / (1 + self.n_permutations)


REMEDY = "use CrossValidated, Knee, ScoreThreshold or a fixed number."


@dataclass(eq=False, repr=False)
class FDR(StoppingRule):
    r"""Select all features that are associated with some target at a false discovery rate, in the order of the criterion.

    Every candidate is tested for independence of every target; the hierarchical procedure of Peterson et al. (2016) decides
    which features are discovered, see :class:`labelsieve.selectors.MarginalDiscoveries`. The search leaves out all others and
    ranks the discovered ones, all of which are selected. At most a fraction ``alpha`` of the selected features is expected to
    be independent of all targets.

    With the marginal null hypothesis, redundant features are discoveries, too; the criterion ranks them behind those that add
    information. With the conditional one, a feature is discovered if it has information about some target given all other
    features, by model-X knockoffs of the codes: see :class:`labelsieve.selectors.ConditionalDiscoveries`, which has more
    samplers and statistics.

    Parameters
    ----------
    alpha : float, default=0.1
        The false discovery rate.
    null : {"marginal", "conditional"}, default="marginal"
        The hypothesis of a feature: it is independent of all targets; or independent given all other features, for which the
        rate holds as far as a tree of pairwise dependences models the features. ``"conditional"`` discovers at least ``1 /
        alpha`` features or none.
    combine : {"simes", "fisher"}, default="simes"
        The p-value of a feature from those of its targets; Fisher's is for independent targets.
    correction : {"bh", "by"}, default="bh"
        Benjamini and Hochberg, or Benjamini and Yekutieli for any dependence of the features.
    n_permutations : int, default=9999
        Number of permutations for pairs whose p-value is neither exact nor asymptotic.
    n_repeats : int, default=20
        Number of sets of knockoffs, for ``null="conditional"``; ``combine``, ``correction`` and ``n_permutations`` are for
        ``"marginal"``.
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations, or of the knockoffs.
    max_features : int, default=None
        The largest number of features; None: all discovered ones. The rate is that of all discovered features, not of the
        first few of them.

    Attributes
    ----------
    q_values_ : ndarray of shape (n_features,)
        The smallest ``alpha`` at which a feature is discovered; NaN for forced and excluded features, which are not tested.
    label_q_values_, label_p_values_ : ndarray of shape (n_features, n_targets)
        q-values and p-values of pairs of a feature and a target; NaN with ``null="conditional"``, whose statistic is of all
        targets together.
    left_out_ : ndarray of int
        Candidates that were not discovered, which the search left out.
    minimum_information_, detectable_information_ : float
        As for :class:`labelsieve.selectors.MarginalDiscoveries`, in nats; NaN with ``null="conditional"``.
    reason_ : str
        The number of discovered features and the tests; if there are none, what could have been discovered. With
        ``null="conditional"``, whether other knockoffs may lead to other discoveries.

    Notes
    -----
    Refused for weighted rows, label spaces that count rows several times, and supervised bins (MDL), which depend on the
    targets. In :class:`labelsieve.LabelwiseSieve` the rate holds for the features of every target by itself; with
    ``n_candidates`` all features are tested, and candidates that are discovered are selected. Cost: counting all pairs once
    more, and the exact or permutation tests of pairs with few rows.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(400, n_relevant=4, n_noisy_copies=0, n_xor_pairs=0)
    >>> sieve = Sieve("cmim", n_features_to_select=FDR(alpha=0.05)).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in sieve.selected_][:4]
    ['relevant', 'relevant', 'relevant', 'relevant']
    >>> bool((sieve.stopping_.q_values_[sieve.selected_] <= 0.05).all())
    True
    """

    name = "fdr"
    leaves_out = True
    is_test = True

    alpha: float = 0.1
    _: KW_ONLY
    null: Literal["marginal", "conditional"] = "marginal"
    combine: Literal["simes", "fisher"] = "simes"
    correction: Literal["bh", "by"] = "bh"
    n_permutations: int = 9999
    n_repeats: int = 20
    random_state: RandomState = 0
    max_features: int | None = None

    def leave_out(self, workspace: Workspace, targets: slice, unavailable: Sequence[int]) -> list[int]:
        """Return the candidates that are not discovered, which the search leaves out."""
        alpha = share(self.alpha, "alpha")
        one_of(self.null, "null", ("marginal", "conditional"))
        one_of(self.combine, "combine", COMBINATIONS)
        one_of(self.correction, "correction", CORRECTIONS)
        whole_number(self.n_permutations, "n_permutations", 1, 2**31)
        whole_number(self.n_repeats, "n_repeats", 1, 2**31)
        require_plain_rows(workspace, "FDR", REMEDY)
        X, columns = workspace.X, np.arange(workspace.Y.n_columns)[targets]
        candidates = np.setdiff1d(np.arange(X.n_columns), unavailable)
        some, Y = X.take_columns(candidates), workspace.Y.take_columns(columns)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.q_values_ = np.full(X.n_columns, np.nan)
        self.label_q_values_, self.label_p_values_ = (np.full((X.n_columns, len(columns)), np.nan) for _ in range(2))
        self.minimum_information_ = self.detectable_information_ = float("nan")
        decide = self._test_conditionally if self.null == "conditional" else self._test_marginally
        self.reason_ = decide(some, Y, candidates, alpha, seed, workspace.options.n_jobs)
        of_features = self.q_values_[candidates]
        self.left_out_ = candidates[of_features > alpha]
        n_found = len(candidates) - len(self.left_out_)
        if n_found:
            found = f"{n_found} of {len(candidates)} features are discovered at a false discovery rate of {alpha:g}."
            self.reason_ = f"{found} {self.reason_}".strip()
        return [int(column) for column in self.left_out_]

    def _test_marginally(self, X: Codes, Y: Codes, candidates: Rows, alpha: float, seed: int, n_jobs: int | None) -> str:
        """Set the q-values of the candidates; returns what the tests were, and what they could have found."""
        tests = association_tests(X, Y, TestSettings(None, None, self.n_permutations, seed, n_jobs))
        rule = FamilyRule("hierarchical", self.combine, self.correction)
        self.q_values_[candidates], self.label_q_values_[candidates] = rule.q_values(tests)
        self.label_p_values_[candidates] = tests.p_values
        evidence = MarginalEvidence(tests, X, Y, alpha, rule)
        self.minimum_information_, self.detectable_information_ = evidence.minimum_information, evidence.detectable_information
        return evidence.reason(self.n_permutations, found=bool((self.q_values_[candidates] <= alpha).any()))

    def _test_conditionally(self, X: Codes, Y: Codes, candidates: Rows, alpha: float, seed: int, _: int | None) -> str:
        """Test the features given all others, with knockoffs."""
        if X.has_missing or Y.has_missing:
            raise InputError(
                'FDR(null="conditional") needs features and targets that are known in all rows; fill missing cells.'
            )
        statistics = code_statistics(X, Y, n_repeats=self.n_repeats, seed=seed)
        self.q_values_[candidates] = e_q_values(knockoff_e_values(statistics, alpha))
        found = self.q_values_[candidates] <= alpha
        note = reproducibility_note(knockoff_reproducibility(statistics, alpha), found)
        if found.any():
            return note
        fewest = int(np.ceil(round(1 / alpha, 9)))
        return (
            f"Nothing is discovered at {alpha:g}: knockoffs discover {fewest} features (1 / alpha) or more, or none, and there "
            f'are {len(candidates)} candidates. Fewer features may be associated: use null="marginal", or a larger alpha.'
            + (f" {note}" if note else "")
        )

    def decide(self, path: SelectionPath) -> int:
        """Keep all features that the search did not leave out."""
        kept = self._max_features(path)
        path.search.extend(kept)
        if kept < path.search.n_available and not self.reason_.startswith("max_features"):
            self.reason_ = f"max_features. {self.reason_}"
        return kept
