"""Select the features that are associated with some target, at a stated false discovery rate."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np
from sklearn.utils import check_random_state

from labelsieve.counting.workspace import Workspace
from labelsieve.discoveries.association import TestSettings, association_tests
from labelsieve.discoveries.error_rates import COMBINATIONS, CORRECTIONS, FamilyRule, MarginalEvidence
from labelsieve.discoveries.knockoff_filter import e_q_values, knockoff_e_values, knockoff_reproducibility, reproducibility_note
from labelsieve.discoveries.knockoff_statistics import code_statistics
from labelsieve.errors import InputError, one_of, share, whole_number
from labelsieve.labelspace.base import RandomState
from labelsieve.stopping.base import Rows, SelectionPath, StoppingRule, require_plain_rows
from labelsieve.tables.codes import Codes

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
