"""Equal-width codes of real data against those that other people's programs made of it."""

import gzip

import numpy as np
import pytest

from labelsieve.discretize import equal_width
from tests.support.shared_files import shared_file


def numbers_of(name):
    """The numbers of a dense ARFF file without missing values."""
    with gzip.open(shared_file("data", name, f"{name}.arff.gz"), "rt") as lines:
        rows = [line.split(",") for line in lines if line.strip() and line[0] not in "@%"]
    return np.array(rows, dtype=float)


def number_occupied(codes):
    """Every column with the bins that are not empty numbered from 0, as the reference files have them."""
    return np.stack([np.unique(column, return_inverse=True)[1] for column in codes.T], axis=1)


@pytest.mark.parametrize("name", ["emotions", "atp1d"])
def test_five_bins_of_a_published_data_set_are_those_of_the_reference(name):
    with np.load(shared_file("reference", f"group_jmi_{name}_seed0.npz"), allow_pickle=False) as reference:
        expected, targets = reference["X_disc"], reference["Y"]
    table = numbers_of(name)
    n_features = expected.shape[1]
    assert np.array_equal(table[:, n_features:], targets), "the rows are in another order"
    codes = equal_width(table[:, :n_features])
    assert codes.levels.max() == 5
    assert np.array_equal(number_occupied(codes.to_dense()), expected)


def test_five_bins_of_emotions_are_those_that_feast_was_given():
    with np.load(shared_file("reference", "feast_emotions_eqw5.npz"), allow_pickle=False) as reference:
        expected = reference["X_disc"]
    codes = equal_width(numbers_of("emotions")[:, : expected.shape[1]])
    assert np.array_equal(number_occupied(codes.to_dense()), number_occupied(expected))
