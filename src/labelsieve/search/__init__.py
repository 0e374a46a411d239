from labelsieve.search.greedy import GreedySearch
from labelsieve.search.joining import join_labels

__all__ = ["GreedySearch", "join_labels"]
