from labelsieve.metrics.average_precision import average_precision
from labelsieve.metrics.coverage import coverage
from labelsieve.metrics.example_based import example_accuracy, example_f1
from labelsieve.metrics.label_based import macro_f1, micro_f1
from labelsieve.metrics.labelset_measures import exact_match, hamming_loss, hamming_score, subset_loss
from labelsieve.metrics.measures_table import CONVENTIONS, MEASURES, Measure, evaluate, options
from labelsieve.metrics.one_error import one_error
from labelsieve.metrics.ranking_loss import ranking_loss
from labelsieve.metrics.rrmse import rrmse
from labelsieve.metrics.scorers import Scorer, get_scorer, scorer_names

__all__ = [
    "CONVENTIONS",
    "MEASURES",
    "Measure",
    "Scorer",
    "average_precision",
    "coverage",
    "evaluate",
    "exact_match",
    "example_accuracy",
    "example_f1",
    "get_scorer",
    "hamming_loss",
    "hamming_score",
    "macro_f1",
    "micro_f1",
    "one_error",
    "options",
    "ranking_loss",
    "rrmse",
    "scorer_names",
    "subset_loss",
]
