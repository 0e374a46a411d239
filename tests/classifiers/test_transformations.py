"""Transformations over any scikit-learn classifier: the contract, plain readings, odd labels, sparse data."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils._param_validation import InvalidParameterError

from labelsieve import InputError, LabelwiseSieve, Sieve
from labelsieve.classifiers import HOMER, LIFT, BinaryRelevance, LabelPowerset, PrunedPowerset, RAkEL
from tests.support import reference_transformations as references
from tests.support.classifier_data import SelectsNothing, every_kind, make_data

# Counts and logarithms: the same for sparse data to the last digits.
each_kind = pytest.mark.parametrize("model", every_kind(MultinomialNB()), ids=lambda model: repr(model)[:40].replace("\n", ""))


class SeesOnlySparse(MultinomialNB):
    """Refuses X that somebody has made dense."""

    def fit(self, X, y, sample_weight=None):
        assert sp.issparse(X)
        return super().fit(X, y, sample_weight)


@each_kind
def test_sparse_data_give_what_dense_data_give(model):
    X, Y, queries, _ = make_data()
    dense = model.fit(X, Y).predict_proba(queries)
    assert dense.shape == (50, 5)
    labels = model.predict(queries)
    if not isinstance(model, LIFT):  # whose features are distances
        model = type(model)(**{**model.get_params(deep=False), **only_sparse(model)})
    answers = model.fit(sp.csr_matrix(X), sp.csr_matrix(Y))
    np.testing.assert_allclose(
        answers.predict_proba(sp.csr_matrix(queries)), dense, atol=1e-6 if isinstance(model, LIFT) else 1e-12
    )
    assert (answers.predict(sp.csc_matrix(queries)).toarray() == labels).mean() > 0.99


def only_sparse(model):
    base = SeesOnlySparse()
    return {"base": LabelPowerset(base) if isinstance(model.base, LabelPowerset) else base}


@each_kind
def test_labels_that_all_rows_have_or_none_has(model):
    X, Y, queries, _ = make_data()
    Y[:, 0], Y[:, 1] = 0, 1
    predicted = model.fit(X, Y).predict(queries)
    assert not predicted[:, 0].any()
    assert predicted[:, 1].all()
    assert np.isfinite(model.predict_proba(queries)).all()


@each_kind
def test_no_label_at_all_is_learned_too(model):
    X, Y, queries, _ = make_data()
    assert not model.fit(X, np.zeros_like(Y)).predict(queries).any()


@each_kind
def test_names_of_features_are_kept_and_asked_for(model):
    X, Y, queries, _ = make_data()
    names = [f"f{j}" for j in range(6)]
    model.fit(pd.DataFrame(X, columns=names), Y)
    assert model.feature_names_in_.tolist() == names
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(queries, columns=names[::-1]))


@pytest.mark.parametrize(
    "model", [model for model in every_kind(GaussianNB()) if "n_jobs" in model.get_params()], ids=lambda m: type(m).__name__
)
def test_two_jobs_give_what_one_gives(model):
    X, Y, queries, _ = make_data()
    alone = model.fit(X, Y).predict_proba(queries)
    assert np.array_equal(model.set_params(n_jobs=2).fit(X, Y).predict_proba(queries), alone)


def test_binary_relevance_is_one_model_for_each_label():
    X, Y, queries, _ = make_data()
    model = BinaryRelevance(GaussianNB()).fit(X, Y)
    for label in range(5):
        alone = GaussianNB().fit(X, Y[:, label])
        np.testing.assert_array_equal(model.predict_proba(queries)[:, label], alone.predict_proba(queries)[:, 1])
        np.testing.assert_array_equal(model.predict(queries)[:, label], alone.predict(queries))


def test_every_label_sees_its_own_features():
    X, Y, queries, _ = make_data()
    selector = LabelwiseSieve("mim", n_features_to_select=2)
    model = BinaryRelevance(GaussianNB(), selector=selector).fit(X, Y)
    chosen = selector.fit(X, Y).selected_
    for label in range(5):
        columns = np.sort(chosen[label])
        alone = GaussianNB().fit(X[:, columns], Y[:, label])
        np.testing.assert_allclose(
            model.predict_proba(queries)[:, label], alone.predict_proba(queries[:, columns])[:, 1], rtol=1e-12
        )


def test_a_label_without_features_gets_the_majority_class():
    X, Y, queries, _ = make_data()
    predicted = BinaryRelevance(GaussianNB(), selector=SelectsNothing()).fit(X, Y).predict(queries)
    assert np.array_equal(predicted, np.tile(Y.mean(axis=0) > 0.5, (50, 1)))


def test_powerset_equals_its_plain_reading():
    X, Y, queries, _ = make_data()
    model = LabelPowerset(GaussianNB()).fit(X, Y)
    predicted, probabilities = references.powerset(GaussianNB(), X, Y, queries)
    np.testing.assert_array_equal(model.predict(queries), predicted)
    np.testing.assert_allclose(model.predict_proba(queries), probabilities, atol=1e-12)


def test_decisions_of_a_powerset_have_the_sign_of_its_predictions():
    X, Y, queries, _ = make_data()
    for base in (RidgeClassifier(), SVC()):  # the second does not always predict its largest decision
        model = LabelPowerset(base).fit(X, Y)
        for rows in (X, queries):
            assert np.array_equal(model.decision_function(rows) > 0, model.predict(rows) == 1)
        assert not hasattr(model, "predict_proba")


def frequent_rows(Y, least):
    rows, counts = np.unique(Y, axis=0, return_counts=True)
    return {tuple(row) for row, count in zip(rows, counts, strict=True) if count >= least}


def test_pruned_powerset_learns_from_rows_with_frequent_labelsets():
    X, Y, queries, _ = make_data()
    kept = np.array([tuple(row) in frequent_rows(Y, 4) for row in Y])
    assert 10 < kept.sum() < 100
    predicted, probabilities = references.powerset(GaussianNB(), X[kept], Y[kept], queries)
    model = PrunedPowerset(GaussianNB(), min_count=4).fit(X, Y)
    np.testing.assert_array_equal(model.predict(queries), predicted)
    np.testing.assert_allclose(model.predict_proba(queries), probabilities, atol=1e-12)


def test_split_rows_count_for_frequent_parts_of_them():
    X, Y, queries, _ = make_data()
    model = PrunedPowerset(KNeighborsClassifier(1), min_count=4, split=True).fit(X, Y)
    found = {tuple(row) for row in model.predict(np.vstack([X, queries]))}
    assert found <= frequent_rows(Y, 4)
    assert {tuple(row) for row in model.model_.labelsets.toarray()} == frequent_rows(Y, 4)
    rare = np.array([tuple(row) not in frequent_rows(Y, 4) for row in Y])
    assert (model.predict(X[rare]) <= Y[rare]).mean() > 0.9, "a rare row's nearest row is itself, with a part of its labels"


@pytest.mark.parametrize("split", [False, True, "smallest"])
def test_a_threshold_predicts_every_label_that_is_probable_enough(split):
    X, Y, queries, _ = make_data()
    likeliest = PrunedPowerset(LogisticRegression(), min_count=4, split=split).fit(X, Y)
    model = PrunedPowerset(LogisticRegression(), min_count=4, split=split, threshold=0.21).fit(X, Y)
    probabilities = likeliest.predict_proba(queries)
    np.testing.assert_array_equal(model.predict_proba(queries), probabilities)
    np.testing.assert_array_equal(model.predict(queries), probabilities > 0.21)
    np.testing.assert_array_equal(model.decision_function(queries) > 0, model.predict(queries) == 1)
    assert (model.predict(queries) != likeliest.predict(queries)).any()


def test_a_threshold_needs_probabilities():
    X, Y, *_ = make_data()
    with pytest.raises(InputError, match=r"PrunedPowerset\(threshold=...\) needs a base with predict_proba"):
        PrunedPowerset(LinearSVC(), threshold=0.21).fit(X, Y)
    with pytest.raises(InvalidParameterError, match="threshold"):
        PrunedPowerset(GaussianNB(), threshold=1.5).fit(X, Y)


def test_pruning_everything_is_refused():
    X, Y, *_ = make_data()
    with pytest.raises(InputError, match="rarer than min_count"):
        PrunedPowerset(GaussianNB(), min_count=1000).fit(X, Y)


class OnlyPredicts(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


def test_bases_that_cannot_do_it_are_refused():
    X, Y, *_ = make_data()
    with pytest.raises(InputError, match="soft=True"):
        RAkEL(LinearSVC(), soft=True).fit(X, Y)
    with pytest.raises(InputError, match="LIFT needs a base with predict_proba or decision_function"):
        LIFT(base=OnlyPredicts()).fit(X, Y)
    with pytest.raises(InputError, match="Sieve has no label_support_"):
        BinaryRelevance(GaussianNB(), selector=Sieve("mim", n_features_to_select=2)).fit(X, Y)
    for kind in (BinaryRelevance, LabelPowerset, RAkEL, HOMER):  # whose predictions are rarely just 0 or 1
        with pytest.raises(InputError, match="needs a classifier as its base"):
            kind(make_pipeline(StandardScaler(), Ridge())).fit(X, Y)


@pytest.mark.parametrize("n_labels", [3, 4])
def test_decisions_between_pairs_of_classes_are_not_taken_for_decisions_for_classes(n_labels):
    X, Y, queries, _ = make_data(n_labels=n_labels)
    pairs = make_pipeline(StandardScaler(), SVC(decision_function_shape="ovo"))
    powerset = LabelPowerset(pairs).fit(X, Y)
    assert powerset.predict(queries).shape == (50, n_labels), "which needs no decisions"
    with pytest.raises(InputError, match="decision_function_shape='ovr'"):
        powerset.decision_function(queries)


def test_a_selector_knows_the_names_of_features():
    X, Y, *_ = make_data()
    selector = LabelwiseSieve("mim", n_features_to_select=2, forced=[4])
    numbered = BinaryRelevance(GaussianNB(), selector=selector).fit(X, Y)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(6)])
    for given in (frame, frame.astype({"f1": object, "f2": "Float64"}), pl.from_pandas(frame)):
        model = BinaryRelevance(GaussianNB(), selector=clone(selector).set_params(forced=["f4"])).fit(given, Y)
        assert all(4 in one.columns for one in model.models_)
        assert [one.columns.tolist() for one in numbered.models_] == [one.columns.tolist() for one in model.models_]


@pytest.mark.parametrize("model", [BinaryRelevance, LabelPowerset, HOMER], ids=lambda kind: kind.__name__)
def test_a_base_without_probabilities_predicts_all_the_same(model):
    X, Y, queries, _ = make_data()
    fitted = model(LinearSVC()).fit(X, Y)
    assert not hasattr(fitted, "predict_proba")
    assert fitted.predict(queries).shape == (50, 5)


def test_tuning_reaches_the_base():
    model = RAkEL(DecisionTreeClassifier()).set_params(base__max_depth=2, k=2)
    assert model.base.max_depth == 2
