from labelsieve.discretize.base_discretizer import AsGiven, Discretizer, allows_missing, one_table
from labelsieve.discretize.mdl import MDL
from labelsieve.discretize.unsupervised_bins import EqualFrequency, EqualWidth, KMeansBins, MeanStd, equal_width

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
