from labelsieve.search.combine_labels import KnownScores, join_labels, joined_scores, scores_by_label
from labelsieve.search.greedy import GreedySearch
from labelsieve.search.labelwise_search import Lists, search_each, together
from labelsieve.search.quadratic_program import QuadraticProgram

__all__ = [
    "GreedySearch",
    "KnownScores",
    "Lists",
    "QuadraticProgram",
    "join_labels",
    "joined_scores",
    "scores_by_label",
    "search_each",
    "together",
]
