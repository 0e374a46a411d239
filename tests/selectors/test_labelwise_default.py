"""Lists of features by the default method and by least squares: each is the selection for its target alone."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import InputError, LabelwiseSieve, Sieve
from labelsieve.criteria import Hybrid
from labelsieve.registry import make_selector
from labelsieve.stopping import FDR, CrossValidated, GTest, Knee, PermutationTest, ScoreThreshold


def make_data(n_rows=250):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_rows, 9))
    X[rng.random(X.shape) < 0.3] = 0.0
    classes = np.digitize(X[:, 5] + 0.3 * rng.normal(size=n_rows), [-0.5, 0.8])
    Y = np.column_stack([X[:, 1] > 0, abs(X[:, 2]) > 1, classes, X[:, 7] + X[:, 1] ** 2])
    return X, Y


TYPES = ["class", "class", "class", "numeric"]


@pytest.mark.parametrize("criterion", ["hybrid", "omp", Hybrid(weights=(1, 2), alpha=1)])
@pytest.mark.parametrize("settings", [{}, {"forced": [4], "excluded": [1]}, {"n_features_to_select": "all"}, {"n_jobs": 2}])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_list_is_the_selection_for_its_target_alone(criterion, settings, weighted):
    X, Y = make_data()
    weights = np.random.default_rng(0).random(len(X)) if weighted else None
    settings = {"n_features_to_select": 4} | settings
    lists = LabelwiseSieve(criterion, target_type=TYPES, **settings).fit(X, Y, sample_weight=weights)
    for target, kind in enumerate(TYPES):
        alone = Sieve(criterion, target_type=kind, **settings).fit(X, Y[:, [target]], sample_weight=weights)
        assert lists.selected_[target].tolist() == alone.selected_.tolist()
        # The fixed point of the information depends on the number of targets.
        np.testing.assert_allclose(lists.scores_[target], alone.scores_, rtol=1e-9)


@pytest.mark.parametrize("rule", [GTest(), FDR(), Knee(), ScoreThreshold(0.02, of="added")])
def test_a_rule_finds_the_number_of_every_target(rule):
    X, Y = make_data()
    lists = LabelwiseSieve("hybrid", n_features_to_select=rule).fit(X, Y[:, :3])
    for target in range(3):
        alone = Sieve("hybrid", n_features_to_select=rule).fit(X, Y[:, [target]])
        assert lists.label_ranking(target)[0].tolist() == alone.selected_.tolist()
        assert lists.stopping_[target].reason_ == alone.stopping_.reason_


def test_rules_on_scores_go_with_least_squares_and_not_with_relative_scores():
    X, Y = make_data()
    lists = LabelwiseSieve("omp", n_features_to_select=Knee(of="score")).fit(X, Y[:, :3])
    alone = Sieve("omp", n_features_to_select=Knee(of="score")).fit(X, Y[:, [1]])
    assert lists.label_ranking(1)[0].tolist() == alone.selected_.tolist()
    for rule in (ScoreThreshold(0.1), PermutationTest(n_permutations=9)):
        with pytest.raises(InputError, match="relative to the best candidate"):
            LabelwiseSieve("hybrid", n_features_to_select=rule).fit(X, Y[:, :3])
    with pytest.raises(InputError, match="evaluates predictions of all targets"):
        LabelwiseSieve("hybrid", n_features_to_select=CrossValidated()).fit(X, Y[:, :3])


def test_candidates_are_those_with_the_most_information():
    X, Y = make_data()
    lists = LabelwiseSieve("hybrid", n_features_to_select=2, n_candidates=4).fit(X, Y[:, :3])
    for target in range(3):
        relevant = Sieve("mim", n_features_to_select=4, estimator="miller-madow").fit(X, Y[:, [target]]).selected_
        assert set(lists.selected_[target]) <= set(relevant.tolist())


def test_sparse_tables_have_the_lists_of_dense_ones():
    X, Y = make_data()
    dense, sparse = (LabelwiseSieve("hybrid", n_features_to_select=5).fit(form, Y[:, :3]) for form in (X, sp.csr_array(X)))
    assert dense.selected_.tolist() == sparse.selected_.tolist()
    assert dense.scores_.tobytes() == sparse.scores_.tobytes()


def test_the_registry_makes_it():
    assert isinstance(make_selector("hybrid", labelwise=True), LabelwiseSieve)
    assert make_selector("omp", labelwise=True, penalty=1.0).criterion.penalty == 1.0
