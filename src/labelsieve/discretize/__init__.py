from labelsieve.discretize.discretizer import AsGiven, Discretizer, discretizer_named
from labelsieve.discretize.equal_width import EqualWidth, equal_width

__all__ = ["AsGiven", "Discretizer", "EqualWidth", "discretizer_named", "equal_width"]
