"""Discoveries with an error rate: tests of association, false discovery rates, knockoffs, and confidence intervals.

Codes or columns of features and targets come in; p-values, q-values, knockoff statistics and intervals go out. Start reading in
``association`` for marginal tests and in ``knockoff_filter`` for conditional ones; the selectors that use them are
``labelsieve.selectors.MarginalDiscoveries`` and ``ConditionalDiscoveries``, the stopping rule is ``labelsieve.stopping.FDR``.
``row_test`` marks the rows of any selection as signal or noise.
"""

from labelsieve.discoveries.conditional_randomization import conditional_randomization_test
from labelsieve.discoveries.error_rates import HierarchicalTests, adjusted, combined, hierarchical_tests
from labelsieve.discoveries.intervals import InformationIntervals, information_intervals, information_ranks, rank_intervals
from labelsieve.discoveries.knockoff_filter import e_q_values, knockoff_e_values, knockoff_reproducibility, knockoff_threshold
from labelsieve.discoveries.knockoff_gaussian import GaussianKnockoffs, knockoff_slack
from labelsieve.discoveries.knockoff_statistics import lasso_importance, likelihood_ratios
from labelsieve.discoveries.knockoff_tree import TreeKnockoffs
from labelsieve.discoveries.row_test import RowTests, row_tests, row_tests_of

__all__ = [
    "GaussianKnockoffs",
    "HierarchicalTests",
    "InformationIntervals",
    "RowTests",
    "TreeKnockoffs",
    "adjusted",
    "combined",
    "conditional_randomization_test",
    "e_q_values",
    "hierarchical_tests",
    "information_intervals",
    "information_ranks",
    "knockoff_e_values",
    "knockoff_reproducibility",
    "knockoff_slack",
    "knockoff_threshold",
    "lasso_importance",
    "likelihood_ratios",
    "rank_intervals",
    "row_tests",
    "row_tests_of",
]
