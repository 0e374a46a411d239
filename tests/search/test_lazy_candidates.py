"""Candidates that the core counts only when they can be the best: every attribute as with all candidates at every step."""

import pickle
from contextlib import contextmanager
from threading import Thread

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve import Sieve
from labelsieve.counting.backends.native import NativeBackend
from labelsieve.criteria import CMIM, Criterion, Hybrid
from labelsieve.formula import I, f, maximum, min_s, pos, s, sum_y, y
from labelsieve.registry import make_criterion
from labelsieve.search.gains import LazyGain, falling_score


class PositiveInside(Criterion):
    """The positive part is inside the minimum."""

    first = sum_y(pos(I(f, y)))
    score = sum_y(min_s(pos(I(f, y | s))))


class Difference(Criterion):
    """A minimum of differences, which are often negative."""

    first = sum_y(I(f, y))
    score = sum_y(min_s(I(f, y | s) - 2 * I(f, s)))


CRITERIA = ["cmim", "cmim-positive", "jmim", CMIM(with_relevance=True), PositiveInside(), Difference()]
HYBRIDS = ["hybrid", Hybrid(combine="product", weights=(0.5, 2)), Hybrid(weights=(1, 0)), Hybrid("jmim", weights=(3, 1))]
ATTRIBUTES = ("selected_", "scores_", "relevance_", "feature_scores_", "ranking_")


@contextmanager
def all_candidates():
    """Evaluate all candidates at every step."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NativeBackend, "candidates", lambda backend: None)
        yield


@contextmanager
def lazy_searches():
    """The gains of all searches that are made inside."""
    made, make = [], LazyGain.__init__

    def note(gain, *arguments):
        made.append(gain)
        make(gain, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LazyGain, "__init__", note)
        yield made


def fit_both(sieve, *data, **options):
    """Fit lazily and with all candidates, and compare every fitted attribute; the lazy one is returned."""
    with all_candidates():
        expected = sieve(**options.pop("full", {})).fit(*data, **options)
    with lazy_searches() as made:
        found = sieve().fit(*data, **options)
    assert len(made) == 1
    for name in ATTRIBUTES:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert found.score_components_.keys() == expected.score_components_.keys()
    for kind, values in expected.score_components_.items():
        np.testing.assert_array_equal(found.score_components_[kind], values)
    return found


def random_table(seed, n_rows, n_features, n_targets, n_levels, n_classes, density):
    rng = np.random.default_rng(seed)
    levels = rng.integers(1, n_levels + 1, n_features)
    X = np.where(rng.random((n_rows, n_features)) < density, rng.integers(0, levels, (n_rows, n_features)), 0)
    Y = np.where(rng.random((n_rows, n_targets)) < 0.4, rng.integers(0, n_classes, (n_rows, n_targets)), X[:, :1] % n_classes)
    Y = Y.astype(str).astype(object)  # classes, not numbers
    if n_features > 4:
        X[:, 3] = X[:, 4]  # ties
        X[:, 2] = 0
    return X, Y


tables = st.builds(
    random_table,
    seed=st.integers(0, 2**32),
    n_rows=st.integers(2, 120),
    n_features=st.integers(1, 75),
    n_targets=st.integers(1, 7),
    n_levels=st.integers(1, 7),
    n_classes=st.integers(2, 4),
    density=st.sampled_from([0.1, 0.5, 1.0]),
)


@settings(max_examples=60, deadline=None)
@given(tables, st.data())
def test_lazy_search_has_the_same_attributes(table, data):
    X, Y = table
    n_features = X.shape[1]
    unavailable = data.draw(st.permutations(range(n_features)))
    forced = unavailable[: data.draw(st.integers(0, min(2, n_features - 1)))]
    excluded = unavailable[len(forced) : len(forced) + data.draw(st.integers(0, min(3, n_features - 1 - len(forced))))]
    options = {
        "discretizer": None,
        "n_features_to_select": data.draw(st.sampled_from([1, 2, 5, 12, "all"])),
        "estimator": data.draw(st.sampled_from(["plugin", "miller-madow"])),
        "constant_features": data.draw(st.sampled_from(["last", "score"])),
        "forced": forced,
        "excluded": excluded,
        "n_jobs": data.draw(st.sampled_from([None, 2])),
    }
    criterion = data.draw(st.sampled_from(CRITERIA))
    kind = data.draw(st.sampled_from([np.asarray, np.asfortranarray, lambda codes: np.asarray(codes, np.uint8), sp.csc_array]))
    weights = data.draw(st.sampled_from([None, np.full(len(X), 3.0)]))  # equal weights are counted without them
    fit_both(lambda: Sieve(criterion, **options), kind(X), Y, sample_weight=weights)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(HYBRIDS), st.booleans(), st.sampled_from([1, 4, 15, "all"]), st.booleans())
def test_lazy_hybrid_has_the_same_attributes(seed, criterion, nominal, n_selected, is_sparse):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(rng.integers(20, 150), rng.integers(2, 40))), int(rng.integers(1, 3)))
    X[:, 0] = np.where(rng.random(len(X)) < 0.2, 0 if is_sparse else np.nan, X[:, 0])
    X[:, -1] = X[:, 1]
    Y = np.column_stack([X[:, -1] > 0, np.abs(X[:, 1]) > 1, rng.random(len(X)) < 0.3])
    if is_sparse:
        X = sp.csr_array(np.where(X > 0.5, X, 0))
    elif nominal:
        X[:, 1] = np.floor(np.abs(X[:, 1]) * 2)
        criterion = Hybrid(linear=None) if criterion == "hybrid" else criterion
    fit_both(lambda: Sieve(criterion, n_features_to_select=n_selected), X, Y)


@pytest.fixture
def table():
    X, Y = random_table(5, 400, 60, 4, 4, 2, 1.0)
    return X, Y


@pytest.mark.parametrize("criterion", ["cmim", "hybrid"])
def test_warm_start_continues_a_lazy_search(criterion, table):
    X, Y = table
    with all_candidates():
        expected = Sieve(criterion, n_features_to_select=15).fit(X, Y)
    sieve = Sieve(criterion, n_features_to_select=4, warm_start=True).fit(X, Y)
    before = sieve.feature_scores_
    sieve.set_params(n_features_to_select=15).fit(X, Y)
    for name in ATTRIBUTES:
        np.testing.assert_array_equal(getattr(sieve, name), getattr(expected, name))
    with all_candidates():
        np.testing.assert_array_equal(before, Sieve(criterion, n_features_to_select=4).fit(X, Y).feature_scores_)


@pytest.mark.parametrize("criterion", ["cmim", "hybrid"])
def test_scores_that_were_left_out_are_pickled_and_the_same_for_all_threads(criterion, table):
    with all_candidates():
        expected = Sieve(criterion, n_features_to_select=6).fit(*table).feature_scores_
    stored = pickle.loads(pickle.dumps(Sieve(criterion, n_features_to_select=6).fit(*table)))
    np.testing.assert_array_equal(vars(stored)["feature_scores_"], expected)
    sieve, read = Sieve(criterion, n_features_to_select=6).fit(*table), []
    threads = [Thread(target=lambda: read.append(sieve.feature_scores_)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(scores, expected) for scores in read)
    assert Sieve().feature_scores_ is None


def test_few_candidates_are_counted(table):
    with lazy_searches() as made:
        Sieve("cmim", discretizer=None, n_features_to_select=10).fit(*table)
        Sieve("hybrid", n_features_to_select=10).fit(*table)
        sieve = Sieve(CMIM(with_relevance=True), discretizer=None, n_features_to_select=10).fit(*table)
    assert [gain.n_tables for gain in made] == [60 * 9] * 3
    assert all(gain.n_counted < 0.8 * gain.n_tables for gain in made)
    assert made[2].n_counted < made[0].n_counted
    before = made[2].n_counted
    assert np.isfinite(sieve.feature_scores_).all()
    assert made[2].n_counted > before


@pytest.mark.parametrize(
    "options",
    [
        {"sample_weight": 1.0 + np.arange(400) % 3},
        {"target_weight": [1, 2, 3, 4]},
        {"estimator": "shrinkage"},
        {"targets": "copy"},
        {"n_features_to_select": "threshold"},
        {"backend": "chunked"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_other_searches_count_all_candidates(options, table):
    weights = options.pop("sample_weight", None)
    options = {"discretizer": None, "n_features_to_select": 3} | options
    with lazy_searches() as made:
        Sieve("cmim", **options).fit(*table, sample_weight=weights)
    assert made == []


@pytest.mark.parametrize("name", ["jmi", "icap", "njmim", "mrmr", "mim", "cmi"])
def test_other_formulas_are_no_plain_minima(name):
    assert falling_score(make_criterion(name).plan) is None


def test_formulas_with_more_than_a_minimum_are_no_plain_minima():
    class Larger(Criterion):
        first = sum_y(I(f, y))
        score = sum_y(maximum(I(f, y), min_s(I(f, y | s))))

    class Sum(Criterion):
        first = sum_y(I(f, y))
        score = sum_y(I(f, y)) + sum_y(min_s(I(f, y | s)))

    assert falling_score(Larger().plan) is None
    assert falling_score(Sum().plan) is None
