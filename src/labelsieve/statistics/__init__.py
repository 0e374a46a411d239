"""Comparison of methods over data sets: tests, ranks, Bayesian comparisons, confidence bands, and stability of selections.

Tables of results or masks of selections come in; p-values, ranks, posteriors and stability indices go out. Start reading in
``comparison``, which ranks methods and says which of them differ; error rates of features are in ``labelsieve.discoveries``.
"""

from labelsieve.statistics.bayes import Band, Posterior, bayesian_signed_rank, confidence_band
from labelsieve.statistics.comparison import Comparison, compare
from labelsieve.statistics.stability_index import Stability, stability_bound, stability_index
from labelsieve.statistics.tests import (
    Friedman,
    average_ranks,
    bonferroni_dunn,
    critical_difference,
    friedman,
    holm,
    nemenyi,
    ranks,
    wilcoxon_holm,
)

__all__ = [
    "Band",
    "Comparison",
    "Friedman",
    "Posterior",
    "Stability",
    "average_ranks",
    "bayesian_signed_rank",
    "bonferroni_dunn",
    "compare",
    "confidence_band",
    "critical_difference",
    "friedman",
    "holm",
    "nemenyi",
    "ranks",
    "stability_bound",
    "stability_index",
    "wilcoxon_holm",
]
