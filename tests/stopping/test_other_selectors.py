"""Stopping rules in other selectors: one number for each target, and selectors that rank all features at once."""

import numpy as np
import pytest
from sklearn.base import clone

from labelsieve import PPTMI, BaselineSieve, InputError, LabelwiseSieve, QuadraticSieve, Sieve
from labelsieve.classifiers import BRkNN
from labelsieve.datasets import make_feature_roles
from labelsieve.selectors import ChiSquare, ReliefF
from labelsieve.stopping import CrossValidated, GTest, Knee, PermutationTest, ScoreThreshold
from tests.support.reference_stopping import RULES as EVERY_RULE

RULES = [rule for rule in EVERY_RULE if not isinstance(rule, CrossValidated)]  # which evaluates all targets together


@pytest.fixture(scope="module")
def data():
    return make_feature_roles(n_rows=250, n_labels=4, n_relevant=4, n_xor_pairs=0, n_noisy_copies=2, n_irrelevant=8)


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("settings", [{}, {"forced": [5], "excluded": [0]}], ids=["plain", "forced"])
def test_every_target_stops_where_a_sieve_for_it_alone_stops(data, rule, settings):
    lists = LabelwiseSieve(n_features_to_select=rule, **settings).fit(data.X, data.Y)
    assert len(lists.stopping_) == data.Y.shape[1]
    for target, found in enumerate(lists.stopping_):
        alone = Sieve("cmim", n_features_to_select=rule, **settings).fit(data.X, data.Y[:, [target]])
        n_selected = lists.n_selected_[target]
        assert lists.selected_[target, :n_selected].tolist() == alone.selected_.tolist()
        assert lists.scores_[target, :n_selected] == pytest.approx(alone.scores_, abs=1e-12)
        assert np.all(lists.selected_[target, n_selected:] == -1)
        assert np.isnan(lists.scores_[target, n_selected:]).all()
        assert found.reason_ == alone.stopping_.reason_
        assert set(np.flatnonzero(lists.label_support_[target])) == set(alone.selected_)
        assert lists.transform_label(data.X, target).shape == (250, n_selected)
    assert np.array_equal(lists.support_, lists.label_support_.any(axis=0))


def test_lists_of_other_lengths_are_saved_and_read(data, tmp_path):
    noise = np.random.default_rng(0).integers(2, size=(len(data.Y), 1))
    lists = LabelwiseSieve(n_features_to_select=GTest()).fit(data.X, np.hstack([data.Y, noise]))
    assert len(set(lists.n_selected_.tolist())) > 1, "else this tests nothing"
    lists.to_json(tmp_path / "lists.json")
    again = LabelwiseSieve.from_json(tmp_path / "lists.json")
    assert np.array_equal(again.selected_, lists.selected_)
    assert np.array_equal(again.transform(data.X), lists.transform(data.X))
    assert again.stopping_[0].reason_ == lists.stopping_[0].reason_


def test_candidates_and_parents_go_with_rules(data):
    few = LabelwiseSieve(n_features_to_select=ScoreThreshold(0.01), n_candidates=3).fit(data.X, data.Y)
    relevant = LabelwiseSieve("mim", n_features_to_select=3).fit(data.X, data.Y)
    for selected, allowed in zip(few.label_support_, relevant.label_support_, strict=True):
        assert not (selected & ~allowed).any()
    network = LabelwiseSieve("mlfs", n_features_to_select=PermutationTest(n_permutations=19)).fit(data.X, data.Y)
    assert network.n_selected_.min() >= 0
    assert network.network_ is not None


def test_a_number_gives_lists_of_one_length(data):
    lists = LabelwiseSieve(n_features_to_select=3).fit(data.X, data.Y)
    assert lists.n_selected_.tolist() == [3] * 4
    assert lists.stopping_ is None


RANKING = [QuadraticSieve(), ChiSquare(), ReliefF()]


@pytest.mark.parametrize("selector", RANKING, ids=lambda selector: type(selector).__name__)
def test_selectors_that_rank_all_features_at_once_are_cut_by_their_scores(data, selector):
    whole = clone(selector).set_params(n_features_to_select=None).fit(data.X, data.Y)
    half = clone(selector).set_params(n_features_to_select=ScoreThreshold(0.5, relative=True)).fit(data.X, data.Y)
    kept = int((whole.scores_ > 0.5 * whole.scores_[0]).sum())
    assert 0 < kept < len(whole.scores_)
    assert half.selected_.tolist() == whole.selected_[:kept].tolist()
    assert np.flatnonzero(half.support_).tolist() == sorted(half.selected_)
    cut = clone(selector).set_params(n_features_to_select=Knee(of="score")).fit(data.X, data.Y)
    assert cut.selected_.tolist() == whole.selected_[: len(cut.selected_)].tolist()
    assert "has its knee at" in cut.stopping_.reason_


@pytest.mark.parametrize("selector", RANKING, ids=lambda selector: type(selector).__name__)
def test_cross_validation_works_for_them_too(data, selector):
    rule = CrossValidated(BRkNN(k=5), cv=3, max_features=4)
    fitted = clone(selector).set_params(n_features_to_select=rule).fit(data.X, data.Y)
    assert fitted.stopping_.curve_.shape == (3, 4)
    assert 1 <= len(fitted.selected_) <= 4


def test_forced_features_stay_in_front_of_a_cut(data):
    sieve = QuadraticSieve(forced=[7], n_features_to_select=ScoreThreshold(0.5, relative=True)).fit(data.X, data.Y)
    assert sieve.selected_[0] == 7


def test_rules_that_are_not_defined_are_refused_with_a_reason(data):
    for selector in RANKING:
        for rule in (GTest(), PermutationTest()):
            with pytest.raises(InputError, match="tests what a feature adds to those selected before it"):
                clone(selector).set_params(n_features_to_select=rule).fit(data.X, data.Y)
        with pytest.raises(InputError, match=r"use Knee\(of='score'\)"):
            clone(selector).set_params(n_features_to_select=Knee()).fit(data.X, data.Y)
    with pytest.raises(InputError, match="CrossValidated evaluates predictions of all targets together"):
        LabelwiseSieve(n_features_to_select=CrossValidated()).fit(data.X, data.Y)
    with pytest.raises(InputError, match="not defined for weighted rows"):
        LabelwiseSieve(n_features_to_select=GTest()).fit(data.X, data.Y, sample_weight=np.arange(250) + 1.0)
    for selector in (PPTMI, BaselineSieve):
        with pytest.raises(ValueError, match="'n_features_to_select' parameter of"):
            selector(n_features_to_select=Knee()).fit(data.X, data.Y)
