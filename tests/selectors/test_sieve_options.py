"""How many features, which first, which never, and going on where the last fit stopped."""

import numpy as np
import pandas as pd
import pytest

from labelsieve import Criterion, InputError, LabelwiseSieve, Sieve
from labelsieve.formula import H, I, f, sum_y, y
from labelsieve.registry import CRITERIA
from labelsieve.selectors import sieve
from tests.support.criterion_cases import VARIANTS, fit_variant, make_case, make_parents
from tests.support.selection_data import N_FEATURES, NAMES, assert_same_selection, make_data

selectors = pytest.mark.parametrize("selector", [Sieve, LabelwiseSieve])
criteria = pytest.mark.parametrize("criterion", CRITERIA.values())


@selectors
@pytest.mark.parametrize(
    ("asked", "expected"),
    [(1, 1), (3, 3), (N_FEATURES, N_FEATURES), (1000, N_FEATURES), (None, N_FEATURES), (0.5, 4), (0.01, 1), (0.99, 8)],
)
def test_as_many_features_are_selected_as_were_asked_for(selector, asked, expected):
    X, Y = make_data()
    sieve = selector("mrmr", n_features_to_select=asked).fit(X, Y)
    everything = selector("mrmr", n_features_to_select=None).fit(X, Y)
    assert sieve.selected_.shape[-1] == sieve.scores_.shape[-1] == expected
    assert np.array_equal(sieve.selected_, everything.selected_[..., :expected])
    assert sieve.support_.sum() == len(np.unique(sieve.selected_))


def test_ten_features_are_the_default_and_fewer_are_no_error():
    X, Y = make_data()
    assert len(Sieve().fit(X, Y).selected_) == N_FEATURES
    assert len(Sieve().fit(np.hstack([X, X]), Y).selected_) == 10


@selectors
@pytest.mark.parametrize("asked", [0, -1, 1.0, 1.5, 0.0, [3]])
def test_an_impossible_number_of_features_is_refused(selector, asked):
    with pytest.raises(ValueError, match="'n_features_to_select' parameter"):
        selector(n_features_to_select=asked).fit(*make_data())


@criteria
def test_forced_features_come_first_and_excluded_ones_never(criterion):
    X, Y = make_data()
    sieve = Sieve(criterion, n_features_to_select=None, forced=[4, 0], excluded=[1, 2]).fit(X, Y)
    assert sieve.selected_[:2].tolist() == [4, 0]
    assert sorted(sieve.selected_) == [0, 3, 4, 5, 6, 7]
    # What follows is selected as if the others did not exist.
    without = Sieve(criterion, n_features_to_select=None, forced=[2, 0]).fit(np.delete(X, [1, 2], axis=1), Y)
    assert np.array_equal(np.delete(np.arange(N_FEATURES), [1, 2])[without.selected_], sieve.selected_)
    assert np.array_equal(without.scores_, sieve.scores_)


@criteria
def test_forcing_what_would_be_selected_changes_nothing(criterion):
    X, Y = make_data()
    free = Sieve(criterion, n_features_to_select=5).fit(X, Y)
    forced = Sieve(criterion, n_features_to_select=5, forced=free.selected_[:3]).fit(X, Y)
    assert_same_selection(forced, free)


@selectors
def test_forced_features_are_selected_even_if_fewer_were_asked_for(selector):
    X, Y = make_data()
    sieve = selector(n_features_to_select=1, forced=[7, 3, 5]).fit(X, Y)
    assert np.array_equal(np.atleast_2d(sieve.selected_), [[7, 3, 5]] * len(np.atleast_2d(sieve.selected_)))


@selectors
def test_columns_are_forced_and_excluded_by_name_or_number(selector):
    X, Y = make_data()
    frame = pd.DataFrame(X, columns=NAMES)
    by_number = selector(n_features_to_select=4, forced=[6], excluded=[1, 5]).fit(X, Y)
    ways = [
        {"forced": ["tone 6"], "excluded": ["tone 1", "tone 5"]},
        {"forced": [6, "tone 6"], "excluded": [5, "tone 1", 5]},
        {"forced": np.array([6]), "excluded": np.array(["tone 5", "tone 1"])},
    ]
    for way in ways:
        assert_same_selection(selector(n_features_to_select=4, **way).fit(frame, Y), by_number)


@selectors
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"forced": ["tone 99"]}, "forced: there is no feature named 'tone 99'"),
        ({"excluded": [N_FEATURES]}, "excluded: 8 is not a column from 0 to 7 or a name"),
        ({"forced": [-1]}, "forced: -1 is not a column from 0 to 7 or a name"),
        ({"excluded": [1.5]}, "excluded: 1.5 is not a column from 0 to 7 or a name"),
        ({"forced": [2], "excluded": ["tone 2"]}, "Column 2 is both forced and excluded"),
        ({"excluded": range(N_FEATURES)}, "Every column is excluded"),
    ],
)
def test_columns_that_cannot_be_meant_are_refused(selector, parameters, message):
    X, Y = make_data()
    with pytest.raises(InputError, match=message):
        selector(**parameters).fit(pd.DataFrame(X, columns=NAMES), Y)


@selectors
def test_names_need_features_with_names(selector):
    with pytest.raises(InputError, match="there is no feature named 'tone 1'"):
        selector(forced=["tone 1"]).fit(*make_data())


@criteria
def test_a_warm_start_goes_on_to_what_a_fresh_fit_chooses(criterion):
    X, Y = make_data()
    warm = Sieve(criterion, n_features_to_select=3, warm_start=True, forced=[2]).fit(X, Y)
    assert_same_selection(warm, Sieve(criterion, n_features_to_select=3, forced=[2]).fit(X, Y))
    warm.set_params(n_features_to_select=6).fit(X, Y)
    assert_same_selection(warm, Sieve(criterion, n_features_to_select=6, forced=[2]).fit(X, Y))
    warm.set_params(n_features_to_select=None).fit(X, Y)
    fresh = Sieve(criterion, n_features_to_select=None, forced=[2]).fit(X, Y)
    assert_same_selection(warm, fresh)
    for kind, values in fresh.score_components_.items():
        assert np.array_equal(warm.score_components_[kind], values)


def test_a_warm_start_does_not_count_again(monkeypatch):
    X, Y = make_data()
    warm = Sieve(n_features_to_select=3, warm_start=True).fit(X, Y)
    monkeypatch.setattr(sieve, "Workspace", None)  # what packs and counts
    assert len(warm.set_params(n_features_to_select=8).fit(X, Y).selected_) == 8


@pytest.mark.parametrize(
    "change", [{"criterion": "mrmr"}, {"excluded": [1]}, {"targets": "joint"}, {"estimator": "miller-madow"}], ids=str
)
def test_a_warm_start_with_other_parameters_starts_anew(change):
    X, Y = make_data()
    warm = Sieve("jmi", n_features_to_select=3, warm_start=True).fit(X, Y)
    warm.set_params(**change).fit(X, Y)
    assert_same_selection(warm, Sieve(**{"criterion": "jmi", "n_features_to_select": 3, **change}).fit(X, Y))


def test_a_warm_start_notices_a_change_in_a_long_list():
    X, Y = make_data()
    X = np.hstack([X] * 200)
    excluded, others = np.arange(10, 1510), np.arange(10, 1510)
    others[700] = 1  # the text of the array shows its ends alone
    warm = Sieve("mim", n_features_to_select=3, warm_start=True, excluded=excluded).fit(X, Y)
    fresh = Sieve("mim", n_features_to_select=3, excluded=others).fit(X, Y)
    assert_same_selection(warm.set_params(excluded=others).fit(X, Y), fresh)


def test_a_warm_start_notices_another_first_rule():
    X, Y = make_data()
    one, other = (type("Mine", (Criterion,), {"score": sum_y(I(f, y)), "first": first})() for first in (H(f), 2 * H(f)))
    warm = Sieve(one, n_features_to_select=3, warm_start=True).fit(X, Y)
    assert_same_selection(warm.set_params(criterion=other).fit(X, Y), Sieve(other, n_features_to_select=3).fit(X, Y))


@pytest.mark.parametrize("name", VARIANTS)
def test_parts_of_a_score_add_up_to_it(name):
    for seed in range(20):
        X, Y = make_case(seed)
        sieve = fit_variant(name, X, Y, parents=make_parents(seed, Y.shape[1]))
        total = sum(sieve.score_components_.values())
        np.testing.assert_allclose(total, sieve.scores_, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("criterion", "kinds"),
    [
        ("mim", {"relevance"}),
        ("mrmr", {"relevance", "redundancy"}),
        ("jmi", {"relevance", "interaction"}),
        ("d2f", {"relevance", "interaction"}),
        ("pmu", {"relevance", "interaction", "label pairs"}),
        ("lsmfs", {"relevance", "redundancy", "label pairs"}),
    ],
)
def test_parts_of_a_score_are_called_by_what_they_tell(criterion, kinds):
    X, Y = make_data()
    sieve = Sieve(criterion, n_features_to_select=4).fit(X, Y)
    assert set(sieve.score_components_) == kinds
    relevance = Sieve("mim", n_features_to_select=None).fit(X, Y)
    scores = dict(zip(relevance.selected_, relevance.scores_, strict=True))
    assert sieve.score_components_["relevance"][0] == scores[sieve.selected_[0]]


PARENTS = {
    "a list too few": ([[1], []], "parents has 2 lists for 4 targets"),
    "itself": ([[], [1], [], []], r"parents\[1\] holds 1; parents are other targets, from 0 to 3"),
    "no target": ([[], [], [], [4]], r"parents\[3\] holds 4"),
    "a negative one": ([[-1], [], [], []], r"parents\[0\] holds -1"),
    "a name": ([["calm"], [], [], []], "parents"),
    "part of a number": ([[1.5], [], [], []], "parents"),
    "numbers for lists": ([1, 2, 3, 0], "parents"),
}


@selectors
@pytest.mark.parametrize("kind", PARENTS)
def test_parents_that_are_no_other_targets_are_refused(selector, kind):
    parents, message = PARENTS[kind]
    with pytest.raises(InputError, match=message):
        selector("mlfs", parents=parents).fit(*make_data())


def test_a_parent_that_is_named_twice_counts_once():
    X, Y = make_data()
    once, twice = (Sieve("mlfs", parents=[parents, [], [], []]).fit(X, Y) for parents in ([1], [1, 1]))
    assert_same_selection(once, twice)
