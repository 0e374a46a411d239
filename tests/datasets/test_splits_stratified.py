"""Stratified splits keep labels in proportion, sizes equal, groups whole, and agree with the plain algorithm."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import KFold

from labelsieve.datasets.splits import (
    HalfSplits,
    IterativeStratifiedKFold,
    IterativeStratifiedShuffleSplit,
    assign,
    whole_targets,
)
from tests.support.arff_files import read_dense_arff
from tests.support.reference_splits import (
    iterative_stratification,
    label_deviation,
    size_spread,
    synthetic_labels,
)
from tests.support.shared_files import shared_file


@pytest.fixture(params=["emotions", "yeast", "made up"])
def Y(request):
    if request.param == "made up":
        return synthetic_labels()
    _, values = read_dense_arff(shared_file("data", request.param, f"{request.param}.arff.gz"))
    return values[:, -{"emotions": 6, "yeast": 14}[request.param] :].astype(int)


def test_every_row_is_tested_once_in_folds_of_equal_size(Y):
    splits = list(IterativeStratifiedKFold(7, random_state=0).split(Y, Y))
    assert np.array_equal(np.sort(np.concatenate([test for _, test in splits])), np.arange(len(Y)))
    assert all(np.array_equal(np.union1d(train, test), np.arange(len(Y))) for train, test in splits)
    assert all(len(train) + len(test) == len(Y) for train, test in splits)
    assert size_spread(splits) <= 1


@pytest.mark.parametrize("seed", range(5))
def test_parts_are_those_of_the_plain_algorithm(seed):
    column_counts = sparse.csr_array(synthetic_labels(60, 6, seed))
    label_sets = [
        set(column_counts.indices[a:b].tolist()) for a, b in zip(column_counts.indptr, column_counts.indptr[1:], strict=False)
    ]
    targets = whole_targets(60, 4, np.random.default_rng(seed))
    shares = np.full(4, 1 / 4)
    ours = assign(column_counts, np.ones(60, dtype=int), targets, shares, np.random.default_rng(seed))
    assert np.array_equal(ours, iterative_stratification(label_sets, targets.tolist(), np.random.default_rng(seed)))


def test_labels_deviate_far_less_than_in_random_folds(Y):
    random = np.mean([label_deviation(Y, list(KFold(10, shuffle=True, random_state=s).split(Y))) for s in range(5)])
    ours = label_deviation(Y, list(IterativeStratifiedKFold(10, random_state=0).split(Y, Y)))
    assert ours < random / 2.5


def test_folds_are_as_good_as_those_of_another_implementation(Y):
    other = pytest.importorskip("iterstrat.ml_stratifiers")
    seeds = range(5)
    theirs = [list(other.MultilabelStratifiedKFold(n_splits=10, shuffle=True, random_state=s).split(Y, Y)) for s in seeds]
    ours = [list(IterativeStratifiedKFold(10, random_state=s).split(Y, Y)) for s in seeds]
    assert np.mean([label_deviation(Y, s) for s in ours]) < 1.1 * np.mean([label_deviation(Y, s) for s in theirs])
    assert np.mean([size_spread(s) for s in ours]) <= np.mean([size_spread(s) for s in theirs])


@pytest.mark.parametrize("test_size", [0.5, 0.25, 100])
def test_repeated_splits_have_the_size_asked_for_and_keep_labels(Y, test_size):
    splits = list(IterativeStratifiedShuffleSplit(6, test_size=test_size, random_state=1).split(Y, Y))
    wanted = test_size if test_size > 1 else int(len(Y) * test_size)
    assert {len(test) for _, test in splits} == {wanted}
    assert len({tuple(test) for _, test in splits}) == 6, "the same split twice"
    random = list(HalfSplits(6, train_size=len(Y) - wanted, random_state=1).split(Y))
    assert label_deviation(Y, splits) < label_deviation(Y, random) / 2


def test_groups_are_never_split_and_labels_still_kept():
    Y = synthetic_labels(900)
    groups = np.random.default_rng(0).integers(0, 250, 900)
    splits = list(IterativeStratifiedKFold(5, random_state=0).split(Y, Y, groups))
    splitters = [splits, list(IterativeStratifiedShuffleSplit(3, 0.2, random_state=0).split(Y, Y, groups))]
    for train, test in [pair for some in splitters for pair in some]:
        assert not set(groups[train]) & set(groups[test])
    assert np.array_equal(np.sort(np.concatenate([test for _, test in splits])), np.arange(900))
    largest = np.bincount(groups).max()
    assert all(len(test) < 900 / 5 + 1 + largest for _, test in splits)
    random = list(KFold(5, shuffle=True, random_state=0).split(Y))
    assert label_deviation(Y, splits) < label_deviation(Y, random)


def test_rows_without_labels_even_out_the_sizes():
    Y = np.zeros((100, 3), dtype=int)
    Y[:9, 0] = 1
    splits = list(IterativeStratifiedKFold(10, random_state=0).split(Y, Y))
    assert size_spread(splits) == 0
    assert size_spread(list(IterativeStratifiedKFold(7, random_state=0).split(Y, np.zeros((100, 0))))) <= 1


def test_same_seed_same_folds_and_another_seed_others():
    Y = synthetic_labels(200)

    def tests(cv):
        return [test.tolist() for _, test in cv.split(Y, Y)]

    for kind in (IterativeStratifiedKFold, IterativeStratifiedShuffleSplit):
        splitter = kind(5, random_state=3)
        assert tests(splitter) == tests(splitter) == tests(kind(5, random_state=3))
        assert tests(splitter) != tests(kind(5, random_state=4))
    as_they_come = IterativeStratifiedKFold(5, shuffle=False, random_state=3)
    assert tests(as_they_come) == tests(as_they_come)


def test_sparse_dense_table_and_truth_values_give_the_same_folds():
    pandas = pytest.importorskip("pandas")
    Y = synthetic_labels(150)
    splitter = IterativeStratifiedKFold(4, random_state=0)
    expected = [test.tolist() for _, test in splitter.split(Y, Y)]
    for other in (sparse.csr_matrix(Y), sparse.coo_array(Y), Y.astype(bool), Y.astype(float), pandas.DataFrame(Y), Y.tolist()):
        assert [test.tolist() for _, test in splitter.split(Y, other)] == expected


def test_classes_and_categories_are_stratified_by_value():
    rng = np.random.default_rng(0)
    y = rng.choice(["red", "green", "blue"], size=300, p=[0.1, 0.3, 0.6])
    mixed = np.column_stack([y.astype(object), rng.integers(0, 4, 300), rng.integers(0, 2, 300)])
    for target in (y, mixed):
        counts = [
            np.unique(y[test], return_counts=True)[1]
            for _, test in IterativeStratifiedKFold(5, random_state=0).split(y, target)
        ]
        assert np.ptp(counts, axis=0).max() <= 3
    counts = [np.unique(y[test], return_counts=True)[1] for _, test in IterativeStratifiedKFold(5, random_state=0).split(y, y)]
    assert np.ptp(counts, axis=0).max() <= 1


def test_sparse_labels_stay_sparse():
    rows, columns = 3_000, 5_000_000  # 15 GB as a dense array, even of bytes
    rng = np.random.default_rng(0)
    at = np.repeat(np.arange(rows), 3), rng.choice(20, size=3 * rows) * 100_000
    Y = sparse.csr_array((np.ones(3 * rows), at), shape=(rows, columns))
    Y.sum_duplicates()
    Y.data[:] = 1
    dense = Y[:, np.arange(20) * 100_000].toarray()
    splits = list(IterativeStratifiedKFold(5, random_state=0).split(Y, Y))
    assert size_spread(splits) == 0
    assert label_deviation(dense, splits) < 0.005
