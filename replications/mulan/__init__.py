from replications.mulan.mulan_folds import JavaRandom, MulanFolds
from replications.mulan.mulan_ranking import MulanRanking, weka_order
from replications.mulan.naive_bayes import MixedNaiveBayes
from replications.mulan.weka_filters import WekaBins, WekaScaler
from replications.mulan.weka_neighbors import MulanBRkNN, WekaKNN

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
