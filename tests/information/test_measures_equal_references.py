"""Every measure is its definition: it agrees with a naive reference on hundreds of random tables."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import labelsieve.information as information
from tests.support import reference_information as references
from tests.support.random_tables import cases, make_table, many_levels_table, sparse_table, weighted_cases

# A cell is off by half a unit of the fixed point, and there are no more cells than rows; the longest measure is a sum
# of seven entropies. The unit is 2**-40 for small tables and 2**-37 for 3,000 rows. Real weights are rounded to 2**-40
# of their sum.
EXACT_COUNTS = 5e-12
LARGE_COUNTS = 3e-11
ROUNDED_WEIGHTS = 1e-10

measures = pytest.mark.parametrize("name", references.MEASURES)
estimators = pytest.mark.parametrize("estimator", ["plugin", "miller-madow"])
hundreds = settings(max_examples=120, deadline=None)
ways = st.fixed_dictionaries(
    {"estimator": st.sampled_from(["plugin", "miller-madow"]), "base": st.sampled_from(["nat", "bit"])}
)


def assert_equals_reference(name, case, within, *, weights=None, estimator="plugin", base="nat"):
    reference, others = references.MEASURES[name]
    arguments = case[: 1 + len(others)]
    ours = getattr(information, name)(*arguments, sample_weight=weights, estimator=estimator, base=base, n_jobs=1)
    naive = reference(*arguments, weights=weights, estimator=estimator, base=base)
    assert ours.dtype == np.float64
    assert ours.shape == naive.shape
    np.testing.assert_allclose(ours, naive, rtol=0, atol=within, err_msg=name)


def test_every_measure_has_a_reference():
    public = {name for name in information.__all__ if inspect.isfunction(getattr(information, name))}
    without_bins = {"kernel_mutual_information", "neighbor_mutual_information"}  # see test_continuous.py
    assert public - {"join"} - without_bins == set(references.MEASURES)


# All measures of one table: drawing it takes longer than measuring it.


@hundreds
@given(case=cases(), options=ways)
def test_measures_equal_their_references(case, options):
    for name in references.MEASURES:
        assert_equals_reference(name, case, EXACT_COUNTS, **options)


@hundreds
@given(data=weighted_cases("whole") | weighted_cases("zero or one"), options=ways)
def test_measures_with_whole_weights_equal_their_references(data, options):
    case, weights = data
    for name in references.MEASURES:
        assert_equals_reference(name, case, EXACT_COUNTS, weights=weights, **options)


@hundreds
@given(data=weighted_cases("real"), options=ways)
def test_measures_with_real_weights_equal_their_references(data, options):
    case, weights = data
    for name in references.MEASURES:
        assert_equals_reference(name, case, ROUNDED_WEIGHTS, weights=weights, **options)


@measures
@estimators
@pytest.mark.parametrize("weight", [1.3, 7.0, 1e9])
def test_a_single_weighted_row_carries_no_information(name, estimator, weight):
    case = ([[4, 0]], [[1]], [[2, 2]])
    assert_equals_reference(name, case, 0, weights=[weight], estimator=estimator)


LARGE = {
    "thousands of levels": lambda: (
        many_levels_table(0, 3000, [2, 33, 34, 2000, 20_000]),
        many_levels_table(1, 3000, [2, 7, 65, 1500]),
        many_levels_table(2, 3000, [3]),
    ),
    "given thousands of levels": lambda: (
        many_levels_table(3, 2500, [2, 5, 34, 300]),
        many_levels_table(4, 2500, [2, 100]),
        many_levels_table(5, 2500, [40, 60]),
    ),
    "mixed levels": lambda: (
        many_levels_table(6, 1500, [2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 34, 35, 64, 256, 257]),
        many_levels_table(7, 1500, [2, 3, 64]),
        many_levels_table(8, 1500, [2, 2]),
    ),
    "sparse": lambda: (
        sparse_table(9, 2000, 20, density=0.004),
        sparse_table(10, 2000, 5, density=0.02, n_levels=4),
        sparse_table(11, 2000, 2, density=0.05),
    ),
}


@measures
@pytest.mark.parametrize(("table", "estimator"), [*zip(LARGE, ["plugin", "miller-madow"] * 2, strict=True)])
def test_measure_of_a_large_table_equals_its_reference(name, table, estimator):
    assert_equals_reference(name, LARGE[table](), LARGE_COUNTS, estimator=estimator)


@measures
@pytest.mark.parametrize("table", ["mixed levels", "sparse"])
def test_measure_of_a_large_weighted_table_equals_its_reference(name, table):
    case = LARGE[table]()
    weights = np.random.default_rng(12).uniform(0, 3, size=len(case[0]))
    assert_equals_reference(name, case, ROUNDED_WEIGHTS, weights=weights, estimator="miller-madow")


def test_information_of_columns_with_each_other_is_that_of_the_table_with_itself():
    X = make_table(3, 200, ["fair", "5 levels", "duplicate", "34 levels", "constant"])
    among_themselves = information.mutual_information(X)
    assert np.array_equal(among_themselves, information.mutual_information(X, X))
    np.testing.assert_allclose(among_themselves, references.mutual_information(X), rtol=0, atol=EXACT_COUNTS)
