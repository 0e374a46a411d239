"""Classifiers of a study get features that are scaled by the training rows, and only by them."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from labelsieve import InputError
from labelsieve.classifiers import MLkNN
from labelsieve.datasets import Dataset
from labelsieve.metrics import hamming_loss
from labelsieve.studies import Protocol, Study, StudyError, StudyResults
from tests.support.selection_data import make_data
from tests.support.small_studies import contents

ROWS = np.arange(150)
SPLITS = [(ROWS[:75], ROWS[75:]), (ROWS[75:], ROWS[:75])]
SCALERS = {"standard": StandardScaler(), "minmax": MinMaxScaler()}
SPARSE = {"standard": StandardScaler(with_mean=False), "minmax": MaxAbsScaler()}


def songs(X, Y):
    names = tuple(f"f{column}" for column in range(X.shape[1])), tuple(f"l{column}" for column in range(Y.shape[1]))
    return Dataset(X, Y, *names, ("numeric",) * X.shape[1], name="songs")


def units(X):
    """The second feature, which is relevant, in other units."""
    return X * np.where(np.arange(X.shape[1]) == 1, 1024.0, 1.0) + 3.0


def study(folder, X, Y, **changes):
    settings = {"n_features": [2, 5], "measures": ["hamming_loss"], "splits": SPLITS, "baselines": [], "scale": "standard"}
    protocol = Protocol([songs(X, Y)], ["mim"], **(settings | changes))
    assert Study(protocol, folder).run().n_failed == 0
    return StudyResults(folder)


def rankings(folder):
    return [list(map(int, row[8].strip("[]").split(","))) for row in contents(folder)[0]]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("scale", SCALERS)
@pytest.mark.parametrize(
    ("classifier", "plain"),
    [({"name": "mlknn", "k": 5}, MLkNN(k=5)), (("five", KNeighborsClassifier(5)), KNeighborsClassifier(5))],
    ids=["nested", "separate"],
)
def test_the_scaler_is_fitted_on_the_training_rows(classifier, plain, scale, sparse, tmp_path):
    """A scaler and a classifier that are fitted apart for every number of features give the same values."""
    X, Y = make_data()
    X = sp.csr_array(units(X)) if sparse else units(X)
    results = study(tmp_path, X, Y, classifiers=[classifier], scale=scale)
    _, values = results.curve("songs", "mim", "hamming_loss")
    learner = make_pipeline((SPARSE if sparse else SCALERS)[scale], plain)
    for (train, test), ranking, row in zip(SPLITS, rankings(tmp_path), values, strict=True):
        for size, value in zip((2, 5), row, strict=True):
            columns = ranking[:size]
            predicted = learner.fit(X[train][:, columns], Y[train]).predict(X[test][:, columns])
            assert value == pytest.approx(hamming_loss(Y[test], predicted), abs=1e-12)


@pytest.mark.parametrize("scale", ["standard", "minmax"])
def test_units_of_features_make_no_difference_unless_scaling_is_off(scale, tmp_path):
    X, Y = make_data()
    found = {}
    for name, table in {"as measured": X, "in other units": units(X)}.items():
        for asked in (scale, None):
            folder = tmp_path / f"{name} {asked}"
            found[name, asked] = study(folder, table, Y, scale=asked).curve("songs", "mim", "hamming_loss")[1]
    np.testing.assert_allclose(found["in other units", scale], found["as measured", scale], rtol=0, atol=1e-12)
    assert not np.allclose(found["in other units", None], found["as measured", None])


@pytest.mark.parametrize("classifier", ["mlknn", "logistic"])
def test_a_test_row_never_influences_the_scaler(classifier, tmp_path):
    """Of two splits that differ in one test row, all other predictions are the same, however large the values of that row."""
    X, Y = make_data()
    changed = X.copy()
    changed[149] *= 1e6
    predictions = []
    for number, table in enumerate((X, changed)):
        for row in range(143, 149):  # the loss of a single test row is what was predicted for it
            splits = [(ROWS[:140], np.array([row])), (ROWS[:140], np.array([row, 149]))]
            results = study(tmp_path / f"{number} {row}", table, Y, classifiers=[classifier], splits=splits, n_features=[5])
            predictions.append(results.curve("songs", "mim", "hamming_loss")[1])
    alone = np.array(predictions)[:, 0, 0].reshape(2, -1)
    assert np.array_equal(alone[0], alone[1])
    losses = np.array(predictions)[:, 1, 0].reshape(2, -1)
    together = 2 * losses - alone  # the loss of row 149, whatever the other test row was
    assert np.allclose(together, together[:, :1])


def test_trees_split_the_same_with_and_without_scaling(tmp_path):
    X, Y = make_data()
    forest = ("forest", ExtraTreesClassifier(20, random_state=0))
    curves = [
        study(tmp_path / str(scale), X, Y, classifiers=[forest], scale=scale).curve("songs", "mim", "hamming_loss")[1]
        for scale in ("minmax", None)
    ]
    np.testing.assert_allclose(curves[0], curves[1], atol=0.02)


def test_the_scale_is_part_of_the_protocol(tmp_path):
    assert Protocol(["emotions"], ["jmi"]).scale == "standard"
    for given, read in (("minmax", "minmax"), ("none", None), (None, None)):
        assert Protocol(["emotions"], ["jmi"], scale=given).scale == read
    (tmp_path / "study.toml").write_text('datasets = ["emotions"]\nmethods = ["jmi"]\nscale = "none"\n', encoding="utf-8")
    assert Protocol.from_toml(tmp_path / "study.toml").scale is None
    with pytest.raises(InputError, match=r"'standart' is not a scale\. Did you mean 'standard'\?"):
        Protocol(["emotions"], ["jmi"], scale="standart")


def test_results_of_another_scale_are_not_mixed(tmp_path):
    X, Y = make_data()
    study(tmp_path, X, Y, scale=None)
    with pytest.raises(StudyError, match="the scale"):
        study(tmp_path, X, Y, scale="minmax")
