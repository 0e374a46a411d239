from labelsieve.search.greedy import GreedySearch
from labelsieve.search.joining import KnownScores, join_labels, joined_scores, scores_by_label
from labelsieve.search.labelwise import Lists, search_each, together
from labelsieve.search.quadratic import QuadraticProgramme

__all__ = [
    "GreedySearch",
    "KnownScores",
    "Lists",
    "QuadraticProgramme",
    "join_labels",
    "joined_scores",
    "scores_by_label",
    "search_each",
    "together",
]
