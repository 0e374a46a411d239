"""RAkEL's labelsets and HOMER's tree."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import GaussianNB

from labelsieve import InputError
from labelsieve.classifiers import HOMER, BRkNN, LabelPowerset, RAkEL
from labelsieve.classifiers.homer import balanced_clusters
from labelsieve.classifiers.labelsets import random_labelsets
from tests.support import reference_transformations as references
from tests.support.classifier_data import make_data


@pytest.mark.parametrize(
    ("n_labels", "k", "n_sets"), [(6, 3, 12), (10, 3, 4), (40, 3, 14), (400, 3, 800), (5, 5, 1), (90, 4, 23)]
)
def test_labelsets_are_different_and_have_every_label(n_labels, k, n_sets):
    for seed in range(3):
        sets = random_labelsets(n_labels, k, n_sets, np.random.default_rng(seed))
        assert len(set(sets)) == len(sets) == n_sets
        assert all(len(set(one)) == k for one in sets)
        assert set(range(n_labels)) == {label for one in sets for label in one}
        assert sets == random_labelsets(n_labels, k, n_sets, np.random.default_rng(seed))


def test_too_few_labelsets_are_refused():
    X, Y, *_ = make_data()
    with pytest.raises(InputError, match="use a larger n_models or k"):
        RAkEL(GaussianNB(), n_models=1).fit(X, Y)


@pytest.mark.parametrize("soft", [False, True])
def test_rakel_counts_the_votes_of_powersets(soft):
    X, Y, queries, _ = make_data(n_labels=6)
    model = RAkEL(GaussianNB(), soft=soft, random_state=3).fit(X, Y)
    assert len(model.labelsets_) == 12
    votes, voters = np.zeros((50, 6)), np.zeros(6)
    for chosen in model.labelsets_:
        small = LabelPowerset(GaussianNB()).fit(X, Y[:, chosen])
        votes[:, chosen] += small.predict_proba(queries) if soft else small.predict(queries)
        voters[chosen] += 1
    np.testing.assert_allclose(model.predict_proba(queries), votes / voters, atol=1e-12)
    assert np.array_equal(model.predict(queries), votes / voters > 0.5)


def test_disjoint_labelsets_part_the_labels():
    X, Y, *_ = make_data(n_labels=7)
    sets = RAkEL(GaussianNB(), disjoint=True, random_state=0).fit(X, Y).labelsets_
    assert [len(one) for one in sets] == [3, 3, 1]
    assert sorted(np.concatenate(sets)) == list(range(7))


@pytest.mark.parametrize(("n_labels", "n_clusters"), [(7, 3), (4, 3), (30, 4), (3, 3), (2, 3), (101, 2)])
def test_clusters_of_labels_are_balanced_and_complete(n_labels, n_clusters):
    rng = np.random.default_rng(n_labels)
    labels = sp.csr_matrix(rng.random((60, n_labels)) < 0.2).astype(np.uint8)
    clusters = balanced_clusters(labels, n_clusters, rng)
    assert sorted(np.concatenate(clusters)) == list(range(n_labels))
    assert max(map(len, clusters)) <= -(-n_labels // n_clusters)
    assert len(clusters) <= n_clusters


def test_labels_that_go_together_are_clustered_together():
    rng = np.random.default_rng(0)
    causes = rng.random((300, 2)) < 0.4
    labels = np.column_stack([causes[:, j % 2] ^ (rng.random(300) < 0.05) for j in range(8)])
    together = [balanced_clusters(sp.csr_matrix(labels, dtype=np.uint8), 2, np.random.default_rng(seed)) for seed in range(5)]
    assert sum([one.tolist() for one in clusters] == [[0, 2, 4, 6], [1, 3, 5, 7]] for clusters in together) >= 3


@pytest.mark.parametrize(("n_labels", "n_children"), [(5, 3), (9, 2), (1, 3), (3, 3)])
def test_homer_goes_down_the_tree_by_the_plain_reading(n_labels, n_children):
    X, Y, queries, _ = make_data(1, n_labels=n_labels)
    model = HOMER(GaussianNB(), n_children=n_children, random_state=1).fit(X, Y)
    leaves = [
        cluster[0]
        for node in model.nodes_
        for cluster, child in zip(node.clusters, node.children, strict=True)
        if child is None
    ]
    assert sorted(leaves) == list(range(n_labels))
    np.testing.assert_array_equal(model.predict(queries), references.homer(GaussianNB(), X, Y, queries, model.nodes_))


def test_homer_multiplies_probabilities_down_the_tree():
    X, Y, queries, _ = make_data(1)
    model = HOMER(GaussianNB(), n_children=2, random_state=1).fit(X, Y)
    probabilities = model.predict_proba(queries)
    root = model.nodes_[0]
    for cluster, chance in zip(root.clusters, root.model.predict_proba(queries).T, strict=True):
        assert (probabilities[:, cluster] <= chance[:, np.newaxis]).all()


def test_homer_takes_multi_label_classifiers_at_its_nodes():
    X, Y, queries, _ = make_data(1)
    model = HOMER(BRkNN(k=5), random_state=0).fit(X, Y)
    assert all(isinstance(node.model, BRkNN) for node in model.nodes_)
    assert model.predict_proba(queries).shape == (50, 5)


def test_a_branch_whose_labels_nobody_has_is_never_taken():
    X, Y, queries, _ = make_data(1, n_labels=9)
    Y[:, 3:] = 0
    predicted = HOMER(GaussianNB(), random_state=0).fit(X, Y).predict(queries)
    assert not predicted[:, 3:].any()
    assert predicted[:, :3].any()
