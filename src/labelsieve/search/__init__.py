from labelsieve.search.greedy import GreedySearch
from labelsieve.search.labelwise import Lists, search_each

__all__ = ["GreedySearch", "Lists", "search_each"]
