"""Lists of features for many labels: short lists are prefixes of long ones, and masks of labels and features are sparse."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.tree import DecisionTreeClassifier

from labelsieve import LabelwiseSieve
from labelsieve.classifiers import LabelSpecific
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
    model = LabelSpecific(
        LabelwiseSieve("mim", discretizer=None, n_features_to_select=3), DecisionTreeClassifier(random_state=0)
    )
    for label, fitted in enumerate(model.fit(X, Y).models_):
        if label != 3:  # a label without rows has no model
            np.testing.assert_array_equal(fitted.columns, np.flatnonzero(dense.label_support_[label]))
