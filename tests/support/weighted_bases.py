"""Bases that look at the weights they are given."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB


class ChecksWeights(ClassifierMixin, BaseEstimator):
    """Learns only from rows whose first feature is ``factor`` times their weight."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, y, sample_weight=None):
        assert sample_weight is not None
        np.testing.assert_allclose(X[:, 0], self.factor * sample_weight, rtol=1e-12)
        self.model_ = GaussianNB().fit(X, y, sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)
