"""MarginalDiscoveries: features and labels that are associated, with a false discovery rate."""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from labelsieve.counting.checked_parameters import AT_LEAST_ONE, parameter
from labelsieve.labelspace import read_targets
from labelsieve.labelspace.base_space import RandomState
from labelsieve.selectors.base_discoveries import BaseDiscoveries
from labelsieve.selectors.selector_input import named_labels
from labelsieve.statistics.association_tests import TESTS, TestSettings, association_tests, row_codes
from labelsieve.statistics.marginal_evidence import FamilyRule, MarginalEvidence
from labelsieve.table_types import TableLike, TargetsLike


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
        Mutual information in nats, given the strata if there are any.
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
        Information, in nats, at which a single pair is discovered if no other is; and the true information for which this
        happens with a probability of 80 %. For the most frequent degrees of freedom, by the chi-square distribution of G.
    reason_ : str
        The tests that were used and, where nothing was discovered, what could have been.
    selected_, scores_, support_, feature_scores_
        Features in order of their q-values, and their information about all labels, in nats.

    See Also
    --------
    labelsieve.stopping.FDR : the same as a stopping rule.

    Notes
    -----
    The page docs/discoveries.md describes which test is used when. The null hypothesis is marginal: a feature that is
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

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike, *, strata: ArrayLike | None = None, groups: ArrayLike | None = None) -> Self:
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
        features, targets = self._encode(X, y)
        n_rows = features.n_rows + self.n_rows_left_out_
        of_rows = [row_codes(strata, n_rows, "strata"), row_codes(groups, n_rows, "groups")]
        if self.n_rows_left_out_:
            kept = read_targets(named_labels(self, y), self.target_type).rows_with_targets()
            of_rows = [None if codes is None or kept is None else codes[kept] for codes in of_rows]
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
        self._set_discoveries(tests.information, tests.p_values, q_values, label_q_values, reason)
        return self

    @property
    def tests_(self) -> NDArray[np.str_]:
        """How each p-value was obtained: ``"exact"``, ``"g-test"``, ``"permutation"``, or ``"none"`` for constant columns."""
        return np.array(TESTS)[self.test_codes_]
