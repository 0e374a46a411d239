"""Small sparse data with labels, and every problem transformation with a base."""

import numpy as np
from sklearn.base import BaseEstimator

from labelsieve import LabelwiseSieve
from labelsieve.classifiers import HOMER, LIFT, BinaryRelevance, LabelPowerset, PrunedPowerset, RAkEL


def make_data(seed=0, n_rows=150, n_labels=5):
    rng = np.random.default_rng(seed)
    X = np.abs(rng.normal(size=(n_rows, 6))) * (rng.random((n_rows, 6)) < 0.7)
    Y = (X @ rng.normal(size=(6, n_labels)) + rng.normal(size=(n_rows, n_labels)) > 0.8).astype(int)
    return X[:100], Y[:100], X[100:], Y[100:]


def every_kind(base):
    return [
        BinaryRelevance(base),
        BinaryRelevance(base, selector=LabelwiseSieve("mim", n_features_to_select=3)),
        LIFT(base=base, random_state=0),
        LabelPowerset(base),
        PrunedPowerset(base, min_count=3),
        PrunedPowerset(base, min_count=3, split=True),
        RAkEL(base, random_state=0),
        RAkEL(base, disjoint=True, soft=True, random_state=0),
        HOMER(base, random_state=0),
        HOMER(LabelPowerset(base), n_children=2, random_state=0),
    ]


class SelectsNothing(BaseEstimator):
    """A selector whose labels have no features."""

    def fit(self, X, Y):
        self.label_support_ = np.zeros((Y.shape[1], X.shape[1]), dtype=bool)
        return self

    def transform(self, X):
        return X
