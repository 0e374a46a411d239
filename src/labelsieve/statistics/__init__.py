from labelsieve.discoveries.conditional_randomization import conditional_randomization_test
from labelsieve.discoveries.error_rates import HierarchicalTests, adjusted, combined, hierarchical_tests
from labelsieve.discoveries.intervals import InformationIntervals, information_intervals, information_ranks, rank_intervals
from labelsieve.discoveries.knockoff_filter import e_q_values, knockoff_e_values, knockoff_reproducibility, knockoff_threshold
from labelsieve.discoveries.knockoff_gaussian import GaussianKnockoffs, knockoff_slack
from labelsieve.discoveries.knockoff_likelihood import lasso_importance, likelihood_ratios
from labelsieve.discoveries.knockoff_tree import TreeKnockoffs
from labelsieve.statistics.bayes import Band, Posterior, bayesian_signed_rank, confidence_band
from labelsieve.statistics.comparison import Comparison, compare
from labelsieve.statistics.results_table import average_ranks, ranks
from labelsieve.statistics.stability_index import Stability, stability_bound, stability_index
from labelsieve.statistics.tests import Friedman, bonferroni_dunn, critical_difference, friedman, holm, nemenyi, wilcoxon_holm

__all__ = [
    "Band",
    "Comparison",
    "Friedman",
    "GaussianKnockoffs",
    "HierarchicalTests",
    "InformationIntervals",
    "Posterior",
    "Stability",
    "TreeKnockoffs",
    "adjusted",
    "average_ranks",
    "bayesian_signed_rank",
    "bonferroni_dunn",
    "combined",
    "compare",
    "conditional_randomization_test",
    "confidence_band",
    "critical_difference",
    "e_q_values",
    "friedman",
    "hierarchical_tests",
    "holm",
    "information_intervals",
    "information_ranks",
    "knockoff_e_values",
    "knockoff_reproducibility",
    "knockoff_slack",
    "knockoff_threshold",
    "lasso_importance",
    "likelihood_ratios",
    "nemenyi",
    "rank_intervals",
    "ranks",
    "stability_bound",
    "stability_index",
    "wilcoxon_holm",
]
