from labelsieve.selectors.chi_square import ChiSquare, chi_square
from labelsieve.selectors.conditional_discoveries import ConditionalDiscoveries
from labelsieve.selectors.correlation_rankings import BMFS, MGFS
from labelsieve.selectors.grro import GRRO
from labelsieve.selectors.latent_factors import SCMFS, SSFS
from labelsieve.selectors.llsf import LLSF
from labelsieve.selectors.manifold_mifs import ManifoldMIFS
from labelsieve.selectors.marginal_discoveries import MarginalDiscoveries
from labelsieve.selectors.mddm import MDDM
from labelsieve.selectors.model_importance import L1Importance, PermutationImportance, RecursiveElimination
from labelsieve.selectors.pursuit import OrthogonalPursuit
from labelsieve.selectors.rank_ensemble import RankEnsemble
from labelsieve.selectors.redundancy import RedundantFeature
from labelsieve.selectors.relief import ReliefF, ReliefFML
from labelsieve.selectors.ridge_rankings import MFSMCDM, PMFS
from labelsieve.selectors.rrelief import RReliefF
from labelsieve.selectors.selection import SelectedFeature, Selection
from labelsieve.selectors.selection_stability import selection_stability
from labelsieve.selectors.sparse_regressions import MDFS, MSSL, RFS
from labelsieve.selectors.tree_importance import ShadowFeatures, TreeImportance
from labelsieve.selectors.univariate import FScore, NeighborInformation, PCALoadings
from labelsieve.statistics import Stability, stability_index

__all__ = [
    "BMFS",
    "GRRO",
    "LLSF",
    "MDDM",
    "MDFS",
    "MFSMCDM",
    "MGFS",
    "MSSL",
    "PMFS",
    "RFS",
    "SCMFS",
    "SSFS",
    "ChiSquare",
    "ConditionalDiscoveries",
    "FScore",
    "L1Importance",
    "ManifoldMIFS",
    "MarginalDiscoveries",
    "NeighborInformation",
    "OrthogonalPursuit",
    "PCALoadings",
    "PermutationImportance",
    "RReliefF",
    "RankEnsemble",
    "RecursiveElimination",
    "RedundantFeature",
    "ReliefF",
    "ReliefFML",
    "SelectedFeature",
    "Selection",
    "ShadowFeatures",
    "Stability",
    "TreeImportance",
    "chi_square",
    "selection_stability",
    "stability_index",
]
