"""LabelwiseSieve: every target gets what a sieve would select for it alone."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from labelsieve import LabelwiseSieve, Sieve
from labelsieve.criteria.formulas import MLFS
from tests.support.criterion_cases import FORMULA, VARIANTS, assert_follows, columns, make_case, make_parents
from tests.support.reference_criteria import mlfs
from tests.support.selection_data import N_FEATURES, N_LABELS, NAMES, make_data


@pytest.mark.parametrize("name", [name for name, (_, _, options) in VARIANTS.items() if "parents" not in options])
@pytest.mark.parametrize("estimator", ["plugin", "miller-madow"])
def test_each_target_chooses_as_if_it_were_alone(name, estimator):
    make = VARIANTS[name][0]
    for seed in range(800, 804):
        X, Y = make_case(seed, n_targets=3)
        parameters = {"discretizer": None, "n_features_to_select": None, "estimator": estimator}
        together = LabelwiseSieve(make(), **parameters).fit(X, Y)
        assert together.selected_.shape == together.scores_.shape == (3, X.shape[1])
        for target in range(3):
            alone = Sieve(make(), **parameters).fit(X, Y[:, target])
            # The fixed point is a little coarser for three targets than for one, which may turn exact ties around.
            same = together.selected_[target] == alone.selected_
            n_same = len(same) if same.all() else int(np.argmin(same)) + 1
            np.testing.assert_allclose(together.scores_[target, :n_same], alone.scores_[:n_same], rtol=0, atol=1e-9)


@pytest.mark.parametrize("criterion", ["mim", "jmi", "mrmr", "cmim", "pmu"])
def test_each_target_chooses_the_same_list_as_if_it_were_alone(criterion):
    X, Y = make_data()
    together = LabelwiseSieve(criterion, n_features_to_select=5).fit(X, Y)
    for target in range(N_LABELS):
        alone = Sieve(criterion, n_features_to_select=5).fit(X, Y[:, target])
        assert together.selected_[target].tolist() == alone.selected_.tolist()


@pytest.mark.parametrize("options", [{}, {"beta": 0.4}, {"beta": 2.0, "gamma": 0.1}], ids=str)
def test_parents_may_be_any_other_targets(options):
    """Sun and Kudo 2017, eq. 43: one label at a time, given its parents."""
    for seed in range(820, 840):
        X, Y = make_case(seed, n_targets=4)
        parents = make_parents(seed, 4)
        settings = {"discretizer": None, "n_features_to_select": None, "parents": parents, **FORMULA}
        sieve = LabelwiseSieve(MLFS(**options), **settings).fit(X, Y)
        for target, mine in enumerate(parents):
            score = local_score(columns(Y), target, mine, options)
            assert_follows(score, X, sieve.selected_[target], sieve.scores_[target])


def local_score(targets, target, parents, options):
    given = {"parents": [[targets[p] for p in parents]], **options}
    return lambda candidate, selected: mlfs(candidate, selected, [targets[target]], **given)


def test_masks_say_who_chose_what():
    X, Y = make_data()
    sieve = LabelwiseSieve("jmi", n_features_to_select=2).fit(X, Y)
    assert sieve.label_support_.shape == (N_LABELS, N_FEATURES)
    assert sieve.label_support_.dtype == sieve.support_.dtype == bool
    for target in range(N_LABELS):
        assert np.flatnonzero(sieve.label_support_[target]).tolist() == sorted(sieve.selected_[target])
    assert np.array_equal(sieve.support_, sieve.label_support_.any(axis=0))
    assert 2 < sieve.support_.sum() < N_FEATURES
    assert np.array_equal(sieve.transform(X), X[:, sieve.support_])


@pytest.mark.parametrize("label", range(N_LABELS))
def test_the_columns_of_a_label_come_in_order_of_choice(label):
    X, Y = make_data()
    sieve = LabelwiseSieve("jmi", n_features_to_select=3).fit(X, Y)
    expected = X[:, sieve.selected_[label]]
    assert np.array_equal(sieve.transform_label(X, label), expected)
    assert np.array_equal(sieve.transform_label(sp.csr_array(X), label).toarray(), expected)
    named = LabelwiseSieve("jmi", n_features_to_select=3).fit(pd.DataFrame(X, columns=NAMES), Y)
    assert np.array_equal(named.transform_label(pd.DataFrame(X, columns=NAMES), label), expected)


def test_columns_of_a_label_are_those_of_the_fit():
    X, Y = make_data()
    with pytest.raises(NotFittedError):
        LabelwiseSieve().transform_label(X, 0)
    sieve = LabelwiseSieve("jmi", n_features_to_select=3).fit(X, Y)
    with pytest.raises(ValueError, match="expecting 8 features"):
        sieve.transform_label(X[:, :4], 0)
    with pytest.raises(IndexError):
        sieve.transform_label(X, N_LABELS)


def test_columns_of_a_label_may_be_text():
    X, Y = make_data()
    frame = pd.DataFrame(X, columns=NAMES).assign(**{NAMES[1]: np.where(X[:, 1] > 0, "high", "low")})
    sieve = LabelwiseSieve(n_features_to_select=1).fit(frame, Y)
    assert sieve.selected_[0, 0] == 1
    assert set(np.ravel(sieve.transform_label(frame, 0))) == {"high", "low"}


def test_weights_count_for_every_target():
    X, Y = make_data()
    weights = np.random.default_rng(3).integers(0, 4, size=len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    weighted = LabelwiseSieve("jmi", n_features_to_select=4).fit(X, Y, sample_weight=weights)
    repeated = LabelwiseSieve("jmi", n_features_to_select=4).fit(X[rows], Y[rows])
    assert np.array_equal(weighted.selected_, repeated.selected_)
    assert np.array_equal(weighted.scores_, repeated.scores_)


def test_forced_and_excluded_features_are_so_for_every_target():
    X, Y = make_data()
    sieve = LabelwiseSieve("jmi", n_features_to_select=4, forced=[6], excluded=[1, 2]).fit(X, Y)
    assert (sieve.selected_[:, 0] == 6).all()
    assert not sieve.label_support_[:, [1, 2]].any()


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_lists_do_not_depend_on_the_number_of_threads(n_jobs):
    X, Y = make_data()
    expected = LabelwiseSieve("d2f", n_features_to_select=None).fit(X, Y)
    threaded = LabelwiseSieve("d2f", n_features_to_select=None, n_jobs=n_jobs).fit(X, Y)
    assert np.array_equal(threaded.selected_, expected.selected_)
    assert np.array_equal(threaded.scores_, expected.scores_)
