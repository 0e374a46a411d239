"""Chunks of rows, whatever their size and wherever they are, give the selection of the whole table, bit for bit."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve import InputError, Sieve
from labelsieve.counting.backends import ChunkedBackend
from labelsieve.counting.backends.chunked import backend as chunked
from labelsieve.registry import CRITERIA, LABEL_SPACES
from tests.support.random_tables import many_levels_table

N_ROWS = 90


def make_data(seed):
    """Features of few and of many levels, and labels that depend on some of them."""
    rng = np.random.default_rng(seed)
    X = many_levels_table(seed, N_ROWS, [2, 3, 1, 40, 5, 2, 3])
    Y = (X[:, [0, 1, 4, 5]] + rng.integers(0, 3, size=(N_ROWS, 4)) > 2).astype(np.uint8)
    Y[:, 0] |= Y[:, 1:].sum(axis=1) == 0  # a label in every row: copies need one
    return X, Y


def assert_same(ours, expected):
    assert np.array_equal(ours.selected_, expected.selected_)
    assert ours.scores_.tobytes() == expected.scores_.tobytes()
    assert ours.feature_scores_.tobytes() == expected.feature_scores_.tobytes()


def fitted(X, Y, backend, sample_weight=None, **parameters):
    sieve = Sieve(**parameters, discretizer=None, n_features_to_select=4, backend=backend)
    return sieve.fit(X, Y, sample_weight=sample_weight)


def both(X, Y, chunks, sample_weight=None, **parameters):
    """The same selection twice; None for combinations that are refused, in both ways."""
    chunked = partial(ChunkedBackend, **chunks)
    try:
        expected = fitted(X, Y, "native", sample_weight, **parameters)
    except InputError:
        with pytest.raises(InputError):
            fitted(X, Y, chunked, sample_weight, **parameters)
        return
    assert_same(fitted(X, Y, chunked, sample_weight, **parameters), expected)


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
def test_every_criterion(criterion):
    both(*make_data(0), {"chunk_rows": 31}, criterion=criterion, targets="single")


@pytest.mark.parametrize("space", sorted(LABEL_SPACES))
def test_every_label_space(space):
    for criterion in ("jmi", "mrmr", "cmim"):
        both(*make_data(1), {"chunk_rows": 17, "memory_limit": 0}, criterion=criterion, targets=space)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 3),
    chunk_rows=st.integers(1, N_ROWS + 5),
    criterion=st.sampled_from(sorted(CRITERIA)),
    space=st.sampled_from(sorted(LABEL_SPACES)),
    estimator=st.sampled_from(["plugin", "miller-madow", "shrinkage"]),
    weights=st.sampled_from([None, "whole", "real"]),
    sparse=st.booleans(),
    memory_limit=st.sampled_from([0, 2**30]),
    n_jobs=st.sampled_from([1, 2]),
)
def test_random_chunks(seed, chunk_rows, criterion, space, estimator, weights, sparse, memory_limit, n_jobs):
    X, Y = make_data(seed)
    rng = np.random.default_rng(seed)
    of_rows = {None: None, "whole": rng.integers(0, 4, size=N_ROWS), "real": rng.random(N_ROWS)}[weights]
    if sparse:
        X, Y = sp.csr_array(X), sp.csc_array(Y)
    options = {"criterion": criterion, "targets": space, "estimator": estimator, "n_jobs": n_jobs}
    both(X, Y, {"chunk_rows": chunk_rows, "memory_limit": memory_limit}, of_rows, **options)


def test_unknown_labels():
    X, Y = make_data(2)
    Y = Y.astype(float)
    Y[np.random.default_rng(0).random(Y.shape) < 0.2] = np.nan
    for criterion in ("mim", "jmi", "mrmr", "pmu"):
        both(X, Y, {"chunk_rows": 13}, criterion=criterion)


def test_counts_that_do_not_fit_are_counted_in_several_passes(monkeypatch):
    """By targets, and by blocks of features."""
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, 5, size=(200, 300)), rng.integers(0, 2, size=(200, 6))
    for least in (40_000, 8_000):  # of 1,200 columns: a few targets at a time; a block at a time
        monkeypatch.setattr(chunked, "LEAST_COUNTS", least)
        both(X, Y, {"chunk_rows": 64, "memory_limit": 0}, criterion="jmi")
    monkeypatch.setattr(chunked, "LEAST_COUNTS", 1000)
    with pytest.raises(MemoryError, match=r"combinations of levels \(condition and target\).*raise the limit"):
        fitted(X, Y, partial(ChunkedBackend, memory_limit=0), criterion="jmi")


def test_by_name():
    X, Y = make_data(3)
    assert_same(fitted(X, Y, "chunked"), fitted(X, Y, "native"))
