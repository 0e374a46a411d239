"""Terms of whole tables (shrinkage, missing cells that are left out) are the same bits in any order and in any chunks.

Tied columns would be chosen by the last bit otherwise.
"""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve import InputError, LabelwiseSieve, Sieve
from labelsieve.counting.backends import ChunkedBackend
from labelsieve.datasets import ChunkedTable
from labelsieve.information import mutual_information

N_ROWS = 90
CRITERIA = ["mim", "mrmr", "jmi", "cmim", "cife", "icap", "nmifs", "fou", "pmu", "lrfs"]
SETTINGS = st.sampled_from(
    [
        {"estimator": "shrinkage"},
        {"estimator": "shrinkage", "missing": "drop-pairwise"},
        {"estimator": "plugin", "missing": "drop-pairwise"},
        {"estimator": "miller-madow", "missing": "drop-pairwise"},
    ]
)
SPACES = st.sampled_from(["single", "joint"])
WEIGHTS = st.sampled_from([None, "whole", "real", "equal", "equal and real"])


def make_data(seed, missing):
    """Columns that are copies of each other with other numbers of the levels, and noise; few levels, so that cells are tied."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 4, size=(N_ROWS, 3))
    X = np.column_stack([base, 3 - base, (base + 1) % 4, rng.integers(0, 2, size=(N_ROWS, 2))]).astype(float)
    Y = (base[:, [0, 1, 1, 2]] + rng.integers(0, 3, size=(N_ROWS, 4)) > 2).astype(int)
    if missing is not None:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, Y


def weights_of(kind, seed):
    rng = np.random.default_rng(seed + 1)
    weights = {"whole": rng.integers(1, 4, N_ROWS), "real": rng.random(N_ROWS) + 0.01}
    return {None: None, "equal": np.full(N_ROWS, 3), "equal and real": np.full(N_ROWS, 0.3), **weights}[kind]


def fitted(X, Y, weights, parameters, **others):
    return Sieve(**parameters, **others, n_features_to_select=5).fit(X, Y, sample_weight=weights)


def assert_same(ours, expected):
    assert ours.selected_.tolist() == expected.selected_.tolist()
    assert ours.scores_.tobytes() == expected.scores_.tobytes()
    assert ours.feature_scores_.tobytes() == expected.feature_scores_.tobytes()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**16), st.sampled_from(CRITERIA), SPACES, SETTINGS, WEIGHTS)
def test_any_order_of_the_rows(seed, criterion, space, options, kind):
    X, Y = make_data(seed, options.get("missing"))
    weights, parameters = weights_of(kind, seed), {"criterion": criterion, "targets": space, **options}
    try:
        expected = fitted(X, Y, weights, parameters)
    except InputError:
        return  # a criterion of pairs of labels
    order = np.random.default_rng(seed).permutation(N_ROWS)
    assert_same(fitted(X[order], Y[order], None if weights is None else weights[order], parameters), expected)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**16),
    st.sampled_from(CRITERIA),
    SPACES,
    SETTINGS,
    WEIGHTS,
    st.integers(1, N_ROWS + 5),
    st.sets(st.integers(1, N_ROWS - 1), max_size=3).map(sorted),
)
def test_any_chunks(seed, criterion, space, options, kind, chunk_rows, bounds):
    X, Y = make_data(seed, options.get("missing"))
    weights, parameters = weights_of(kind, seed), {"criterion": criterion, "targets": space, **options}
    try:
        expected = fitted(X, Y, weights, parameters, backend="native")
    except InputError:
        return
    assert_same(fitted(X, Y, weights, parameters, backend=partial(ChunkedBackend, chunk_rows=chunk_rows)), expected)
    parts = np.split(np.arange(N_ROWS), bounds)
    table = ChunkedTable.from_chunks([(X[part], Y[part]) for part in parts])
    assert_same(fitted(table, None, weights, parameters), expected)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**16), st.sampled_from(CRITERIA), SPACES, SETTINGS, st.sampled_from(["whole", "equal"]))
def test_whole_weights_are_repeated_rows(seed, criterion, space, options, kind):
    X, Y = make_data(seed, options.get("missing"))
    weights, parameters = weights_of(kind, seed), {"criterion": criterion, "targets": space, "discretizer": None, **options}
    try:
        expected = fitted(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0), None, parameters)
    except InputError:
        return
    assert_same(fitted(X, Y, weights, parameters), expected)


@pytest.mark.parametrize("estimator", ["plugin", "shrinkage"])
def test_copies_of_a_column_are_tied_wherever_their_levels_are(estimator):
    """The first of them is selected, whatever the numbers of its levels are."""
    for seed in range(30):
        X, Y = make_data(seed, None)
        X = X.astype(int)
        for weights in (None, weights_of("real", seed)):
            scores = mutual_information(X, Y, estimator=estimator, sample_weight=weights)
            assert np.array_equal(scores[:3], scores[3:6])
            assert np.array_equal(scores[:3], scores[6:9])
        for space in ("single", "joint"):
            found = Sieve("mim", discretizer=None, targets=space, estimator=estimator, n_features_to_select=9).fit(X, Y)
            ranks = np.argsort(found.selected_)[:9]
            assert (ranks[:3] < ranks[3:6]).all()
            assert (ranks[3:6] < ranks[6:9]).all()


def test_labelwise_selections_do_not_depend_on_the_order_of_rows():
    for seed in range(10):
        X, Y = make_data(seed, "drop-pairwise")
        order = np.random.default_rng(seed).permutation(N_ROWS)
        for options in ({"estimator": "shrinkage"}, {"missing": "drop-pairwise"}):
            ours, other = (
                LabelwiseSieve("jmi", n_features_to_select=4, **options).fit(X[rows], Y[rows]) for rows in (order, slice(None))
            )
            assert ours.selected_.tolist() == other.selected_.tolist()
            assert np.array_equal(ours.label_support_, other.label_support_)
