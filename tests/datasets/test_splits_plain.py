"""Random halves, forward splits and published folds are what they say."""

import numpy as np
import pytest
from scipy.io import savemat

from labelsieve import InputError
from labelsieve.datasets.splits import ForwardSplits, HalfSplits, PublishedFolds, read_folds
from tests.support.shared_files import shared_file

FOLD_ROWS = {"emotions": 593, "flags": 194, "delicious": 16105, "yeast": 2417, "20NG": 19300, "tmc2007-500": 28596}


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


@pytest.mark.parametrize("window", ["growing", "sliding"])
@pytest.mark.parametrize(("n", "n_splits", "min_train", "gap"), [(20, 4, 5, 0), (23, 5, 3, 2), (9, 1, 8, 0), (12, 10, 1, 1)])
def test_forward_splits_test_every_later_row_once_and_never_train_on_the_future(window, n, n_splits, min_train, gap):
    splits = list(ForwardSplits(n_splits, min_train, gap, window).split(np.zeros(n)))
    assert len(splits) == n_splits
    assert np.array_equal(np.concatenate([test for _, test in splits]), np.arange(min_train + gap, n))
    sizes = [len(test) for _, test in splits]
    assert max(sizes) - min(sizes) <= 1
    for train, test in splits:
        assert test[0] - train[-1] == gap + 1
        assert np.array_equal(train, np.arange(train[0], train[-1] + 1))
        assert len(train) == min_train if window == "sliding" else train[0] == 0


@pytest.mark.parametrize("name", FOLD_ROWS)
def test_published_files_hold_ten_partitions_into_five_folds(name):
    path = shared_file("data", "folds", f"{name}.mat")
    folds = read_folds(path)
    assert folds.shape == (FOLD_ROWS[name], 10)
    splitter = PublishedFolds(path)
    assert splitter.get_n_splits() == 50
    assert (splitter.n_rows, splitter.n_partitions) == folds.shape
    splits = list(splitter.split(np.zeros(len(folds))))
    assert len(splits) == 50
    for partition in range(10):
        tests = [test for _, test in splits[5 * partition : 5 * partition + 5]]
        assert np.array_equal(np.sort(np.concatenate(tests)), np.arange(len(folds)))
        assert max(map(len, tests)) - min(map(len, tests)) <= 1
        alone = [test.tolist() for _, test in PublishedFolds(path, partition).split(np.zeros(len(folds)))]
        assert alone == [test.tolist() for test in tests]


def test_folds_count_from_zero_or_from_one_and_test_rows_say_the_same():
    folds = np.array([[0, 1], [1, 0], [2, 1], [0, 0]])
    rows = [[[0, 3], [1], [2]], [[1, 3], [0, 2]]]
    same = [PublishedFolds(folds), PublishedFolds(folds + 1), PublishedFolds.from_test_rows(rows, 4)]
    for splitter in same:
        assert splitter.get_n_splits() == 5
        assert [test.tolist() for _, test in splitter.split(np.zeros(4))] == [rows for partition in rows for rows in partition]


@pytest.mark.parametrize(
    ("partitions", "message"),
    [
        ([[[0, 1], [2, 4]]], "partition 1, fold 2: there is no row 4; rows are 0 to 3"),
        ([[[-1, 1], [2, 3]]], "partition 1, fold 1: there is no row -1"),
        ([[[0, 1], [2, 3]], [[0, 1], [1, 2, 3]]], "partition 2, fold 2: row 1 is tested twice"),
        ([[[0, 0, 1], [2, 3]]], "partition 1, fold 1: row 0 is tested twice"),
        ([[[0], [2]]], r"partition 1: row 1 is in no fold \(and 1 more\)"),
        ([[[0, 1, 2, 3], []]], "fold 2: test rows must be"),
        ([[[0, 1, 2, 3]]], "there is one fold only"),
        ([[[0.5], [1, 2, 3]]], "fold 1: test rows must be"),
        ([], "partitions is empty"),
    ],
)
def test_test_rows_must_exist_and_part_all_rows(partitions, message):
    with pytest.raises(InputError, match=message):
        PublishedFolds.from_test_rows(partitions, 4)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"folds": np.ones((3, 1))}, "toy.mat: has no variable 'indices', but 'folds'"),
        ({"indices": np.array([[1, 1], [2, np.nan], [2, 2]])}, "toy.mat, row 2, partition 2: nan is not the number of a fold"),
        ({"indices": np.array([[1.0], [2.0], [1.5]])}, "toy.mat, row 3, partition 1: 1.5"),
        ({"indices": np.array([[1, 1], [2, 3], [1, 3]])}, "toy.mat, partition 2: fold 2 has no rows"),
        ({"indices": np.array([[1], [1]])}, "toy.mat, partition 1: there is one fold only"),
        ({"indices": "folds"}, "toy.mat: folds must be numbers"),
        ({"indices": np.zeros((0, 0))}, "toy.mat: folds must be numbers"),
    ],
)
def test_bad_files_are_refused_with_file_row_and_partition(tmp_path, content, message):
    savemat(tmp_path / "toy.mat", content)
    with pytest.raises(InputError, match=message):
        read_folds(tmp_path / "toy.mat")


def test_what_is_no_matlab_file_is_refused_by_name(tmp_path):
    with pytest.raises(InputError, match=r"none\.mat: there is no such file"):
        PublishedFolds(tmp_path / "none.mat")
    (tmp_path / "text.mat").write_text("1 2 3 4 5\n" * 40)
    with pytest.raises(InputError, match=r"text\.mat: not a readable Matlab file"):
        PublishedFolds(str(tmp_path / "text.mat"))
    (tmp_path / "empty.mat").write_bytes(b"")
    with pytest.raises(InputError, match=r"empty\.mat: not a readable Matlab file"):
        PublishedFolds(tmp_path / "empty.mat")


def test_folds_of_another_data_set_are_refused():
    with pytest.raises(InputError, match="folds are for 4 rows and the data has 5"):
        next(PublishedFolds([1, 2, 1, 2]).split(np.zeros(5)))
    with pytest.raises(InputError, match="partition must be a whole number from 0 to 0"):
        PublishedFolds([1, 2, 1, 2], partition=1)
