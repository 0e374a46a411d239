"""Row weights in chains: for the network, the features, the models and the members of an ensemble."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.multioutput import ClassifierChain as TheirChain
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from labelsieve import InputError, LabelNetwork, LabelwiseSieve, NetworkRule
from labelsieve.chains import ChainEnsemble, ClassifierChain, OptimizedClassifierChain
from labelsieve.discretize import MeanStd
from tests.support.chain_data import chain_data
from tests.support.weighted_bases import ChecksWeights

N_ROWS = 160
WEIGHTS = np.random.default_rng(1).integers(0, 4, N_ROWS)
PARTS = np.random.default_rng(2).choice([0.0, 0.25, 1.0, 2.5], N_ROWS)
LOGISTIC = LogisticRegression(solver="newton-cholesky", tol=1e-10)
SVM = LinearSVC(dual=False, tol=1e-12)
TREE = DecisionTreeClassifier(random_state=0)


def named(models):
    return pytest.mark.parametrize("model", models, ids=lambda model: repr(model)[:60].replace("\n", ""))


def answers(model, X, Y, weights, queries):
    model.fit(X, Y, sample_weight=weights)
    asked = model.predict_proba if hasattr(model, "predict_proba") else model.decision_function
    return model.predict(queries), asked(queries)


@named(
    [
        *(ClassifierChain(TREE, network=network, random_state=0) for network in ("preceding", "br", "cc", "kcc", "bcc")),
        ClassifierChain(SVM, network=NetworkRule("kcc", order="information")),
        ClassifierChain(SVM, network=NetworkRule("tree", edge_weight="given-features", root=0)),
        ClassifierChain(SVM, network=NetworkRule("preceding", order="frequency")),
        ClassifierChain(LOGISTIC, inference="exact", loss="f1"),
        ClassifierChain(GaussianNB(), network="br"),
        ClassifierChain(make_pipeline(StandardScaler(), LOGISTIC), inference="beam"),
        ClassifierChain(LOGISTIC, selector=LabelwiseSieve("mlfs", n_features_to_select=2)),
        OptimizedClassifierChain(SVM),
        OptimizedClassifierChain(LOGISTIC, variant="authors-program"),
        # Every member sees all rows and features and has no seed of its own, so that nothing is drawn.
        ChainEnsemble(ClassifierChain(SVM), sampling="all", n_chains=2, random_state=0),
        ChainEnsemble(MultiOutputClassifier(LOGISTIC), sampling="all", combine="probabilities", n_chains=2, random_state=0),
    ]
)
def test_a_row_of_weight_three_is_three_rows(model):
    X, Y, queries, _ = chain_data(3)
    repeated = np.repeat(np.arange(N_ROWS), WEIGHTS)
    labels, values = answers(model, X, Y, WEIGHTS, queries)
    expected_labels, expected = answers(model, X[repeated], Y[repeated], None, queries)
    np.testing.assert_array_equal(labels, expected_labels)
    np.testing.assert_allclose(values, expected, atol=1e-6)
    _, unweighted = answers(model, X, Y, None, queries)
    assert np.abs(values - unweighted).max() > 1e-3


EVERY = [
    ClassifierChain(LOGISTIC, network="kcc"),
    ClassifierChain(LOGISTIC, network="cc", parent_values="cross-validated", random_state=0),
    OptimizedClassifierChain(LOGISTIC),
    ChainEnsemble("occ", LOGISTIC, n_chains=3, random_state=0),
    ChainEnsemble("bcc", LOGISTIC, combine="probabilities", n_chains=3, random_state=0),
]


@pytest.mark.parametrize("weights", [(WEIGHTS > 0).astype(int), PARTS], ids=["zeros and ones", "parts"])
@named(EVERY)
def test_a_row_of_weight_zero_is_no_row(model, weights):
    X, Y, queries, _ = chain_data(4)
    kept = np.flatnonzero(weights)
    Y[kept, 1], Y[kept, 2] = 0, 1
    labels, values = answers(model, X, Y, weights, queries)
    left_out = answers(model, X[kept], Y[kept], None if weights.max() == 1 else weights[kept], queries)
    np.testing.assert_array_equal(labels, left_out[0])
    np.testing.assert_array_equal(values, left_out[1])
    assert not labels[:, 1].any()
    assert labels[:, 2].all()


@named(EVERY)
def test_sparse_rows_weigh_what_dense_rows_weigh(model):
    X, Y, queries, _ = chain_data(5)
    X, queries = np.where(X > 0.3, X, 0), np.where(queries > 0.3, queries, 0)
    _, dense = answers(model, X, Y, PARTS, queries)
    _, sparse = answers(model, sp.csr_matrix(X), sp.csr_matrix(Y), PARTS, sp.csr_matrix(queries))
    np.testing.assert_allclose(sparse, dense, atol=1e-6)


def test_networks_and_features_are_learned_with_weights():
    X, Y, _, _ = chain_data(6, n_features=12)
    rule = NetworkRule("kcc", k=2)
    model = ClassifierChain(SVM, network=rule, selector=LabelwiseSieve("mlfs", n_features_to_select=3)).fit(X, Y, PARTS)
    network = rule.learn(X, Y, sample_weight=PARTS)
    assert model.network_ == network != rule.learn(X, Y)
    alone = LabelwiseSieve("mlfs", n_features_to_select=3, parents=network).fit(X, Y, PARTS)
    assert np.array_equal(model.selector_.selected_, alone.selected_)


def test_levels_of_features_that_a_network_conditions_on_follow_weights():
    X, Y, _, _ = chain_data(16, n_features=3)
    rule, levels = NetworkRule("kcc", order="information", k=1), MeanStd(factor=0.5)
    selector = LabelwiseSieve("mlfs", discretizer=levels, n_features_to_select=2)
    network = ClassifierChain(SVM, network=rule, selector=selector).fit(X, Y, PARTS).network_
    assert network == rule.learn(X, Y, codes=levels.encode(X, None, PARTS), sample_weight=PARTS)
    assert network != rule.learn(X, Y, codes=levels.encode(X), sample_weight=PARTS)


@pytest.mark.parametrize("routing", [False, True])
def test_every_row_brings_its_own_weight_into_folds_and_samples(routing):
    X, Y, queries, _ = chain_data(7)
    X[:, 0] = PARTS
    with config_context(enable_metadata_routing=routing):
        chain = LabelNetwork.chain(range(4))
        for parent_values in ("true", "cross-validated"):
            model = ClassifierChain(ChecksWeights(), network=chain, parent_values=parent_values)
            model.fit(X, Y, PARTS).predict(queries)
        ensemble = ChainEnsemble("cc", ChecksWeights(), sampling=(0.5, 1.0), n_chains=3, random_state=0)
        ensemble.fit(X, Y, PARTS).predict(queries)


@pytest.mark.parametrize("weights", [np.ones(N_ROWS), PARTS], ids=["ones", "parts"])
@named(
    [
        ClassifierChain(KNeighborsClassifier()),
        OptimizedClassifierChain(make_pipeline(StandardScaler(), KNeighborsClassifier())),
        ChainEnsemble("cc", KNeighborsClassifier()),
        ChainEnsemble(ClassifierChain(KNeighborsClassifier())),
        ChainEnsemble(TheirChain(LogisticRegression())),  # takes them where metadata routing is on
    ]
)
def test_chains_that_would_ignore_weights_are_refused(model, weights):
    X, Y, *_ = chain_data()
    with pytest.raises(InputError, match=r"sample_weight would be ignored: [\s\S]*(KNeighborsClassifier|ClassifierChain)"):
        model.fit(X, Y, weights)


def test_chains_of_scikit_learn_take_weights_that_are_routed():
    X, Y, queries, _ = chain_data(8)
    with config_context(enable_metadata_routing=True):
        theirs = TheirChain(LogisticRegression().set_fit_request(sample_weight=True))
        ensemble = ChainEnsemble(theirs, sampling="all", n_chains=1).fit(X, Y, PARTS)
        kept = np.flatnonzero(PARTS)
        alone = theirs.fit(X[kept], Y[kept], sample_weight=PARTS[kept])
    assert np.array_equal(ensemble.predict(queries), alone.predict(queries))


@named([ClassifierChain(ChecksWeights()), ChainEnsemble("bcc", ChecksWeights(), sampling=(0.5, 1.0), n_chains=2)])
def test_cross_validation_hands_rows_their_weights(model):
    X, Y, *_ = chain_data(9)
    X[:, 0] = 1 + PARTS
    scores = cross_validate(model, X, Y, cv=3, params={"sample_weight": 1 + PARTS}, error_score="raise")["test_score"]
    assert len(scores) == 3
    with pytest.raises(InputError, match="sample_weight has shape"):
        model.fit(X, Y, PARTS[1:])
