"""Exact and repeatable: what is selected depends on the values alone, and the scores are the same bits."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from labelsieve import LabelwiseSieve, Sieve
from labelsieve.discretize import EqualWidth
from labelsieve.registry import CRITERIA
from tests.support.random_tables import binary_table, many_levels_table, sparse_table
from tests.support.selection_data import NAMES, assert_same_selection, make_data

criteria = pytest.mark.parametrize("criterion", CRITERIA)
PARENTS = [[1], [2, 0], [], [0, 1, 2], []]


def make_codes():
    """More columns than a vector block holds, with equal ones among them, and targets of two and more classes."""
    X = np.hstack([binary_table(1, 200, 300), many_levels_table(2, 200, [3, 5, 34] * 60)])
    Y = np.hstack([binary_table(3, 200, 3), many_levels_table(4, 200, [2, 4])])
    Y[:, 1] = X[:, 305] > 1
    return X, Y


def fit(criterion, X, Y, **parameters):
    parents = PARENTS if criterion == "mlfs" else None
    parameters = {"discretizer": None, "n_features_to_select": 6, "parents": parents, **parameters}
    return Sieve(criterion, **parameters).fit(X, Y)


@criteria
def test_selection_is_identical_for_any_number_of_threads(criterion):
    X, Y = make_codes()
    alone = fit(criterion, X, Y, n_jobs=1)
    for n_jobs in (None, 2, 4):
        assert_same_selection(fit(criterion, X, Y, n_jobs=n_jobs), alone)


@criteria
def test_selection_is_identical_for_rows_in_any_order(criterion):
    X, Y = make_codes()
    order = np.random.default_rng(5).permutation(len(X))
    assert_same_selection(fit(criterion, X[order], Y[order]), fit(criterion, X, Y))


@criteria
def test_selection_is_identical_for_dense_and_sparse_features(criterion):
    X, Y = sparse_table(6, 200, 120, density=0.08, n_levels=3), make_codes()[1]
    dense = fit(criterion, X, Y)
    for sparse in (sp.csr_array, sp.csc_array, sp.coo_array):
        assert_same_selection(fit(criterion, sparse(X), sp.csr_array(Y)), dense)


@criteria
def test_features_are_selected_wherever_they_stand(criterion):
    X, Y = make_data()
    order = np.random.default_rng(7).permutation(X.shape[1])
    how = {"discretizer": "equal-width", "parents": PARENTS[:4] if criterion == "mlfs" else None}
    expected, moved = fit(criterion, X, Y, **how), fit(criterion, X[:, order], Y, **how)
    assert np.array_equal(order[moved.selected_], expected.selected_)
    assert np.array_equal(moved.scores_, expected.scores_)


@pytest.mark.parametrize("criterion", ["mim", "jmi", "cmi", "mrmr", "cmim", "disr", "scls", "d2f"])
def test_joint_targets_do_not_depend_on_the_order_of_the_targets(criterion):
    X, Y = make_codes()
    joint = fit(criterion, X, Y, targets="joint")
    assert_same_selection(fit(criterion, X, Y[:, ::-1], targets="joint"), joint)


CONTAINERS = {
    "lists": lambda X: X.tolist(),
    "float32": lambda X: X.astype(np.float32),
    "float64": lambda X: X.astype(np.float64),
    "int8": lambda X: X.astype(np.int8),
    "uint16": lambda X: X.astype(np.uint16),
    "uint64": lambda X: X.astype(np.uint64),
    "columns first": np.asfortranarray,
    "every second column of a wider array": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "rows backwards in memory": lambda X: X[::-1].copy()[::-1],
    "read-only": lambda X: np.frombuffer(X.tobytes(), dtype=X.dtype).reshape(X.shape),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "old csc": sp.csc_matrix,
    "csr of floats": lambda X: sp.csr_array(X.astype(float)),
    "csr with zeros listed": lambda X: listed(sp.csr_array(X + 1)),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "polars, a type for each column": lambda X: pl.DataFrame(
        {name: X[:, k].astype([np.int8, np.float32, np.int64][k % 3]) for k, name in enumerate(NAMES)}
    ),
}


def listed(matrix):
    matrix.data = matrix.data - 1
    return matrix


@pytest.mark.parametrize("selector", [Sieve, LabelwiseSieve])
@pytest.mark.parametrize("discretizer", [None, EqualWidth(4)])
@pytest.mark.parametrize("container", CONTAINERS)
def test_the_same_values_in_any_container_give_the_same_selection(selector, discretizer, container):
    X = np.random.default_rng(8).integers(0, 9, size=(120, len(NAMES)))
    Y = np.column_stack([X[:, 3] > 4, X[:, 5] + X[:, 1] > 8]).astype(int)
    parameters = {"discretizer": discretizer, "n_features_to_select": 4}
    expected = selector("jmi", **parameters).fit(X, Y)
    assert_same_selection(selector("jmi", **parameters).fit(CONTAINERS[container](X), Y), expected)


def test_booleans_are_zeros_and_ones():
    X, Y = binary_table(9, 150, 40), binary_table(10, 150, 4)
    expected = fit("jmi", X, Y)
    for same in (X.astype(bool), X.astype(float), sp.csr_array(X.astype(bool))):
        assert_same_selection(fit("jmi", same, Y.astype(bool)), expected)


def test_a_frame_with_numbered_columns_is_read():
    X, Y = make_data()
    assert_same_selection(Sieve().fit(pd.DataFrame(X), Y), Sieve().fit(X, Y))


def test_text_columns_of_a_frame_are_categories():
    X, Y = make_data()
    words = np.array(["low", "middle", "high"])[np.digitize(X[:, 1], [-0.5, 0.5])]
    frame = pd.DataFrame(X, columns=NAMES).assign(**{NAMES[1]: words})
    ranks = np.column_stack([X[:, :1], np.unique(words, return_inverse=True)[1], X[:, 2:]])
    sieve = Sieve("cmim", n_features_to_select=3).fit(frame, Y)
    assert_same_selection(sieve, Sieve("cmim", n_features_to_select=3).fit(ranks, Y))
    assert 1 in sieve.selected_
    assert sieve.set_output(transform="pandas").transform(frame)[NAMES[1]].tolist() == words.tolist()


def test_rows_without_weight_do_not_move_the_bins():
    X, Y = make_data()
    weights = np.ones(len(X))
    weights[:10] = 0
    outliers = X.copy()
    outliers[:10] *= 1000  # would put all other rows of a column into one bin
    expected = Sieve(n_features_to_select=5).fit(X[10:], Y[10:])
    containers = (np.asarray, sp.csr_array, sp.csc_array, CONTAINERS["pandas"], CONTAINERS["polars"])
    for container in containers:
        weighted = Sieve(n_features_to_select=5).fit(container(outliers), Y, sample_weight=weights)
        assert_same_selection(weighted, expected)
        labelwise = LabelwiseSieve(n_features_to_select=5).fit(container(outliers), Y, sample_weight=weights)
        assert_same_selection(labelwise, LabelwiseSieve(n_features_to_select=5).fit(X[10:], Y[10:]))
    assert not np.array_equal(Sieve(n_features_to_select=5).fit(outliers, Y).scores_, expected.scores_)
