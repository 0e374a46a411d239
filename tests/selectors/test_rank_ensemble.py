"""RankEnsemble is the mean of ranks that its definition says, for any selectors and samples."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from labelsieve import InputError, LabelwiseSieve, Sieve
from labelsieve.registry import make_selector, method_of
from labelsieve.selectors import FScore, RankEnsemble, ReliefF, stability_index
from labelsieve.stopping import CrossValidated
from tests.support.selection_data import N_FEATURES, NAMES, assert_same_selection, make_data


def naive_mean_ranks(lists, weights, n_features):
    """Lists of one selector in a group; ranks by counting, ties of the absent by the mean of the places left."""
    total = np.zeros(n_features)
    for group, weight in zip(lists, weights, strict=True):
        for one in group:
            left = [place for place in range(1, n_features + 1) if place > len(one)]
            for feature in range(n_features):
                rank = one.index(feature) + 1 if feature in one else sum(left) / len(left)
                total[feature] += weight * rank / len(group)
    return total / sum(weights)


def lists_of(selector, X, Y, samples, length):
    return [selector(n_features_to_select=length).fit(X[rows], Y[rows]).selected_.tolist() for rows in samples]


def cmim(n_features_to_select):
    return Sieve("cmim", n_features_to_select=n_features_to_select, estimator="miller-madow")


def mean_f(n_features_to_select):
    return FScore(n_features_to_select=n_features_to_select)


@pytest.mark.parametrize("length", [1, 3, None], ids=["first", "truncated", "complete"])
def test_scores_are_normalized_mean_ranks(length):
    X, Y = make_data()
    found = RankEnsemble((cmim(5), "mean-f"), list_length=length).fit(X, Y)
    everything = [np.arange(len(X))]
    n_listed = N_FEATURES if length is None else length
    lists = [lists_of(kind, X, Y, everything, n_listed) for kind in (cmim, mean_f)]
    expected = naive_mean_ranks(lists, [1, 1], N_FEATURES)
    assert found.mean_ranks_ == pytest.approx(expected)
    assert found.feature_scores_ == pytest.approx(1 - (expected - 1) / (N_FEATURES - 1))
    assert found.selected_.tolist() == np.argsort(expected, kind="stable").tolist()
    assert found.weights_.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("combine", ["borda", "stability"])
def test_samples_and_weights_are_those_of_the_definition(combine):
    X, Y = make_data()
    found = RankEnsemble(
        (cmim(5), "mean-f"), combine=combine, n_repeats=4, resample="subsample", fraction=0.2, n_features_to_select=3
    ).fit(X, Y)
    rng = np.random.RandomState(0)
    samples = [np.sort(rng.permutation(len(X))[:30]) for _ in range(4)]
    lists = [lists_of(kind, X, Y, samples, N_FEATURES) for kind in (cmim, mean_f)]
    masks = np.array([[[feature in one[:3] for feature in range(N_FEATURES)] for one in group] for group in lists])
    indices = [stability_index(group).index for group in masks]
    assert found.selector_stability_ == pytest.approx(indices)
    assert found.stability_ == pytest.approx(stability_index(masks.reshape(8, -1)).index)
    assert indices[0] != indices[1], "both weights are equal, so this shows nothing"
    weights = np.maximum(indices, 0) if combine == "stability" else np.ones(2)
    assert found.weights_ == pytest.approx(weights / weights.sum())
    assert found.mean_ranks_ == pytest.approx(naive_mean_ranks(lists, weights, N_FEATURES))


def test_one_selector_on_all_rows_is_that_selector():
    X, Y = make_data()
    alone = Sieve("jmi", n_features_to_select=4).fit(X, Y)
    assert RankEnsemble("jmi", n_features_to_select=4).fit(X, Y).selected_.tolist() == alone.selected_.tolist()


def test_the_result_depends_on_the_seed_and_not_on_threads():
    X, Y = make_data()
    fits = [
        RankEnsemble("cmim", n_repeats=5, random_state=seed, n_jobs=n_jobs).fit(X, Y)
        for seed, n_jobs in ((0, None), (0, 2), (1, None))
    ]
    assert_same_selection(fits[0], fits[1])
    assert not np.array_equal(fits[0].feature_scores_, fits[2].feature_scores_)


def test_names_in_the_registry_make_the_ensembles():
    X, Y = make_data()
    for name, n_lists in {"borda": 2, "borda-stability": 2, "bagged-cmim": 1}.items():
        fitted = make_selector(name, n_features_to_select=3).fit(X, Y)
        assert method_of(fitted) == name
        assert len(fitted.selector_names_) == n_lists
        assert len(fitted.selected_) == 3


def test_nominal_columns_and_missing_cells_go_to_members_that_take_them():
    X, Y = make_data()
    frame = pd.DataFrame(X, columns=NAMES)
    frame["tone 0"] = np.where(X[:, 1] > 0, "high", "low")
    frame.loc[3, "tone 1"] = np.nan
    fitted = RankEnsemble(("cmim", "jmi"), n_repeats=3, n_features_to_select=3).fit(frame, Y)
    assert {"tone 0", "tone 1"} & set(fitted.get_feature_names_out())
    assert RankEnsemble(("cmim", "jmi")).__sklearn_tags__().input_tags.allow_nan
    assert not RankEnsemble(("cmim", "l1")).__sklearn_tags__().input_tags.allow_nan
    with pytest.raises(InputError, match=r"calculates with the features, and column 0 \('tone 0'\) is text"):
        RankEnsemble(("cmim", "l1")).fit(frame, Y)


def test_a_sparse_matrix_and_numeric_targets_and_a_stopping_rule():
    X, _ = make_data()
    Y = X[:, [2]] + X[:, [5]] * 0.5
    rule = CrossValidated(max_features=4, standard_errors=0.0)
    dense = RankEnsemble(("cmim", "l1"), n_features_to_select=rule).fit(X, Y)
    assert {2, 5} <= set(dense.selected_.tolist())
    assert_same_selection(RankEnsemble(("cmim", "l1"), n_features_to_select=rule).fit(sp.csr_array(X), Y), dense)


def test_what_cannot_be_aggregated_is_refused():
    X, Y = make_data()
    refused = {
        "set n_repeats to 2 or more": RankEnsemble(combine="stability"),
        "use resample='subsample'": RankEnsemble(ReliefF(), n_repeats=2),
        "use a selector with one ranking": RankEnsemble([LabelwiseSieve()]),
        "Did you mean 'cmim'": RankEnsemble(["cmimm"]),
        "needs a criterion": RankEnsemble([{"estimator": "plugin"}]),
        "must be a method's name": RankEnsemble([]),
    }
    for message, ensemble in refused.items():
        with pytest.raises(InputError, match=message):
            ensemble.fit(X, Y)
