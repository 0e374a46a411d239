from labelsieve.studies.mulan.columns import KeepNominal, WekaBins
from labelsieve.studies.mulan.folds import JavaRandom, MulanFolds
from labelsieve.studies.mulan.neighbours import MulanBRkNN
from labelsieve.studies.mulan.order import weka_order
from labelsieve.studies.mulan.ranking import MulanRanking
from labelsieve.studies.mulan.scaling import WekaScaler

__all__ = [
    "JavaRandom",
    "KeepNominal",
    "MulanBRkNN",
    "MulanFolds",
    "MulanRanking",
    "WekaBins",
    "WekaScaler",
    "weka_order",
]
