"""Selectors with every discretizer: by name or as objects, with targets, weights and missing values."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from labelsieve import InputError, LabelwiseSieve, Sieve
from labelsieve.discretize import MDL, EqualWidth, MeanStd
from labelsieve.registry import DISCRETIZERS
from tests.support.selection_data import assert_same_selection, make_data

X, Y = make_data()
every = pytest.mark.parametrize("name", DISCRETIZERS)
selectors = pytest.mark.parametrize("selector", [Sieve, LabelwiseSieve])


@selectors
@every
def test_a_name_is_the_discretizer_with_its_defaults_and_codes_are_its_codes(selector, name):
    sieve = selector("jmi", discretizer=name, n_features_to_select=3).fit(X, Y)
    assert_same_selection(selector("jmi", discretizer=DISCRETIZERS[name](), n_features_to_select=3).fit(X, Y), sieve)
    codes = DISCRETIZERS[name]().fit_transform(X, Y)
    assert_same_selection(selector("jmi", discretizer=None, n_features_to_select=3).fit(codes, Y), sieve)
    assert_same_selection(selector("jmi", discretizer=name, n_features_to_select=3).fit(sp.csr_array(X), Y), sieve)


@selectors
@every
def test_whole_weights_select_as_repeated_rows_do(selector, name):
    weights = np.random.default_rng(0).integers(0, 4, size=len(X))
    weighted = selector("jmi", discretizer=name, n_features_to_select=3).fit(X, Y, weights)
    repeated = selector("jmi", discretizer=name, n_features_to_select=3).fit(np.repeat(X, weights, 0), np.repeat(Y, weights, 0))
    assert np.array_equal(weighted.selected_, repeated.selected_)
    assert np.allclose(weighted.scores_, repeated.scores_, rtol=1e-9)


@selectors
@every
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, pd.DataFrame])
def test_missing_values_are_selected_from_where_they_are_a_level(selector, name, container):
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    rule = DISCRETIZERS[name](missing="level")
    sieve = selector("jmi", discretizer=rule, n_features_to_select=3).fit(container(holes), Y)
    codes = DISCRETIZERS[name](missing="level").fit_transform(holes, Y)
    assert_same_selection(selector("jmi", discretizer=None, n_features_to_select=3).fit(codes, Y), sieve)
    selected = sieve.transform(container(holes))
    selected = selected.toarray() if sp.issparse(selected) else np.asarray(selected)
    assert np.array_equal(selected, holes[:, sieve.support_], equal_nan=True)
    assert_same_selection(selector("jmi", discretizer=name, n_features_to_select=3).fit(container(holes), Y), sieve)
    with pytest.raises(InputError, match=r"X.*column.*missing.*row|X, row \d+, column .*missing"):
        selector("jmi", discretizer=DISCRETIZERS[name](missing="error")).fit(container(holes), Y)


def test_cuts_for_each_target_serve_the_labelwise_selector():
    sieve = LabelwiseSieve("mim", discretizer=MDL("single"), n_features_to_select=3).fit(X, Y)
    for target in range(Y.shape[1]):
        alone = Sieve("mim", discretizer="mdl", n_features_to_select=3).fit(X, Y[:, target])
        assert np.array_equal(sieve.selected_[target], alone.selected_)
        assert np.allclose(sieve.scores_[target], alone.scores_, rtol=1e-9)
    with pytest.raises(InputError, match=r'returns one for each of .*; use MDL\(targets="joint"\)'):
        Sieve("mim", discretizer=MDL("single")).fit(X, Y)


def test_redundant_features_are_found_among_codes_that_look_at_the_targets():
    doubled = np.hstack([X, X])
    sieve = Sieve("mrmr", discretizer="mdl", n_features_to_select=1).fit(doubled, Y)
    selected = int(sieve.selected_[0])
    assert [feature.feature for feature in sieve.redundant_features(doubled, Y)[selected]] == [selected + X.shape[1]]
    with pytest.raises(InputError, match="pass the targets as y"):
        sieve.redundant_features(doubled)


@selectors
@pytest.mark.parametrize("rule", ["mdl", MeanStd(5, factor=0.5), MDL("copy", missing="level"), EqualWidth(3, missing="level")])
def test_a_saved_selection_keeps_its_discretizer(selector, rule, tmp_path):
    sieve = selector("jmi", discretizer=rule, n_features_to_select=3).fit(X, Y)
    sieve.to_json(tmp_path / "selected.json")
    again = selector.from_json(tmp_path / "selected.json")
    assert_same_selection(again, sieve)
    assert str(again.discretizer) == str(rule)
    assert_same_selection(again.fit(X, Y), sieve)
