from labelsieve.datasets.splits.published_folds import PublishedFolds, read_folds
from labelsieve.datasets.splits.stratified_splits import IterativeStratifiedKFold, IterativeStratifiedShuffleSplit
from labelsieve.datasets.splits.unstratified_splits import ForwardSplits, HalfSplits

__all__ = [
    "ForwardSplits",
    "HalfSplits",
    "IterativeStratifiedKFold",
    "IterativeStratifiedShuffleSplit",
    "PublishedFolds",
    "read_folds",
]
