"""Selectors over label networks: given or learned, kept, saved; and the authors' program, choice by choice."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from labelsieve import InputError, LabelNetwork, LabelwiseSieve, NetworkRule, Sieve
from labelsieve.criteria.formulas import MLFS
from labelsieve.discretize import equal_width
from tests.support.selection_data import N_FEATURES, NAMES, assert_same_selection, make_data
from tests.support.shared_files import shared_file

BITS = np.log(2)
selectors = pytest.mark.parametrize("selector", [Sieve, LabelwiseSieve])
OCC = ["occ_emotions", "occ_emotions_fold1train"]


@selectors
@pytest.mark.parametrize("name", ["kcc", "tree", "preceding"])
def test_a_learned_network_is_kept_and_gives_the_same_as_when_given(selector, name):
    X, Y = make_data()
    rule = NetworkRule(name, root=2)
    network = rule.learn(X, Y, codes=equal_width(X))
    learned = selector(MLFS(), parents=rule).fit(X, Y)
    assert learned.network_ == network
    assert_same_selection(selector(MLFS(), parents=network).fit(X, Y), learned)
    assert_same_selection(selector(MLFS(), parents=network.to_lists()).fit(X, Y), learned)
    if name != "tree":
        assert_same_selection(selector(MLFS(), parents=name).fit(X, Y), learned)


@selectors
def test_parents_make_a_difference(selector):
    X, Y = make_data()
    assert not np.array_equal(selector(MLFS(), parents="kcc").fit(X, Y).scores_, selector(MLFS()).fit(X, Y).scores_)


@selectors
def test_the_codes_of_the_discretizer_are_what_labels_are_conditioned_on(selector):
    X, Y = make_data()
    rule = NetworkRule("tree", root=0, edge_weight="given-features")
    assert selector(MLFS(), parents=rule, discretizer="equal-width").fit(X, Y).network_ == rule.learn(
        None, Y, codes=equal_width(X)
    )


@selectors
@pytest.mark.parametrize("form", [sp.csr_array, lambda X: pd.DataFrame(X, columns=NAMES), np.ndarray.tolist])
def test_any_form_of_the_features_gives_the_same_network(selector, form):
    X, Y = make_data()
    assert_same_selection(selector(MLFS(), parents="kcc").fit(form(X), Y), selector(MLFS(), parents="kcc").fit(X, Y))


@selectors
def test_rows_without_weight_do_not_count_for_the_network(selector):
    X, Y = make_data()
    weights = np.random.default_rng(0).integers(0, 3, size=len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    for rule in ("kcc", NetworkRule(k=2, order="information")):
        weighted = selector(MLFS(), parents=rule).fit(X, Y, sample_weight=weights)
        repeated = selector(MLFS(), parents=rule).fit(X[rows], Y[rows])
        assert weighted.network_ == repeated.network_
        assert_same_selection(weighted, repeated)


@selectors
def test_a_criterion_without_parents_learns_none(selector):
    X, Y = make_data()
    sieve = selector(MLFS(), parents="kcc").fit(X, Y)
    sieve.set_params(criterion="jmi").fit(X, Y)
    assert sieve.network_ is None


@selectors
def test_networks_are_saved_with_the_selection(selector, tmp_path):
    X, Y = make_data()
    for parents in (NetworkRule(k=1), NetworkRule(k=1).learn(X, Y)):
        sieve = selector(MLFS(), parents=parents).fit(X, Y)
        sieve.to_json(tmp_path / "sieve.json")
        read = selector.from_json(tmp_path / "sieve.json")
        assert read.network_ == sieve.network_
        assert_same_selection(clone(read).fit(X, Y), sieve)


def test_a_search_tunes_the_rule():
    X, Y = make_data()
    model = make_pipeline(Sieve(MLFS(), parents=NetworkRule(), n_features_to_select=3), MultiOutputClassifier(GaussianNB()))
    search = GridSearchCV(model, {"sieve__parents__k": [0, 1, 3]}, cv=2, error_score="raise").fit(X, Y)
    assert len(search.cv_results_["params"]) == 3


@selectors
def test_a_network_of_other_labels_is_refused(selector):
    with pytest.raises(InputError, match="a network of 3 labels for 4 targets"):
        selector(MLFS(), parents=LabelNetwork.chain([0, 1, 2])).fit(*make_data())


# ------------------------------------------------------------- candidates


def test_candidates_are_the_most_relevant_features_of_each_target():
    X, Y = make_data()
    relevant = LabelwiseSieve("mim", n_features_to_select=4).fit(X, Y).selected_
    few = LabelwiseSieve(MLFS(), n_features_to_select=3, n_candidates=4).fit(X, Y)
    for target, candidates in enumerate(relevant):
        others = [k for k in range(N_FEATURES) if k not in candidates]
        alone = Sieve(MLFS(), n_features_to_select=3, excluded=others).fit(X, Y[:, target])
        assert few.selected_[target].tolist() == alone.selected_.tolist()


@pytest.mark.parametrize("wanted", [4, 6, None])
def test_as_many_as_there_are_candidates_come_by_relevance(wanted):
    X, Y = make_data()
    by_relevance = LabelwiseSieve("mim", n_features_to_select=wanted, forced=[7]).fit(X, Y)
    ours = LabelwiseSieve(MLFS(), n_features_to_select=wanted, n_candidates=4, forced=[7]).fit(X, Y)
    assert_same_selection(ours, by_relevance)


def test_more_candidates_than_features_are_all():
    X, Y = make_data()
    many = LabelwiseSieve("jmi", n_features_to_select=3, n_candidates=100, excluded=[0]).fit(X, Y)
    assert_same_selection(many, LabelwiseSieve("jmi", n_features_to_select=3, excluded=[0]).fit(X, Y))


# ------------------------------------------------------------- the authors' program (Matlab), and a toolbox


def occ(name):
    with np.load(shared_file("reference", f"{name}.npz"), allow_pickle=False) as file:
        return dict(file)


@pytest.mark.parametrize("name", OCC)
@pytest.mark.parametrize("which", ["features", "features_noparents"])
def test_the_authors_program_chooses_the_same_with_the_same_scores(name, which):
    file = occ(name)
    rule = NetworkRule("none" if "no" in which else "kcc", k=0.8, rounding="nearest", order=file["order_dim1_kmax0"])
    program = MLFS(first_step="relevance")
    sieve = LabelwiseSieve(program, discretizer=None, n_features_to_select=30, n_candidates=100, parents=rule)
    sieve.fit(file["X_disc"] + 1, file["Y"])
    assert sieve.selected_.tolist() == file[which].tolist()
    np.testing.assert_allclose(sieve.scores_ / BITS, file[f"{which}_score_bits"], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", OCC)
def test_the_equation_starts_elsewhere_than_the_authors_program(name):
    """Eq. 43 counts the parents from the first feature on."""
    file = occ(name)
    parents = [[p for p in row if p >= 0] for row in file["parents"].tolist()]
    sieve = LabelwiseSieve(MLFS(), discretizer=None, n_features_to_select=1, parents=parents).fit(file["X_disc"] + 1, file["Y"])
    assert not np.array_equal(sieve.selected_[:, 0], file["features"][:, 0])
    root = file["order_dim1_kmax0"][0]
    assert sieve.selected_[root, 0] == file["features"][root, 0], "the first label has no parents"


@pytest.mark.parametrize("name", ["full", "fold1"])
def test_mlmim_of_a_toolbox_is_mlfs_without_both_terms(name):
    with np.load(shared_file("reference", f"mlctoolbox_emotions_{name}.npz"), allow_pickle=False) as file:
        X, Y, order, relevance = file["X_disc"] + 1, file["Y_train"], file["MLMIM_selected"], file["relevance_sum_bits"]
    for criterion in ("mim", MLFS(beta=0.0, gamma=0.0)):
        sieve = Sieve(criterion, discretizer=None, n_features_to_select=len(order), parents="preceding").fit(X, Y)
        assert sieve.selected_.tolist() == order.tolist()
        np.testing.assert_allclose(sieve.scores_ / BITS, relevance[order], rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", [Sieve, LabelwiseSieve])
@pytest.mark.parametrize("parents", ["tree", NetworkRule("tree"), NetworkRule("kcc", order="random")], ids=str)
def test_the_same_data_give_the_same_network_without_a_seed(kind, parents):
    X, Y = make_data()
    Y = np.hstack([Y, 1 - Y[:, ::-1]])  # eight labels: random roots and orders would differ
    networks = {kind("mlfs", n_features_to_select=2, parents=parents).fit(X, Y).network_ for _ in range(6)}
    assert len(networks) == 1
    if isinstance(parents, NetworkRule):
        assert parents.random_state is None
