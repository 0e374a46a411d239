from labelsieve.replications.mulan.mulan_folds import JavaRandom, MulanFolds
from labelsieve.replications.mulan.mulan_ranking import MulanRanking, weka_order
from labelsieve.replications.mulan.naive_bayes import MixedNaiveBayes
from labelsieve.replications.mulan.weka_filters import WekaBins, WekaScaler
from labelsieve.replications.mulan.weka_neighbors import MulanBRkNN, WekaKNN

__all__ = [
    "JavaRandom",
    "MixedNaiveBayes",
    "MulanBRkNN",
    "MulanFolds",
    "MulanRanking",
    "WekaBins",
    "WekaKNN",
    "WekaScaler",
    "weka_order",
]
