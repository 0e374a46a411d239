"""The result of every selector is one frozen value that survives JSON and agrees with the fitted attributes."""

import dataclasses
import json

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from labelsieve import InputError, LabelwiseSieve, QuadraticSieve, Sieve, selectors
from labelsieve.selection import Selection
from labelsieve.selectors import LLSF, MDDM, ChiSquare, PermutationImportance, selection_stability
from labelsieve.stopping import GTest
from tests.support.discovery import estimator_cases
from tests.support.selection_data import LABELS, NAMES, frames, make_data

CASES = {
    PermutationImportance: [PermutationImportance(model=DecisionTreeRegressor(random_state=0), n_repeats=1)],
    LLSF: [LLSF(beta=12.0)],
    MDDM: [],  # projects and selects nothing
    ChiSquare: [ChiSquare(targets="copy-weight")],
    Sieve: [Sieve("mrmr", n_features_to_select=3), Sieve("jmi", n_features_to_select=GTest())],
    LabelwiseSieve: [LabelwiseSieve("jmi", n_features_to_select=2), LabelwiseSieve("mim", n_features_to_select=GTest())],
}
every_selector = pytest.mark.parametrize("selector", estimator_cases(selectors, CASES), ids=lambda one: type(one).__name__)


@every_selector
def test_a_selection_survives_json_and_cannot_be_changed(selector):
    X, Y = frames()
    selector.fit(X, Y)
    for selection in (selector.selection(), selector.selection(X, Y, information=True)):
        assert Selection.from_dict(json.loads(json.dumps(selection.to_dict()))) == selection
        with pytest.raises(dataclasses.FrozenInstanceError):
            selection.method = "another"


@every_selector
def test_a_selection_agrees_with_the_fitted_attributes(selector):
    X, Y = frames()
    selection = selector.fit(X, Y).selection(X, Y, information=True)
    assert selection.columns == np.flatnonzero(selector.support_).tolist()
    assert selection.labels == tuple(LABELS)
    assert (selection.n_rows, selection.n_features, selection.selector) == (150, 8, type(selector).__name__)
    assert all(one.feature == NAMES[one.column] for one in selection.selected)
    table = selector.label_information(X, Y)
    assert list(table.columns) == LABELS
    assert np.array_equal(selection.information(), table.loc[[NAMES[column] for column in selection.columns]])
    if selection.labelwise:
        for label, name in enumerate(LABELS):
            features = [one for one in selection.selected if one.label == name]
            columns, scores = selector.label_ranking(label)
            assert [one.rank for one in features] == list(range(1, len(columns) + 1))
            assert [(one.column, one.score) for one in features] == list(zip(columns, scores, strict=True))
    else:
        assert [one.column for one in selection.selected] == selector.selected_.tolist()
        assert [one.score for one in selection.selected] == selector.scores_.tolist()
    if selector.relevance_ is not None:
        assert [one.components for one in selection.selected] == [
            {"relevance": selector.relevance_[one.column]} for one in selection.selected
        ]
    rules = [] if selector.stopping_ is None else selector.stopping_
    reasons = [rule.reason_ for rule in (rules if isinstance(rules, list) else [rules])]
    assert [one.reason for one in selection.stopping] == reasons


@pytest.mark.parametrize(
    "selector", [Sieve("mim", n_features_to_select=2), QuadraticSieve(n_features_to_select=2), ChiSquare()]
)
def test_redundant_features_are_those_of_the_selector(selector):
    X, Y = frames()
    selection = selector.fit(X, Y).selection(X, Y, redundant=0.02)
    expected = selector.redundant_features(X, Y, at_least=0.02)
    for one in selection.selected:
        assert one.redundant == {NAMES[feature.feature]: feature.similarity for feature in expected[one.column]}
    if type(selector) is not ChiSquare:  # it selects all eight
        assert any(one.redundant for one in selection.selected)


def test_fingerprints_depend_on_the_data_alone():
    X, Y = frames()
    first, again = (Sieve("mim").fit(X, Y).selection(X, Y).fingerprint for _ in range(2))
    assert first == again
    assert Sieve("mim").fit(X, Y).selection(X + 1, Y).fingerprint["X"] != first["X"]
    assert Sieve("mim").fit(X, Y).selection().fingerprint == {}


def test_stability_is_stored_with_its_kind():
    X, Y = make_data()
    sieve = Sieve("mim", n_features_to_select=2).fit(X, Y)
    found = selection_stability(sieve, X, Y, n_repeats=5, kind="auto", random_state=0)
    stored = sieve.selection(X, Y, names=NAMES, stability=found).stability
    assert (stored.index, stored.interval, stored.n_repeats, stored.kind) == (found.index, found.interval, 5, "bootstrap")
    assert stored.frequency == {name: share for name, share in zip(NAMES, found.frequency, strict=True) if share}
    everything = selection_stability(Sieve(n_features_to_select=None), X, Y, n_repeats=2, random_state=0)
    assert sieve.selection(stability=everything).stability.index is None


def test_methods_that_look_for_neighbors_are_resampled_without_replacement():
    X, Y = make_data()
    found = selection_stability(selectors.ReliefF(n_features_to_select=2), X, Y, n_repeats=2, kind="auto", random_state=0)
    assert found.kind == "subsample"


def test_what_needs_data_is_refused_without_them():
    X, Y = make_data()
    sieve = Sieve("mim").fit(X, Y)
    for options in ({"redundant": 0.9}, {"information": True}):
        with pytest.raises(InputError, match="need X and y"):
            sieve.selection(**options)
    with pytest.raises(InputError, match="9 names for 8 features"):
        sieve.selection(names=[*NAMES, "one more"])
    with pytest.raises(InputError, match="LabelwiseSieve selects features for each label"):
        LabelwiseSieve("mim").fit(X, Y).selection(X, Y, redundant=0.9)
    with pytest.raises(InputError, match="ReliefF has no codes to compare"):
        selectors.ReliefF().fit(X, Y).selection(X, Y, redundant=0.9)
