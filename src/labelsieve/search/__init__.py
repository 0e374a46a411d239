from labelsieve.search.greedy import GreedySearch
from labelsieve.search.quadratic import QuadraticProgramme

__all__ = ["GreedySearch", "QuadraticProgramme"]
