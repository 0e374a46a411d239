"""Missing cells that are left out: a table in chunks has the selection of the table in memory, bit for bit.

Label spaces leave rows out, and so do weights of 0. Codes in memory are copied without these rows, those in a file are not.
"""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labelsieve import InputError, Sieve
from labelsieve.datasets import ChunkedTable
from labelsieve.registry import LABEL_SPACES

N_ROWS = 120
ESTIMATORS = ["plugin", "miller-madow", "shrinkage"]


def make_data(seed, missing):
    """Tied and noisy columns; cells are missing at random, or in all the rows without a label and in no other."""
    rng = np.random.default_rng(seed)
    shared = rng.integers(0, 3, N_ROWS).astype(float)
    X = np.column_stack([shared, shared, rng.integers(0, 4, N_ROWS), rng.integers(0, 2, N_ROWS)])
    Y = rng.integers(0, 2, size=(N_ROWS, 3))
    Y[:, 0] |= (shared > 1) & (rng.random(N_ROWS) < 0.5)
    gaps = rng.random(X.shape) < 0.2 if missing != "without a label" else np.zeros(X.shape, dtype=bool)
    if missing != "anywhere":
        gaps[Y.sum(axis=1) == 0, :2] = [True, False]
        gaps[Y.sum(axis=1) > 1, 2] = True  # of rows that "ignore" leaves out
    return np.where(gaps, np.nan, X), Y


def assert_same_in_chunks(X, Y, bounds, sample_weight=None, **parameters):
    sieve = Sieve(**parameters, missing="drop-pairwise", n_features_to_select=4)
    parts = np.split(np.arange(N_ROWS), bounds)
    chunks = ChunkedTable.from_chunks([(X[part], Y[part]) for part in parts])
    try:
        expected = sieve.fit(X, Y, sample_weight=sample_weight)
    except InputError as error:
        with pytest.raises(InputError, match=str(error)[:30]):
            Sieve(**sieve.get_params()).fit(chunks, sample_weight=sample_weight)
        return
    found = Sieve(**sieve.get_params()).fit(chunks, sample_weight=sample_weight)
    assert found.selected_.tolist() == expected.selected_.tolist()
    assert found.scores_.tobytes() == expected.scores_.tobytes()
    assert found.feature_scores_.tobytes() == expected.feature_scores_.tobytes()


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("space", sorted(LABEL_SPACES))
@pytest.mark.parametrize("missing", ["without a label", "both"])
def test_cells_that_are_missing_in_rows_that_are_left_out(space, estimator, missing):
    X, Y = make_data(0, missing)
    assert_same_in_chunks(X, Y, [70], criterion="mrmr", targets=space, estimator=estimator)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    missing=st.sampled_from(["anywhere", "without a label", "both"]),
    bounds=st.sets(st.integers(1, N_ROWS - 1), max_size=3).map(sorted),
    criterion=st.sampled_from(["mim", "mrmr", "jmi", "cmim", "cife", "fou"]),
    space=st.sampled_from(sorted(LABEL_SPACES)),
    estimator=st.sampled_from(ESTIMATORS),
    weights=st.sampled_from([None, "whole", "real", "of rows with a label"]),
)
@example(0, "without a label", [], "mrmr", "copy", "plugin", None)
def test_any_chunks(seed, missing, bounds, criterion, space, estimator, weights):
    X, Y = make_data(seed, missing)
    rng = np.random.default_rng(seed)
    of_rows = {
        None: None,
        "whole": rng.integers(0, 4, N_ROWS),
        "real": rng.random(N_ROWS),
        "of rows with a label": Y.sum(axis=1) * 0.3,
    }[weights]
    assert_same_in_chunks(X, Y, bounds, of_rows, criterion=criterion, targets=space, estimator=estimator)
