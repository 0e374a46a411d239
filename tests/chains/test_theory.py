"""What must be true of chains: their limits are known methods, and better inference never finds less probable label sets."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain as TheirChain
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from labelsieve import InputError, LabelNetwork, LabelwiseSieve, NetworkRule
from labelsieve.chains import ClassifierChain, OptimizedClassifierChain
from labelsieve.classifiers import BinaryRelevance
from tests.support.chain_data import chain_data

BASES = [LogisticRegression(), DecisionTreeClassifier(max_depth=4, random_state=0), LinearSVC(random_state=0), GaussianNB()]
bases = pytest.mark.parametrize("base", BASES, ids=lambda base: type(base).__name__)
forms = pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])


@bases
@pytest.mark.parametrize("network", [NetworkRule("kcc", k=0), "br", "none", [[], [], [], []]], ids=str)
def test_without_parents_a_chain_is_binary_relevance(base, network):
    X, Y, queries, _ = chain_data()
    chain, alone = ClassifierChain(base, network=network).fit(X, Y), BinaryRelevance(base).fit(X, Y)
    assert np.array_equal(chain.predict(queries), alone.predict(queries))
    for method in ("predict_proba", "decision_function"):
        assert hasattr(chain, method) == hasattr(alone, method)
        if hasattr(chain, method):
            assert np.array_equal(getattr(chain, method)(queries), getattr(alone, method)(queries))


@bases
@forms
def test_with_all_parents_and_features_a_chain_is_scikit_learns(base, make):
    X, Y, queries, _ = chain_data(1)
    if make is sp.csr_matrix and isinstance(base, GaussianNB):  # which takes dense data alone, and says so through a chain too
        with pytest.raises(TypeError, match="dense"):
            ClassifierChain(base).fit(make(X), Y)
        return
    order = [2, 0, 3, 1]
    theirs = TheirChain(base, order=order).fit(make(X), Y)
    everything = LabelwiseSieve("mim", n_features_to_select=None)
    for how in (
        {"network": LabelNetwork.chain(order)},
        {"network": NetworkRule("kcc", k=3, order=order)},
        {"network": NetworkRule("preceding", order=order), "selector": everything},
    ):
        ours = ClassifierChain(base, **how).fit(make(X), Y)
        assert np.array_equal(ours.predict(make(queries)), theirs.predict(make(queries)))
        if hasattr(base, "predict_proba"):
            np.testing.assert_allclose(ours.predict_proba(make(queries)), theirs.predict_proba(make(queries)), atol=1e-12)
    occ = OptimizedClassifierChain(base, k=3, order=order, n_features_to_select=None).fit(make(X), Y)
    assert np.array_equal(occ.predict(make(queries)), theirs.predict(make(queries)))


def test_cross_validated_parents_are_scikit_learns():
    X, Y, queries, _ = chain_data(2)
    base, order = LogisticRegression(), [1, 3, 0, 2]
    theirs = TheirChain(base, order=order, cv=4).fit(X, Y)
    ours = ClassifierChain(base, network=LabelNetwork.chain(order), parent_values="cross-validated", cv=4).fit(X, Y)
    np.testing.assert_allclose(ours.predict_proba(queries), theirs.predict_proba(queries), atol=1e-12)
    plain = ClassifierChain(base, network=LabelNetwork.chain(order)).fit(X, Y)
    assert not np.allclose(ours.predict_proba(queries), plain.predict_proba(queries))


@pytest.mark.parametrize("network", ["preceding", "tree", NetworkRule("kcc", k=2)], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_exact_inference_finds_the_most_probable_set(network, seed):
    X, Y, queries, _ = chain_data(seed, n_labels=5)
    chain = ClassifierChain(LogisticRegression(), network=network, inference="exact", random_state=0).fit(X, Y)
    best = chain.joint_log_proba(queries, chain.predict(queries))
    sets = np.array(np.meshgrid(*[[0, 1]] * 5)).reshape(5, -1).T
    every = np.array([chain.joint_log_proba(queries, np.tile(labels, (len(queries), 1))) for labels in sets])
    np.testing.assert_allclose(best, every.max(axis=0), atol=1e-12)
    np.testing.assert_allclose(np.exp(every).sum(axis=0), 1, atol=1e-12)
    np.testing.assert_allclose(chain.predict_proba(queries), np.exp(every).T @ sets, atol=1e-12)
    for how in ({"inference": "greedy"}, {"inference": "beam", "beam_width": 2}, {"inference": "monte-carlo"}):
        found = chain.joint_log_proba(queries, chain.set_params(**how).predict(queries))
        assert (found <= best + 1e-12).all()


def test_wider_beams_end_at_the_exact_answer():
    X, Y, queries, _ = chain_data(3, n_labels=5)
    chain = ClassifierChain(LogisticRegression(), inference="exact").fit(X, Y)
    exact, greedy = chain.predict(queries), chain.set_params(inference="greedy").predict(queries)
    assert not np.array_equal(exact, greedy)
    chain.set_params(inference="beam")
    assert np.array_equal(chain.set_params(beam_width=32).predict(queries), exact)
    assert np.array_equal(chain.set_params(beam_width=1).predict(queries), greedy)


def test_samples_approach_the_marginals():
    X, Y, queries, _ = chain_data(4)
    chain = ClassifierChain(LogisticRegression(), inference="exact", random_state=0).fit(X, Y)
    marginals = chain.predict_proba(queries)
    chain.set_params(inference="monte-carlo")
    errors = [np.abs(chain.set_params(n_samples=n).predict_proba(queries) - marginals).mean() for n in (10, 1000)]
    assert errors[1] < 0.02
    assert errors[1] < errors[0] / 5, "ten times smaller with a hundred times more"
    assert np.array_equal(chain.predict_proba(queries), chain.predict_proba(queries))


def expected_f(joint, sets, chosen):
    both = sets @ chosen
    sizes = sets.sum(axis=1) + chosen.sum()
    return joint @ np.where(sizes == 0, 1.0, 2 * both / np.maximum(sizes, 1))


def test_predictions_are_the_best_for_each_loss():
    X, Y, queries, _ = chain_data(5)
    queries = queries[:25]
    chain = ClassifierChain(LogisticRegression(), inference="exact").fit(X, Y)
    sets = np.array(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1).T
    joint = np.exp([chain.joint_log_proba(queries, np.tile(labels, (len(queries), 1))) for labels in sets]).T
    assert np.array_equal(chain.set_params(loss="hamming").predict(queries), joint @ sets > 0.5)
    for_f = chain.set_params(loss="f1").predict(queries)
    for row, chosen in enumerate(for_f):
        best = max(expected_f(joint[row], sets, other) for other in sets)
        assert expected_f(joint[row], sets, chosen) == pytest.approx(best, abs=1e-12)
    chain.set_params(inference="monte-carlo", n_samples=4000, random_state=0)
    assert (chain.predict(queries) == for_f).mean() > 0.95


def test_what_cannot_be_inferred_is_refused():
    X, Y, _, _ = chain_data(n_labels=16)
    with pytest.raises(InputError, match="LinearSVC has no predict_proba"):
        ClassifierChain(inference="exact").fit(X, Y)
    with pytest.raises(InputError, match="use inference='exact' or 'monte-carlo'"):
        ClassifierChain(LogisticRegression(), loss="f1").fit(X, Y)
    with pytest.raises(InputError, match=r"2\^16 labelsets for every row, and is limited to 15"):
        ClassifierChain(LogisticRegression(), inference="exact").fit(X, Y)
    beam = ClassifierChain(LogisticRegression(), inference="beam").fit(X, Y)
    with pytest.raises(InputError, match=r"2\^16 labelsets for every row, and is limited to 15"):
        beam.set_params(inference="exact").predict(X)
    with pytest.raises(InputError, match=r"is not a network\. Did you mean"):
        ClassifierChain(network="nonsense").fit(X, Y)


def test_exact_probabilities_are_never_beyond_one():
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)  # which is sure of some labels, and not of others
    for seed in range(6):
        random = np.random.default_rng(seed)
        X, Y = random.integers(0, 3, size=(40, 2)).astype(float), random.integers(0, 2, size=(40, 6))
        chances = ClassifierChain(tree, inference="exact").fit(X, Y).predict_proba(X)
        assert chances.min() >= 0
        assert chances.max() <= 1
