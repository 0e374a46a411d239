"""Lists of features for many labels: short lists are prefixes of long ones, and masks of labels and features are sparse."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.tree import DecisionTreeClassifier

from labelsieve import LabelwiseSieve
from labelsieve.classifiers import BinaryRelevance
from labelsieve.errors import InputError
from labelsieve.search import labelwise as labelwise_search
from labelsieve.search.many_labels import listed as listed_search
from labelsieve.selectors import labelwise


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = (rng.random((60, 80)) < 0.1).astype(np.uint8)
    X[:, 40:60] = X[:, :20]  # ties
    X[:, 70] = 0
    Y = (rng.random((60, 30)) < 0.1) | X[:, 5:35].astype(bool)
    Y[:, 3] = False
    return X, Y


@pytest.mark.parametrize("criterion", ["mim", "jmi", "cmim"])
def test_short_lists_are_the_beginning_of_the_ranking_of_all_features(criterion, data):
    X, Y = data
    settings = {"discretizer": None, "excluded": [6, 41]}
    lists = LabelwiseSieve(criterion, n_features_to_select=4, **settings).fit(sp.csr_array(X), sp.csr_array(Y))
    ranking = LabelwiseSieve(criterion, n_features_to_select="all", **settings).fit(X, Y)
    np.testing.assert_array_equal(lists.selected_, ranking.selected_[:, :4])
    np.testing.assert_array_equal(lists.scores_, ranking.scores_[:, :4])


def test_large_masks_of_labels_and_features_are_sparse(data, monkeypatch):
    X, Y = data
    dense = LabelwiseSieve("mim", discretizer=None, n_features_to_select=3).fit(X, Y)
    monkeypatch.setattr(labelwise, "DENSE_SUPPORT", 100)
    sparse = LabelwiseSieve("mim", discretizer=None, n_features_to_select=3).fit(X, Y)
    assert sp.issparse(sparse.label_support_)
    np.testing.assert_array_equal(sparse.label_support_.toarray(), dense.label_support_)
    np.testing.assert_array_equal(sparse.support_, dense.support_)
    assert sparse.selection().to_dict() == dense.selection().to_dict()
    selector = LabelwiseSieve("mim", discretizer=None, n_features_to_select=3)
    model = BinaryRelevance(DecisionTreeClassifier(random_state=0), selector=selector)
    for label, fitted in enumerate(model.fit(X, Y).models_):
        if label != 3:  # a label without rows has no model
            np.testing.assert_array_equal(fitted.columns, np.flatnonzero(dense.label_support_[label]))


def test_sparse_masks_are_stored_and_drawn(data, monkeypatch, tmp_path):
    X, Y = data
    dense = LabelwiseSieve("mim", discretizer=None, n_features_to_select=3).fit(X, Y)
    monkeypatch.setattr(labelwise, "DENSE_SUPPORT", 100)
    sparse = LabelwiseSieve("mim", discretizer=None, n_features_to_select=3).fit(X, Y)
    sparse.to_json(tmp_path / "sieve.json")
    again = LabelwiseSieve.from_json(tmp_path / "sieve.json")
    assert sp.issparse(again.label_support_)
    assert again.label_support_.dtype == bool
    np.testing.assert_array_equal(again.label_support_.toarray(), dense.label_support_)
    np.testing.assert_array_equal(again.transform(X), dense.transform(X))
    ours, expected = again.plot(), dense.plot()
    np.testing.assert_array_equal(ours.collections[0].get_offsets(), expected.collections[0].get_offsets())
    assert ours.get_xlabel() == expected.get_xlabel()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("sparse", [30, 2], "stores column"),
        ("sparse", [30], "shape"),
        ("indptr", {"array": [0, 5], "dtype": "int64"}, "shape"),
        ("indices", {"array": [0.5], "dtype": "float64"}, "indices"),
        ("data", {"array": [[True]], "dtype": "bool"}, "data"),
    ],
)
def test_damaged_sparse_masks_are_refused(name, value, message, data, monkeypatch, tmp_path):
    monkeypatch.setattr(labelwise, "DENSE_SUPPORT", 100)
    file = tmp_path / "sieve.json"
    LabelwiseSieve("mim", discretizer=None, n_features_to_select=3).fit(*data).to_json(file)
    document = json.loads(file.read_text(encoding="utf-8"))
    document["fitted"]["label_support_"][name] = value
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        LabelwiseSieve.from_json(file)


def test_many_labels_are_drawn_in_part():
    rng = np.random.default_rng(1)
    X, Y = rng.random((40, 12)) < 0.3, rng.random((40, 500)) < 0.2
    ax = LabelwiseSieve("mim", discretizer=None, n_features_to_select=1).fit(X, Y).plot(n_shown=6)
    assert ax.get_xlabel().endswith("; 6 not shown; 300 labels not shown")
    assert len(ax.collections[0].get_offsets()) == 200


@pytest.mark.parametrize("estimator", ["plugin", "miller-madow"])
@pytest.mark.parametrize(
    ("criterion", "settings"),
    [
        ("mim", {}),
        ("mim", {"n_features_to_select": 60, "excluded": [2, 50]}),
        ("mim", {"n_candidates": 3}),
        *((name, {"n_candidates": 12}) for name in ("mrmr", "scls", "ami", "jmi", "cife", "cmim", "icap", "jmim")),
        *((name, {}) for name in ("mrmr", "scls", "ami", "jmi", "cife", "cmim", "icap", "jmim")),
        ("jmi", {"n_candidates": 12, "forced": [4], "excluded": [9]}),
        ("cmim", {"n_candidates": 80, "n_features_to_select": 80}),
    ],
)
def test_lists_from_listed_rows_are_those_from_panels(criterion, settings, estimator, data, monkeypatch):
    X, Y = data
    Y = Y.copy()
    Y[:, 4] = ~Y[:, 4]  # a frequent label: no feature has no row in common with it
    settings = {"discretizer": None, "n_features_to_select": 5, "estimator": estimator, **settings}
    panels = LabelwiseSieve(criterion, **settings).fit(X, Y)
    monkeypatch.setattr(labelwise_search, "PANEL_BYTES", 0)
    monkeypatch.setattr(labelwise_search, "TABLES_PER_VISIT", 0)
    monkeypatch.setattr(labelwise_search, "VISITS", 40)
    monkeypatch.setattr(listed_search, "VISITS", 40)
    listed = LabelwiseSieve(criterion, **settings).fit(sp.csr_array(X), sp.csr_array(Y))
    np.testing.assert_array_equal(listed.selected_, panels.selected_)
    np.testing.assert_array_equal(listed.scores_, panels.scores_)
