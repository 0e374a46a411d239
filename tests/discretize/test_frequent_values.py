"""Columns with a frequent value keep their information in bins of equal frequency."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve.discretize import EqualFrequency


def mostly_zeros(share, n_rows=1000, seed=0):
    rng = np.random.default_rng(seed)
    return rng.permutation(np.r_[np.zeros(round(share * n_rows)), rng.gamma(2.0, size=n_rows - round(share * n_rows))])


@pytest.mark.parametrize("share", [0.3, 0.5, 0.6, 0.7, 0.9, 0.99])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_zeros_are_apart_from_everything_else(share, container):
    column = mostly_zeros(share)
    codes = EqualFrequency(5).encode(container(column[:, None])).column(0)
    assert set(codes[column == 0]).isdisjoint(codes[column > 0])
    signed = np.where(np.arange(1000) % 2, column, -column)
    codes = EqualFrequency(5).encode(container(signed[:, None])).column(0)
    assert set(codes[signed == 0]).isdisjoint(codes[signed != 0])
    assert set(codes[signed < 0]).isdisjoint(codes[signed > 0])


def test_values_beside_a_frequent_one_share_the_bins_that_it_leaves():
    codes = EqualFrequency(5).encode(mostly_zeros(0.6)[:, None]).column(0)
    assert np.bincount(codes).tolist() == [600, 100, 100, 100, 100]
    codes = EqualFrequency(5).encode(mostly_zeros(0.9)[:, None]).column(0)
    assert np.bincount(codes).tolist() == [900, 100], "bins of fewer than a tenth of the rows are mostly noise"


@pytest.mark.parametrize("values", [[0, 1], [0, 0, 0, 0, 0, 0, 0, 0, 0, 7], [1, 1, 1, 1, 2, 3, 4, 5]])
def test_few_distinct_values_are_all_kept(values):
    column = np.repeat(values, 10)
    codes = EqualFrequency(5).encode(column[:, None]).column(0)
    assert codes.tolist() == np.unique(column, return_inverse=True)[1].tolist()


def test_without_frequent_values_bins_have_equal_numbers_of_rows():
    column = np.random.default_rng(0).normal(size=1000)
    codes = EqualFrequency(5).encode(column[:, None]).column(0)
    assert np.array_equal(codes, np.argsort(np.argsort(column)) // 200)
