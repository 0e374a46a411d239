"""Random halves are what they say."""

import numpy as np
import pytest

from labelsieve.datasets.splits import HalfSplits


def test_halves_part_all_rows_anew_in_every_repetition():
    splits = list(HalfSplits(random_state=0).split(np.zeros(101)))
    assert len(splits) == HalfSplits().get_n_splits() == 30
    assert len({tuple(train) for train, _ in splits}) == 30
    for train, test in splits:
        assert (len(train), len(test)) == (50, 51)
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(101))
        assert np.array_equal(train, np.sort(train))


def test_halves_choose_every_row_equally_often():
    times = sum(np.bincount(train, minlength=20) for train, _ in HalfSplits(2000, random_state=0).split(np.zeros(20)))
    assert np.abs(times - 1000).max() < 5 * np.sqrt(500)  # five standard deviations


@pytest.mark.parametrize(("train_size", "taken"), [(0.7, 7), (3, 3), (0.29, 2), (np.float32(0.5), 5)])
def test_halves_take_a_share_or_a_number(train_size, taken):
    assert [len(train) for train, _ in HalfSplits(2, train_size, random_state=0).split(np.zeros(10))] == [taken] * 2


def test_halves_are_the_same_for_a_seed_of_any_kind():
    def trains(seed):
        return [train.tolist() for train, _ in HalfSplits(3, random_state=seed).split(np.zeros(30))]

    assert trains(5) == trains(5) == trains(np.int64(5)) != trains(6)
    for kind in (np.random.default_rng, np.random.RandomState):
        assert trains(kind(5)) == trains(kind(5))
