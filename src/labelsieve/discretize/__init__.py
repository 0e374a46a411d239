"""Discretizers encode the columns of a table as small integers.

In comes a table of numbers, text or categories, out go ``Codes``. Start with ``BaseBins.encode`` in ``base``; every other
module has the rules of some discretizers.
"""

from labelsieve.discretize.base import (
    Discretizer,
    EqualFrequency,
    EqualWidth,
    KMeansBins,
    MeanStd,
    allows_missing,
    equal_width,
    one_table,
)
from labelsieve.discretize.by_column import ByColumn
from labelsieve.discretize.kept_values import AsGiven, Levels
from labelsieve.discretize.mdl import MDL

__all__ = [
    "MDL",
    "AsGiven",
    "ByColumn",
    "Discretizer",
    "EqualFrequency",
    "EqualWidth",
    "KMeansBins",
    "Levels",
    "MeanStd",
    "allows_missing",
    "equal_width",
    "one_table",
]
