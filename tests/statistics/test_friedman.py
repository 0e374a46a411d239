"""Friedman's test has the level it promises, also on few data sets."""

from itertools import permutations, product

import numpy as np
import pytest

from labelsieve.statistics import compare, friedman
from labelsieve.statistics.tests import _permute, friedman_p_value, ranks


def reference_p_value(table):
    """The share of all orders of the ranks within the rows whose statistic is at least as large."""
    rows = ranks(table, lower_is_better=True)
    observed = (rows.sum(axis=0) ** 2).sum()
    orders = [list(permutations(row)) for row in rows]
    statistics = np.array([(np.sum(chosen, axis=0) ** 2).sum() for chosen in product(*orders)])
    return np.mean(statistics >= observed - 1e-9)


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 3), (4, 3), (5, 3), (2, 4), (3, 4)], ids=str)
@pytest.mark.parametrize("n_values", [3, 1000])  # with and without ties
def test_p_value_equals_the_enumeration_of_all_orders(shape, n_values):
    for seed in range(5):
        table = np.random.default_rng(seed).integers(n_values, size=shape)
        found = friedman(table, lower_is_better=True)
        assert found.distribution == "exact"
        assert found.p_value == pytest.approx(reference_p_value(table))


def test_equal_rankings_of_two_data_sets_prove_nothing():
    found = friedman([[1, 2, 3], [1, 2, 3]])
    assert found.f == np.inf
    assert found.p_value == pytest.approx(1 / 6)
    assert found.smallest_p_value == pytest.approx(1 / 6)
    text = str(compare([[1, 2, 3], [1, 2, 3]], lower_is_better=True))
    assert "no verdict, since 2 data sets cannot give a p-value below 0.17" in text
    assert text.endswith("No difference is shown.")


@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (3, 5), (4, 7), (20, 4)], ids=str)
def test_level_is_kept(shape):
    random = np.random.default_rng(0)
    rejected = np.mean([friedman(random.normal(size=shape)).p_value < 0.05 for _ in range(400)])
    assert rejected <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_permutations_agree_with_the_enumeration():
    table = np.random.default_rng(1).normal(size=(8, 4)) + np.arange(4) / 3
    exact = friedman(table)
    wide = np.random.default_rng(2).normal(size=(8, 7)) + np.arange(7) / 3
    assert exact.distribution == "exact"
    assert friedman(wide).distribution == "permutations"
    doubled = np.sort(np.rint(2 * ranks(table, lower_is_better=False)).astype(np.int64), axis=1)
    observed = int(((2 * ranks(table, lower_is_better=False)).sum(axis=0) ** 2).sum())
    assert _permute(doubled, observed) == pytest.approx(exact.p_value, abs=0.01)


@pytest.mark.parametrize(("n", "k"), [(2, 3), (12, 4), (30, 5), (200, 20)])
def test_p_value_is_never_zero(n, k):
    found = friedman(np.tile(np.arange(k), (n, 1)))
    assert 0 < found.p_value == pytest.approx(found.smallest_p_value)


def test_ties_everywhere_give_one():
    assert friedman_p_value(np.full((5, 3), 2.0), 0.0)[0] == pytest.approx(1.0)
