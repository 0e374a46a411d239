"""Candidates that are evaluated when they can be the best: the same selection as with all scores at every step."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import Sieve
from labelsieve.criteria import CMIM, Criterion
from labelsieve.formula import I, f, max_s, mean_s, min_s, pos, s, sum_s, sum_y, y
from labelsieve.search import gains
from labelsieve.search.many_labels import lazy_gain


class NegativeMaximum(Criterion):
    """Decreases by a maximum."""

    first = sum_y(I(f, y))
    score = sum_y(I(f, y) - max_s(pos(I(f, s) - I(f, s | y))))


class Mean(Criterion):
    """A mean can increase."""

    score = sum_y(I(f, y) - mean_s(pos(I(f, s) - I(f, s | y))))


class AddedInformation(Criterion):
    """Increases with every selected feature."""

    score = sum_y(I(f, y) + sum_s(pos(I(f, s | y) - I(f, s))))


class Mixed(Criterion):
    """One summand decreases, another one can increase."""

    first = sum_y(I(f, y))
    score = sum_y(min_s(I(f, y | s))) + sum_y(max_s(I(f, y | s)))


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    X = rng.random((90, 40)) < rng.random(40) * 0.4
    X[:, 7] = X[:, 8]  # a tie
    X[:, 9] = False
    Y = X[:, :25] & X[:, 10:35] | (rng.random((90, 25)) < 0.05)
    return X, Y


@pytest.mark.parametrize("criterion", ["cmim", "icap", "jmim", NegativeMaximum()])
@pytest.mark.parametrize(("batch", "kind"), [(2, np.asarray), (5, sp.csr_array), (1000, sp.csr_array)])
def test_lazy_selection_is_that_of_all_scores(criterion, batch, kind, data, monkeypatch):
    X, Y = data
    settings = {"discretizer": None, "n_features_to_select": 12, "excluded": [3], "forced": [30, 2]}
    expected = Sieve(criterion, **settings).fit(X, Y)
    monkeypatch.setattr(gains, "ACCUMULATOR_BYTES", 0)
    monkeypatch.setattr(lazy_gain, "BATCH_BYTES", 8 * 25 * batch)
    lazy = Sieve(criterion, **settings).fit(kind(X), kind(Y))
    np.testing.assert_array_equal(lazy.selected_, expected.selected_)
    np.testing.assert_array_equal(lazy.scores_, expected.scores_)
    assert np.all(lazy.feature_scores_ >= expected.feature_scores_)
    np.testing.assert_array_equal(lazy.relevance_, expected.relevance_)
    for kind_of_component, values in expected.score_components_.items():
        np.testing.assert_array_equal(lazy.score_components_[kind_of_component], values)


def test_few_candidates_are_evaluated(data, monkeypatch):
    X, Y = data
    monkeypatch.setattr(gains, "ACCUMULATOR_BYTES", 0)
    monkeypatch.setattr(lazy_gain, "BATCH_BYTES", 8 * 25)
    evaluated = []
    make = lazy_gain._Batch.__init__
    monkeypatch.setattr(lazy_gain._Batch, "__init__", lambda batch, *args: (evaluated.append(args[2]), make(batch, *args))[1])
    Sieve("cmim", discretizer=None, n_features_to_select=4).fit(X, Y)
    assert 3 <= len(np.concatenate(evaluated)) < 30


def test_lazy_fit_continues_with_warm_start_and_takes_all_features(data, monkeypatch):
    X, Y = data
    expected = Sieve("cmim", discretizer=None, n_features_to_select="all").fit(X, Y)
    monkeypatch.setattr(gains, "ACCUMULATOR_BYTES", 0)
    sieve = Sieve("cmim", discretizer=None, n_features_to_select=5, warm_start=True).fit(X, Y)
    sieve.set_params(n_features_to_select="all").fit(X, Y)
    np.testing.assert_array_equal(sieve.selected_, expected.selected_)
    np.testing.assert_array_equal(sieve.scores_, expected.scores_)


@pytest.mark.parametrize("criterion", [Mean(), AddedInformation(), Mixed()])
def test_scores_that_can_increase_are_not_lazy(criterion):
    assert not lazy_gain.never_increases(criterion.plan)


def test_small_tables_are_not_evaluated_in_batches(data, monkeypatch):
    made = []
    monkeypatch.setattr(lazy_gain._Batch, "__init__", lambda batch, *arguments: made.append(arguments))
    Sieve("cmim", discretizer=None, n_features_to_select=4).fit(*data)
    assert lazy_gain.never_increases(CMIM().plan)
    assert made == []
