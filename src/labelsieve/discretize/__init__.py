from labelsieve.discretize.discretizer import AsGiven, Discretizer
from labelsieve.discretize.equal_width import EqualWidth, equal_width

__all__ = ["AsGiven", "Discretizer", "EqualWidth", "equal_width"]
