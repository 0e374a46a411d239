"""Every discretizer against its reference implementation, written from the definition."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from labelsieve.discretize import MDL, EqualFrequency, KMeansBins, MeanStd
from labelsieve.registry import DISCRETIZERS
from tests.support import reference_discretizers as references
from tests.support.discretizer_cases import CASES, columns, labels_for

hundreds = settings(max_examples=200, deadline=None)
whole_columns = st.lists(st.integers(-30, 30), min_size=2, max_size=30)


def as_column(values):
    return np.asarray(values, dtype=float)[:, None]


@pytest.mark.parametrize("name", DISCRETIZERS)
@pytest.mark.parametrize("seed", range(5))
def test_every_discretizer_has_the_codes_of_its_reference(name, seed):
    rng = np.random.default_rng(seed)
    values = rng.permutation(np.concatenate([rng.normal(size=7), rng.normal(4, 1, size=7)]).round(4))
    classes = (values + rng.normal(scale=0.3, size=14) > 2).astype(int)
    for case in (case for case in CASES.values() if case.name == name):
        expected = references.REFERENCES[name](case, values.tolist(), classes.tolist())
        labels = classes if getattr(case, "targets", "") != "copy" else np.column_stack([1 - classes, classes])
        assert case.encode(as_column(values), labels).column(0).tolist() == expected, case


@hundreds
@given(columns, st.integers(1, 7))
def test_equal_frequency_cuts_at_the_nearest_boundaries(values, n_bins):
    fitted = EqualFrequency(n_bins).fit(as_column(values))
    expected, kept = references.equal_frequency(values, n_bins)
    assert (fitted.categories_[0] is not None) == kept
    assert (fitted.categories_ if kept else fitted.cut_points_)[0].tolist() == expected


def test_a_column_of_mostly_zeros_still_has_two_bins():
    values = [0.0] * 95 + [1.0, 2.0, 3.0, 4.0, 5.0]
    codes = EqualFrequency(4).fit_transform(as_column(values)).ravel()
    assert codes[:95].tolist() == [0] * 95
    assert set(codes[95:]) == {1}


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-30, 30), min_size=2, max_size=12), st.integers(1, 4))
def test_k_means_has_the_least_sum_of_squares(values, n_bins):
    codes = KMeansBins(n_bins).fit_transform(as_column(values)).ravel().tolist()
    if len(set(values)) <= n_bins:
        assert references.k_means_cost(values, codes) == 0
        assert len(set(codes)) == len(set(values))
    else:
        least = references.least_k_means_cost(values, n_bins)
        assert references.k_means_cost(values, codes) <= least * (1 + 1e-12)


@pytest.mark.parametrize("scale", [0.0, 1.5], ids=["normal", "heavy tail"])
def test_k_means_of_many_values_has_the_least_sum_of_squares(scale):
    """Bounds leave out most places for a cut; an exhaustive search shows that none of the best is lost."""
    values = np.random.default_rng(1).normal(size=7000)
    values = np.sort(np.exp(scale * values) if scale else values)
    sums, squares = (np.concatenate([[0], np.cumsum(values**power)]) for power in (1, 2))
    places = np.arange(len(values) + 1)

    def cost(first, last):
        with np.errstate(invalid="ignore", divide="ignore"):
            return squares[last] - squares[first] - (sums[last] - sums[first]) ** 2 / (last - first)

    least = min(
        np.min(cost(0, first) + cost(first, places[first + 1 : -1]) + cost(places[first + 1 : -1], len(values)))
        for first in range(1, len(values) - 1)
    )
    codes = KMeansBins(3).fit_transform(as_column(values)).ravel()
    first, last = np.searchsorted(codes, [1, 2])
    assert cost(0, first) + cost(first, last) + cost(last, len(values)) <= least * (1 + 1e-12)


def test_k_means_cuts_half_way_between_the_means():
    fitted = KMeansBins(2).fit(as_column([0, 1, 2, 50, 51, 52, 53]))
    assert fitted.cut_points_[0].tolist() == [(1 + 51.5) / 2]


@hundreds
@given(columns, st.sampled_from([3, 5]), st.sampled_from([0.5, 1.0, 0.3]), st.sampled_from([None, 3]))
def test_mean_std_cuts_where_the_definition_says(values, n_levels, factor, decimals):
    fitted = MeanStd(n_levels, factor=factor, decimals=decimals).fit(as_column(values))
    cuts = references.mean_std(values, n_levels, factor, decimals)
    spread = max(map(abs, values))
    if decimals is None:
        tolerance = 1e-12 * spread
        clear = [min(abs(cut - x) for x in values) > tolerance for cut in cuts]
        assume(all(clear))
        expected = [cut for cut in cuts if min(values) < cut <= max(values)]
        assert len(fitted.cut_points_[0]) == len(expected)
        assert np.allclose(fitted.cut_points_[0], expected, rtol=0, atol=tolerance)
    else:
        assert np.array_equal(fitted.cut_points_[0], np.round(fitted.cut_points_[0], 3))


@hundreds
@given(columns, st.sampled_from(["rows", "values"]), st.integers(0, 5))
def test_mdl_cuts_where_the_recursion_says(values, boundaries, seed):
    classes = labels_for(values, 2, seed) @ [1, 2]
    expected, margin = references.mdl(list(zip(values, classes.tolist(), strict=True)), boundaries)
    assume(margin > 1e-9)  # nearer than that, rounding decides
    assert MDL(boundaries=boundaries).fit(as_column(values), classes).cut_points_[0].tolist() == expected


@hundreds
@given(whole_columns, st.integers(0, 5))
def test_mdl_with_copy_equals_mdl_on_copied_rows(values, seed):
    labels = labels_for(values, 4, seed)
    labels[::5] = 0  # rows without labels do not count
    rows, classes = np.nonzero(labels)
    assume(len(rows))
    copied = MDL().fit(as_column(values)[rows], classes)
    fitted = MDL("copy").fit(as_column(values), labels)
    assert fitted.cut_points_[0].tolist() == copied.cut_points_[0].tolist()


@hundreds
@given(whole_columns, st.integers(0, 5))
def test_mdl_on_labelsets_is_mdl_on_their_numbers(values, seed):
    labels = labels_for(values, 3, seed)
    numbers = labels @ [4, 2, 1]
    assert np.array_equal(
        MDL("joint").fit(as_column(values), labels).cut_points_[0], MDL().fit(as_column(values), numbers).cut_points_[0]
    )


def test_mdl_copies_labels_and_joins_other_targets_by_default():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    labels = np.column_stack([X[:, 0] > 0.3, X[:, 1] > 0]).astype(int)
    for targets, same in ((labels, "copy"), (labels[:, 0], "joint"), (labels + labels[:, ::-1], "joint")):
        assert np.array_equal(MDL().encode(X, targets).dense, MDL(same).encode(X, targets).dense)


def test_mdl_for_single_targets_is_mdl_target_by_target():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    Y = np.column_stack([X[:, 0] > 0.3, (X[:, 1] > 1) + (X[:, 1] > -1) * 1, rng.integers(0, 2, 200)]).astype(int)
    fitted = MDL("single").fit(X, Y)
    several = MDL("single").encode(X, Y)
    assert len(fitted.cut_points_) == len(several) == 3
    for target in range(3):
        alone = MDL().fit(X, Y[:, target])
        assert [cuts.tolist() for cuts in fitted.cut_points_[target]] == [cuts.tolist() for cuts in alone.cut_points_]
        assert np.array_equal(fitted.transform_label(X, target), alone.transform(X))
        assert np.array_equal(several[target].to_dense(), alone.transform(X))
    assert len(fitted.cut_points_[1][1]) == 2
    with pytest.raises(ValueError, match=r"cut points for each of 3 targets; use transform_label"):
        fitted.transform(X)


def test_a_thousand_classes_are_cut_like_others():
    values = np.repeat(np.arange(1000.0), 30)
    classes = np.repeat(np.arange(1000), 30)
    assert len(MDL().fit(values[:, None], classes).cut_points_[0]) > 100
