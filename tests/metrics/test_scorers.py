import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification, make_regression
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from labelsieve import InputError
from labelsieve.metrics import MEASURES, get_scorer, macro_f1, ranking_loss, rrmse, scorer_names

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
    assert get_scorer("neg_ranking_loss", convention="mulan", ties="half").options == {"ties": "half", "rows": "all"}


def test_grid_search_takes_a_scorer_and_keeps_its_order():
    grid = {"n_neighbors": [1, 9]}
    search = GridSearchCV(KNeighborsClassifier(), grid, scoring=get_scorer("neg_hamming_loss"), cv=2).fit(X, Y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"]) <= 0


def test_scorers_travel_to_other_processes():
    scorer = pickle.loads(pickle.dumps(get_scorer("neg_coverage", normalize="q")))
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
    with config_context(enable_metadata_routing=True):
        how = {"scoring": get_scorer("neg_coverage"), "cv": 2, "error_score": "raise", "params": {}}
        found = cross_validate(KNeighborsClassifier(3), X, Y, **how)
    assert (found["test_score"] <= 0).all()


WEIGHTS = np.arange(len(Y), dtype=float)
ONE_FOLD = [(np.arange(len(Y)), np.arange(len(Y)))]


@pytest.mark.parametrize("many", [False, True], ids=["alone", "dictionary"])
def test_search_hands_its_weights_to_scorers_as_to_those_of_scikit_learn(many):
    names = {"macro_f1": get_scorer("macro_f1"), "neg_coverage": get_scorer("neg_coverage")}
    search = GridSearchCV(
        DecisionTreeClassifier(max_depth=2, random_state=0),
        {"max_depth": [2]},
        scoring=names if many else names["macro_f1"],
        refit="macro_f1" if many else True,
        cv=ONE_FOLD,
        error_score="raise",
    ).fit(X, Y, sample_weight=WEIGHTS)
    # Versions of scikit-learn differ in whether scorers get the weights; ours must get what theirs get.
    theirs = clone(search).set_params(
        scoring={name: make_scorer(macro_f1) for name in names} if many else make_scorer(macro_f1)
    )
    column = "mean_test_macro_f1" if many else "mean_test_score"
    assert search.cv_results_[column] == theirs.fit(X, Y, sample_weight=WEIGHTS).cv_results_[column]


def test_weights_are_routed_to_scorers_that_ask_for_them():
    with config_context(enable_metadata_routing=True):
        model = DecisionTreeClassifier(max_depth=2, random_state=0).set_fit_request(sample_weight=True)

        def score(scorer):
            how = {"scoring": scorer, "params": {"sample_weight": WEIGHTS}, "cv": ONE_FOLD, "error_score": "raise"}
            return cross_validate(model, X, Y, **how)["test_score"][0]

        fitted = clone(model).fit(X, Y, sample_weight=WEIGHTS)
        weighted, plain = (macro_f1(Y, fitted.predict(X), sample_weight=weights) for weights in (WEIGHTS, None))
        assert weighted != plain
        assert score(get_scorer("macro_f1").set_score_request(sample_weight=True)) == weighted
        assert score(get_scorer("macro_f1").set_score_request(sample_weight=False)) == plain
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            score(get_scorer("macro_f1"))
    with pytest.raises(RuntimeError, match="enable_metadata_routing"):
        get_scorer("macro_f1").set_score_request(sample_weight=True)


@pytest.mark.parametrize(
    ("name", "how", "message"),
    [
        ("macro_f1", {"ties": "half"}, "macro_f1 has no option 'ties'; it has zero_division"),
        ("neg_hamming_loss", {"ties": "half"}, "neg_hamming_loss has no option 'ties'; it has none"),
        ("neg_coverage", {"ties": "half"}, "ties must be 'worst' or 'earlier' or 'later', not 'half'"),
        ("neg_coverage", {"sample_weight": [1.0]}, "no option 'sample_weight'"),
        ("neg_rrmse", {"multioutput": "raw_values"}, "a scorer returns one number"),
        (["macro_f1"], {}, "is not a scorer"),
        ("macro_f1", {"convention": ["mulan"]}, "is not a convention"),
    ],
)
def test_scorers_refuse_options_when_they_are_made(name, how, message):
    """In a cross-validation the error would drown in warnings, and the scores be NaN."""
    with pytest.raises(InputError, match=message):
        get_scorer(name, **how)


def test_single_column_without_classes_is_refused():
    class Wrapped:
        def __init__(self, model):
            self.predict_proba = model.predict_proba

    always = Y.copy()
    always[:, 2] = 1
    scorer = get_scorer("average_precision")
    model = KNeighborsClassifier(3)
    assert scorer(Wrapped(model.fit(X, Y)), X, Y) == scorer(model, X, Y)
    with pytest.raises(InputError, match="one column for label 2, which may be the label"):
        scorer(Wrapped(model.fit(X, always)), X, always)
