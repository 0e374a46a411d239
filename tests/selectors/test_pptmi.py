"""PPT-MI: pruned label rows and nearest neighbors."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import PPTMI, InputError, Sieve
from labelsieve.information import continuous
from labelsieve.information.continuous import ClassDistances
from labelsieve.labelspace import Pruned
from tests.criteria.test_reference_programs import emotions_in_three_bins
from tests.support.reference_pptmi import information, pptmi
from tests.support.selection_data import assert_same_selection, make_data
from tests.support.shared_files import shared_file


def data_with_copies(seed=0):
    """Rows that repeat, a column of two values, one of whole numbers, and one that is constant."""
    rng = np.random.default_rng(seed)
    X, Y = make_data(seed, 60)
    X[:, 0] = rng.integers(0, 2, size=60)
    X[:, 3] = np.round(2 * X[:, 3])
    X[:, 7] = 4.2
    X[20:30], Y[20:30] = X[:10], Y[:10]
    return X, Y


@pytest.mark.parametrize("make", [lambda: make_data(0, 60), data_with_copies], ids=["continuous", "with copies"])
@pytest.mark.parametrize(("k", "min_count"), [(1, 2), (3, 4), (4, 2)])
def test_it_chooses_what_its_twin_chooses(make, k, min_count):
    X, Y = make()
    selected, scores = pptmi(X, Y, 3, k=k, min_count=min_count)
    sieve = PPTMI(3, n_neighbors=k, min_count=min_count).fit(X, Y)
    assert sieve.selected_.tolist() == selected
    np.testing.assert_allclose(sieve.scores_, scores, rtol=0, atol=1e-10)


def test_small_blocks_and_distances_made_anew_change_nothing(monkeypatch):
    X, Y = make_data()
    expected = PPTMI(4).fit(X, Y)
    monkeypatch.setattr(continuous, "MATRIX_BYTES", 0)
    monkeypatch.setattr(continuous, "BLOCK_BYTES", 8 * 150 * 7)
    again = PPTMI(4).fit(X, Y)
    assert again.selected_.tolist() == expected.selected_.tolist()
    np.testing.assert_allclose(again.scores_, expected.scores_, rtol=0, atol=1e-12)


def test_the_estimate_comes_near_the_truth_for_normal_classes():
    """Two normal classes d apart: the information by numerical integration."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 1000)
    apart = 2.0
    x = rng.normal(size=2000) + apart * y
    grid = np.linspace(-8, 10, 20_001)
    densities = [np.exp(-((grid - apart * c) ** 2) / 2) / np.sqrt(2 * np.pi) for c in (0, 1)]
    mixture = (densities[0] + densities[1]) / 2
    truth = sum(np.trapezoid(p * np.log(p / mixture), grid) for p in densities) / 2
    found = ClassDistances([x, rng.normal(size=2000)], y, 6).information([0, 1])
    assert found[0] == pytest.approx(truth, abs=0.03)
    assert found[1] == pytest.approx(0, abs=0.03)


def test_columns_of_few_values_are_counted():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, size=300)
    noise, signal = rng.integers(0, 2, size=300).astype(float), (y > 0).astype(float)
    found = ClassDistances([noise, signal, np.zeros(300)], y, 4).information([0, 1, 2])
    plain = -sum(p * np.log(p) for p in (signal.mean(), 1 - signal.mean()))
    assert found == pytest.approx([0, plain, 0], abs=0.02)
    assert found[1] == pytest.approx(information(signal[:, np.newaxis], y, 4))


def test_units_and_containers_do_not_matter():
    X, Y = make_data()
    expected = PPTMI(3).fit(X, Y)
    assert PPTMI(3).fit(X * [1, 100, 1e-3, 1, 7, 1e6, 1, 2] + 5, Y).selected_.tolist() == expected.selected_.tolist()
    assert_same_selection(PPTMI(3).fit(sp.csr_array(X), sp.csr_array(Y)), expected)


def test_forced_excluded_and_what_was_left_out():
    X, Y = make_data()
    sieve = PPTMI(3, forced=[7], excluded=[1], min_count=8).fit(X, Y)
    assert sieve.selected_[0] == 7
    assert 1 not in sieve.selected_
    _, counts = np.unique(Y, axis=0, return_counts=True)
    assert sieve.n_rows_left_out_ == counts[counts < 8].sum()
    assert sieve.n_classes_ == np.count_nonzero(counts >= 8)


def test_one_class_has_nothing_to_tell_and_none_is_refused():
    X, Y = make_data()
    assert PPTMI(2).fit(X, np.zeros(len(X), dtype=int)).scores_.tolist() == pytest.approx([0, 0])
    with pytest.raises(InputError, match="no labelset occurs min_count = 500 times"):
        PPTMI(min_count=500).fit(X, Y)


def test_pyit_mlfs_ranks_by_bins_under_this_name():
    """Its PPT-MI scores one feature at a time in three bins, pruning below six rows: ours are Sieve's words for that."""
    X, Y = emotions_in_three_bins()
    path = shared_file("reference", "pyit_mlfs_selections_emotions.json")
    order = json.loads(path.read_text(encoding="utf-8"))["emotions_ppt_mi_pre_eval_20"]["order"]
    sieve = Sieve("mim", targets=Pruned(min_count=6), discretizer=None, n_features_to_select=20).fit(X, Y)
    assert sieve.selected_.tolist() == order
