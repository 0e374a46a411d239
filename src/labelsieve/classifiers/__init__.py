from labelsieve.classifiers.copies import LabelCopies
from labelsieve.classifiers.homer import HOMER
from labelsieve.classifiers.iblr import IBLR
from labelsieve.classifiers.knn import BRkNN
from labelsieve.classifiers.knn_regressor import KNNRegressor
from labelsieve.classifiers.lift import LIFT
from labelsieve.classifiers.mlknn import MLkNN
from labelsieve.classifiers.nested import nested_predictions
from labelsieve.classifiers.powerset import LabelPowerset, PrunedPowerset
from labelsieve.classifiers.prefixes import prefix_scores
from labelsieve.classifiers.rakel import RAkEL
from labelsieve.classifiers.relevance import BinaryRelevance, LabelSpecific
from labelsieve.information.nearest import Neighbours, nearest_neighbours, nested_neighbours

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
    "Neighbours",
    "PrunedPowerset",
    "RAkEL",
    "nearest_neighbours",
    "nested_neighbours",
    "nested_predictions",
    "prefix_scores",
]
