from labelsieve.search.greedy import GreedySearch
from labelsieve.search.joining import join_labels
from labelsieve.search.labelwise import Lists, search_each
from labelsieve.search.quadratic import QuadraticProgramme

__all__ = ["GreedySearch", "Lists", "QuadraticProgramme", "join_labels", "search_each"]
