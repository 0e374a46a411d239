"""Features and labels that are associated, at a stated false discovery rate."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from labelsieve import InputError, Sieve
from labelsieve.datasets import load
from labelsieve.discoveries import adjusted, hierarchical_tests
from labelsieve.discretize import MDL, ByColumn, EqualWidth
from labelsieve.selectors import MarginalDiscoveries
from tests.support.shared_files import shared_file


def make_associations(n_rows=300, n_features=25, n_labels=4, seed=0):
    """Feature 0 with labels 0 and 1, feature 1 with label 2; everything else is independent."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    values = rng.normal(size=(n_rows, n_labels))
    values[:, :2] += X[:, [0]]
    values[:, 2] += X[:, 1]
    return X, (values > 0.3).astype(int)


def test_associated_pairs_are_discovered_with_their_information():
    X, Y = make_associations()
    found = MarginalDiscoveries().fit(pd.DataFrame(X).add_prefix("f"), pd.DataFrame(Y).add_prefix("y"))
    assert set(found.selected_[:2]) == {0, 1}
    pairs = set(zip(found.discoveries_["feature"], found.discoveries_["label"], strict=True))
    assert {("f0", "y0"), ("f0", "y1"), ("f1", "y2")} <= pairs
    assert list(found.discoveries_) == ["feature", "label", "information", "p", "q"]
    assert (np.diff(found.discoveries_["q"]) >= 0).all()
    assert np.array_equal(np.argwhere(found.pair_support_), np.argwhere(found.label_q_values_ <= 0.05))
    assert found.feature_scores_ == pytest.approx(found.information_.sum(axis=1))
    text = str(found.summary())
    assert text.startswith("MarginalDiscoveries: ")
    assert "f0" in text
    assert "p-values: 100 g-test." in text


def test_q_values_are_those_of_the_procedures():
    X, Y = make_associations()
    for combine in ("simes", "fisher"):
        for correction in ("bh", "by"):
            found = MarginalDiscoveries(combine=combine, correction=correction).fit(X, Y)
            tests = hierarchical_tests(found.p_values_, combination=combine, correction=correction)
            assert np.array_equal(found.q_values_, tests.family_q_values)
            assert np.array_equal(found.label_q_values_, tests.q_values)
    pooled = MarginalDiscoveries(method="pooled").fit(X, Y)
    assert np.array_equal(pooled.label_q_values_.ravel(), adjusted(pooled.p_values_.ravel()))
    assert np.array_equal(pooled.support_, pooled.pair_support_.any(axis=1))


def test_constant_columns_do_not_count():
    X, Y = make_associations()
    plain = MarginalDiscoveries().fit(X, Y)
    more = MarginalDiscoveries().fit(np.hstack([X, np.ones((300, 40))]), np.hstack([Y, np.zeros((300, 3), dtype=int)]))
    assert np.array_equal(more.q_values_, np.concatenate([plain.q_values_, np.ones(40)]))
    assert np.array_equal(more.label_q_values_[:25, :4], plain.label_q_values_)
    assert set(more.tests_[25:].ravel()) == {"none"}


def test_sparse_and_dense_tables_have_the_same_p_values():
    X, Y = make_associations()
    codes = (X > 1).astype(int)
    dense = MarginalDiscoveries().fit(codes, Y)
    sparse = MarginalDiscoveries().fit(sp.csr_array(codes), sp.csr_array(Y))
    assert np.array_equal(dense.p_values_, sparse.p_values_)
    assert set(dense.tests_.ravel()) == {"exact"}


def test_labels_shuffled_give_nothing_and_the_reason_names_the_power():
    X, Y = make_associations(seed=1)
    found = MarginalDiscoveries(alpha=0.01).fit(X, np.random.default_rng(0).permutation(Y))
    assert not found.support_.any()
    assert len(found.discoveries_) == 0
    assert "Nothing is discovered" in found.reason_
    assert f"{found.minimum_information_:.4f} nats" in found.reason_
    assert found.detectable_information_ > 0
    assert found.information_.max() < 1.5 * found.minimum_information_


def test_the_false_discovery_rate_is_controlled_on_both_levels():
    features, labels = [], []
    for seed in range(40):
        X, Y = make_associations(120, 20, 6, seed)
        found = MarginalDiscoveries(alpha=0.2).fit(X, Y)
        associated = np.zeros((20, 6), dtype=bool)
        associated[[0, 0, 1], [0, 1, 2]] = True
        wrong = (found.pair_support_ & ~associated).sum(axis=1) / np.maximum(1, found.pair_support_.sum(axis=1))
        features.append((found.support_ & ~associated.any(axis=1)).sum() / max(1, found.support_.sum()))
        labels.append(wrong[found.support_].mean() if found.support_.any() else 0.0)
    for rates in (features, labels):
        assert np.mean(rates) <= 0.2 + 2 * np.std(rates) / np.sqrt(len(rates))


def test_strata_remove_associations_that_batches_make():
    rng = np.random.default_rng(2)
    batch = np.repeat(["a", "b", "c"], 100)
    level = np.repeat([0.0, 1.5, 3.0], 100)[:, np.newaxis]
    X, Y = rng.normal(size=(300, 15)) + level, (rng.normal(size=(300, 3)) + level > 1.5).astype(int)
    assert MarginalDiscoveries().fit(X, Y).support_.all()
    assert not MarginalDiscoveries(n_permutations=999).fit(X, Y, strata=batch).support_.any()
    X[:, 4] += 2 * Y[:, 1]
    found = MarginalDiscoveries(n_permutations=1999).fit(X, Y, strata=batch)
    assert found.selected_.tolist() == [4]
    assert np.argwhere(found.pair_support_).tolist() == [[4, 1]]


def test_groups_are_permuted_as_a_whole():
    rng = np.random.default_rng(3)
    patient = np.repeat(np.arange(40), 8)
    X = np.repeat(rng.normal(size=(40, 12)), 8, axis=0) + 0.1 * rng.normal(size=(320, 12))
    Y = np.repeat(rng.integers(0, 2, size=(40, 2)), 8, axis=0)
    assert MarginalDiscoveries().fit(X, Y).support_.sum() > 6  # rows of a patient count as independent
    assert not MarginalDiscoveries(n_permutations=999).fit(X, Y, groups=patient).support_.any()
    X[:, 0] += 3 * Y[:, 0]
    found = MarginalDiscoveries(n_permutations=1999).fit(X, Y, groups=patient)
    assert found.selected_.tolist() == [0]
    assert set(found.tests_.ravel()) == {"permutation"}


def test_p_values_are_positive_however_strong_the_association():
    x = np.repeat([0, 1], 2000)
    found = MarginalDiscoveries(discretizer=None).fit(np.column_stack([x, x + np.arange(4000) % 2]), x)
    assert set(found.tests_.ravel()) == {"exact", "g-test"}
    assert ((found.p_values_ > 0) & (found.p_values_ < 1e-300)).all()
    assert (found.q_values_ > 0).all()


def test_the_reason_says_that_no_association_of_so_few_rows_can_be_discovered():
    found = MarginalDiscoveries().fit(np.arange(12.0).reshape(4, 3), [0, 0, 1, 1])
    assert "no pair can have more than 0.6931 nats in these rows" in found.reason_


def test_too_few_permutations_for_a_discovery_are_named():
    X, Y = make_associations()
    found = MarginalDiscoveries(n_permutations=99).fit(X, Y, groups=np.arange(300))
    assert not found.support_.any()
    assert "increase n_permutations to 2,000" in found.reason_


def test_rows_without_targets_are_left_out_with_their_strata():
    X, Y = make_associations()
    unknown = Y.astype(float)
    unknown[:60] = np.nan
    strata = np.arange(300) % 2
    left_out = MarginalDiscoveries(n_permutations=99).fit(X, unknown, strata=strata)
    assert left_out.n_rows_left_out_ == 60
    known = MarginalDiscoveries(n_permutations=99).fit(X[60:], Y[60:], strata=strata[60:])
    assert np.array_equal(left_out.p_values_, known.p_values_)


def test_what_would_make_wrong_p_values_is_refused():
    X, Y = make_associations()
    with pytest.raises(InputError, match="supervised bins"):
        MarginalDiscoveries(discretizer="mdl").fit(X, Y)
    for rule in ({0: "mdl"}, ByColumn({0: EqualWidth()}, MDL())):
        with pytest.raises(InputError, match="supervised bins"):
            MarginalDiscoveries(discretizer=rule).fit(X, Y)
    with pytest.raises(InputError, match="strata must have one value for each of the 300 rows"):
        MarginalDiscoveries().fit(X, Y, strata=[0, 1])
    with pytest.raises(InputError, match="groups: the value of row 3 is missing"):
        MarginalDiscoveries().fit(X, Y, groups=np.where(np.arange(300) == 3, np.nan, 0.0))
    with pytest.raises(ValueError, match="Did you mean 'hierarchical'"):
        MarginalDiscoveries(method="hierarchicla").fit(X, Y)


def test_a_feature_and_a_label_have_one_information_on_every_page():
    data = load(shared_file("data", "emotions", "emotions.arff.gz"))
    X, Y = data.named_features(), data.named_labels()
    found = MarginalDiscoveries().fit(X, Y).information_
    for criterion in ("hybrid", "jmi"):
        sieve = Sieve(criterion, n_features_to_select=10).fit(X, Y)
        known = sieve.label_information(X, Y, backend="dict")
        table = sieve.information_confidence(X, Y, backend="dict", n_resamples=20)
        for feature, label, information in zip(table["feature"], table["label"], table["information"], strict=True):
            assert information == known[label][known["feature"].index(feature)]
            if criterion == "hybrid":
                at = data.feature_names.index(feature), data.label_names.index(label)
                assert information == pytest.approx(found[at], abs=1e-9)
