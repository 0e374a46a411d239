"""Rows are parted by words, splitters and given pairs; what does not part them is refused in words."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, StratifiedKFold

from labelsieve import InputError
from labelsieve.studies import Study
from labelsieve.studies.estimators import read_splits
from tests.support.small_studies import contents, data, protocol

ROWS = np.arange(80)
GROUPS = ROWS // 10


class Yields:
    """A splitter that yields what it is given."""

    def __init__(self, *what):
        self.what = what

    def split(self, X, y=None, groups=None):
        yield from self.what


def found(given):
    one = data()
    return read_splits(given, 0).splits(one.X, one.Y, "songs")


def test_given_pairs_part_the_rows_as_the_splitter_they_came_from(tmp_path):
    small = {"datasets": [data()], "methods": ["jmi"], "n_features": [2]}
    Study(protocol(**small, splits=KFold(3)), tmp_path / "splitter").run()
    Study(protocol(**small, splits=list(KFold(3).split(ROWS))), tmp_path / "pairs").run()
    assert contents(tmp_path / "splitter") == contents(tmp_path / "pairs")


def test_groups_stay_together_in_given_pairs():
    for split in found(list(GroupKFold(4).split(ROWS, groups=GROUPS))):
        assert not set(GROUPS[split.train]) & set(GROUPS[split.test])


def test_truth_values_choose_rows():
    even = ROWS % 2 == 0
    (split,) = found(Yields((even, ~even)))
    assert split.train.tolist() == ROWS[even].tolist()
    assert split.test.tolist() == ROWS[~even].tolist()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (GroupKFold(3), r"data set 'songs', splits: GroupKFold.* 'groups'.* pass pairs of rows"),
        (StratifiedKFold(3), "Supported target types are"),
        (KFold(100), "n_splits=100 greater than the number of samples"),
        (PredefinedSplit(np.full(80, -1)), "data set 'songs', splits: there are none"),
        ([], r"there are none \(0 given pairs"),
        (Yields(ROWS), "split 0 of songs: a split is a pair of training and test rows"),
        (Yields((ROWS[:40] + 0.5, ROWS[40:])), "split 0 of songs: a split is a pair"),
        (Yields((np.array([True, False]), ROWS[40:])), "a boolean mask of rows must have 80"),
        ([(ROWS[:40], ROWS[40:] + 1)], "it has rows outside 0 to 79"),
    ],
)
def test_a_splitter_that_cannot_split_the_rows_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        found(given)
