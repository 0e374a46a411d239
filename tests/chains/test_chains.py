"""Chains as scikit-learn estimators, and labels of every kind."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multioutput import ClassifierChain as TheirChain
from sklearn.multioutput import MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelsieve import InputError, LabelNetwork, LabelwiseSieve, NetworkRule, Sieve, chains
from labelsieve.chains import ChainEnsemble, ClassifierChain, OptimizedClassifierChain
from tests.support.chain_data import chain_data
from tests.support.discovery import estimator_cases

MARGINALS = "decisions are conditional on the predicted parents, probabilities are marginal: they rank rows differently"
SHARES = "a fraction of votes may be 0 or 1, and the check requires probabilities strictly between"


FOLDS = "the check sets cv to lists of rows, and here it is a number of folds; test_weighted_chains.py tests the same"


def expected_failures(estimator):
    if isinstance(estimator, ChainEnsemble):
        return {"check_classifiers_multilabel_output_format_predict_proba": SHARES}
    failures = {f"check_sample_weight_equivalence_on_{kind}_data": FOLDS for kind in ("dense", "sparse")}
    return failures | ({"check_classifier_multioutput": MARGINALS} if estimator.inference == "exact" else {})


SETTINGS = {
    ClassifierChain: [
        ClassifierChain(),
        ClassifierChain(LogisticRegression(), inference="beam"),
        ClassifierChain(LogisticRegression(), inference="exact", loss="hamming"),
    ],
    ChainEnsemble: [ChainEnsemble(n_chains=3, sampling="all")],
}


@parametrize_with_checks(estimator_cases(chains, SETTINGS), expected_failed_checks=expected_failures)
def test_sklearn_checks(estimator, check):
    check(estimator)


SETTINGS = [
    ClassifierChain(LogisticRegression(), network="kcc"),
    ClassifierChain(LogisticRegression(), network="bcc", inference="exact", random_state=0),
    ClassifierChain(LogisticRegression(), network="cc", inference="beam", random_state=0),
    ClassifierChain(LogisticRegression(), parent_values="cross-validated"),
    ClassifierChain(LogisticRegression(), selector=LabelwiseSieve("mlfs", n_features_to_select=2), inference="monte-carlo"),
    OptimizedClassifierChain(LogisticRegression()),
    ChainEnsemble("occ", LogisticRegression(), n_chains=3, random_state=0),
]
settings = pytest.mark.parametrize("model", SETTINGS, ids=lambda model: type(model).__name__)


@settings
def test_labels_that_no_row_has_are_absent_and_nobodys_parents(model):
    X, Y, queries, _ = chain_data()
    Y[:, 1], Y[:, 2] = 0, 1
    predicted = model.fit(X, Y).predict(queries)
    assert not predicted[:, 1].any()
    assert predicted[:, 2].all()
    for member in getattr(model, "chains_", [model]):
        assert not {1, 2} & {label for edge in member.network_.edges for label in edge}


def test_labels_that_no_row_has_are_taken_out_of_given_networks():
    X, Y, queries, _ = chain_data()
    Y[:, 1] = 0
    model = ClassifierChain(LogisticRegression(), network=[[1], [], [1, 0], [2, 1]]).fit(X, Y)
    assert model.network_.to_lists() == [[], [], [0], [2]]
    assert not model.predict(queries)[:, 1].any()
    assert np.isneginf(model.joint_log_proba(queries, np.ones((len(queries), 4)))).all()


@settings
def test_equal_labels_get_equal_predictions(model):
    X, Y, queries, _ = chain_data(6)
    Y[:, 2] = Y[:, 0]
    predicted = model.fit(X, Y).predict(queries)
    # Drawn labels agree as often as their models are sure, which is less.
    drawn = model.get_params().get("inference") == "monte-carlo"
    assert (predicted[:, 2] == predicted[:, 0]).mean() > (0.75 if drawn else 0.9)


@settings
def test_one_label_is_enough(model):
    X, Y, queries, _ = chain_data(7)
    column = model.fit(X, Y[:, :1]).predict(queries)
    assert column.shape == (len(queries), 1)
    assert np.array_equal(model.fit(X, Y[:, 0]).predict(queries), column[:, 0])
    assert model.predict_proba(queries).shape == (len(queries), 2)


@settings
def test_sparse_data_gets_the_same_answers(model):
    X, Y, queries, _ = chain_data(8)
    X, queries = np.where(X > 0.3, X, 0), np.where(queries > 0.3, queries, 0)
    dense = model.fit(X, Y).predict(queries)
    sparse = model.fit(sp.csr_matrix(X), sp.csr_matrix(Y)).predict(sp.csr_matrix(queries))
    assert sp.issparse(sparse)
    if model.get_params().get("inference") != "monte-carlo":  # whose draws stand on the last bit
        assert (sparse.toarray() == dense).mean() > 0.99


def test_sparse_features_are_never_made_dense(monkeypatch):
    X, Y, _, _ = chain_data(9)
    wide = sp.csr_matrix((len(X), 900))
    X = sp.hstack([sp.csr_matrix(X), wide], format="csr")
    monkeypatch.setattr(type(X), "toarray", _guard(type(X).toarray, X.shape[1]))
    for model in SETTINGS:
        model.fit(X, Y).predict(X)


def _guard(toarray, n_features):
    def guarded(self, *args, **kwargs):
        assert self.shape[1] < n_features // 3, "X was made dense"
        return toarray(self, *args, **kwargs)

    return guarded


def test_the_features_of_a_label_are_chosen_given_its_parents():
    X, Y, _, _ = chain_data(10, n_features=12)
    rule = NetworkRule("kcc", k=2)
    model = ClassifierChain(selector=LabelwiseSieve("mlfs", n_features_to_select=3), network=rule).fit(X, Y)
    network = rule.learn(X, Y)
    alone = LabelwiseSieve("mlfs", n_features_to_select=3, parents=network).fit(X, Y)
    assert model.network_ == network
    assert np.array_equal(model.selector_.selected_, alone.selected_)
    for link in model.chain_.links:
        assert link.columns.tolist() == sorted(alone.selected_[link.label])
        assert {model.chain_.links[place].label for place in link.parents} == set(network.parents[link.label])


@pytest.mark.parametrize("rule", [NetworkRule(order="information"), NetworkRule("tree", edge_weight="given-features", root=0)])
def test_rules_that_condition_on_features_get_codes(rule):
    X, Y, _, _ = chain_data(11)
    assert ClassifierChain(network=rule).fit(X, Y).network_.n_labels == 4


def test_networks_take_the_names_of_a_frame():
    X, Y, _, _ = chain_data()
    model = ClassifierChain(network="br").fit(X, pd.DataFrame(Y, columns=["a", "b", "c", "d"]))
    assert model.network_.names == ("a", "b", "c", "d")


@pytest.mark.parametrize("chain", ["cc", "bcc", "kcc", "occ", ClassifierChain(network=NetworkRule("tree"))], ids=str)
def test_ensembles_are_the_same_for_any_number_of_processes(chain):
    X, Y, queries, _ = chain_data(12)
    models = [ChainEnsemble(chain, n_chains=4, random_state=3, n_jobs=n_jobs).fit(X, Y) for n_jobs in (None, 2)]
    assert np.array_equal(models[0].predict_proba(queries), models[1].predict_proba(queries))
    networks = [member.network_ for member in models[0].chains_]
    assert networks == [member.network_ for member in models[1].chains_]
    assert len(set(networks)) > 1, "orders or roots differ"


def test_ensembles_sample_rows_and_features_and_vote():
    X, Y, queries, _ = chain_data(13, n_features=8)
    for sampling, n_features in {"paper": 4, "authors-program": 6, "all": 8, (0.3, 0.25): 2}.items():
        model = ChainEnsemble("bcc", sampling=sampling, n_chains=5, random_state=0).fit(X, Y)
        assert {len(features) for features in model.features_} == {n_features}
        votes = np.mean(
            [m.predict(queries[:, f]).toarray() for m, f in zip(model.chains_, model.features_, strict=True)], axis=0
        )
        assert np.array_equal(model.predict_proba(queries), votes)
        assert np.array_equal(model.predict(queries), votes > 0.5)
    with pytest.raises(InputError, match="fractions of the rows and the features"):
        ChainEnsemble(sampling=(0.5, 1.5)).fit(X, Y)


def test_ensembles_average_probabilities():
    X, Y, queries, _ = chain_data(14)
    model = ChainEnsemble("cc", LogisticRegression(), combine="probabilities", n_chains=3, random_state=0).fit(X, Y)
    means = [m.predict_proba(queries[:, f]) for m, f in zip(model.chains_, model.features_, strict=True)]
    np.testing.assert_allclose(model.predict_proba(queries), np.mean(means, axis=0), atol=1e-15)
    with pytest.raises(InputError, match="needs chains with predict_proba"):
        ChainEnsemble("cc", combine="probabilities").fit(X, Y)


def test_a_network_of_other_labels_is_refused():
    X, Y, _, _ = chain_data()
    with pytest.raises(InputError, match="a network of 3 labels for 4 targets"):
        ClassifierChain(network=LabelNetwork.chain([0, 1, 2])).fit(X, Y)


@pytest.mark.parametrize("n_present", [1, 2, 3])
def test_rare_labels_are_held_out_as_far_as_they_go(n_present):
    X, Y, queries, _ = chain_data()
    Y[:, 0] = 0
    Y[:n_present, 0] = 1
    chain = ClassifierChain(LogisticRegression(), network=LabelNetwork.chain(range(4)), parent_values="cross-validated")
    assert chain.fit(X, Y).predict(queries).shape == (len(queries), 4)


def test_label_sets_may_have_values_of_their_own():
    X, Y, queries, truth = chain_data()
    expected = ClassifierChain(LogisticRegression()).fit(X, Y).joint_log_proba(queries, truth)
    named = ClassifierChain(LogisticRegression()).fit(X, np.where(Y, "yes", "no"))
    assert np.array_equal(named.joint_log_proba(queries, np.where(truth, "yes", "no")), expected)
    sparse = ClassifierChain(LogisticRegression()).fit(X, sp.csr_matrix(Y))
    np.testing.assert_allclose(sparse.joint_log_proba(queries, sp.csr_matrix(truth)), expected, atol=1e-12)
    with pytest.raises(InputError, match="Y has 3 labels"):
        named.joint_log_proba(queries, truth[:, :3])
    with pytest.raises(InputError, match="must be the same rows"):
        sparse.joint_log_proba(queries, truth[:5])


@pytest.mark.parametrize("chain", ["cc", "bcc", "occ"])
def test_ties_of_votes_are_absent_or_present_as_told(chain):
    X, Y, queries, _ = chain_data(15)
    ensemble = ChainEnsemble(chain, n_chains=2, random_state=0).fit(X, Y)
    votes = ensemble.predict_proba(queries)
    assert (votes == 0.5).any()
    assert np.array_equal(ensemble.predict(queries), votes > 0.5)
    assert np.array_equal(ensemble.set_params(ties="present").predict(queries), votes >= 0.5)
    with pytest.raises(InputError, match="'ties' parameter of ChainEnsemble"):
        ensemble.set_params(ties="random").fit(X, Y)


def test_ties_of_probabilities_are_absent_or_present_as_told():
    X = np.zeros((8, 1))
    Y = np.tile([[0], [1]], (4, 1))
    ensemble = ChainEnsemble("cc", DecisionTreeClassifier(), combine="probabilities", sampling="all", n_chains=3).fit(X, Y)
    assert (ensemble.predict_proba(X) == 0.5).all()
    assert not ensemble.predict(X).any()
    assert ensemble.set_params(ties="present").predict(X).all()


def test_a_fitted_chain_is_asked_only_in_ways_that_there_are():
    X, Y, queries, _ = chain_data()
    chain = ClassifierChain(LogisticRegression()).fit(X, Y)
    with pytest.raises(InputError, match="loss='f1' needs the probabilities of labelsets"):
        chain.set_params(loss="f1").predict(queries)
    with pytest.raises(InputError, match="'inference' parameter"):
        chain.set_params(inference="best", loss="subset").predict(queries)
    with pytest.raises(InputError, match="'loss' parameter"):
        chain.set_params(inference="exact", loss="mean").predict_proba(queries)
    with pytest.raises(InputError, match="LinearSVC has no predict_proba"):
        ClassifierChain().fit(X, Y).set_params(inference="exact").predict(queries)
    ensemble = ChainEnsemble(n_chains=2).fit(X, Y)
    with pytest.raises(InputError, match="needs chains with predict_proba"):
        ensemble.set_params(combine="probabilities").predict(queries)
    with pytest.raises(InputError, match="'combine' parameter"):
        ensemble.set_params(combine="mean").predict(queries)


def test_parts_that_would_be_ignored_or_cannot_serve_are_refused():
    X, Y, *_ = chain_data()
    with pytest.raises(InputError, match="base is for chains by name"):
        ChainEnsemble(ClassifierChain(), LogisticRegression()).fit(X, Y)
    with pytest.raises(InputError, match=r"needs a classifier as its base, and Ridge\(\) is a regressor"):
        ClassifierChain(Ridge()).fit(X, Y)
    with pytest.raises(InputError, match="Sieve has no label_support_"):
        ClassifierChain(selector=Sieve("mim", n_features_to_select=2)).fit(X, Y)


def test_a_selector_knows_the_names_of_features():
    X, Y, queries, _ = chain_data()
    names = list("abcde")
    selector = LabelwiseSieve("mim", n_features_to_select=2, forced=["d"])
    chain = ClassifierChain(selector=selector).fit(pd.DataFrame(X, columns=names), Y)
    assert chain.selector_.label_support_[:, 3].all()
    numbered = ClassifierChain(selector=selector.set_params(forced=[3])).fit(X, Y)
    assert np.array_equal(chain.predict(pd.DataFrame(queries, columns=names)), numbered.predict(queries))


def test_shares_may_be_numbers_of_any_type():
    X, Y, *_ = chain_data()
    model = ChainEnsemble(sampling=(np.float32(0.5), np.float64(0.4)), n_chains=2).fit(X, Y)
    assert [len(features) for features in model.features_] == [2, 2]


@pytest.mark.parametrize("combine", ["votes", "probabilities"])
@pytest.mark.parametrize("theirs", [TheirChain(LogisticRegression()), MultiOutputClassifier(LogisticRegression())], ids=str)
def test_classifiers_of_scikit_learn_vote_too(theirs, combine):
    X, Y, queries, _ = chain_data(16)
    model = ChainEnsemble(theirs, sampling="all", combine=combine, n_chains=2, random_state=0).fit(X, Y)
    alone = theirs.fit(X, Y)
    assert np.array_equal(model.predict(queries), alone.predict(queries))
    assert model.predict_proba(queries).shape == (len(queries), 4)
