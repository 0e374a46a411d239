"""Weights are frequencies: whole weights are repeated rows, bit for bit."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import labelsieve.information as information
from labelsieve import InputError
from labelsieve.counting.backends import Column, NativeBackend
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.information import Codes, entropy, mutual_information
from labelsieve.tables.weights import quantize
from tests.support import reference_information as references
from tests.support.random_tables import make_table, many_levels_table, sparse_table, weighted_cases

measures = pytest.mark.parametrize("name", references.MEASURES)
for_many_tables = settings(max_examples=60, deadline=None)
estimators = st.sampled_from(["plugin", "miller-madow"])


def apply(name, case, **options):
    return getattr(information, name)(*case[: 1 + len(references.MEASURES[name][1])], **options)


@measures
@for_many_tables
@given(data=weighted_cases("whole"), estimator=estimators)
def test_whole_weights_equal_repeated_rows_bit_for_bit(name, data, estimator):
    case, weights = data
    assume(weights.any())
    repeated = tuple(np.repeat(table, weights.astype(int), axis=0) for table in case)
    ours = apply(name, case, sample_weight=weights, estimator=estimator)
    assert np.array_equal(ours, apply(name, repeated, estimator=estimator))


@measures
@for_many_tables
@given(data=weighted_cases("zero or one"), estimator=estimators, sparse=st.booleans())
def test_rows_of_weight_zero_are_no_rows(name, data, estimator, sparse):
    case, weights = data
    kept = tuple(table[weights == 1] for table in case)
    if sparse:
        case = tuple(map(sparse_codes, case))
    ours = apply(name, case, sample_weight=weights, estimator=estimator)
    assert np.array_equal(ours, apply(name, kept, estimator=estimator))


def sparse_codes(table):
    return Codes.from_values(sp.csr_array(table))


@measures
@for_many_tables
@given(data=weighted_cases("whole"), weight=st.integers(2, 5), estimator=estimators)
def test_equal_whole_weights_equal_repeated_rows_bit_for_bit(name, data, weight, estimator):
    case, _ = data
    repeated = tuple(np.repeat(table, weight, axis=0) for table in case)
    ours = apply(name, case, sample_weight=np.full(len(case[0]), weight), estimator=estimator)
    assert np.array_equal(ours, apply(name, repeated, estimator=estimator))


@measures
@for_many_tables
@given(data=weighted_cases("whole"), weight=st.sampled_from([1.0, 0.1, 1e-9, 1e12]))
def test_other_equal_weights_are_no_weights(name, data, weight):
    case, _ = data
    n_rows = len(case[0])
    assert np.array_equal(apply(name, case, sample_weight=np.full(n_rows, weight)), apply(name, case))
    corrected = apply(name, case, sample_weight=np.ones(n_rows), estimator="miller-madow")
    assert np.array_equal(corrected, apply(name, case, estimator="miller-madow"))


@measures
def test_weights_are_read_by_value(name):
    case = tuple(make_table(seed, 50, ["fair", "5 levels", "34 levels"]) for seed in range(3))
    weights = np.random.default_rng(3).integers(0, 5, size=50)
    expected = apply(name, case, sample_weight=weights)
    for same in (weights.tolist(), weights.astype(np.float32), weights.astype(np.uint8), weights[::-1].copy()[::-1]):
        assert np.array_equal(apply(name, case, sample_weight=same), expected)


@measures
@pytest.mark.parametrize("seed", range(5))
def test_weighted_results_do_not_depend_on_order_threads_or_a_scale_of_two(name, seed):
    rng = np.random.default_rng(seed)
    case = (
        many_levels_table(seed, 900, [2, 3, 5, 33, 34, 700] * 4),
        many_levels_table(seed + 10, 900, [2, 2, 7, 500]),
        many_levels_table(seed + 20, 900, [3, 2]),
    )
    weights = rng.uniform(0.1, 4.0, size=900)
    expected = apply(name, case, sample_weight=weights)
    assert np.array_equal(apply(name, case, sample_weight=weights, n_jobs=2), expected)
    order = rng.permutation(900)
    shuffled = tuple(table[order] for table in case)
    assert np.array_equal(apply(name, shuffled, sample_weight=weights[order]), expected)
    assert np.array_equal(apply(name, case, sample_weight=weights * 64), expected)
    assert np.array_equal(apply(name, case, sample_weight=weights / 1024), expected)
    assert np.array_equal(apply(name, tuple(map(sparse_codes, case)), sample_weight=weights), expected)


def test_raw_sums_of_whole_weights_are_those_of_repeated_rows():
    X, Y = sparse_table(1, 800, 60, density=0.05, n_levels=3), many_levels_table(2, 800, [2, 3, 40, 100])
    given_column = many_levels_table(3, 800, [5])[:, 0]
    weights = quantize(np.random.default_rng(4).integers(0, 4, size=800).astype(float))
    assert weights.unit == 1
    fixed = FixedPoint.for_weights(weights.total, unit=1, n_targets=4)
    weighted = NativeBackend(Codes.from_values(X), Codes.from_values(Y), fixed, weights=weights, n_jobs=2)
    rows = np.repeat(np.arange(800), weights.values.astype(int))
    fixed = FixedPoint.for_rows(len(rows), n_targets=4)
    repeated = NativeBackend(Codes.from_values(X[rows]), Codes.from_values(Y[rows]), fixed)
    for ours, theirs in zip(weighted.singles(), repeated.singles(), strict=True):
        assert np.array_equal(ours, theirs)
    assert np.array_equal(weighted.pairs(), repeated.pairs())
    assert np.array_equal(weighted.pairs(reduce="sum"), repeated.pairs(reduce="sum"))
    for part in (slice(None), slice(1, 3)):
        panel = weighted.panel(Column(given_column, 5), targets=part)
        expected = repeated.panel(Column(given_column[rows], 5), targets=part)
        assert np.array_equal(panel.pair, expected.pair)
        assert np.array_equal(panel.triple, expected.triple)


@pytest.mark.parametrize("total", [1e-300, 1e-9, 1e-3, 1.0, 1e12, 1e300])
def test_plugin_estimates_take_weights_of_any_size(total):
    weights = np.random.default_rng(5).uniform(0.5, 1.5, size=300)
    weights /= weights.sum()
    X = make_table(6, 300, ["all distinct", "3 levels", "fair"])
    expected = references.mutual_information(X, weights=weights)
    ours = mutual_information(X, sample_weight=weights * total)
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-10)


def test_plugin_estimates_take_the_largest_weights():
    weights = [1.5e308, 0.5e308, 1e308]
    ours = entropy([[0], [1], [0]], sample_weight=weights)
    np.testing.assert_allclose(ours, [references.H([0, 1, 0], weights=[3, 1, 2])], rtol=0, atol=1e-10)


@pytest.mark.parametrize("total", [1e-9, 1e-3, 1.0, 1e12])
@pytest.mark.parametrize("name", ["entropy", "mutual_information"])
def test_miller_and_madows_correction_of_any_weights_is_right_or_refused(name, total):
    """It needs frequency weights; weights that add up to less than a row are not."""
    weights = np.random.default_rng(5).uniform(0.5, 1.5, size=700)
    weights *= total / weights.sum()
    case = tuple(make_table(seed, 700, ["all distinct", "3 levels"]) for seed in range(2))
    case = case[: 1 + len(references.MEASURES[name][1])]
    options = {"estimator": "miller-madow"}
    refusal = None
    try:
        ours = apply(name, case, sample_weight=weights, **options)
    except InputError as error:
        refusal = str(error)
    if refusal is None:
        naive = references.MEASURES[name][0](*case, weights=weights, **options)
        np.testing.assert_allclose(ours, naive, rtol=1e-9, atol=1e-9)
    else:
        assert total <= 1, "weights that add up to more than a row are frequencies"
        assert "sample_weight" in refusal
