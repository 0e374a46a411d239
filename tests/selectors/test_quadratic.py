"""QuadraticSieve: the published program, its options, and data that go wrong."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from labelsieve import InputError, QuadraticSieve, Sieve
from labelsieve.information import mutual_information
from tests.support.criterion_cases import FORMULA, make_case
from tests.support.reference_quadratic import gradient_of, objective_of, program_reference, violation_of
from tests.support.selection_data import assert_same_selection, make_data


def fit(X, Y, **parameters):
    sample_weight = parameters.pop("sample_weight", None)
    parameters = {"discretizer": None, "n_features_to_select": None, **FORMULA, **parameters}
    return QuadraticSieve(**parameters).fit(X, Y, sample_weight=sample_weight)


def assert_solves(sieve, H, F, alpha):
    """Weights on the simplex that satisfy the conditions of the reference's program, and the order that follows from them."""
    w = sieve.weights_
    assert sieve.alpha_ == pytest.approx(alpha, rel=1e-9, abs=1e-12)
    assert w.min() >= 0
    assert w.sum() == pytest.approx(1, abs=1e-12)
    scale = abs(0.5 * (1 - alpha) * (w @ H @ w + sieve.shift_ * w @ w)) + abs(alpha * F @ w)
    scale = max(scale, 1e-4 * ((1 - alpha) * abs(H.diagonal()).max() + alpha * abs(F).max()))
    assert violation_of(H, F, alpha, w, sieve.shift_) == pytest.approx(sieve.optimality_ * (scale or 1), abs=1e-11)
    assert sieve.objective_ == pytest.approx(objective_of(H, F, alpha, w, sieve.shift_), rel=1e-9, abs=1e-11)
    gradient = gradient_of(H, F, alpha, w, sieve.shift_)
    selected = sieve.selected_
    assert np.all(np.diff(w[selected]) <= 0)
    without = selected[w[selected] == 0]
    assert np.all(np.diff(gradient[without]) >= -1e-10), "not by reduced cost"
    assert np.all(np.diff(sieve.scores_) <= 1e-15)
    assert np.array_equal(sieve.scores_[w[selected] > 0], w[selected][w[selected] > 0])
    assert np.all(sieve.scores_[w[selected] == 0] <= 0)


@pytest.mark.parametrize("estimator", ["plugin", "miller-madow"])
def test_the_program_is_the_references(estimator):
    for seed in range(40):
        X, Y = make_case(seed)
        assert_solves(fit(X, Y, estimator=estimator), *program_reference(X, Y, estimator=estimator))


def test_weighted_rows_make_the_weighted_references_program():
    for seed in range(50, 65):
        X, Y = make_case(seed)
        weights = np.random.default_rng(seed).uniform(0.1, 3, size=len(X))
        assert_solves(fit(X, Y, sample_weight=weights), *program_reference(X, Y, weights=weights))


def test_whole_weights_are_repeated_rows_bit_for_bit():
    X, Y = make_case(7)
    times = np.random.default_rng(0).integers(0, 4, size=len(X))
    rows = np.repeat(np.arange(len(X)), times)
    weighted, repeated = fit(X, Y, sample_weight=times), fit(X[rows], Y[rows])
    assert_same_selection(weighted, repeated)
    assert np.array_equal(weighted.weights_, repeated.weights_)


def test_the_result_is_the_same_bits_for_any_threads_memory_and_container():
    X, Y = make_data(n_rows=400)
    wide = np.hstack([X, np.sign(X), np.round(X @ np.random.default_rng(0).normal(size=(8, 90)))])
    expected = QuadraticSieve(n_features_to_select=20).fit(wide, Y)
    for parameters in ({"n_jobs": 2}, {"n_jobs": 4, "memory_limit": 0}, {"memory_limit": 30_000}):
        same = QuadraticSieve(n_features_to_select=20, **parameters).fit(wide, Y)
        assert_same_selection(same, expected)
        assert np.array_equal(same.weights_, expected.weights_)
        assert (same.alpha_, same.objective_, same.n_iter_) == (expected.alpha_, expected.objective_, expected.n_iter_)
    sparse = QuadraticSieve(n_features_to_select=20).fit(sp.csr_array(wide), sp.csc_array(Y))
    assert_same_selection(sparse, expected)
    assert np.array_equal(sparse.weights_, expected.weights_)


def test_one_target_makes_qpfs_and_more_are_refused():
    X, Y = make_data()
    one = QuadraticSieve("qpfs").fit(X, Y[:, 1])
    assert np.array_equal(one.weights_, QuadraticSieve("mlqpfs").fit(X, Y[:, [1]]).weights_)
    with pytest.raises(InputError, match=r"'qpfs'. is for one target and Y has 4 columns; use criterion='mlqpfs'"):
        QuadraticSieve("qpfs").fit(X, Y)


def test_alpha_weighs_relevance_against_redundancy():
    X, Y = make_data()
    alone = QuadraticSieve(alpha=1.0, n_features_to_select=None).fit(X, Y)
    relevance = Sieve("mim", discretizer="equal-width", n_features_to_select=None).fit(X, Y)
    assert np.array_equal(alone.selected_, relevance.selected_)
    assert np.count_nonzero(alone.weights_) == 1
    apart = QuadraticSieve(alpha=0.0).fit(X, Y)
    assert np.count_nonzero(apart.weights_) == X.shape[1], "nothing but small entropies and little redundancy"
    assert QuadraticSieve(alpha=0.25).fit(X, Y).alpha_ == 0.25


def test_excluded_features_are_no_part_of_the_program_and_forced_ones_come_first():
    X, Y = make_data()
    left = [0, 1, 3, 4, 6]
    sieve = QuadraticSieve(excluded=[2, 5, 7], forced=[6, 0], n_features_to_select=None).fit(X, Y)
    alone = QuadraticSieve(n_features_to_select=None).fit(X[:, left], Y)
    assert np.array_equal(sieve.weights_[left], alone.weights_)
    assert not sieve.weights_[[2, 5, 7]].any()
    assert sieve.alpha_ == alone.alpha_
    assert sieve.selected_[:2].tolist() == [6, 0]
    assert sorted(sieve.selected_) == left


def test_a_sampled_mean_is_exact_when_every_column_is_drawn_and_near_otherwise():
    X, Y = make_data(n_rows=300)
    wide = np.hstack([X, np.round(X @ np.random.default_rng(0).normal(size=(8, 80)))])
    exact = QuadraticSieve().fit(wide, Y)
    assert QuadraticSieve(mean=88).fit(wide, Y).alpha_ == exact.alpha_
    guesses = [QuadraticSieve(mean=40, random_state=seed).fit(wide, Y).alpha_ for seed in (0, 0, 1)]
    assert guesses[0] == guesses[1] != guesses[2]
    assert guesses == pytest.approx([exact.alpha_] * 3, rel=0.1)


def test_nystrom_from_all_columns_is_the_program_itself_and_from_some_one_that_is_convex():
    X, Y = make_data(n_rows=300)
    exact, all_columns = QuadraticSieve().fit(X, Y), QuadraticSieve(nystrom=8).fit(X, Y)
    assert all_columns.weights_ == pytest.approx(exact.weights_, abs=1e-6)
    assert all_columns.alpha_ == pytest.approx(exact.alpha_)
    for size in (1, 3, 0.5):
        some = QuadraticSieve(nystrom=size, random_state=3).fit(X, Y)
        assert np.array_equal(some.weights_, QuadraticSieve(nystrom=size, random_state=3).fit(X, Y).weights_)
        assert some.optimality_ <= 1e-8
        assert some.curvature_ >= -1e-12


def test_a_shift_is_added_to_the_diagonal_and_spreads_the_weight():
    X, Y = make_data()
    shifted = QuadraticSieve(shift=5.0).fit(X, Y)
    plain = QuadraticSieve().fit(X, Y)
    assert (shifted.shift_, plain.shift_) == (5.0, 0.0)
    assert shifted.curvature_ == pytest.approx(plain.curvature_ + 5, abs=0.5)
    assert shifted.weights_.max() < plain.weights_.max()
    codes = np.digitize(X, [-1, 0, 1])
    H, F = mutual_information(codes, base="bit"), mutual_information(codes, Y, base="bit").mean(axis=1)
    assert_solves(fit(codes, Y, shift=0.7), H, F, H.mean() / (H.mean() + F.mean()))


CONSTANT = np.zeros((12, 3), dtype=int)
PATTERN = np.arange(12).reshape(-1, 1) % 2
DEGENERATE = {
    "one feature": (PATTERN, PATTERN),
    "one constant feature": (CONSTANT[:, :1], PATTERN),
    "all constant": (CONSTANT, PATTERN),
    "some constant": (np.hstack([CONSTANT, PATTERN]), PATTERN),
    "all the same": (np.hstack([PATTERN] * 4), PATTERN),
    "no label is ever on": (np.hstack([PATTERN, PATTERN // 2, np.arange(12).reshape(-1, 1) // 6]), CONSTANT),
    "one row": (np.array([[1, 0, 2]]), np.array([[1]])),
}


@pytest.mark.parametrize("kind", DEGENERATE)
@pytest.mark.parametrize("shift", [0.0, "auto"])
def test_degenerate_data_have_a_solution_too(kind, shift):
    X, Y = DEGENERATE[kind]
    sieve = fit(X, Y, shift=shift)
    assert_solves(sieve, *program_reference(X, Y))
    assert sorted(sieve.selected_) == list(range(X.shape[1]))
    assert np.isfinite([sieve.alpha_, sieve.objective_, sieve.optimality_, sieve.shift_, sieve.curvature_]).all()


def test_of_equal_columns_the_first_has_all_the_weight():
    X, Y = make_data()
    twice = QuadraticSieve(n_features_to_select=None).fit(np.hstack([X, X]), Y)
    assert not twice.weights_[8:].any()
    order = twice.selected_.tolist()
    assert all(order.index(k) < order.index(k + 8) for k in range(8))


def test_targets_without_columns_are_refused():
    with pytest.raises(ValueError, match=r"column|feature"):
        QuadraticSieve().fit(make_data()[0], np.zeros((150, 0)))


def test_too_few_steps_end_in_a_warning_and_weights_that_are_still_valid():
    X, Y = make_data()
    with pytest.warns(ConvergenceWarning, match=r"stopped after 2 steps .* raise max_iter or tol"):
        sieve = QuadraticSieve(max_iter=2).fit(X, Y)
    assert sieve.n_iter_ == 2
    assert sieve.weights_.sum() == pytest.approx(1)
