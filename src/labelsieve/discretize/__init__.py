from labelsieve.discretize.base_discretizer import AsGiven, Discretizer, allows_missing, one_table
from labelsieve.discretize.equal_frequency import EqualFrequency
from labelsieve.discretize.equal_width import EqualWidth, equal_width
from labelsieve.discretize.k_means import KMeansBins
from labelsieve.discretize.mdl import MDL
from labelsieve.discretize.mean_std import MeanStd

__all__ = [
    "MDL",
    "AsGiven",
    "Discretizer",
    "EqualFrequency",
    "EqualWidth",
    "KMeansBins",
    "MeanStd",
    "allows_missing",
    "equal_width",
    "one_table",
]
