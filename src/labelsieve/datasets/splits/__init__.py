"""Splits of the rows of multi-label data into training and test rows, for whatever takes a splitter of scikit-learn.

Start reading in ``stratified``: its splitters keep the share of every label. ``plain`` has random halves and the base class.
"""

from labelsieve.datasets.splits.plain import HalfSplits
from labelsieve.datasets.splits.stratified import IterativeStratifiedKFold, IterativeStratifiedShuffleSplit

__all__ = ["HalfSplits", "IterativeStratifiedKFold", "IterativeStratifiedShuffleSplit"]
