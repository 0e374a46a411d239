"""Missing values are refused, or filled with what the training rows know; numeric targets stay numbers."""

import numpy as np
import pytest

from labelsieve import InputError
from labelsieve.datasets import Dataset
from labelsieve.studies import Protocol, Study
from labelsieve.studies.cells import SplitWork
from labelsieve.studies.data import LoadedData, read_source
from labelsieve.studies.estimators import Split

X = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, 4.0], [9.0, np.nan]])


def work(fills):
    data = LoadedData("sales", X, np.arange(4.0)[:, np.newaxis], fills)
    return SplitWork(data, Split(0, np.array([0, 1]), np.array([2, 3])))


def test_test_rows_are_filled_with_means_of_training_rows():
    filled = work(fills=True)
    assert filled.X.tolist() == [[1, 0], [3, 0]]  # nothing is known of the second column
    assert filled.test_X.tolist() == [[2, 4], [9, 0]]
    assert np.isnan(work(fills=False).test_X).any()


def test_filling_is_part_of_what_results_depend_on():
    filled, left = (LoadedData("sales", X, X, fills) for fills in (True, False))
    assert filled.fingerprint != left.fingerprint


def test_there_is_one_way_to_fill():
    with pytest.raises(
        InputError, match="data set 'osales': missing_values must be 'train-mean'; without it missing values are refused"
    ):
        read_source({"name": "osales", "missing_values": "zero"})


def test_whole_numbers_are_no_classes_for_a_measure_of_numbers(tmp_path):
    rng = np.random.default_rng(0)
    table = rng.uniform(size=(60, 4))
    sales = np.column_stack([np.round(table[:, 0] * 90_000), np.round(table[:, 1] * 90_000)])
    data = Dataset(table, sales, tuple("abcd"), ("s", "t"), ("numeric",) * 4, name="sales")
    how = {"n_features": [2], "classifiers": ["knn"], "measures": ["rrmse"], "splits": "2x50%", "baselines": []}
    assert Study(Protocol([data], ["group-jmi-rand", "single-jmi"], **how), tmp_path).run().n_failed == 0


def test_missing_values_are_refused_before_anything_runs_unless_they_are_filled(tmp_path):
    rng = np.random.default_rng(0)
    table, labels = rng.uniform(size=(60, 4)), rng.integers(2, size=(60, 3))
    table[3, 1] = np.nan
    songs = Dataset(table, labels, tuple("abcd"), tuple("xyz"), ("numeric",) * 4, name="songs")
    how = {"n_features": [2], "splits": "2x50%", "measures": ["hamming_loss"]}
    with pytest.raises(
        InputError,
        match=r"data set 'songs': it has missing values, and mlknn does not support them\. Set missing_values = 'train-mean'",
    ):
        Study(Protocol([songs], ["jmi"], **how), tmp_path).run()
    filled = Protocol([{"dataset": songs, "missing_values": "train-mean"}], ["jmi"], **how)
    assert Study(filled, tmp_path).run().n_failed == 0
    dropped = Protocol([{"dataset": songs, "name": "fewer", "drop": ["b"]}], ["jmi"], **how)
    assert Study(dropped, tmp_path / "fewer").run().n_failed == 0
    with pytest.raises(InputError, match="data set 'songs': 'labels' is for files"):
        Protocol([{"dataset": songs, "labels": 3}], ["jmi"], **how)


def test_unknown_labels_are_named_with_the_remedy(tmp_path):
    rng = np.random.default_rng(0)
    Y = np.where(rng.random((40, 2)) < 0.2, np.nan, rng.integers(0, 2, (40, 2)))
    data = Dataset(rng.normal(size=(40, 3)), Y, tuple("abc"), ("p", "q"), ("numeric",) * 3, name="made")
    protocol = Protocol(datasets=[data], methods=["mim"], n_features=[1], splits="10-fold", measures=["hamming_loss"])
    with pytest.raises(InputError, match=r"some labels are unknown, which studies cannot evaluate.*--missing-labels drop"):
        Study(protocol, tmp_path / "study").run()
