"""Scikit-learn selectors: a table and its targets come in, a fitted selector with ``selected_`` and ``scores_`` goes out.

Start reading in ``sieve.py``, the selector that users start with, and ``base.py``, which reads the data and keeps the result.
``rankings`` and ``regressions`` have methods that are not formulas, ``auto`` chooses among methods by cross-validation.
"""

from labelsieve.selection.information import RedundantFeature
from labelsieve.selection.selection import SelectedFeature, Selection
from labelsieve.selectors.discoveries import ConditionalDiscoveries, MarginalDiscoveries
from labelsieve.selectors.rankings.chi_square import ChiSquare, chi_square
from labelsieve.selectors.rankings.ensemble import RankEnsemble
from labelsieve.selectors.rankings.grro import GRRO
from labelsieve.selectors.rankings.importance import (
    L1Importance,
    PermutationImportance,
    RecursiveElimination,
    ShadowFeatures,
    TreeImportance,
)
from labelsieve.selectors.rankings.relief import ReliefF, ReliefFML, RReliefF
from labelsieve.selectors.rankings.univariate import BMFS, MGFS, FScore, NeighborInformation, PCALoadings
from labelsieve.selectors.regressions.latent import SCMFS, SSFS, ManifoldMIFS
from labelsieve.selectors.regressions.llsf import LLSF
from labelsieve.selectors.regressions.mddm import MDDM
from labelsieve.selectors.regressions.sparse import MDFS, MFSMCDM, MSSL, PMFS, RFS
from labelsieve.selectors.stability import selection_stability
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
