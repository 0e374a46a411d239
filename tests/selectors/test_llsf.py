"""LLSF: the objective falls, ends where its optimality condition holds, and says when it cannot."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from labelsieve.datasets import load, make_feature_roles
from labelsieve.selectors import LLSF
from labelsieve.selectors.regressions.base import extreme_eigenvalues, solve
from labelsieve.selectors.regressions.llsf import Quadratic, is_unbounded_below
from tests.support.reference_rankings import llsf_objective, unlike
from tests.support.shared_files import shared_file


def limit_squares(monkeypatch, largest):
    for name in ("LARGEST_SQUARE", "LARGEST_SYSTEM"):
        monkeypatch.setattr(f"labelsieve.selectors.regressions.base.{name}", largest)


def make_data(n_rows=120, n_features=9, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.6)
    Y = np.column_stack([X[:, 0] + X[:, 1], X[:, 1], -X[:, 3], X[:, 4] * 0]) + 0.3 * rng.normal(size=(n_rows, 4)) > [
        0,
        0.2,
        0.1,
        9,
    ]
    return X, Y.astype(float)


@pytest.mark.parametrize("acceleration", ["restart", "none"])
@pytest.mark.parametrize("beta", [0.1, 5.0, 40.0])
def test_the_objective_falls_and_meets_its_optimality_condition(acceleration, beta):
    X, Y = make_data()
    llsf = LLSF(beta=beta, acceleration=acceleration, max_iter=20_000, tol=1e-8).fit(X, Y)
    assert np.all(np.diff(llsf.objective_) <= 0)
    value, residual = llsf_objective(X, Y, llsf.coef_, 0.5, beta)
    assert llsf.objective_[-1] == pytest.approx(value, rel=1e-10)
    assert llsf.residual_ == pytest.approx(residual, abs=1e-9)
    assert residual <= 1e-8 * np.abs(X.T @ Y).max() + 1e-9
    assert llsf.reason_ == "converged"
    assert llsf.curvature_ > 0, "this problem is convex, so the point is its minimum"


def test_the_plain_acceleration_of_the_paper_ends_at_the_same_minimum():
    X, Y = make_data()
    plain, restarted = (LLSF(beta=5.0, acceleration=how, tol=1e-9, max_iter=20_000).fit(X, Y) for how in ("plain", "restart"))
    assert plain.coef_ == pytest.approx(restarted.coef_, abs=1e-7)


def test_without_correlations_it_is_the_lasso():
    X, Y = make_data()
    llsf = LLSF(alpha=0, beta=6.0, tol=1e-10).fit(X, Y)
    for label in range(3):
        lasso = Lasso(alpha=6.0 / len(X), fit_intercept=False, tol=1e-12).fit(X, Y[:, label])
        assert llsf.coef_[:, label] == pytest.approx(lasso.coef_, abs=1e-7)


def test_labels_that_never_occur_get_no_features():
    X, Y = make_data()
    llsf = LLSF(beta=1.0).fit(X, Y)
    assert not Y[:, 3].any()
    assert not llsf.label_support_[3].any()
    assert np.array_equal(llsf.coef_[:, :3], LLSF(beta=1.0).fit(X, Y[:, :3]).coef_)


def test_every_label_has_its_own_features():
    data = make_feature_roles(
        500, n_labels=3, n_relevant=0, n_label_specific=3, n_noisy_copies=0, n_xor_pairs=0, n_irrelevant=10
    )
    X, Y = data.X, data.Y.astype(float) - data.Y.mean(axis=0)
    llsf = LLSF(beta=60.0).fit(X, Y)
    for label in range(3):
        (own,) = (k for k in data.columns("label-specific") if data.roles[k].labels == (label,))
        assert np.flatnonzero(llsf.label_support_[label]).tolist() == [own]
        assert np.array_equal(llsf.transform_label(X, label), X[:, [own]])
    assert np.array_equal(llsf.support_, llsf.label_support_.any(axis=0))
    assert set(llsf.selected_) == set(np.flatnonzero(llsf.support_))
    assert np.all(np.diff(llsf.scores_) <= 0)


@pytest.mark.parametrize("largest", [2048, 4, 0], ids=["square", "mixed", "operators"])
def test_sparse_and_dense_wide_and_tall_find_the_same(largest, monkeypatch):
    for shape in ((120, 9), (30, 45)):
        X, Y = make_data(*shape)
        expected = LLSF(beta=3.0, convex=True, tol=1e-9, max_iter=50_000).fit(X, Y)
        limit_squares(monkeypatch, largest)
        found = LLSF(beta=3.0, convex=True, tol=1e-9, max_iter=50_000).fit(sp.csr_array(X), sp.csr_array(Y))
        monkeypatch.undo()
        assert found.coef_ == pytest.approx(expected.coef_, abs=1e-6)


def test_whole_weights_count_as_rows():
    X, Y = make_data()
    weights = np.random.default_rng(0).integers(0, 3, size=len(X))
    repeated = LLSF(beta=3.0, tol=1e-9).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0))
    assert LLSF(beta=3.0, tol=1e-9).fit(X, Y, sample_weight=weights).coef_ == pytest.approx(repeated.coef_, abs=1e-7)


def test_an_objective_without_a_minimum_is_said_to_have_none():
    X, Y = make_data(20, 60)
    with pytest.warns(ConvergenceWarning, match=r"has no minimum, .* convex=True"):
        llsf = LLSF(alpha=500.0, max_iter=3000).fit(X, Y)
    assert llsf.reason_ == "unbounded"
    assert (llsf.curvature_ < 0, llsf.bounded_) == (True, False)
    assert llsf.n_iter_ < 200, "it does not walk on to nowhere"
    assert np.all(np.diff(llsf.objective_) <= 0)
    assert LLSF(alpha=500.0, convex=True, max_iter=100_000).fit(X, Y).curvature_ >= -1e-9


def test_a_ray_is_unbounded_below_just_when_its_values_are():
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(300):
        H = rng.normal(size=(4, 4))
        H = H + H.T
        B, W, D, beta = rng.normal(size=4), rng.normal(size=4).round(), rng.normal(size=4), rng.uniform(0, 2)
        found = is_unbounded_below(Quadratic(lambda V, H=H: H @ V, B, 0.0), beta, W, H @ W, D, H @ D)
        along = W + np.concatenate([np.linspace(0, 5, 5000, endpoint=False), np.geomspace(5, 1e6, 500)])[:, np.newaxis] * D
        values = ((along @ H) * along).sum(axis=1) / 2 - along @ B + beta * np.abs(along).sum(axis=1)
        assert found == bool(np.all(np.diff(values) < 0))
        seen.add(found)
    assert seen == {True, False}


def test_a_local_minimum_of_an_unbounded_objective_is_met_and_found():
    X, Y = make_data(20, 60)
    llsf = LLSF(alpha=5.0, beta=30.0).fit(X, Y)
    assert (llsf.reason_, llsf.bounded_) == ("converged", False)


@pytest.mark.parametrize(("largest", "known"), [(2048, True), (16, True), (4, False)])
def test_whether_it_is_bounded_is_found_out_by_every_road(largest, known, monkeypatch):
    X, Y = make_data()
    limit_squares(monkeypatch, largest)
    lowest = float(np.linalg.eigvalsh(X.T @ X)[0] / -np.linalg.eigvalsh(unlike(Y[:, :3]))[0])
    assert LLSF(alpha=0.99 * lowest, beta=5.0, tol=1e-4).fit(X, Y).bounded_ is (True if known else None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert LLSF(alpha=1.01 * lowest, beta=5.0, max_iter=10).fit(X, Y).bounded_ is (False if known else None)
        assert LLSF(alpha=1e6, beta=5.0, max_iter=10).fit(X, Y).bounded_ is False


def test_a_run_that_is_cut_short_says_so():
    X, Y = make_data()
    with pytest.warns(ConvergenceWarning, match="was not at a minimum after max_iter steps; raise max_iter"):
        assert LLSF(max_iter=1).fit(X, Y).reason_ == "max_iter"


def test_degenerate_input_gives_no_features_and_no_error():
    X, _ = make_data()
    for llsf in (LLSF().fit(X, np.zeros((120, 2))), LLSF().fit(np.zeros((5, 3)), np.ones((5, 2)))):
        assert not llsf.support_.any()
        assert llsf.selected_.shape == (0,)
    with pytest.warns(UserWarning, match="No features were selected"):
        assert llsf.transform(np.zeros((5, 3))).shape == (5, 0)
    duplicated = LLSF(beta=5.0, convex=True, max_iter=50_000).fit(np.hstack([X, X]), X[:, :2])
    assert duplicated.reason_ == "converged"


def test_on_real_data_the_published_problem_may_have_no_minimum_and_the_convex_one_has():
    data = load(shared_file("data", "emotions", "emotions.arff.gz"))
    X = (data.X - data.X.min(axis=0)) / np.ptp(data.X, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"has no minimum, and is unbounded below from where .* convex=True"):
        published = LLSF(beta=1.0).fit(X, data.Y)
    assert (published.bounded_, published.reason_) == (False, "unbounded")
    assert np.all(np.diff(published.objective_) <= 0)
    rows = X.T @ X
    v, u = np.linalg.eigh(rows)[1][:, 0], np.linalg.eigh(unlike(data.Y))[1][:, 0]
    far = [llsf_objective(X, data.Y, published.coef_ + t * np.outer(v, u), 0.5, 1.0)[0] for t in (0, 100, 1000, 10_000)]
    assert far[0] > 0 > far[2] > far[3], "along that direction it falls without bound"
    assert far[3] == pytest.approx(published.curvature_ / 2 * 10_000**2, rel=0.05)
    convex = LLSF(beta=1.0, convex=True, max_iter=20_000).fit(X, data.Y)
    assert convex.residual_ <= 1e-5 * np.abs(X.T @ data.Y).max()
    assert 0 < convex.label_support_.sum() < convex.label_support_.size


@pytest.mark.parametrize("shape", [(40, 12), (12, 40)])
@pytest.mark.parametrize("largest", [2048, 20, 0])
def test_linear_systems_are_solved_by_every_road(shape, largest, monkeypatch):
    limit_squares(monkeypatch, largest)
    rng = np.random.default_rng(0)
    X, B = rng.normal(size=shape), rng.normal(size=(shape[1], 3))
    expected = np.linalg.solve(0.7 * X.T @ X + 0.2 * np.eye(shape[1]), B)
    for same in (X, sp.csr_array(X)):
        assert solve(same, B, 0.7, 0.2) == pytest.approx(expected, abs=1e-7)
        low, high = extreme_eigenvalues(same)
        values = np.linalg.eigvalsh(X.T @ X)
        assert low <= values[0] + 1e-9
        assert values[-1] - 1e-9 <= high <= 1.02 * values[-1]
