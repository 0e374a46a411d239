from labelsieve.search.combine_labels import KnownScores, join_labels, joined_scores, scores_by_label
from labelsieve.search.gains import CombinedGain, Gain
from labelsieve.search.greedy import GreedySearch
from labelsieve.search.labelwise_search import Lists, search_each, together
from labelsieve.search.least_squares import LeastSquaresGain
from labelsieve.search.quadratic_program import QuadraticProgram

__all__ = [
    "CombinedGain",
    "Gain",
    "GreedySearch",
    "KnownScores",
    "LeastSquaresGain",
    "Lists",
    "QuadraticProgram",
    "join_labels",
    "joined_scores",
    "scores_by_label",
    "search_each",
    "together",
]
