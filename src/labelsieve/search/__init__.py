from labelsieve.search.greedy import GreedySearch
from labelsieve.search.joining import join_labels
from labelsieve.search.labelwise import Lists, search_each

__all__ = ["GreedySearch", "Lists", "join_labels", "search_each"]
