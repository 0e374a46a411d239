from labelsieve.datasets.splits.fold_files import read_folds
from labelsieve.datasets.splits.forward import ForwardSplits
from labelsieve.datasets.splits.halves import HalfSplits
from labelsieve.datasets.splits.published_folds import PublishedFolds
from labelsieve.datasets.splits.stratified_folds import IterativeStratifiedKFold
from labelsieve.datasets.splits.stratified_shuffle import IterativeStratifiedShuffleSplit

__all__ = [
    "ForwardSplits",
    "HalfSplits",
    "IterativeStratifiedKFold",
    "IterativeStratifiedShuffleSplit",
    "PublishedFolds",
    "read_folds",
]
