from labelsieve.classifiers.binary_relevance import BinaryRelevance, LabelSpecific
from labelsieve.classifiers.homer import HOMER
from labelsieve.classifiers.labelsets import LabelCopies, LabelPowerset, PrunedPowerset, RAkEL
from labelsieve.classifiers.lift import LIFT
from labelsieve.classifiers.nearest_neighbors import Neighbors, nearest_neighbors, nested_neighbors
from labelsieve.classifiers.neighbors import IBLR, BRkNN, KNNRegressor, MLkNN
from labelsieve.classifiers.prefix_scores import nested_predictions, prefix_scores
from labelsieve.classifiers.sparse_one_vs_rest import SparseOneVsRest

__all__ = [
    "HOMER",
    "IBLR",
    "LIFT",
    "BRkNN",
    "BinaryRelevance",
    "KNNRegressor",
    "LabelCopies",
    "LabelPowerset",
    "LabelSpecific",
    "MLkNN",
    "Neighbors",
    "PrunedPowerset",
    "RAkEL",
    "SparseOneVsRest",
    "nearest_neighbors",
    "nested_neighbors",
    "nested_predictions",
    "prefix_scores",
]
