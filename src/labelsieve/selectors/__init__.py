from labelsieve.selectors.chi_square import ChiSquare, chi_square
from labelsieve.selectors.llsf import LLSF
from labelsieve.selectors.mddm import MDDM
from labelsieve.selectors.model_importance import L1Importance, PermutationImportance, RecursiveElimination
from labelsieve.selectors.pursuit import OrthogonalPursuit
from labelsieve.selectors.rank_ensemble import RankEnsemble
from labelsieve.selectors.relief import ReliefF, ReliefFML
from labelsieve.selectors.rrelief import RReliefF
from labelsieve.selectors.selection_stability import selection_stability
from labelsieve.selectors.tree_importance import ShadowFeatures, TreeImportance
from labelsieve.selectors.univariate import FScore, NeighborInformation, PCALoadings
from labelsieve.statistics import Stability, stability_index

__all__ = [
    "LLSF",
    "MDDM",
    "ChiSquare",
    "FScore",
    "L1Importance",
    "NeighborInformation",
    "OrthogonalPursuit",
    "PCALoadings",
    "PermutationImportance",
    "RReliefF",
    "RankEnsemble",
    "RecursiveElimination",
    "ReliefF",
    "ReliefFML",
    "ShadowFeatures",
    "Stability",
    "TreeImportance",
    "chi_square",
    "selection_stability",
    "stability_index",
]
