from labelsieve.search.greedy import GreedySearch
from labelsieve.search.labelwise import search_each

__all__ = ["GreedySearch", "search_each"]
