"""What holds for any table: the laws of information, and that names of values do not matter."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve.information import (
    conditional_mutual_information,
    entropy,
    interaction_information,
    join,
    joint_entropy,
    joint_mutual_information,
    mutual_information,
)
from tests.support.random_tables import cases

WITHIN = 1e-11

for_many_tables = settings(max_examples=120, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def assert_close(left, right):
    np.testing.assert_allclose(left, right, rtol=0, atol=WITHIN)


@for_many_tables
@given(cases())
def test_entropy_lies_between_zero_and_the_logarithm_of_the_levels_that_occur(case):
    X, _, _ = case
    occurring = np.array([len(np.unique(column)) for column in X.T])
    of_x = entropy(X)
    assert np.all(of_x >= 0)
    assert np.all(of_x <= np.log(occurring) + WITHIN)
    assert np.all(of_x[occurring == 1] == 0)


@for_many_tables
@given(cases())
def test_information_lies_between_zero_and_either_entropy(case):
    X, Y, _ = case
    shared = mutual_information(X, Y)
    assert np.all(shared >= 0)
    assert np.all(shared <= entropy(X)[:, np.newaxis] + WITHIN)
    assert np.all(shared <= entropy(Y) + WITHIN)


@for_many_tables
@given(cases())
def test_joint_entropy_lies_between_the_larger_entropy_and_their_sum(case):
    X, Y, _ = case
    joint, of_x, of_y = joint_entropy(X, Y), entropy(X)[:, np.newaxis], entropy(Y)
    assert np.all(joint >= np.maximum(of_x, of_y) - WITHIN)
    assert np.all(joint <= of_x + of_y + WITHIN)
    assert_close(joint, of_x + of_y - mutual_information(X, Y))


@for_many_tables
@given(cases())
def test_information_is_symmetric(case):
    X, Y, Z = case
    assert np.array_equal(joint_entropy(X, Y), joint_entropy(Y, X).T)
    assert np.array_equal(mutual_information(X, Y), mutual_information(Y, X).T)
    assert np.array_equal(conditional_mutual_information(X, Y, Z), conditional_mutual_information(Y, X, Z).T)
    assert np.array_equal(interaction_information(X, Y, Z), interaction_information(Y, X, Z).T)


@for_many_tables
@given(cases(columns=(1, 1, 1)))
def test_interaction_information_is_symmetric_in_all_three(case):
    X, Y, Z = case
    expected = interaction_information(X, Y, Z)
    assert_close(interaction_information(X, Z, Y), expected)
    assert_close(interaction_information(Z, Y, X), expected)


@for_many_tables
@given(cases())
def test_chain_rule(case):
    X, Y, Z = case
    together = joint_mutual_information(X, Y, Z)
    assert_close(together, mutual_information(join(Z), Y) + conditional_mutual_information(X, Y, Z))
    x_with_z = np.concatenate([joint_entropy(X[:, [k]], join(Z)) for k in range(X.shape[1])])
    z_given_x = x_with_z - entropy(X)[:, np.newaxis]
    assert_close(entropy(join(Z)) - z_given_x, mutual_information(X, join(Z)))


@for_many_tables
@given(cases(columns=(4, 2, 1)))
def test_information_of_a_joint_variable_is_the_sum_along_the_chain(case):
    X, Y, _ = case
    total = mutual_information(X[:, [0]], Y)
    for k in range(1, X.shape[1]):
        total = total + conditional_mutual_information(X[:, [k]], Y, X[:, :k])
    assert_close(mutual_information(join(X), Y), total)


@for_many_tables
@given(cases())
def test_a_column_knows_all_about_itself(case):
    X, Y, _ = case
    assert np.array_equal(np.diag(mutual_information(X)), entropy(X))
    assert np.array_equal(np.diag(joint_entropy(X, X)), entropy(X))
    assert np.all(conditional_mutual_information(X, Y, Y[:, [0]])[:, 0] == 0)


@for_many_tables
@given(cases(), st.integers(0, 300))
def test_a_constant_shares_no_information_and_conditions_nothing(case, value):
    X, Y, _ = case
    constant = np.full((len(X), 1), value)
    assert np.all(entropy(constant) == 0)
    assert np.all(mutual_information(X, constant) == 0)
    assert np.all(mutual_information(constant, Y) == 0)
    assert np.all(conditional_mutual_information(X, constant, Y) == 0)
    assert np.array_equal(conditional_mutual_information(X, Y, constant), mutual_information(X, Y))
    assert np.array_equal(joint_mutual_information(X, Y, constant), mutual_information(X, Y))
    assert np.all(interaction_information(X, Y, constant) == 0)


@for_many_tables
@given(cases(), st.integers(2, 9))
def test_merging_levels_never_raises_information(case, n_merged):
    X, Y, Z = case
    merged = X // n_merged
    assert np.all(mutual_information(merged, Y) <= mutual_information(X, Y) + WITHIN)
    assert np.all(entropy(merged) <= entropy(X) + WITHIN)
    conditional = conditional_mutual_information(X, Y, Z)
    assert np.all(conditional_mutual_information(merged, Y, Z) <= conditional + WITHIN)
    assert np.all(conditional >= 0)


def relabel(table, rng, highest):
    """Every column with its values replaced by others, one for one, in no order."""
    columns = []
    for column in table.T:
        values, codes = np.unique(column, return_inverse=True)
        columns.append(rng.choice(highest, size=len(values), replace=False)[codes])
    return np.stack(columns, axis=1)


@for_many_tables
@given(cases(), seeds, st.sampled_from([60, 256, 300, 65_535]))
def test_results_are_the_same_bits_whatever_the_values_are_called(case, seed, highest):
    rng = np.random.default_rng(seed)
    X, Y, Z = case
    A, B, C = (relabel(table, rng, highest) for table in case)
    for estimator in ("plugin", "miller-madow"):
        options = {"estimator": estimator}
        assert np.array_equal(entropy(A, **options), entropy(X, **options))
        assert np.array_equal(joint_entropy(A, B, **options), joint_entropy(X, Y, **options))
        assert np.array_equal(mutual_information(A, B, **options), mutual_information(X, Y, **options))
        conditional = conditional_mutual_information(X, Y, Z, **options)
        assert np.array_equal(conditional_mutual_information(A, B, C, **options), conditional)


@for_many_tables
@given(cases(max_rows=20), st.integers(2, 5))
def test_repeating_all_rows_leaves_plugin_estimates_alone(case, times):
    X, Y, Z = case
    many_x, many_y, many_z = (np.tile(table, (times, 1)) for table in case)
    assert_close(entropy(many_x), entropy(X))
    assert_close(mutual_information(many_x, many_y), mutual_information(X, Y))
    conditional = conditional_mutual_information(X, Y, Z)
    assert_close(conditional_mutual_information(many_x, many_y, many_z), conditional)


@for_many_tables
@given(cases())
def test_order_and_repetition_of_the_given_columns_do_not_matter(case):
    X, Y, Z = case
    expected = conditional_mutual_information(X, Y, Z)
    assert np.array_equal(conditional_mutual_information(X, Y, Z[:, ::-1]), expected)
    assert np.array_equal(conditional_mutual_information(X, Y, np.hstack([Z, Z])), expected)
    assert np.array_equal(conditional_mutual_information(X, Y, join(Z)), expected)
