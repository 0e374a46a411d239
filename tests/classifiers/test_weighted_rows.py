"""Row weights: a row of weight 3 is three rows, one of weight 0 is none, and a base that ignores them is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn import clone, config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from labelsieve import InputError, LabelwiseSieve, Sieve
from labelsieve.classifiers import HOMER, LIFT, BinaryRelevance, BRkNN, LabelPowerset, PrunedPowerset, RAkEL
from labelsieve.metrics import get_scorer
from tests.support.classifier_data import SelectsNothing, every_kind, make_data
from tests.support.weighted_bases import ChecksWeights

WEIGHTS = np.random.default_rng(1).integers(0, 4, 100)
PARTS = np.random.default_rng(2).choice([0.0, 0.25, 1.0, 2.5], 100)
LOGISTIC = LogisticRegression(solver="newton-cholesky", tol=1e-10)


def named(models):
    return pytest.mark.parametrize("model", models, ids=lambda model: repr(model)[:60].replace("\n", ""))


@named(
    [
        *every_kind(DecisionTreeClassifier(random_state=0)),
        *every_kind(LOGISTIC),
        BinaryRelevance(GaussianNB()),
        LIFT(base=GaussianNB(), random_state=0),
        HOMER(GaussianNB(), random_state=0),
        BinaryRelevance(LinearSVC(dual=False, tol=1e-12)),
        LabelPowerset(make_pipeline(MinMaxScaler(), StandardScaler(), LOGISTIC)),
        BinaryRelevance(VotingClassifier([("first", LOGISTIC), ("second", GaussianNB())], voting="soft")),
        BinaryRelevance(make_pipeline(Sieve("mim", n_features_to_select=3), make_pipeline(StandardScaler(), LOGISTIC))),
    ]
)
def test_a_row_of_weight_three_is_three_rows(model):
    X, Y, queries, _ = make_data(3)
    answers = []
    repeated = np.repeat(np.arange(100), WEIGHTS)
    for rows, weights in ((np.arange(100), WEIGHTS), (repeated, None), (np.arange(100), None)):
        model.fit(X[rows], Y[rows], sample_weight=weights)
        asked = model.predict_proba if hasattr(model, "predict_proba") else model.decision_function
        answers.append((model.predict(queries), asked(queries)))
    (labels, values), (expected_labels, expected), (_, unweighted) = answers
    np.testing.assert_array_equal(labels, expected_labels)
    np.testing.assert_allclose(values, expected, atol=2e-6)
    assert np.abs(values - unweighted).max() > 1e-3


@pytest.mark.parametrize("weights", [(WEIGHTS > 0).astype(int), PARTS], ids=["zeros and ones", "parts"])
@named([*every_kind(MultinomialNB()), LIFT(random_state=0)])
def test_a_row_of_weight_zero_is_no_row(model, weights):
    X, Y, queries, _ = make_data(4)
    kept = np.flatnonzero(weights)
    Y[kept, 0] = 0
    Y[kept, 1] = 1
    found = model.fit(X, Y, weights).predict_proba(queries)
    labels = model.predict(queries)
    left_out = model.fit(X[kept], Y[kept], None if weights.max() == 1 else weights[kept])
    np.testing.assert_array_equal(found, left_out.predict_proba(queries))
    np.testing.assert_array_equal(labels, left_out.predict(queries))
    assert not labels[:, 0].any()


@named(every_kind(MultinomialNB()))
def test_sparse_rows_weigh_what_dense_rows_weigh(model):
    X, Y, queries, _ = make_data(5)
    dense = model.fit(X, Y, PARTS).predict_proba(queries)
    sparse = model.fit(sp.csr_matrix(X), sp.csr_matrix(Y), PARTS).predict_proba(sp.csr_matrix(queries))
    np.testing.assert_allclose(sparse, dense, atol=1e-6 if isinstance(model, LIFT) else 1e-12)


@named(
    [
        BinaryRelevance(ChecksWeights()),
        BinaryRelevance(ChecksWeights(), selector=LabelwiseSieve("mim", n_features_to_select=2, forced=[0])),
        LabelPowerset(ChecksWeights()),
        PrunedPowerset(ChecksWeights(), min_count=5),
        PrunedPowerset(ChecksWeights(), min_count=5, split=True),
        RAkEL(ChecksWeights(), random_state=0),
        HOMER(ChecksWeights(), random_state=0),
        HOMER(LabelPowerset(ChecksWeights()), n_children=2, random_state=0),
    ]
)
def test_every_row_brings_its_own_weight(model):
    X, Y, queries, _ = make_data(6)
    X[:, 0] = PARTS
    model.fit(X, Y, PARTS).predict(queries)


def test_pruning_counts_weights():
    X, Y = np.arange(6.0).reshape(-1, 1), np.array([[0, 1], [0, 1], [1, 0], [1, 0], [1, 1], [1, 1]])
    model = PrunedPowerset(GaussianNB(), min_count=2)
    assert model.fit(X, Y, [1, 1, 2, 0, 0.5, 0.5]).model_.labelsets.toarray().tolist() == [[0, 1], [1, 0]]
    with pytest.raises(InputError, match="a sample_weight that adds up to the number of rows"):
        model.fit(X, Y, np.full(6, 1 / 6))


def test_clusters_of_labels_follow_weights():
    rng = np.random.default_rng(0)
    X, Y, weights = rng.normal(size=(40, 1)), (rng.random((40, 9)) < 0.4).astype(int), rng.integers(1, 5, 40)
    alike = []
    for seed in range(10):
        tables = ((X, Y, weights), (X.repeat(weights, axis=0), Y.repeat(weights, axis=0), None), (X, Y, None))
        models = [HOMER(MultinomialNB(), n_children=2, random_state=seed).fit(np.abs(x), *more) for x, *more in tables]
        weighted, repeated, plain = ([[c.tolist() for c in node.clusters] for node in model.nodes_] for model in models)
        assert weighted == repeated
        alike.append(weighted == plain)
    assert not all(alike)


def test_a_label_without_features_gets_the_answer_of_most_weight():
    X, Y, queries, _ = make_data(8)
    Y[:, 0] = np.arange(100) < 30
    model = BinaryRelevance(GaussianNB(), selector=SelectsNothing())
    assert not model.fit(X, Y).predict(queries)[:, 0].any()
    assert model.fit(X, Y, np.where(Y[:, 0], 5.0, 1.0)).predict(queries)[:, 0].all()


def test_a_selector_is_given_weights():
    X, Y, _, _ = make_data(9)
    selector = LabelwiseSieve("mim", n_features_to_select=2)
    model = BinaryRelevance(GaussianNB(), selector=selector).fit(X, Y, WEIGHTS)
    alone = selector.fit(X, Y, sample_weight=WEIGHTS).selected_
    assert np.array_equal(model.selector_.selected_, alone)
    assert not np.array_equal(alone, selector.fit(X, Y).selected_)


DEAF = KNeighborsClassifier()


@pytest.mark.parametrize("weights", [np.ones(100), PARTS], ids=["ones", "parts"])
@named(
    [
        *every_kind(DEAF),
        BinaryRelevance(make_pipeline(StandardScaler(), DEAF)),
        BinaryRelevance(GridSearchCV(DEAF, {"n_neighbors": [1, 2]})),
        BinaryRelevance(CalibratedClassifierCV(DEAF)),
        BinaryRelevance(VotingClassifier([("first", GaussianNB()), ("second", DEAF)])),
        BinaryRelevance(StackingClassifier([("first", GaussianNB())], DEAF)),
        HOMER(LabelPowerset(DEAF)),
        HOMER(BRkNN()),
    ]
)
def test_a_base_that_takes_no_weights_is_refused(model, weights):
    X, Y, *_ = make_data()
    with pytest.raises(InputError, match=r"sample_weight would be ignored: [\s\S]*(KNeighborsClassifier|BRkNN)"):
        model.fit(X, Y, weights)


def test_lift_refuses_what_cannot_be_calibrated_with_weights():
    X, Y, *_ = make_data()
    LIFT(base=RidgeClassifier(), random_state=0).fit(X, Y, PARTS)
    with pytest.raises(InputError, match="sample_weight would be ignored: CalibratedClassifierCV"):
        LIFT(base=make_pipeline(StandardScaler(), RidgeClassifier())).fit(X, Y, PARTS)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(100, -1.0), "not negative"),
        (np.full(100, np.nan), "finite"),
        (np.zeros(100), "zero for every row"),
        (np.ones(99), "one weight for each of the 100 rows"),
    ],
)
@pytest.mark.parametrize("kind", [BinaryRelevance, LabelPowerset, RAkEL, HOMER], ids=lambda kind: kind.__name__)
def test_odd_weights_are_refused(kind, weights, message):
    X, Y, *_ = make_data()
    with pytest.raises(InputError, match=message):
        kind(GaussianNB()).fit(X, Y, sample_weight=weights)


def test_weights_reach_a_search_for_parameters():
    X, Y, queries, _ = make_data()
    scaled = make_pipeline(StandardScaler(), LOGISTIC)
    search = GridSearchCV(scaled, {"logisticregression__C": [1.0]}, cv=3)
    found = BinaryRelevance(search).fit(X, Y, PARTS).predict_proba(queries)
    np.testing.assert_array_equal(found, BinaryRelevance(scaled).fit(X, Y, PARTS).predict_proba(queries))


@pytest.mark.parametrize("routing", [False, True])
def test_cross_validation_and_searches_hand_rows_their_weights(routing):
    X, Y, queries, _ = make_data()
    X[:, 0] = 1 + PARTS
    with config_context(enable_metadata_routing=routing):
        model, scoring = RAkEL(ChecksWeights(), random_state=0), get_scorer("exact_match")
        if routing:
            model.set_fit_request(sample_weight=True)
            scoring.set_score_request(sample_weight=True)
        how = {"cv": 3, "scoring": scoring, "error_score": "raise"}
        found = cross_validate(model, X, Y, params={"sample_weight": 1 + PARTS}, **how)["test_score"]
        search = GridSearchCV(model, {"k": [3]}, **how).fit(X, Y, sample_weight=1 + PARTS)
    assert 0 < found.mean() < 1
    assert np.array_equal(search.predict(queries), model.fit(X, Y, 1 + PARTS).predict(queries))


def test_where_metadata_is_routed_a_pipeline_must_request_weights():
    X, Y, queries, _ = make_data()
    plain = LIFT(random_state=0).fit(X, Y, PARTS).predict_proba(queries)
    expected = BinaryRelevance(make_pipeline(StandardScaler(), LOGISTIC)).fit(X, Y, PARTS).predict_proba(queries)
    with config_context(enable_metadata_routing=True):
        np.testing.assert_array_equal(LIFT(random_state=0).fit(X, Y, PARTS).predict_proba(queries), plain)
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        with pytest.raises(InputError, match="set_fit_request"):
            BinaryRelevance(make_pipeline(scaler, LOGISTIC)).fit(X, Y, PARTS)
        asking = clone(LOGISTIC).set_fit_request(sample_weight=True)
        found = BinaryRelevance(make_pipeline(scaler, asking)).fit(X, Y, PARTS).predict_proba(queries)
        # The scaler of this one asks for no weights, and gets none from another worker either, which has settings of its own.
        halves = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asking)
        with parallel_config("threading"):
            alone, parallel = (BinaryRelevance(halves, n_jobs=n).fit(X, Y, PARTS).predict_proba(queries) for n in (1, 2))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(parallel, alone)
    assert not np.array_equal(alone, expected)
