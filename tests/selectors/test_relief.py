"""The Relief family: its references, Weka's scores, and what must not matter."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import InputError
from labelsieve.datasets import load, make_feature_roles
from labelsieve.selectors import ReliefF, ReliefFML, RReliefF
from labelsieve.selectors.rankings import relief
from tests.support import reference_relief as relief_references
from tests.support.shared_files import shared_file

family = pytest.mark.parametrize("selector", [ReliefF(), ReliefF(targets="joint"), ReliefFML(), RReliefF()], ids=str)


def make_data(seed=0, n_rows=60):
    """Few distinct values, so that rows tie, and labels of which one never occurs, one always."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n_rows, 7)) * [1.0, 0.1, 3.0, 1.0, 7.0, 1.0, 1.0] - [0, 0.2, 0, 3, 0, 0, 0]
    X[:, 5] = 2.5
    X[:, 6] = X[:, 0]
    Y = np.column_stack([X[:, 0] > 1, X[:, 1] > 0, rng.random(n_rows) < 0.2, np.zeros(n_rows), np.ones(n_rows)])
    return X, Y.astype(int)


def score(selector, X, Y, **parameters):
    return type(selector)(**{**selector.get_params(), **parameters}).fit(X, Y).feature_scores_


options = pytest.mark.parametrize(("k", "sigma"), [(1, None), (5, None), (5, 2.0), (80, None)])


@options
def test_relieff_is_its_twin_averaged_over_labels(k, sigma):
    X, Y = make_data()
    expected = np.mean([relief_references.relieff(X, y, k, sigma) for y in Y.T], axis=0)
    assert score(ReliefF(), X, Y, n_neighbors=k, sigma=sigma) == pytest.approx(expected, abs=1e-8)


@options
def test_joint_relieff_takes_the_label_row_for_the_class(k, sigma):
    X, Y = make_data()
    classes = Y @ [1, 2, 4, 8, 16]
    expected = relief_references.relieff(X, classes, k, sigma)
    assert score(ReliefF(targets="joint"), X, Y, n_neighbors=k, sigma=sigma) == pytest.approx(expected, abs=1e-8)
    assert score(ReliefF(), X, classes, n_neighbors=k, sigma=sigma) == pytest.approx(expected, abs=1e-8)


@options
def test_relieff_ml_is_its_twin(k, sigma):
    X, Y = make_data()
    expected = relief_references.relieff_ml(X, Y, k, sigma)
    assert score(ReliefFML(), X, Y, n_neighbors=k, sigma=sigma) == pytest.approx(expected, abs=1e-8)


@options
def test_rrelieff_is_its_twin_averaged_over_targets(k, sigma):
    X, Y = make_data()
    Y = Y * [1.0, -5.0, 0.25, 1, 1] + np.column_stack([X[:, 2] / 9, X[:, 0], X[:, 1], np.zeros(len(X)), np.zeros(len(X))])
    expected = np.mean([relief_references.rrelieff(X, y, k, sigma) for y in Y.T], axis=0)
    assert score(RReliefF(), X, Y, n_neighbors=k, sigma=sigma) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("name", ["emotions", "emotions-train"])
def test_scores_are_those_of_weka(name):
    reference = np.load(shared_file("reference", "mulan_feature_scores_emotions.npz"), allow_pickle=False)
    data = load(shared_file("data", "emotions", f"{name}.arff.gz"))
    per_label = reference[f"{name}__ReliefF__per_label"]
    for label in range(6):
        assert score(ReliefF(), data.X, data.Y[:, label]) == pytest.approx(per_label[label], abs=1e-9)
    assert score(ReliefF(), data.X, data.Y) == pytest.approx(per_label.mean(axis=0), abs=1e-9)
    assert score(ReliefF(targets="joint"), data.X, data.Y) == pytest.approx(reference[f"{name}__ReliefF__LP"], abs=1e-9)


def test_relieff_ml_with_one_label_in_every_row_is_relieff_on_the_class():
    X, _ = make_data()
    classes = np.random.default_rng(1).integers(0, 3, size=len(X))
    assert score(ReliefFML(), X, np.eye(3, dtype=int)[classes]) == pytest.approx(score(ReliefF(), X, classes), abs=1e-12)


@family
def test_scores_are_the_same_bits_for_any_threads_and_storage(selector):
    X, Y = make_data()
    expected = score(selector, X, Y)
    for same in (sp.csr_array(X), sp.csc_array(X), sp.csr_matrix(X), np.asfortranarray(X)):
        for targets in (Y, sp.csr_array(Y), Y.astype(float), Y.tolist()):
            assert np.array_equal(score(selector, same, targets, n_jobs=2), expected)


@family
def test_features_scaled_by_powers_of_two_score_the_same(selector):
    X, Y = make_data()
    assert np.array_equal(score(selector, X * 2.0 ** np.arange(7), Y), score(selector, X, Y))


@family
def test_a_huge_range_is_a_range(selector):
    X, Y = make_data()
    X[:, 2] = np.where(X[:, 2] > 0, 1.7e308, -1.7e308)
    same = X.copy()
    same[:, 2] = X[:, 2] > 0
    assert np.array_equal(score(selector, X, Y), score(selector, same, Y))


@family
def test_constant_features_score_zero_and_copies_alike(selector):
    X, Y = make_data()
    scores = score(selector, X, Y)
    assert scores[5] == 0
    assert scores[6] == scores[0]
    assert type(selector)(n_features_to_select=None).fit(X, Y).selected_.tolist().index(0) < 6


@family
def test_targets_that_do_not_vary_score_zero(selector):
    X, _ = make_data()
    scores = score(selector, X, np.zeros((len(X), 3), dtype=int))
    assert np.array_equal(scores, np.zeros(7))


@family
def test_one_row_has_no_neighbors(selector):
    assert np.array_equal(score(selector, [[1.0, 2.0]], [[1, 0]]), [0, 0])


@family
def test_sampled_rows_are_those_of_the_seed_and_all_of_them_are_no_sample(selector):
    X, Y = make_data()
    some = [score(selector, X, Y, n_samples=20, random_state=seed) for seed in (0, 0, 1)]
    assert np.array_equal(some[0], some[1])
    assert not np.array_equal(some[0], some[2])
    assert np.array_equal(score(selector, X, Y, n_samples=60, random_state=0), score(selector, X, Y))


@family
def test_memory_in_blocks_changes_nothing_but_rounding(selector, monkeypatch):
    X, Y = make_data(n_rows=150)
    expected = score(selector, X, Y)
    monkeypatch.setattr(relief, "AT_ONCE", 1)
    assert score(selector, X, Y) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("selector", [ReliefF, ReliefFML, RReliefF])
def test_parity_is_seen_that_no_feature_shows_alone(selector):
    data = make_feature_roles(400, n_labels=1, n_relevant=0, n_noisy_copies=0, n_xor_pairs=1, n_irrelevant=4, noise=0.1)
    found = selector(n_features_to_select=2).fit(data.X, data.Y).selected_
    assert sorted(found) == data.columns("joint")


def test_relevant_numeric_targets_are_found():
    data = make_feature_roles(
        400, n_labels=3, n_relevant=3, n_noisy_copies=0, n_xor_pairs=0, n_irrelevant=12, targets="numeric"
    )
    assert sorted(RReliefF(n_features_to_select=3).fit(data.X, data.Y).selected_) == data.columns("relevant")


def test_classes_are_no_labels():
    X, _ = make_data()
    with pytest.raises(InputError, match=r"column 0 has 3 classes; labels must be 0 or 1.*OneHotEncoder"):
        ReliefFML().fit(X, np.arange(len(X)) % 3)


def test_names_are_no_numbers():
    X, _ = make_data()
    with pytest.raises(InputError, match=r"RReliefF calculates with the targets. Y is an array that holds text"):
        RReliefF().fit(X, np.array(["a", "b"])[np.arange(len(X)) % 2])
