from labelsieve.studies.mulan.columns import KeepNominal, WekaBins
from labelsieve.studies.mulan.folds import JavaRandom, MulanFolds
from labelsieve.studies.mulan.naive_bayes import MixedNaiveBayes
from labelsieve.studies.mulan.neighbours import MulanBRkNN, WekaKNN
from labelsieve.studies.mulan.order import weka_order
from labelsieve.studies.mulan.ranking import MulanRanking
from labelsieve.studies.mulan.scaling import WekaScaler

__all__ = [
    "JavaRandom",
    "KeepNominal",
    "MixedNaiveBayes",
    "MulanBRkNN",
    "MulanFolds",
    "MulanRanking",
    "WekaBins",
    "WekaKNN",
    "WekaScaler",
    "weka_order",
]
