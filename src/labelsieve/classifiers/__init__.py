"""Multi-label classifiers: nearest neighbors, and transformations of labels for any scikit-learn classifier.

In comes a table and a 0/1 matrix of labels (or other values, one column, sparse), out come predictions in the same form.
Every estimator that is passed as ``base`` is cloned and fitted by its own ``fit``. Start reading in ``base.py``, then
``binary_relevance.py``; ``neighbors.py`` has ML-kNN and its relatives, ``prefix_scores.py`` the curves of rankings.
``j48.py`` is a decision tree for one label, to be used as ``base``.
"""

from labelsieve.classifiers.binary_relevance import BinaryRelevance
from labelsieve.classifiers.homer import HOMER
from labelsieve.classifiers.j48 import J48
from labelsieve.classifiers.label_ranking import CLR, MetaLabeler
from labelsieve.classifiers.labelsets import LabelPowerset, PrunedPowerset, RAkEL
from labelsieve.classifiers.lift import LIFT
from labelsieve.classifiers.neighbor_search import Neighbors, nearest_neighbors, nested_neighbors
from labelsieve.classifiers.neighbors import IBLR, BRkNN, KNNRegressor, MLkNN, nested_predictions
from labelsieve.classifiers.prefix_scores import prefix_scores
from labelsieve.classifiers.sparse_one_vs_rest import SparseOneVsRest

__all__ = [
    "CLR",
    "HOMER",
    "IBLR",
    "J48",
    "LIFT",
    "BRkNN",
    "BinaryRelevance",
    "KNNRegressor",
    "LabelPowerset",
    "MLkNN",
    "MetaLabeler",
    "Neighbors",
    "PrunedPowerset",
    "RAkEL",
    "SparseOneVsRest",
    "nearest_neighbors",
    "nested_neighbors",
    "nested_predictions",
    "prefix_scores",
]
