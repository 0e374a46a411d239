"""Nearest-neighbor classifiers and regressor: reference implementations, and the results of other programs."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

from labelsieve import InputError
from labelsieve.classifiers import IBLR, BinaryRelevance, BRkNN, KNNRegressor, MLkNN, nested_predictions, prefix_scores
from labelsieve.datasets import load
from labelsieve.metrics import get_scorer
from tests.support import reference_neighbors as references
from tests.support.shared_files import shared_file


def make_data(seed=0, n_rows=150, n_labels=4):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n_rows, 5)).astype(float)
    Y = (X @ rng.normal(size=(5, n_labels)) + rng.normal(size=(n_rows, n_labels)) > 1).astype(int)
    return X[:100], Y[:100], X[100:], Y[100:]


@pytest.mark.parametrize("s", [1.0, 0.3])
@pytest.mark.parametrize("k", [1, 6])
def test_mlknn_equals_its_plain_reading(k, s):
    X, Y, queries, _ = make_data()
    expected = references.mlknn(X, Y, queries, k, s)
    for make in (np.asarray, sp.csr_matrix):
        found = MLkNN(k=k, s=s).fit(make(X), make(Y)).predict_proba(make(queries))
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_predictions_have_the_form_of_the_labels():
    X, Y, queries, _ = make_data()
    plain = MLkNN(k=5).fit(X, Y).predict(queries)
    assert plain.dtype == Y.dtype
    sparse = MLkNN(k=5).fit(X, sp.csr_matrix(Y)).predict(queries)
    assert sp.issparse(sparse)
    assert np.array_equal(sparse.toarray(), plain)
    named = MLkNN(k=5).fit(X, np.where(Y == 1, "yes", "no")).predict(queries)
    assert np.array_equal(named == "yes", plain == 1)
    one = MLkNN(k=5).fit(X, Y[:, 0]).predict(queries)
    assert np.array_equal(one, plain[:, 0])


@pytest.mark.parametrize("classifier", [BRkNN(k=4), MLkNN(k=4), IBLR(k=4)], ids=lambda c: type(c).__name__)
def test_labels_that_all_rows_have_or_none_has(classifier):
    X, Y, queries, _ = make_data()
    Y[:, 0], Y[:, 1] = 0, 1
    predicted = classifier.fit(X, Y).predict(queries)
    assert not predicted[:, 0].any()
    assert predicted[:, 1].all()


def test_extensions_of_brknn_fill_empty_rows_and_match_sizes():
    X, Y, queries, _ = make_data(1, n_labels=8)
    Y[np.arange(100), np.arange(100) % 8] = 1
    plain, a, b = (BRkNN(k=5, extension=kind).fit(X, Y).predict(queries) for kind in (None, "a", "b"))
    assert (a.sum(axis=1) >= 1).all()
    full = plain.any(axis=1)
    assert np.array_equal(a[full], plain[full])
    found = references.nearest(X, queries, 5)
    assert np.array_equal(b.sum(axis=1), [np.ceil(Y[rows].sum() / 5 - 0.5) for rows in found])


def test_regressor_equals_scikit_learn_and_keeps_the_shape_of_y():
    X, Y, queries, _ = make_data(2)
    X = X + np.random.default_rng(3).normal(size=X.shape)  # no ties
    expected = KNeighborsRegressor(n_neighbors=6, algorithm="brute").fit(X, Y).predict(queries)
    np.testing.assert_allclose(KNNRegressor(k=6).fit(X, Y).predict(queries), expected, rtol=1e-12)
    assert KNNRegressor(k=6).fit(X, Y[:, 0]).predict(queries).shape == (50,)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "estimator",
    [BRkNN(k=4, ties="all"), MLkNN(k=5), IBLR(k=4, with_features=True), KNNRegressor(k=3)],
    ids=lambda e: type(e).__name__,
)
def test_nested_predictions_are_those_of_separate_fits(estimator, make):
    X, Y, queries, _ = make_data(4)
    features = [3, 0, 4, 1]
    for size, answers in nested_predictions(estimator, make(X), Y, make(queries), features=features, sizes=[1, 3, 4]):
        chosen = features[:size]
        fitted = estimator.fit(make(X)[:, chosen], Y)
        alone = fitted.predict_proba if hasattr(fitted, "predict_proba") else fitted.predict
        np.testing.assert_allclose(answers, alone(make(queries)[:, chosen]), atol=1e-9)


@pytest.mark.parametrize("estimator", [BRkNN(k=4), MLkNN(k=4), IBLR(k=4), KNNRegressor(k=4)], ids=lambda e: type(e).__name__)
def test_nested_predictions_that_are_kept_stay_as_they_were(estimator):
    X, Y, queries, _ = make_data(6)
    kept, copies = [], []
    for _, answers in nested_predictions(estimator, X, Y, queries, features=[3, 0, 4, 1]):
        kept.append(answers)
        copies.append(answers.copy())
    assert all(np.array_equal(one, copy) for one, copy in zip(kept, copies, strict=True))


def test_nested_predictions_refuse_other_estimators_and_columns():
    X, Y, queries, _ = make_data()
    with pytest.raises(InputError, match="Nested predictions need a nearest-neighbor estimator"):
        next(nested_predictions(KNeighborsRegressor(), X, Y, queries, features=[0]))
    for wrong in ([5], [-1], [0.5]):
        with pytest.raises(InputError, match="columns from 0 to 4"):
            next(nested_predictions(BRkNN(), X, Y, queries, features=wrong))


@pytest.mark.parametrize(
    "Y", [np.arange(8).reshape(4, 2), np.linspace(0, 1, 8).reshape(4, 2), sp.csr_matrix([[2], [0], [1], [1]])]
)
def test_what_is_no_label_is_refused(Y):
    with pytest.raises(InputError, match="label"):
        MLkNN(k=1).fit(np.zeros((4, 2)), Y)


def mulan_parts():
    train, test = (load(shared_file("data", "emotions", f"emotions-{part}.arff.gz")) for part in ("train", "test"))
    low, high = train.X.min(axis=0), train.X.max(axis=0)
    scale = lambda X: (X - low) / (high - low)  # noqa: E731
    answers = np.load(shared_file("reference", "mulan_predictions_emotions.npz"), allow_pickle=False)
    return scale(train.X), train.Y, scale(test.X), answers


@pytest.mark.parametrize("k", [7, 10])
def test_mlknn_gives_mulans_confidences(k):
    X, Y, queries, answers = mulan_parts()
    model = MLkNN(k=k).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(queries), answers[f"MLkNN_k{k}_s1__conf"], rtol=0, atol=1e-12)
    assert np.array_equal(model.predict(queries), answers[f"MLkNN_k{k}_s1__bip"])


def test_brknn_gives_mulans_confidences():
    X, Y, queries, answers = mulan_parts()
    model = BRkNN(k=10, ties="all", smoothing="mulan").fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(queries), answers["BRkNN_k10__conf"], rtol=0, atol=1e-12)
    assert np.array_equal(model.predict(queries), answers["BRkNN_k10__bip"])


@pytest.mark.parametrize("k", [7, 10])
def test_mlknn_gives_the_authors_numbers(k):
    emotions = load(shared_file("data", "emotions", "emotions.arff.gz"))
    expected = np.load(shared_file("reference", "mlknn_emotions_fold1.npz"), allow_pickle=False)
    train, test = expected["train_index"], expected["test_index"]
    model = MLkNN(k=k).fit(emotions.X[train], emotions.Y[train])
    np.testing.assert_allclose(model.prior_, expected[f"k{k}_Prior"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.conditional_[1], expected[f"k{k}_Cond"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.conditional_[0], expected[f"k{k}_CondN"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(emotions.X[test]), expected[f"k{k}_Outputs"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, sp.csc_array], ids=["dense", "csr", "csc"])
@pytest.mark.parametrize("asked", [np.asarray, sp.csr_matrix, sp.csc_array], ids=["dense", "csr", "csc"])
@pytest.mark.parametrize(
    "estimator", [BRkNN(k=4), MLkNN(k=4), IBLR(k=4, with_features=True), KNNRegressor(k=4)], ids=lambda e: type(e).__name__
)
def test_queries_may_be_sparse_when_training_rows_are_not_and_the_other_way_round(estimator, make, asked):
    X, Y, queries, _ = make_data(9)
    expected = estimator.fit(make(X), Y).predict(make(queries))
    assert np.array_equal(estimator.predict(asked(queries)), expected)
    for size, answers in nested_predictions(estimator, make(X), Y, asked(queries), features=[2, 0], sizes=[2]):
        alone = estimator.fit(make(X)[:, [2, 0]], Y)
        answer = alone.predict_proba if hasattr(alone, "predict_proba") else alone.predict
        np.testing.assert_allclose(answers, answer(make(queries)[:, [2, 0]]), atol=1e-9, err_msg=str(size))


def stored_twice(X):
    """The same sparse matrix with every cell as the sum of two."""
    once = sp.csr_matrix(X)
    return sp.csr_matrix((np.repeat(once.data / 2, 2), np.repeat(once.indices, 2), once.indptr * 2), shape=once.shape)


@pytest.mark.parametrize("estimator", [BRkNN(k=4), MLkNN(k=4), KNNRegressor(k=4)], ids=lambda e: type(e).__name__)
def test_cells_that_are_stored_in_parts_are_their_sum(estimator):
    X, Y, queries, _ = make_data(10)
    expected = estimator.fit(X, Y).predict(queries)
    given = stored_twice(X)
    assert np.array_equal(estimator.fit(given, Y).predict(stored_twice(queries)), expected)
    assert given.nnz == 2 * np.count_nonzero(X), "and stay as they were"


def test_regressors_refuse_targets_that_are_no_numbers():
    X, Y, *_ = make_data()
    with pytest.raises(InputError, match=r"use Y.toarray\(\)"):
        KNNRegressor().fit(X, sp.csr_matrix(Y))
    missing = Y.astype(object)
    missing[2, 1] = None
    with pytest.raises(InputError, match="every target must be known"):
        KNNRegressor().fit(X, missing)


def test_nested_predictions_for_one_column_are_of_its_two_values():
    X, Y, queries, _ = make_data()
    for size, answers in nested_predictions(MLkNN(k=4), X, Y[:, 0], queries, features=[3, 1]):
        alone = MLkNN(k=4).fit(X[:, [3, 1][:size]], Y[:, 0])
        assert np.array_equal(answers, alone.predict_proba(queries[:, [3, 1][:size]]))


@pytest.mark.parametrize("learner", [BRkNN(k=3), BinaryRelevance(GaussianNB())], ids=lambda learner: type(learner).__name__)
def test_scores_of_prefixes_take_lists_and_refuse_what_is_not_there(learner):
    X, Y, queries, answers = make_data()
    data = [table.tolist() for table in (X, Y, queries, answers)]
    expected = prefix_scores(learner, "hamming_loss", X, Y, queries, answers, features=[3, 1])
    assert np.array_equal(prefix_scores(learner, "hamming_loss", *data, features=[3, 1]), expected)
    for wrong in ([5], [-1], [0.5]):
        with pytest.raises(InputError, match="columns from 0 to 4"):
            prefix_scores(learner, "hamming_loss", *data, features=wrong)
    with pytest.raises(InputError, match="features must not be empty"):
        prefix_scores(learner, "hamming_loss", *data, features=[])
    with pytest.raises(InputError, match=r"'hamming' is not a measure\. Did you mean 'hamming_loss'"):
        prefix_scores(learner, "hamming", *data, features=[0])


@pytest.mark.parametrize("measure", ["average_precision", "hamming_loss", get_scorer("neg_hamming_loss")], ids=str)
@pytest.mark.parametrize("learner", [MLkNN(k=3), BinaryRelevance(GaussianNB())], ids=str)
def test_sizes_and_parts_are_those_of_separate_calls(learner, measure):
    rng = np.random.default_rng(5)
    X, queries = rng.normal(size=(60, 5)), rng.normal(size=(31, 5))
    Y, answers = (table[:, :3] + rng.normal(size=(len(table), 3)) > 0 for table in (X, queries))
    parts = [np.arange(10), np.array([30, 12, 11])]
    found = prefix_scores(learner, measure, X, Y, queries, answers, features=[4, 0, 2, 1], sizes=[1, 3], parts=parts)
    assert found.shape == (2, 2)
    for values, rows in zip(found, parts, strict=True):
        alone = prefix_scores(learner, measure, X, Y, queries[rows], answers[rows], features=[4, 0, 2, 1])
        assert values == pytest.approx(alone[[0, 2]], abs=1e-12)
