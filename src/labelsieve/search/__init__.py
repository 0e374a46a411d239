from labelsieve.search.greedy import GreedySearch

__all__ = ["GreedySearch"]
