"""Evaluation strategies do not change values: slices of targets, long accumulators, custom formulas."""

import gc
import weakref

import numpy as np
import pytest

from labelsieve import Criterion, InputError, Sieve
from labelsieve.counting import workspace as workspaces
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.workspace import Workspace
from labelsieve.formula import H, I, evaluation, f, mean_pa, mean_s, pa, pos, s, sum_s, sum_y, sum_z, y, z
from labelsieve.formula.evaluation import SPILL_AFTER, Accumulator
from labelsieve.formula.values import MAX, MEAN, MIN, SUM
from labelsieve.information import mutual_information
from labelsieve.registry import CRITERIA
from tests.support.criterion_cases import VARIANTS, fit_variant, make_parents
from tests.support.random_tables import binary_table, many_levels_table

N_FEATURES, N_TARGETS = 24, 7


def make_data():
    X = many_levels_table(1, 300, [2, 3, 4, 5, 9, 40] * (N_FEATURES // 6))
    Y = np.hstack([binary_table(2, 300, N_TARGETS - 2), many_levels_table(3, 300, [3, 6])])
    Y[:, 0] = (X[:, 0] + X[:, 1] > 1) & (X[:, 3] > 0)
    Y[:, 1] = X[:, 2] > 1
    return X, Y


def fit(name, X, Y):
    return fit_variant(name, X, Y, parents=make_parents(5, Y.shape[1]), n_features_to_select=10)


@pytest.mark.parametrize("targets_at_a_time", [1, 2, 3, 6])
@pytest.mark.parametrize("keeps_pairs", [True, False])
@pytest.mark.parametrize("name", VARIANTS)
def test_scores_do_not_depend_on_how_many_targets_are_held_at_a_time(name, targets_at_a_time, keeps_pairs, monkeypatch):
    X, Y = make_data()
    whole = fit(name, X, Y)
    panel_bytes = 8 * N_FEATURES * targets_at_a_time
    monkeypatch.setattr(evaluation, "PANEL_BYTES", panel_bytes)
    if not keeps_pairs:
        monkeypatch.setattr(workspaces, "PAIR_BYTES", 0)
    sliced = fit(name, X, Y)
    assert np.array_equal(sliced.selected_, whole.selected_)
    assert np.array_equal(sliced.scores_, whole.scores_)


@pytest.mark.parametrize("operation", [SUM, MEAN], ids=["sum", "mean"])
@pytest.mark.parametrize("by_target", [True, False])
@pytest.mark.parametrize("n_folds", [1, SPILL_AFTER - 1, SPILL_AFTER, SPILL_AFTER + 1, 3 * SPILL_AFTER + 7])
def test_an_accumulator_is_the_exact_sum_of_any_number_of_folds(operation, by_target, n_folds):
    rng = np.random.default_rng(n_folds)
    fixed = FixedPoint.for_rows(100, n_targets=3)
    accumulator = Accumulator(operation, 4, 3 if by_target else 1)
    exact = [[0] * 3 for _ in range(4)]
    for _ in range(n_folds):  # values as large as possible, nearly all of one sign
        more = rng.integers(-(2**40), 2**53, size=(4, 3) if by_target else (4, 1))
        for part in (slice(0, 2), slice(2, 3)) if by_target else (None,):
            accumulator.fold(more if part is None else more[:, part], part)
        exact = [[exact[i][j] + int(np.broadcast_to(more, (4, 3))[i, j]) for j in range(3)] for i in range(4)]
    ours = accumulator.value(n_folds, fixed, slice(1, 3) if by_target else None).real(fixed)
    unit = fixed.scale * fixed.total * (n_folds if operation == MEAN else 1)
    expected = np.array([[cell / unit for cell in row] for row in exact])[:, slice(1, 3) if by_target else slice(0, 1)]
    assert ours.shape == expected.shape
    np.testing.assert_allclose(ours, expected, rtol=1e-15)


@pytest.mark.parametrize("operation", [MIN, MAX], ids=["min", "max"])
def test_an_accumulator_keeps_the_extreme_of_all_folds(operation):
    rng = np.random.default_rng(1)
    fixed = FixedPoint.for_rows(100)
    accumulator = Accumulator(operation, 5, 2)
    all_values = rng.integers(-(2**50), 2**53, size=(2 * SPILL_AFTER + 3, 5, 2))
    for more in all_values:
        accumulator.fold(more, slice(0, 2))
    value = accumulator.value(len(all_values), fixed, slice(0, 2))
    assert value.exact
    assert np.array_equal(value.array, getattr(all_values, operation.name)(axis=0))


def test_an_empty_accumulator_is_zero():
    fixed = FixedPoint.for_rows(10)
    assert not Accumulator(MEAN, 3, 2).value(0, fixed, slice(0, 2)).real(fixed).any()


@pytest.mark.parametrize("name", ["jmi", "mrmr", "disr", "d2f", "scls", "mlfs"])
def test_scores_do_not_depend_on_when_an_accumulator_spills(name, monkeypatch):
    X, Y = make_data()
    rare = fit(name, X, Y)
    monkeypatch.setattr(evaluation, "SPILL_AFTER", 2)
    often = fit(name, X, Y)
    assert np.array_equal(often.selected_, rare.selected_)
    np.testing.assert_allclose(often.scores_, rare.scores_, rtol=1e-13, atol=1e-13)


def test_more_features_than_an_accumulator_holds_before_it_spills():
    """Redundancy with everything selected, after 600 picks, is the plain sum."""
    X = many_levels_table(7, 60, [3] * (SPILL_AFTER + 88))
    sieve = Sieve("ami", discretizer=None, n_features_to_select=None).fit(X, X[:, 0])
    last = sieve.selected_[-1]
    shared = mutual_information(X, X[:, [last]])[:, 0]
    expected = shared[0] - (shared.sum() - shared[last])
    assert sieve.scores_[-1] == pytest.approx(expected, rel=1e-11)


class MyJMI(Criterion):
    first = sum_y(I(f, y))
    score = sum_s(sum_y(I((f, s), y)))


class MyMRMR(Criterion):
    score = sum_y(I(f, y) - mean_s(I(f, s)))


class MySCLS(Criterion):
    score = sum_y(I(f, y)) * (1 - sum_s(I(f, s) / H(f)))


class MyICAP(Criterion):
    score = sum_y(I(f, y) - sum_s(pos(I(f, s) - I(f, s | y))))


@pytest.mark.parametrize("mine", [MyJMI, MyMRMR, MySCLS, MyICAP])
def test_a_custom_criterion_equals_the_built_in_one(mine):
    X, Y = make_data()
    ours, theirs = (
        Sieve(criterion, discretizer=None, n_features_to_select=None).fit(X, Y)
        for criterion in (mine(), CRITERIA[mine.__name__.removeprefix("My").lower()]())
    )
    assert np.array_equal(ours.selected_, theirs.selected_)
    assert np.array_equal(ours.scores_, theirs.scores_)
    assert mine().name == mine.__name__.lower()


def make_criterion(formula, first=None):
    return type("Mine", (Criterion,), {"score": formula, "first": first})()


@pytest.mark.parametrize("factor", [1e4, 1e6, 1e9])
def test_a_large_factor_does_not_change_the_order(factor):
    X, Y = make_data()
    scaled = Sieve(make_criterion(factor * sum_y(I(f, y))), discretizer=None).fit(X, Y)
    plain = Sieve("mim", discretizer=None).fit(X, Y)
    assert np.array_equal(scaled.selected_, plain.selected_)
    np.testing.assert_allclose(scaled.scores_ / factor, plain.scores_, rtol=1e-12)


@pytest.mark.parametrize(
    "write",
    [
        lambda factor: sum_s(factor * I(f, s) + sum_y(factor * I(f, s | y))),
        lambda factor: sum_y(factor * I(f, y) / H(f)) + sum_s(factor * I(f, s) / H(f)),
        lambda factor: sum_y(pos(factor * I(f, y) - factor * mean_s(I(f, s)))),
    ],
    ids=["a sum of terms", "a ratio", "a positive part"],
)
@pytest.mark.parametrize("factor", [64.0, 1e7])
def test_a_large_factor_inside_a_sum_does_not_change_the_order_or_is_refused(write, factor):
    X, Y = make_data()
    plain = Sieve(make_criterion(write(1)), discretizer=None).fit(X, Y)
    scaled = Sieve(make_criterion(write(factor)), discretizer=None)
    refused = ""
    try:
        scaled.fit(X, Y)
    except InputError as refusal:
        refused = str(refusal)
    if refused:
        assert factor > 64
        assert "too large for 64-bit fixed point" in refused
        return
    assert np.array_equal(scaled.selected_, plain.selected_)
    np.testing.assert_allclose(scaled.scores_ / factor, plain.scores_, rtol=1e-9, atol=1e-9)


def test_z_is_another_target_also_where_y_is_not_mentioned():
    X, Y = make_data()
    sieve = Sieve(make_criterion(sum_y(I(f, y) * sum_z(I(f, z)))), discretizer=None, n_features_to_select=1).fit(X, Y)
    shared = mutual_information(X, Y)
    products = shared.sum(axis=1) ** 2 - (shared**2).sum(axis=1)
    assert sieve.scores_[0] == pytest.approx(products.max(), rel=1e-9)


def test_pa_runs_over_the_parents_of_y_also_where_y_is_not_mentioned():
    X, Y = make_data()
    parents = [[1], [0], [0, 1]] + [[]] * (N_TARGETS - 3)
    formula = sum_y(I(f, y) + mean_pa(I(f, pa)))
    sieve = Sieve(make_criterion(formula), discretizer=None, n_features_to_select=1, parents=parents).fit(X, Y)
    shared = mutual_information(X, Y)
    assert sieve.scores_[0] == pytest.approx((shared.sum(axis=1) + 1.5 * (shared[:, 0] + shared[:, 1])).max(), rel=1e-9)


def test_packed_tables_are_let_go_with_the_fit(monkeypatch):
    """Nothing refers to itself in a circle, so that memory does not wait for the garbage collector."""
    X, Y = make_data()
    alive = []
    begin = Workspace.__init__

    def watched(self, *arguments, **options):
        begin(self, *arguments, **options)
        alive.append(weakref.ref(self))

    monkeypatch.setattr(Workspace, "__init__", watched)
    gc.collect()
    gc.disable()
    try:
        for name in CRITERIA:
            alive.clear()
            fit(name, X, Y)
            assert alive, name
            assert not any(reference() for reference in alive), name
    finally:
        gc.enable()
