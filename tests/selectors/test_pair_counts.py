"""Counts of parts, added up, give the selection of all rows together."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import KBinsDiscretizer

from labelsieve import InputError, PairCounts, Sieve
from labelsieve.discretize import EqualFrequency, EqualWidth, Levels
from labelsieve.registry import CRITERIA
from tests.support.random_tables import many_levels_table

N_ROWS = 200


def make_data(seed=0):
    rng = np.random.default_rng(seed)
    X = many_levels_table(seed, N_ROWS, [2, 3, 1, 40, 5, 2, 3])
    return X, (X[:, [0, 1, 4]] + rng.integers(0, 3, size=(N_ROWS, 3)) > 2).astype(int)


def assert_same(ours, expected):
    assert np.array_equal(ours.selected_, expected.selected_)
    assert ours.scores_.tobytes() == expected.scores_.tobytes()
    assert ours.feature_scores_.tobytes() == expected.feature_scores_.tobytes()


def criteria_over_pairs():
    """The criteria that counts of pairs suffice for; the others say so."""
    X, Y = make_data()
    counts = PairCounts().partial_fit(X, Y)
    found, refusals = set(), {}
    for name in CRITERIA:
        try:
            ours = Sieve(name, discretizer=None, n_features_to_select=4).fit(counts)
        except InputError as error:
            refusals[name] = str(error)
            continue
        assert_same(ours, Sieve(name, discretizer=None, n_features_to_select=4).fit(X, Y))
        found.add(name)
    return found, refusals


def test_criteria_over_pairs_have_the_same_selection_and_the_others_are_refused():
    found, refusals = criteria_over_pairs()
    assert all("counts of pairs" in message for message in refusals.values()), refusals
    assert {"mim", "mrmr", "mifs", "scls"} <= found
    assert not found & {"jmi", "cmim", "cife", "pmu"}


@settings(max_examples=15, deadline=None)
@given(
    bounds=st.sets(st.integers(1, N_ROWS - 1), max_size=4),
    order=st.randoms(),
    criterion=st.sampled_from(["mim", "mrmr", "scls"]),
)
def test_any_parts_in_any_order(bounds, order, criterion):
    X, Y = make_data(1)
    parts = np.split(np.arange(N_ROWS), sorted(bounds))
    order.shuffle(parts)
    one_by_one = PairCounts()
    for part in parts:
        one_by_one.partial_fit(X[part], Y[part])
    first, *others = (PairCounts.from_bytes(PairCounts().partial_fit(X[part], Y[part]).to_bytes()) for part in parts)
    expected = Sieve(criterion, discretizer=None, n_features_to_select=5).fit(X, Y)
    for counts in (one_by_one, first.merge(*others)):
        assert counts.n_rows_ == N_ROWS
        assert_same(Sieve(criterion, discretizer=None, n_features_to_select=5).fit(counts), expected)


def test_numbers_with_cut_points_that_the_parts_share():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N_ROWS, 4)), columns=list("abcd"))
    Y = pd.DataFrame({"calm": (X["b"] > 0).astype(int), "loud": np.where(X["d"] > 0.5, "yes", "no")})
    bins = EqualFrequency(4).fit(X)
    counts = [PairCounts(bins).partial_fit(X[rows], Y[rows]) for rows in (slice(90), slice(90, None))]
    sieve = Sieve("mrmr", n_features_to_select=2).fit(counts[0].merge(counts[1]))
    expected = Sieve("mrmr", discretizer=EqualFrequency(4), n_features_to_select=2).fit(X, Y)
    assert_same(sieve, expected)
    assert sieve.feature_names_in_.tolist() == list("abcd")
    assert sieve.label_names_.tolist() == ["calm", "loud"]
    assert sieve.get_feature_names_out().tolist() == ["b", "d"]


def stored(counts):
    return PairCounts.from_bytes(counts.to_bytes())


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    bounds=st.sets(st.integers(1, 59), min_size=1, max_size=3).map(sorted),
    values=st.sampled_from([["no", "yes", "maybe"], [-1, 1, 7], [0, 3, 5], [True, False, True], [70_000, 2, 1]]),
    container=st.sampled_from([np.array, lambda y: np.array(y, dtype=object), pd.Series, lambda y: pd.DataFrame({"y": y})]),
    order=st.randoms(use_true_random=False),
)
def test_classes_of_parts_are_matched_by_name(seed, bounds, values, container, order):
    """Sorted targets: most parts lack some of the classes."""
    rng = np.random.default_rng(seed)
    position = np.sort(rng.integers(0, 3, 60))
    y = [values[at] for at in position]
    X = (position[:, np.newaxis] + rng.integers(0, 2, size=(60, 4))) % 3
    parts = np.split(np.arange(60), bounds)
    order.shuffle(parts)
    one_by_one, counts = PairCounts(), []
    for part in parts:
        targets = container([y[row] for row in part])
        one_by_one.partial_fit(X[part], targets)
        counts.append(stored(PairCounts().partial_fit(X[part], targets)))
    expected = Sieve("mrmr", discretizer=None, target_type="class", n_features_to_select=4).fit(X, container(y))
    for merged in (one_by_one, counts[0].merge(*counts[1:]), stored(counts[0].merge(*counts[1:]))):
        assert_same(Sieve("mrmr", discretizer=None, n_features_to_select=4).fit(merged), expected)


def test_a_label_of_one_class_in_every_part():
    X = np.array([[0], [0], [1], [1]])
    a, b = PairCounts().partial_fit(X[:2], ["no", "no"]), PairCounts().partial_fit(X[2:], ["yes", "yes"])
    for merged in (a.merge(b), b.merge(a), stored(a).merge(stored(b))):
        assert merged.tables.class_names == (("no", "yes"),)
        assert Sieve("mim", discretizer=None).fit(merged).scores_ == pytest.approx([np.log(2)])


def test_different_cut_points_do_not_add_up():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.integers(0, 2, 100)
    bins = EqualFrequency(5).fit(X)
    counts = PairCounts(bins).partial_fit(X, y)
    same = PairCounts(EqualFrequency(5).fit(X)).partial_fit(X, y)
    assert counts.merge(stored(same), same.suppress(1)).n_rows_ == 300
    for other in (
        EqualFrequency(4).fit(X),
        EqualFrequency(5).fit(X[1:]),
        EqualWidth(5).fit(X),
        KBinsDiscretizer(5, encode="ordinal").fit(X),
    ):
        for wrong in (PairCounts(other).partial_fit(X, y), stored(PairCounts(other).partial_fit(X, y))):
            with pytest.raises(InputError, match=r"other cut points or levels.*fit one discretizer"):
                counts.merge(wrong)
            with pytest.raises(InputError, match="other cut points or levels"):
                stored(counts).merge(wrong)
    with pytest.raises(InputError, match="other cut points or levels"):
        stored(counts).partial_fit(bins.transform(X), y)  # codes, without the discretizer
    with pytest.raises(InputError, match="missing='level' or 'error'"):
        PairCounts(EqualWidth(missing="drop-pairwise").fit(X))


def test_text_of_features_needs_levels_that_the_parts_share():
    X = pd.DataFrame({"color": ["red", "blue", "red", "green"], "size": [0, 1, 1, 0]})
    y = [0, 1, 0, 1]
    with pytest.raises(InputError, match=r"column 0 \('color'\): text has no codes that all parts share.*Levels\(\).fit"):
        PairCounts().partial_fit(X, y)
    parts = [PairCounts(Levels().fit(X)).partial_fit(X[rows], y[rows]) for rows in (slice(2), slice(2, None))]
    merged = Sieve("mrmr", n_features_to_select=2).fit(parts[0].merge(stored(parts[1])))
    assert_same(merged, Sieve("mrmr", n_features_to_select=2).fit(X, y))
    with pytest.raises(InputError, match="other cut points or levels"):
        parts[0].merge(PairCounts(Levels().fit(X[:3])).partial_fit(X, y))


def test_labels_of_label_sets_are_matched_by_name():
    X = np.array([[0], [1], [1]])
    a, b = PairCounts().partial_fit(X, [{"rock"}, set(), {"folk"}]), PairCounts().partial_fit(X, [{"rock"}, {"jazz"}, set()])
    assert a.label_names_ == ("folk", "rock")
    with pytest.raises(InputError, match="Label sets need the same labels in every part"):
        a.merge(b)


def test_counts_are_those_of_a_cross_table():
    X, Y = make_data(2)
    tables = PairCounts().partial_fit(X, Y).tables
    onehot = np.hstack([X[:, [j]] == np.arange(levels) for j, levels in enumerate(tables.levels)]).astype(int)
    classes = np.hstack([Y[:, [j]] == np.arange(levels) for j, levels in enumerate(tables.classes)]).astype(int)
    assert np.array_equal(tables.with_features, onehot.T @ onehot)
    assert np.array_equal(tables.with_targets, classes.T @ onehot)
    assert np.array_equal(tables.of_classes, classes.sum(axis=0))


def test_small_cells_are_suppressed_within_the_stated_bound():
    X, Y = make_data(3)
    counts = PairCounts().partial_fit(X, Y)
    small = counts.suppress(5)
    for table in (small.tables.with_targets, small.tables.with_features):
        assert not ((table > 0) & (table < 5)).any()
    assert_same(Sieve("mrmr", discretizer=None).fit(counts.suppress(1)), Sieve("mrmr", discretizer=None).fit(X, Y))
    exact, ours = (Sieve("mim", discretizer=None, n_features_to_select=7).fit(one) for one in (counts, small))
    n_dropped = int(((counts.tables.with_targets > 0) & (counts.tables.with_targets < 5)).sum()) * 2
    assert np.abs(ours.feature_scores_ - exact.feature_scores_).max() <= n_dropped * 5 * np.log(5) / N_ROWS
    assert not np.array_equal(ours.feature_scores_, exact.feature_scores_)


def test_relevance_alone_needs_no_pairs_of_features():
    X, Y = make_data()
    counts = PairCounts(feature_pairs=False).partial_fit(X, Y)
    assert counts.tables.with_features is None
    assert_same(Sieve("mim", discretizer=None).fit(counts), Sieve("mim", discretizer=None).fit(X, Y))
    with pytest.raises(InputError, match="counts of pairs"):
        Sieve("mrmr", discretizer=None).fit(counts)


def test_wrong_input_is_refused():
    X, Y = make_data()
    counts = PairCounts().partial_fit(X, Y)
    refused = [
        (lambda: Sieve("mim").fit(counts, Y), "leave out y"),
        (lambda: Sieve("mim", targets="joint").fit(counts), "targets='single'"),
        (lambda: Sieve("mim", estimator="shrinkage").fit(counts), "counts of pairs"),
        (lambda: Sieve("mim", n_features_to_select="g-test").fit(counts), "stopping rule"),
        (lambda: Sieve("mim").fit(PairCounts()), "no counts yet"),
        (lambda: PairCounts().partial_fit(X, Y[1:]), "X has 200 rows and y has 199"),
        (lambda: PairCounts("equal-width"), "must be a fitted discretizer"),
        (lambda: counts.merge(PairCounts().partial_fit(X[:, 1:], Y)), "7 and of 6 features"),
        (lambda: counts.merge(PairCounts(feature_pairs=False).partial_fit(X, Y)), "with and without pairs"),
        (lambda: counts.merge(PairCounts().partial_fit(X, Y.astype(str))), "class 0 in one part and '0' in another"),
        (lambda: PairCounts.from_bytes(b"nothing"), "not counts that to_bytes stored"),
        (lambda: PairCounts.from_bytes(counts.to_bytes()[:-50]), "not counts that to_bytes stored"),
        (lambda: counts.suppress(0), "min_count"),
        (lambda: counts.merge(PairCounts().partial_fit(pd.DataFrame(X).rename(columns=str), Y)), "other names"),
    ]
    for attempt, message in refused:
        with pytest.raises(InputError, match=message):
            attempt()
    with pytest.raises(ValueError, match="not fitted"):
        PairCounts(EqualWidth())
