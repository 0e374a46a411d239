"""Measures of multi-label predictions: of labelsets, of rankings, of the k best labels; and one of numeric targets.

True labels and predictions come in, one number goes out. ``evaluate`` computes all measures, ``get_scorer`` makes scorers for
scikit-learn. Start reading in ``evaluation.py``, which lists the measures; ``arrays.py`` checks what they are given.
"""

from labelsieve.metrics.evaluation import (
    CONVENTIONS,
    MEASURES,
    Measure,
    Scorer,
    convention_options,
    evaluate,
    get_scorer,
    scorer_names,
)
from labelsieve.metrics.labelsets import (
    exact_match,
    example_accuracy,
    example_f1,
    hamming_loss,
    hamming_score,
    macro_f1,
    micro_f1,
    subset_loss,
)
from labelsieve.metrics.rankings import (
    average_precision,
    coverage,
    inverse_propensities,
    ndcg_at_k,
    one_error,
    precision_at_k,
    psndcg_at_k,
    psp_at_k,
    ranking_loss,
)
from labelsieve.metrics.regression import rrmse

__all__ = [
    "CONVENTIONS",
    "MEASURES",
    "Measure",
    "Scorer",
    "average_precision",
    "convention_options",
    "coverage",
    "evaluate",
    "exact_match",
    "example_accuracy",
    "example_f1",
    "get_scorer",
    "hamming_loss",
    "hamming_score",
    "inverse_propensities",
    "macro_f1",
    "micro_f1",
    "ndcg_at_k",
    "one_error",
    "precision_at_k",
    "psndcg_at_k",
    "psp_at_k",
    "ranking_loss",
    "rrmse",
    "scorer_names",
    "subset_loss",
]
