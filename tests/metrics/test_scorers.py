import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_multilabel_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelsieve import InputError
from labelsieve.metrics import MEASURES, get_scorer, ranking_loss, rrmse, scorer_names

X, Y = make_multilabel_classification(n_samples=60, n_features=6, n_classes=4, random_state=3)
OF_LABELS = [name for name in scorer_names() if name != "neg_rrmse"]


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(3),
        OneVsRestClassifier(LogisticRegression()),
        OneVsRestClassifier(RidgeClassifier()),
        MultiOutputClassifier(LogisticRegression()),
        ClassifierChain(LogisticRegression()),
        make_pipeline(StandardScaler(), KNeighborsClassifier(3)),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_scorer_serves_cross_validation(estimator):
    found = cross_validate(estimator, X, Y, scoring={name: get_scorer(name) for name in OF_LABELS}, cv=2, error_score="raise")
    for name in OF_LABELS:
        values = found[f"test_{name}"]
        assert np.all(values <= 0) if name.startswith("neg_") else np.all((values >= 0) & (values <= 1))


def test_scorer_is_its_measure_with_the_better_on_top():
    model = OneVsRestClassifier(LogisticRegression()).fit(X, Y)
    scorer = get_scorer("neg_ranking_loss", convention="mulan")
    assert scorer(model, X, Y) == -ranking_loss(Y, model.predict_proba(X), ties="later", rows="all")
    assert scorer(model, X, sp.csr_array(Y)) == scorer(model, X, Y)
    weights = np.arange(len(Y))
    assert scorer(model, X, Y, sample_weight=weights) != scorer(model, X, Y)
    assert repr(scorer) == "get_scorer('neg_ranking_loss', ties='later', rows='all')"
    assert get_scorer("neg_ranking_loss", convention="mulan", ties="half").how == {"ties": "half", "rows": "all"}


def test_grid_search_takes_a_scorer_and_keeps_its_order():
    grid = {"n_neighbors": [1, 9]}
    search = GridSearchCV(KNeighborsClassifier(), grid, scoring=get_scorer("neg_hamming_loss"), cv=2).fit(X, Y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"]) <= 0


def test_scorers_travel_to_other_processes():
    scorer = pickle.loads(pickle.dumps(get_scorer("neg_coverage", normalise="q")))
    assert scorer(KNeighborsClassifier(3).fit(X, Y), X, Y) <= 0


def test_label_that_training_rows_lack_scores_zero():
    absent = Y.copy()
    absent[:, 1] = 0
    always = absent.copy()
    always[:, 2] = 1
    model = KNeighborsClassifier(3).fit(X, always)
    tables = model.predict_proba(X)
    expected = np.column_stack([tables[0][:, 1], np.zeros(len(X)), np.ones(len(X)), tables[3][:, 1]])
    assert get_scorer("neg_ranking_loss")(model, X, Y) == -ranking_loss(Y, expected)


def test_a_single_label_is_scored_by_the_probability_of_one():
    model = LogisticRegression().fit(X, Y[:, 0])
    assert get_scorer("neg_one_error")(model, X, Y[:, 0]) == -np.mean(Y[:, 0] == 0)
    assert get_scorer("micro_f1")(model, X, Y[:, 0]) > 0


def test_targets_are_scored_by_their_relative_error():
    X, Y = make_regression(n_samples=40, n_targets=2, noise=3.0, random_state=0)
    model = LinearRegression().fit(X[:, :50], Y)
    assert get_scorer("neg_rrmse")(model, X[:, :50], Y) == -rrmse(Y, model.predict(X[:, :50]))


def test_estimator_that_cannot_rank_is_refused():
    with pytest.raises(InputError, match="neither predict_proba nor decision_function"):
        get_scorer("average_precision")(LinearRegression().fit(X, Y), X, Y)


def test_every_measure_has_a_scorer():
    assert len(scorer_names()) == len(set(scorer_names())) == len(MEASURES)


def test_scorers_live_with_metadata_routing():
    from sklearn import config_context

    with config_context(enable_metadata_routing=True):
        found = cross_validate(KNeighborsClassifier(3), X, Y, scoring=get_scorer("neg_coverage"), cv=2, error_score="raise")
    assert (found["test_score"] <= 0).all()
