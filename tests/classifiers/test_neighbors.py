"""The search for neighbors equals sorting all distances."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from labelsieve import InputError
from labelsieve.classifiers import nearest_neighbors, nested_neighbors
from labelsieve.classifiers.neighbor_search import LabelVotes, Neighbors
from tests.support import reference_neighbors as references

CASES = [(1, 1, 1), (2, 3, 5), (50, 4, 7), (130, 2, 63), (130, 3, 64), (200, 5, 199), (1500, 9, 10)]


def lists(found):
    return [found.rows[start:stop].tolist() for start, stop in zip(found.starts, found.starts[1:], strict=False)]


def grid(seed, n_rows, n_columns):
    """Whole numbers: many exact ties."""
    return np.random.default_rng(seed).integers(0, 3, size=(n_rows, n_columns)).astype(float)


@pytest.mark.parametrize("ties", ["first", "all"])
@pytest.mark.parametrize(("n_rows", "n_columns", "k"), CASES)
def test_neighbors_equal_sorting_all_distances(n_rows, n_columns, k, ties):
    X, queries = grid(1, n_rows, n_columns), grid(2, 40, n_columns)
    for make in (np.asarray, sp.csr_matrix):
        found = nearest_neighbors(make(X), make(queries), k=k, ties=ties)
        assert lists(found) == references.nearest(X, queries, k, ties)
        own = nearest_neighbors(make(X), k=k, ties=ties)
        if n_rows > 1:
            assert lists(own) == references.nearest(X, None, k, ties)
        else:
            assert lists(own) == [[]]


@given(st.integers(0, 10**6), st.integers(2, 90), st.integers(1, 6), st.integers(1, 12), st.sampled_from(["first", "all"]))
def test_nested_neighbors_are_those_of_each_prefix(seed, n_rows, n_columns, k, ties):
    X = np.random.default_rng(seed).normal(size=(n_rows, n_columns)).round(1)
    features = np.random.default_rng(seed + 1).permutation(n_columns)
    nested = nested_neighbors(X, features=features, k=k, ties=ties)
    for size, found in enumerate(nested, 1):
        alone = nearest_neighbors(X[:, features[:size]], k=k, ties=ties)
        assert lists(found) == lists(alone)
        assert np.array_equal(found.squared_distances, alone.squared_distances)


NESTED = [(1, 3, 2), (2, 3, 1), (40, 4, 39), (200, 5, 10), (300, 6, 64), (300, 4, 65), (700, 6, 21), (1500, 9, 10)]


@pytest.mark.parametrize("ties", ["first", "all"])
@pytest.mark.parametrize(("n_rows", "n_columns", "k"), NESTED)
@pytest.mark.parametrize(
    "make",
    [lambda table: (table > 0) - 5.0, lambda table: table, lambda table: 90 * table - 7, lambda table: table / 7],
    ids=["binary", "small", "wide", "real"],
)
def test_nested_neighbors_equal_sorting_all_distances(n_rows, n_columns, k, ties, make):
    X, queries = make(grid(7, n_rows, n_columns)), make(grid(8, 30, n_columns))
    sizes = [1, 2, n_columns]
    for asked in (None, queries) if n_rows > 1 else (queries,):
        nested = nested_neighbors(X, asked, features=range(n_columns), sizes=sizes, k=k, ties=ties, n_jobs=2)
        for size, found in zip(sizes, nested, strict=True):
            part = None if asked is None else asked[:, :size]
            assert lists(found) == references.nearest(X[:, :size], part, k, ties)


def test_nested_search_takes_numbers_at_the_edge_of_its_narrow_form():
    for reach in (127, 128, 129):  # 127 squared fits with the padding, 128 squared does not
        X = np.array([[0.0, 0.0], [reach, 0.0], [1.0, 1.0], [reach, 1.0]])
        for found, size in zip(nested_neighbors(X, features=[0, 1], k=3), (1, 2), strict=True):
            assert lists(found) == references.nearest(X[:, :size], None, 3)
            assert found.squared_distances.max() == reach**2 + (size == 2)


@pytest.mark.parametrize("n_columns", [63, 64])
def test_nested_search_takes_as_many_binary_columns_as_a_byte_holds_and_more(n_columns):
    X = np.random.default_rng(1).integers(0, 2, size=(600, n_columns)).astype(float)
    X[:3] = [[0.0], [1.0], [1.0]]
    for asked, k in ((None, 5), (1.0 - X[:40], 5), (1.0 - X[:3], 64)):
        for size, found in enumerate(nested_neighbors(X, asked, features=range(n_columns), k=k), start=1):
            alone = nearest_neighbors(X[:, :size], None if asked is None else asked[:, :size], k=k)
            assert np.array_equal(found.rows, alone.rows)
            assert np.array_equal(found.squared_distances, alone.squared_distances)
    opposite = nested_neighbors(X[:1], X[1:2], features=range(n_columns), sizes=[1, n_columns], k=1)
    assert [found.squared_distances.tolist() for found in opposite] == [[1.0], [float(n_columns)]]


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp <= 1024, reason="no numbers whose range holds the distances")
def test_rows_whose_distances_overflow_are_in_the_right_order():
    X = np.array([[0.0, 1.0], [1e200, 1.0], [-1e200, 2.0], [1e200, 1.0], [3.0, 5e199]] * 30)
    queries = np.array([[0.0, 0.0], [1e200, 1.0], [-1e250, 1e250]])
    long, asked = X.astype(np.longdouble), queries.astype(np.longdouble)
    for k in (1, 7, 40, 64, 149):
        for found, size in zip(nested_neighbors(X, queries, features=[0, 1], k=k), (1, 2), strict=True):
            assert lists(found) == references.nearest(long[:, :size], asked[:, :size], k)


@pytest.mark.parametrize("ties", ["first", "all"])
@pytest.mark.parametrize("k", [3, 70])
def test_lists_without_distances_are_the_same_lists(ties, k):
    X = grid(9, 90, 3)
    with_distances, without = (nested_neighbors(X, features=range(3), k=k, ties=ties, distances=kept) for kept in (True, False))
    for one, other in zip(with_distances, without, strict=True):
        assert lists(one) == lists(other)
        assert len(one.squared_distances) == len(one.rows)
        assert len(other.squared_distances) == 0


def test_a_row_alone_has_no_neighbors_at_any_size():
    assert [lists(found) for found in nested_neighbors([[1.0, 2.0]], features=[0, 1], k=3)] == [[[]], [[]]]


@pytest.mark.parametrize(("n_rows", "values"), [(5000, "any"), (17_000, "whole")])
def test_nested_neighbors_among_very_many_rows(n_rows, values):
    random = np.random.default_rng(8)
    X = random.normal(size=(n_rows, 4)) if values == "any" else random.integers(0, 30, size=(n_rows, 4)).astype(float)
    queries = X[::500] + (0.01 if values == "any" else 1.0)
    for size, found in enumerate(nested_neighbors(X, queries, features=range(4), k=10), start=1):
        alone = nearest_neighbors(X[:, :size], queries[:, :size], k=10)
        assert np.array_equal(found.rows, alone.rows)
        assert np.array_equal(found.squared_distances, alone.squared_distances)


@pytest.mark.parametrize(("n_labels", "n_queries"), [(3, 5), (64, 9), (65, 9), (1000, 2200)])
def test_votes_of_many_neighbors_and_in_tables_of_many_megabytes(n_labels, n_queries):
    random = np.random.default_rng(n_labels)
    n_rows, k = 700, 600  # more than a byte counts
    Y = random.random((n_rows, n_labels)) < random.random(n_labels) ** 4
    rows = np.argsort(random.random((n_queries, n_rows)), axis=1)[:, :k].astype(np.uint32)
    found = Neighbors(np.arange(n_queries + 1) * k, rows.ravel(), np.zeros(rows.size))
    chosen = np.zeros((n_queries, n_rows))
    np.put_along_axis(chosen, rows.astype(np.int64), 1.0, axis=1)
    assert np.array_equal(LabelVotes.of(sp.csr_matrix(Y)).counts(found, n_jobs=2), chosen @ Y)


@given(
    st.integers(0, 10**6), st.integers(1, 60), st.sampled_from([1, 2, 5, 8, 9, 64, 65]), st.integers(1, 9), st.integers(0, 9)
)
def test_votes_equal_plain_counts(seed, n_rows, n_labels, k, most):
    random = np.random.default_rng(seed)
    X, queries, Y = random.normal(size=(n_rows, 2)), random.normal(size=(7, 2)), random.integers(0, 2, size=(n_rows, n_labels))
    votes, table = LabelVotes.of(sp.csr_matrix(Y)), random.normal(size=(n_labels, most + 1))
    found, own = nearest_neighbors(X, queries, k=k), nearest_neighbors(X, k=k)
    counts = np.array([Y[rows].sum(axis=0) for rows in lists(found)])
    assert np.array_equal(votes.counts(found), counts)
    assert np.array_equal(votes.look_up(found, table, n_jobs=2), table[np.arange(n_labels), np.minimum(counts, most)])
    expected = np.zeros((2, n_labels, most + 1), dtype=int)
    for row, rows in enumerate(lists(own)):
        for label in range(n_labels):
            expected[Y[row, label], label, min(Y[rows, label].sum(), most)] += 1
    assert np.array_equal(votes.histograms(own, most, n_jobs=2), expected)


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_neighbors_do_not_depend_on_the_number_of_threads(n_jobs):
    X = np.random.default_rng(3).normal(size=(700, 11))
    alone, together = nearest_neighbors(X, k=9), nearest_neighbors(X, k=9, n_jobs=n_jobs)
    assert np.array_equal(alone.rows, together.rows)
    assert np.array_equal(alone.squared_distances, together.squared_distances)


def test_sums_over_neighbors():
    X, Y = grid(4, 60, 2), np.random.default_rng(5).integers(0, 9, size=(60, 3))
    found = nearest_neighbors(X, k=4)
    expected = np.array([Y[rows].sum(axis=0) for rows in lists(found)])
    assert np.array_equal(found.sum(Y), expected)
    assert np.array_equal(found.sum(sp.csr_matrix(Y)).toarray(), expected)


def test_sizes_pick_among_the_prefixes():
    X = grid(6, 30, 5)
    every = nested_neighbors(X, features=range(5), k=3)
    some = nested_neighbors(X, features=range(5), sizes=[2, 5], k=3)
    assert [lists(found) for found in some] == [lists(every[1]), lists(every[4])]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"k": 0}, "k must be a whole number"),
        ({"ties": "none"}, "ties must be"),
        ({"features": []}, "must not be empty"),
        ({"sizes": [0, 1]}, "sizes must increase"),
        ({"sizes": [2, 2]}, "sizes must increase"),
        ({"sizes": [3]}, "sizes must increase"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        nested_neighbors(np.zeros((4, 2)), **{"features": [0, 1], "k": 2, **wrong})


def test_queries_of_another_width_are_refused():
    for make in (np.asarray, sp.csr_matrix):
        with pytest.raises(InputError, match="X has 2 columns and the queries have 3"):
            nearest_neighbors(make(np.zeros((4, 2))), make(np.zeros((4, 3))), k=1)
