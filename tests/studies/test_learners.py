"""Several learners in one study: by name, by import path, as objects, and their average."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelsieve import InputError
from labelsieve.classifiers import BinaryRelevance, KNNRegressor, MLkNN
from labelsieve.datasets import Dataset, make_feature_roles
from labelsieve.registry import ALIASES, make_classifier
from labelsieve.report import study_report
from labelsieve.studies import Protocol, Study, StudyResults
from tests.support.small_studies import data, protocol

NAMES = ["mlknn", "logistic", "trees"]


def small(**changes):
    settings = {
        "datasets": [data(n_rows=100)],
        "methods": ["mim", "jmi"],
        "baselines": [],
        "splits": "2x50%",
        "n_features": [3, 6],
    }
    return protocol(**(settings | changes))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    assert Study(small(datasets=[data(n_rows=100), data("films", 80, 1)], classifiers=NAMES), folder).run().n_failed == 0
    return StudyResults(folder)


def test_the_average_is_that_of_all_learners(results):
    assert results.classifiers == sorted(NAMES)
    curves = [results.curve("songs", "jmi", "hamming_loss", name)[1] for name in NAMES]
    np.testing.assert_allclose(results.curve("songs", "jmi", "hamming_loss", "average")[1], np.mean(curves, axis=0))
    means = [results.means("hamming_loss", name).value("films", "mim") for name in NAMES]
    assert results.means("hamming_loss", "average").value("films", "mim") == pytest.approx(np.mean(means))
    assert results.ranks("hamming_loss", "average").shape == (2, 2)
    spent = [results.seconds("songs", "jmi", name)[1] for name in NAMES]
    assert results.seconds("songs", "jmi", "average")[1] == pytest.approx(sum(spent))


def test_a_report_has_every_learner_and_their_average_and_says_how_features_were_scaled(results):
    report = study_report(results)
    titles = [section.title for section in report.sections]
    for name in [*NAMES, "average of the classifiers"]:
        assert f"hamming loss, {name}" in titles
    assert "Classifiers got features of mean 0 and variance 1, by the training rows." in report.html()


def test_one_of_several_learners_must_be_named(results):
    with pytest.raises(InputError, match=r"which classifier\? This study has logistic, mlknn, trees, and their average\."):
        results.means("hamming_loss")
    with pytest.raises(InputError, match="Did you mean 'mlknn'"):
        results.means("hamming_loss", "mlkn")


def test_a_single_learner_has_no_average(tmp_path):
    Study(small(classifiers=["mlknn"], splits="1x50%"), tmp_path).run()
    with pytest.raises(InputError, match="'average' is not a classifier of this study"):
        StudyResults(tmp_path).means("hamming_loss", "average")
    with pytest.raises(InputError, match="'average' names the average over all classifiers"):
        small(classifiers=[("average", MLkNN())])


@pytest.mark.parametrize("alias", ALIASES["classifier"])
def test_other_names_are_the_same_learner(alias):
    assert repr(make_classifier(alias)) == repr(make_classifier(ALIASES["classifier"][alias]))
    assert small(classifiers=[alias]).classifiers[0].name == alias


def test_names_depend_on_the_kind_of_targets():
    assert isinstance(make_classifier("knn"), MLkNN)
    assert isinstance(make_classifier("knn", numeric=True), KNNRegressor)
    assert isinstance(make_classifier("trees"), ExtraTreesClassifier)
    assert isinstance(make_classifier("trees", numeric=True), ExtraTreesRegressor)
    with pytest.raises(
        InputError, match="'mlknn' is for labels, not for numeric targets; for these there are forest, knn, ridge, trees"
    ):
        make_classifier("mlknn", numeric=True)


def test_numeric_targets_have_several_learners_too(tmp_path):
    made = make_feature_roles(120, targets="numeric", n_irrelevant=3)
    names = tuple(made.feature_names), tuple(made.label_names), ("numeric",) * made.X.shape[1]
    sales = Dataset(made.X, made.Y, *names, name="sales")
    given = ["knn", "ridge", "trees", {"name": "mine", "classifier": "sklearn.tree.DecisionTreeRegressor"}, ("obj", Ridge(2.0))]
    study = Protocol([sales], ["jmi"], n_features=[2], classifiers=given, measures=["rrmse"], splits="1x50%", baselines=[])
    assert Study(study, tmp_path).run().n_failed == 0
    assert StudyResults(tmp_path).classifiers == ["knn", "mine", "obj", "ridge", "trees"]


def test_an_estimator_by_import_path_with_parameters():
    table = {"name": "logit", "classifier": "sklearn.linear_model.LogisticRegression", "C": 10.0}
    study = small(
        datasets=["emotions"], classifiers=[table, {"name": "knn3", "classifier": "sklearn.neighbors.KNeighborsClassifier"}]
    )
    one, two = (entry.estimator for entry in study.classifiers)
    assert isinstance(one, BinaryRelevance)
    assert one.base.C == 10.0
    assert type(two).__name__ == "KNeighborsClassifier"  # takes several labels itself


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("sklearn.linear_model.Nothing", "classifier 'mine': 'sklearn.linear_model.Nothing' cannot be imported"),
        ("nowhere.at.All", "cannot be imported"),
        ("subprocess.Popen", "'subprocess.Popen' is not a scikit-learn estimator with fit and predict"),
        ("os.system", "is not a scikit-learn estimator"),
        ("sklearn.preprocessing.StandardScaler", "is not a scikit-learn estimator with fit and predict"),
        ("sklearn.linear_model.Ridge", "classifier 'mine' cannot be used with measures of labels"),
        (".", "cannot be imported"),
        (3, "3 is not a classifier"),
    ],
)
def test_what_is_no_estimator_is_refused(path, said):
    with pytest.raises(InputError, match=said):
        small(classifiers=[{"name": "mine", "classifier": path}])


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2),
        OneVsRestClassifier(LogisticRegression()),
        DummyClassifier(),
        ExtraTreesClassifier(5),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_any_estimator_of_scikit_learn_serves(estimator, tmp_path):
    """One for a single label is fitted for each of them."""
    study = small(classifiers=[("mine", estimator)], measures=["hamming_loss"], methods=["mim"], splits="1x50%")
    assert Study(study, tmp_path).run().n_failed == 0
