from labelsieve.datasets.splits.plain import ForwardSplits, HalfSplits
from labelsieve.datasets.splits.published_folds import PublishedFolds, read_folds
from labelsieve.datasets.splits.stratified import IterativeStratifiedKFold, IterativeStratifiedShuffleSplit

__all__ = [
    "ForwardSplits",
    "HalfSplits",
    "IterativeStratifiedKFold",
    "IterativeStratifiedShuffleSplit",
    "PublishedFolds",
    "read_folds",
]
