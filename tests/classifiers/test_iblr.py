"""IBLR: the regressions converge, and agree with other programs."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelsieve.classifiers import IBLR
from labelsieve.datasets import load
from tests.support.shared_files import shared_file

RIDGE = 1e-8  # of Weka's logistic regression, on standardized inputs


def make_data(n_features=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(160, n_features)) * 10.0 ** rng.integers(-3, 4, n_features)
    noise = rng.normal(size=(160, 3))
    Y = ((X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=(n_features, 3)) + noise > 0).astype(int)
    return X[:120], Y[:120], X[120:]


def neighbor_frequencies(X, Y, queries, k):
    """Frequencies of the labels among the k nearest rows, which are not the row itself."""
    rows = []
    for query in queries if queries is not None else X:
        distances = ((X - query) ** 2).sum(axis=1)
        if queries is None:
            distances[(query == X).all(axis=1)] = np.inf
        rows.append(Y[np.argsort(distances, kind="stable")[:k]].mean(axis=0))
    return np.array(rows)


def converged(inputs, y, queries):
    """The minimum of the penalized likelihood by a trust-region method, from the definition."""
    center, scale = inputs.mean(axis=0), inputs.std(axis=0)
    Z = np.column_stack([(inputs - center) / scale, np.ones(len(inputs))])
    sign, penalty = 2 * y - 1, np.append(np.full(inputs.shape[1], RIDGE), 0)

    def value(w):
        return np.logaddexp(0, -sign * (Z @ w)).sum() + penalty @ w**2

    def gradient(w):
        return -Z.T @ (sign * expit(-sign * (Z @ w))) + 2 * penalty * w

    def hessian(w):
        p = expit(Z @ w)
        return (Z * (p * (1 - p))[:, None]).T @ Z + np.diag(2 * penalty)

    found = minimize(
        value, np.zeros(Z.shape[1]), jac=gradient, hess=hessian, method="trust-exact", options={"gtol": 1e-11, "maxiter": 2000}
    )
    return expit(np.column_stack([(queries - center) / scale, np.ones(len(queries))]) @ found.x)


@pytest.mark.parametrize("separable", [False, True])
def test_iblr_plus_is_at_the_minimum_of_the_penalized_likelihood(separable):
    X, Y, queries = make_data()
    if separable:
        Y[:, 0] = X[:, 1] > np.median(X[:, 1])
    model = IBLR(k=5, with_features=True).fit(X, Y)
    inputs = np.hstack([X, neighbor_frequencies(X, Y, None, 5)])
    asked = np.hstack([queries, neighbor_frequencies(X, Y, queries, 5)])
    expected = np.column_stack([converged(inputs, y, asked) for y in Y.T])
    np.testing.assert_allclose(model.predict_proba(queries), expected, rtol=0, atol=1e-5)
    np.testing.assert_allclose(
        IBLR(k=5, with_features=True).fit(sp.csr_matrix(X), Y).predict_proba(queries), expected, atol=1e-5
    )


def test_inputs_that_are_constant_or_equal_to_others_are_no_obstacle():
    X, Y, queries = make_data()
    repeated = lambda X: np.column_stack([X, X, np.full(len(X), 3.0)])  # noqa: E731
    expected = IBLR(k=5, with_features=True).fit(X, Y).predict_proba(queries)
    found = IBLR(k=5, with_features=True).fit(repeated(X), Y).predict_proba(repeated(queries))
    np.testing.assert_allclose(found, expected, atol=1e-4)  # two equal coefficients have half of the penalty


def test_many_inputs_and_other_bases():
    X, Y, queries = make_data(n_features=600)
    model = IBLR(k=5, with_features=True).fit(X, Y)
    assert isinstance(model.estimators_[0].steps[-1][1], LogisticRegression)
    assert ((model.predict_proba(X) > 0.5) == Y).all()  # more inputs than rows separate everything
    assert isinstance(IBLR(k=5, base=GaussianNB()).fit(X, Y).estimators_[0], GaussianNB)
    nearest = KNeighborsClassifier(1)
    assert np.isin(IBLR(k=5, base=nearest).fit(X, Y).predict_proba(queries), [0, 1]).all()


def scaled_parts(name):
    train, test = (load(shared_file("data", name, f"{name}-{part}.arff.gz")) for part in ("train", "test"))
    low, high = train.X.min(axis=0), train.X.max(axis=0)
    return (train.X - low) / (high - low), train.Y, (test.X - low) / (high - low)


@pytest.mark.parametrize(("with_features", "name"), [(False, "IBLR_ML_k10"), (True, "IBLR_ML_plus_k10")])
def test_iblr_gives_mulans_confidences(with_features, name):
    """Weka stops where its gradient is small, which for a label that the inputs separate (the fourth) is not the minimum."""
    X, Y, queries = scaled_parts("emotions")
    answers = np.load(shared_file("reference", "mulan_predictions_emotions.npz"), allow_pickle=False)
    probabilities = IBLR(k=10, ties="all", with_features=with_features).fit(X, Y).predict_proba(queries)
    differences = np.abs(probabilities - answers[f"{name}__conf"])
    inputs_separate = [3] if with_features else []
    assert np.delete(differences, inputs_separate, axis=1).max() < 2e-5
    assert ((probabilities > 0.5) == answers[f"{name}__bip"]).mean() > 0.97


def test_iblr_plus_converges_on_yeast():
    """The last label, with 21 positive rows, is separable; the others are not."""
    X, Y, queries = scaled_parts("yeast")
    found = IBLR(k=10, ties="all", with_features=True).fit(X, Y).predict_proba(queries)
    reference = LogisticRegression(C=0.5 / RIDGE, solver="newton-cholesky", tol=1e-13, max_iter=500)
    base = make_pipeline(StandardScaler(), reference)
    expected = IBLR(k=10, ties="all", with_features=True, base=base).fit(X, Y).predict_proba(queries)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
