from labelsieve.statistics.bands import Band, confidence_band
from labelsieve.statistics.bayes import Posterior, bayesian_signed_rank
from labelsieve.statistics.compare import compare
from labelsieve.statistics.comparison import Comparison
from labelsieve.statistics.conditional_randomization import conditional_randomization_test
from labelsieve.statistics.false_discovery import HierarchicalTests, adjusted, combined, hierarchical_tests
from labelsieve.statistics.friedman import Friedman, friedman
from labelsieve.statistics.information_intervals import (
    InformationIntervals,
    information_intervals,
    information_ranks,
    rank_intervals,
)
from labelsieve.statistics.knockoff_filter import e_q_values, knockoff_e_values, knockoff_reproducibility, knockoff_threshold
from labelsieve.statistics.knockoff_gaussian import GaussianKnockoffs
from labelsieve.statistics.knockoff_likelihood import lasso_importance, likelihood_ratios
from labelsieve.statistics.knockoff_slack import knockoff_slack
from labelsieve.statistics.knockoff_tree import TreeKnockoffs
from labelsieve.statistics.pair_tests import bonferroni_dunn, critical_difference, holm, nemenyi, wilcoxon_holm
from labelsieve.statistics.results_table import average_ranks, ranks
from labelsieve.statistics.stability_index import Stability, stability_bound, stability_index

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
