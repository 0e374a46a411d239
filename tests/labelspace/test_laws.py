"""Invariances of the selection in every label space, and refused targets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve import InputError, Sieve
from labelsieve.labelspace import Pruned, SelectRandom, read_targets
from labelsieve.registry import LABEL_SPACES

# Spaces whose counts do not depend on the order of the rows, of the labels, or on a constant label. Random labels depend on
# the row index; ties go to the first label; groups are drawn by column index.
ANY_ORDER_OF_ROWS = [name for name in LABEL_SPACES if name != "select-random"]
ANY_ORDER_OF_LABELS = ["single", "joint", "pruned", "copy", "copy-weight", "ignore"]
INVARIANT_UNDER_A_CONSTANT = ["single", "joint", "pruned", "copy", "copy-weight", "select-max", "select-min", "ignore"]

tables = st.integers(0, 10**6).map(lambda seed: make_table(seed))


def make_table(seed):
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(2, 6))
    n_rows = 3 * n_labels + int(rng.integers(8, 40))
    Y = (rng.random((n_rows, n_labels)) < 0.4).astype(int)
    Y[: 3 * n_labels] = np.tile(np.eye(n_labels, dtype=int), (3, 1))  # every space keeps some rows
    X = rng.integers(0, 3, size=(n_rows, 5))
    X[:, 2] = Y[:, 0] + Y[:, 1]
    return X, Y


def fit(space, X, Y):
    return Sieve("jmi", targets=space, discretizer=None, n_features_to_select=3).fit(X, Y)


def assert_same(one, other):
    assert np.array_equal(one.selected_, other.selected_)
    assert np.array_equal(one.scores_, other.scores_)


@pytest.mark.parametrize("space", LABEL_SPACES)
@settings(max_examples=10, deadline=None)
@given(table=tables)
def test_two_fits_agree(space, table):
    assert_same(fit(space, *table), fit(space, *table))


@pytest.mark.parametrize("space", ANY_ORDER_OF_ROWS)
@settings(max_examples=10, deadline=None)
@given(table=tables, seed=st.integers(0, 100))
def test_the_order_of_rows_changes_nothing(space, table, seed):
    X, Y = table
    order = np.random.default_rng(seed).permutation(len(X))
    assert_same(fit(space, X, Y), fit(space, X[order], Y[order]))


@pytest.mark.parametrize("space", [*ANY_ORDER_OF_LABELS, Pruned(min_count=2)])
@settings(max_examples=10, deadline=None)
@given(table=tables, seed=st.integers(0, 100))
def test_the_order_of_labels_changes_nothing(space, table, seed):
    X, Y = table
    order = np.random.default_rng(seed).permutation(Y.shape[1])
    assert_same(fit(space, X, Y), fit(space, X, Y[:, order]))


@pytest.mark.parametrize("space", [*INVARIANT_UNDER_A_CONSTANT, Pruned(min_count=2, split=True)])
@settings(max_examples=10, deadline=None)
@given(table=tables)
def test_a_label_that_no_row_has_changes_nothing(space, table):
    X, Y = table
    one, other = fit(space, X, Y), fit(space, X, np.column_stack([np.zeros(len(Y), dtype=int), Y]))
    assert np.array_equal(one.selected_, other.selected_)
    np.testing.assert_allclose(one.scores_, other.scores_, rtol=0, atol=1e-9)  # the scale depends on the number of targets


def test_random_labels_depend_on_the_seed_alone():
    Y = np.ones((50, 3), dtype=int)
    drawn = [SelectRandom(random_state=seed).encode(read_targets(Y)).codes.column(0).tolist() for seed in (4, 4, 5)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("space", ["copy", "copy-weight", "select-max", "select-min", "select-random", "ignore"])
def test_spaces_over_labels_refuse_other_targets(space):
    X, Y = make_table(0)
    with pytest.raises(InputError, match=r"Y, column 1: .* needs binary labels .* classes up to 2"):
        fit(space, X, np.column_stack([Y[:, 0], 2 * Y[:, 1]]))
    with pytest.raises(InputError, match=r"Y, column 0: .* this target has real numbers"):
        fit(space, X, Y + 0.5)
    with pytest.raises(InputError, match="no row has a label"):
        fit(space, X, 0 * Y)


def test_a_space_without_rows_is_refused():
    X, Y = make_table(0)
    with pytest.raises(InputError, match=r"No row is left .* smaller min_count"):
        fit(Pruned(min_count=1000), X, Y)
    with pytest.raises(InputError, match="no row has exactly one label"):
        fit("ignore", X, np.ones_like(Y))
    with pytest.raises(InputError, match="min_count must be a whole number"):
        fit(Pruned(min_count=0), X, Y)
    with pytest.raises(InputError, match='True, False or "smallest"'):
        fit(Pruned(split="largest"), X, Y)
