from labelsieve.discretize.discretizer import AsGiven, Discretizer
from labelsieve.discretize.equal_frequency import EqualFrequency
from labelsieve.discretize.equal_width import EqualWidth, equal_width
from labelsieve.discretize.k_means import KMeansBins
from labelsieve.discretize.mdl import MDL
from labelsieve.discretize.mean_std import MeanStd
from labelsieve.discretize.named import DISCRETIZERS

__all__ = [
    "DISCRETIZERS",
    "MDL",
    "AsGiven",
    "Discretizer",
    "EqualFrequency",
    "EqualWidth",
    "KMeansBins",
    "MeanStd",
    "equal_width",
]
