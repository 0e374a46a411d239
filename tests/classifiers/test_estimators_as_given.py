"""An estimator that a user passes is cloned and fitted by its own ``fit``, with its own settings."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from labelsieve.chains import ChainEnsemble, ClassifierChain
from labelsieve.classifiers import CLR, HOMER, IBLR, LIFT, BinaryRelevance, LabelPowerset, MetaLabeler, RAkEL

KINDS = {
    "binary relevance": (BinaryRelevance, 4),
    "chain": (lambda base: ClassifierChain(base, network="preceding"), 4),
    "ensemble of chains": (lambda base: ChainEnsemble("cc", base, n_chains=2, random_state=0), 8),
    "labelsets": (LabelPowerset, 1),
    "RAkEL": (lambda base: RAkEL(base, k=2, disjoint=True, random_state=0), 2),
    "HOMER": (lambda base: HOMER(base, n_children=2, random_state=0), 6),
    "CLR": (CLR, 10),
    "MetaLabeler": (MetaLabeler, 5),
    "LIFT": (lambda base: LIFT(base=base, random_state=0), 4),
    "IBLR": (lambda base: IBLR(base=base), 4),
}


def make_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    return X, (X[:, :4] + rng.normal(size=(120, 4)) > 0).astype(int)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("base", [LogisticRegression(tol=0.5), LinearSVC(tol=0.5), SVC(kernel="linear")], ids=str)
def test_the_fit_of_a_given_estimator_is_called(kind, base, monkeypatch):
    make, n_models = KINDS[kind]
    if kind == "IBLR" and not hasattr(base, "predict_proba"):
        pytest.skip("IBLR needs probabilities")
    calls, own = [], type(base).fit

    def fit(self, X, y, *arguments, **options):
        calls.append(self.get_params() == base.get_params() | {"random_state": self.random_state})  # ensembles draw seeds
        return own(self, X, y, *arguments, **options)

    monkeypatch.setattr(type(base), "fit", fit)
    make(base).fit(*make_data())
    assert all(calls)
    folds = 6 if kind == "LIFT" and not hasattr(base, "predict_proba") else 1  # of Platt scaling, and a fit to all rows
    assert len(calls) == n_models * folds


@pytest.mark.parametrize("base", [LogisticRegression(tol=0.5), LinearSVC(dual=False, tol=0.5)], ids=str)
def test_the_tolerance_of_a_given_estimator_is_used(base):
    X, Y = make_data()
    X = StandardScaler().fit_transform(X)
    model = ClassifierChain(base, network="preceding").fit(X, Y)
    first = model.chain_.links[0]
    alone = type(base)(**base.get_params()).fit(X, Y[:, first.label])
    np.testing.assert_allclose(first.model.estimator.coef_, alone.coef_, rtol=1e-12)
