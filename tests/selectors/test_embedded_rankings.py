"""Rankings by graphs, ridge coefficients, sparse regressions and latent factors: what the papers' formulas give."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from labelsieve import InputError, Sieve
from labelsieve.classifiers import MLkNN
from labelsieve.datasets import fetch
from labelsieve.discretize import EqualFrequency
from labelsieve.registry import make_selector
from labelsieve.selectors import BMFS, GRRO, MDFS, MFSMCDM, MGFS, MSSL, PMFS, RFS, SCMFS, SSFS, ManifoldMIFS
from labelsieve.selectors.regressions import base as base_model
from tests.support import reference_embedded as reference
from tests.support.shared_files import shared_file

EMBEDDED = [GRRO, MGFS, BMFS, MFSMCDM, PMFS, MSSL, RFS, MDFS, SSFS, SCMFS, ManifoldMIFS]
ITERATIVE = [MSSL, RFS, MDFS, SSFS, SCMFS, ManifoldMIFS]


def make_data(n_rows=60, n_features=7, n_labels=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    weights = rng.normal(size=(n_features, n_labels)) * (rng.random((n_features, 1)) < 0.6)
    Y = (X @ weights + 0.7 * rng.normal(size=(n_rows, n_labels)) > np.linspace(-0.5, 0.8, n_labels)).astype(int)
    return X, Y


def standardized(X):
    return StandardScaler().fit_transform(X)


def scores_of(selector, X, Y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return selector.set_params(n_features_to_select=None).fit(X, Y).feature_scores_


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (MGFS(), reference.mgfs),
        (MGFS(damping=0.5), lambda X, Y: reference.mgfs(X, Y, 0.5)),
        (MFSMCDM(), reference.mfs_mcdm),
        (MFSMCDM(weighting="equal"), lambda X, Y: reference.mfs_mcdm(X, Y, entropy=False)),
        (PMFS(), reference.pmfs),
    ],
    ids=["mgfs", "mgfs, damping", "mfs-mcdm", "mfs-mcdm, equal", "pmfs"],
)
def test_scores_are_those_of_the_reference(selector, expected, seed):
    X, Y = make_data(n_features=20, n_labels=4, seed=seed)
    assert scores_of(selector, X, Y) == pytest.approx(expected(standardized(X), Y), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("n_features", "n_labels"), [(7, 3), (6, 3), (5, 2), (2, 3)])
def test_bmfs_gives_the_best_matching_of_every_round(n_features, n_labels):
    X, Y = make_data(n_features=n_features, n_labels=n_labels, seed=n_features)
    scores = scores_of(BMFS(), X, Y)
    assert np.argsort(-scores).tolist() == reference.bmfs(X, Y)
    assert sorted(scores) == pytest.approx(np.arange(1, n_features + 1) / n_features)


@pytest.mark.parametrize(("alpha", "beta"), [(100.0, 0.1), (0.5, 3.0)])
def test_grro_solves_the_equation_of_the_paper(alpha, beta):
    X, Y = make_data(n_features=9, n_labels=4)
    ranking = GRRO(alpha=alpha, beta=beta, discretizer=EqualFrequency(2), n_features_to_select=None).fit(X, Y)
    W = reference.grro((np.median(X, axis=0) < X).astype(int), Y, alpha, beta)
    assert ranking.coef_ == pytest.approx(W, rel=1e-6, abs=1e-9)
    assert ranking.feature_scores_ == pytest.approx(W.sum(axis=1), rel=1e-6, abs=1e-9)
    assert not np.allclose(GRRO(alpha=alpha, beta=beta).fit(X, Y).coef_, W)


EXACT = {"tol": 1e-15, "max_iter": 5000}


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (3.0, 8.0), (0.0, 5.0)])
def test_mssl_is_at_the_minimum_of_its_objective(alpha, beta):
    X, Y = make_data(30, 6, 2)
    ranking = MSSL(alpha=alpha, beta=beta, n_neighbors=2, **EXACT).fit(X, Y)
    scaled = standardized(X)

    def objective(W):
        return reference.mssl_objective(scaled, Y, W, alpha, beta, 2)

    assert ranking.objective_[-1] == pytest.approx(objective(ranking.coef_))
    assert reference.gradient(objective, ranking.coef_) == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("gamma", [0.5, 3.0])
def test_rfs_is_at_the_minimum_of_its_objective(gamma):
    X, Y = make_data(30, 5, 2)
    ranking = RFS(gamma=gamma, **EXACT).fit(X, Y)
    scaled = standardized(X)

    def objective(W):
        return reference.rfs_objective(scaled, Y, W, gamma)

    assert ranking.objective_[-1] == pytest.approx(objective(ranking.coef_))
    assert reference.gradient(objective, ranking.coef_) == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize(("alpha", "beta", "gamma"), [(1.0, 1.0, 0.1), (0.5, 2.0, 1.0)])
def test_mdfs_is_at_the_minimum_of_its_objective(alpha, beta, gamma):
    X, Y = make_data(20, 4, 3)
    ranking = MDFS(alpha=alpha, beta=beta, gamma=gamma, **EXACT).fit(X, Y)
    scaled = standardized(X)

    def objective(W, F):
        return reference.mdfs_objective(scaled, Y, W, F, alpha, beta, gamma, 2)

    assert ranking.objective_[-1] == pytest.approx(objective(ranking.coef_, ranking.smoothed_labels_))
    assert reference.gradient(objective, ranking.coef_, ranking.smoothed_labels_) == pytest.approx(0, abs=1e-3)


def start(*shapes):
    """The start of the default seed."""
    rng = np.random.default_rng(np.random.RandomState(0).randint(2**31 - 1))
    return [rng.random(shape) for shape in shapes]


@pytest.mark.filterwarnings("ignore:.*stopped after max_iter")
@pytest.mark.parametrize("method", ["ssfs", "scmfs", "manifold-mifs"])
def test_latent_factors_take_the_steps_of_the_paper(method):
    (X, Y), n_steps = make_data(30, 6, 4), 25
    unit = MinMaxScaler().fit_transform(X)
    steps = {
        "ssfs": lambda: reference.ssfs(unit, Y, *start((30, 4), (6, 4), (4, 4)), n_steps),
        "scmfs": lambda: reference.scmfs(unit, Y, *start((6, 4), (30, 4), (4, 6), (4, 4)), n_steps),
        "manifold-mifs": lambda: reference.manifold_mifs(standardized(X), Y, *start((30, 1), (1, 4)), n_steps),
    }[method]()
    objective, coefficients = zip(*steps, strict=True)
    ranking = make_selector(method, max_iter=n_steps, tol=0.0).fit(X, Y)
    assert ranking.n_iter_ == n_steps
    assert ranking.objective_ == pytest.approx(np.array(objective), rel=1e-8)
    assert ranking.coef_ == pytest.approx(coefficients[-1], rel=1e-6, abs=1e-9)


@pytest.mark.filterwarnings("ignore:.*stopped after max_iter")
@pytest.mark.parametrize("kind", ITERATIVE)
def test_the_objective_does_not_rise(kind):
    X, Y = make_data(80, 12, 4, seed=3)
    for parameters in ({}, {"gamma": 20.0} if kind is not MSSL else {"beta": 20.0}):
        objective = kind(max_iter=300, tol=0.0, **parameters).fit(X, Y).objective_
        assert np.all(np.diff(objective)[1:] <= 1e-9 * objective[0])  # the first step of reweighting starts at 0


@pytest.mark.parametrize("kind", ITERATIVE)
def test_too_few_steps_are_named(kind):
    X, Y = make_data()
    with pytest.warns(ConvergenceWarning, match=rf"{kind.__name__} stopped after max_iter=2 steps.* tol=1e-15"):
        kind(max_iter=2, tol=1e-15).fit(X, Y)


@pytest.mark.parametrize("kind", [kind for kind in EMBEDDED if kind not in (RFS, ManifoldMIFS)])
def test_a_matrix_that_stays_sparse_scores_the_same(kind, monkeypatch):
    X, Y = make_data(50, 8, 3)
    X = np.where(X > 0, X, 0.0)
    expected = kind(n_features_to_select=None).fit(X, Y).feature_scores_
    monkeypatch.setattr(base_model, "LARGEST_DENSE", 0)
    sparse = kind(n_features_to_select=None).fit(sp.csr_array(X), Y).feature_scores_
    assert sparse == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("kind", EMBEDDED)
def test_constant_and_duplicate_columns_and_labels_are_taken(kind):
    X, Y = make_data(40, 5, 3)
    X = np.column_stack([np.full(40, 3.0), X, X[:, 0], np.zeros(40)])
    Y = np.column_stack([Y, np.zeros(40, dtype=int), np.ones(40, dtype=int), Y[:, 0]])
    scores = kind(n_features_to_select=None).fit(X, Y).feature_scores_
    assert np.isfinite(scores).all()
    if kind not in (BMFS, SSFS, SCMFS):  # a matching breaks ties by rank; factors depend on the random start
        assert scores[1] == pytest.approx(scores[6], rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_equal_columns_have_the_same_closeness_in_any_order_of_rows(seed):
    rng = np.random.default_rng(seed)
    X, Y = np.repeat(rng.normal(size=(30, 1)), 2, axis=1), rng.integers(0, 2, size=(30, 3))
    rows = rng.permutation(30)
    for some in (slice(None), rows):
        assert MFSMCDM().fit(X[some], Y[some]).feature_scores_.tolist() == [0.0, 0.0], "none is better than the other"


def test_a_column_without_correlation_is_as_close_as_a_constant_one():
    X = np.array([[0, 1], [2, 1], [0, 1], [2, 1], [0, 1], [2, 1], [1, 1]]) * 0.1
    Y = np.array([1, 1, 0, 0, 0, 0, 0])
    assert MFSMCDM().fit(X, Y).feature_scores_.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("kind", [MFSMCDM, PMFS, RFS, MDFS, ManifoldMIFS])
def test_constant_features_have_no_coefficients(kind):
    X, Y = make_data(40, 5, 3)
    coefficients = kind().fit(np.column_stack([np.full(40, 3.0), X, np.zeros(40)]), Y).coef_
    assert not coefficients[[0, 6]].any()
    assert coefficients[1:6].any(axis=1).all()


@pytest.mark.parametrize("kind", [kind for kind in EMBEDDED if kind is not SSFS])  # it reconstructs X itself, noise included
def test_informative_features_are_ranked_before_noise(kind):
    rng = np.random.default_rng(0)
    Y = (rng.random((400, 3)) < 0.4).astype(int)
    X = np.column_stack([rng.normal(size=(400, 6)), 3 * Y + rng.normal(size=(400, 3))])
    selected = kind(n_features_to_select=3).fit(X, Y).selected_
    n_found = 2 if kind is ManifoldMIFS else 3  # one latent factor for three labels
    assert np.isin(selected, [6, 7, 8]).sum() >= n_found


@pytest.mark.parametrize("kind", [kind for kind in EMBEDDED if kind is not SSFS])
def test_ten_features_predict_emotions_better_than_random_ones(kind):
    data = fetch("emotions", data_home=shared_file("data", "MANIFEST.json").parent, download=False)
    X, Y = standardized(np.asarray(data.X, dtype=float)), data.Y.toarray() if sp.issparse(data.Y) else np.asarray(data.Y)
    rows = np.random.default_rng(0).permutation(len(X))
    train, test = rows[:400], rows[400:]

    def score(columns):
        predicted = MLkNN(10).fit(X[train][:, columns], Y[train]).predict(X[test][:, columns])
        return f1_score(Y[test], predicted, average="micro")

    at_random = np.mean([score(np.random.default_rng(seed).permutation(X.shape[1])[:10]) for seed in range(5)])
    assert score(kind(n_features_to_select=10).fit(X[train], Y[train]).selected_) > at_random


def test_seeds_decide_about_random_starts():
    X, Y = make_data()
    one, same, other = (SSFS(random_state=seed).fit(X, Y).coef_ for seed in (0, 0, 1))
    assert np.array_equal(one, same)
    assert not np.allclose(one, other)


def test_negative_values_of_a_large_sparse_matrix_are_refused_by_factors(monkeypatch):
    X, Y = make_data()
    monkeypatch.setattr(base_model, "LARGEST_DENSE", 0)
    with pytest.raises(InputError, match="SSFS needs features from 0 on"):
        SSFS().fit(sp.csr_array(X), Y)


def test_too_many_features_for_a_square_matrix_are_refused_before_it_is_made():
    X = sp.random_array((30, 200_000), density=1e-4, rng=np.random.default_rng(0), format="csr")
    Y = np.random.default_rng(0).integers(0, 2, size=(30, 2))
    for kind in (GRRO, MGFS, PMFS, MSSL):
        with pytest.raises(MemoryError, match="200000 features"):
            kind().fit(X, Y)


def test_gmm_is_the_geometric_mean_of_information():
    X, Y = make_data()
    sieve = Sieve("gmm", n_features_to_select=None).fit(X, Y)
    each = np.column_stack([Sieve("mim", n_features_to_select=None).fit(X, y).feature_scores_ for y in Y.T])
    assert sieve.scores_ == pytest.approx(np.exp(np.log(each).mean(axis=1))[sieve.selected_])
