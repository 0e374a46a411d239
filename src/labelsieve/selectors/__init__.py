"""Scikit-learn selectors: a table and its targets come in, a fitted selector with ``selected_`` and ``scores_`` goes out.

Start reading in ``sieve.py``, the selector that users start with, and ``base.py``, which reads the data and keeps the result.
``rankings`` and ``regressions`` have methods that are not formulas, ``auto`` chooses among methods by cross-validation.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelsieve.selection.explained import Explained
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
    "Explained",
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

# Loaded when asked for: most selectors need parts of scikit-learn and SciPy that `Sieve` does without.
_MODULES = {
    "BMFS": "labelsieve.selectors.rankings.univariate",
    "ChiSquare": "labelsieve.selectors.rankings.chi_square",
    "ConditionalDiscoveries": "labelsieve.selectors.discoveries",
    "Explained": "labelsieve.selection.explained",
    "FScore": "labelsieve.selectors.rankings.univariate",
    "GRRO": "labelsieve.selectors.rankings.grro",
    "L1Importance": "labelsieve.selectors.rankings.importance",
    "LLSF": "labelsieve.selectors.regressions.llsf",
    "MDDM": "labelsieve.selectors.regressions.mddm",
    "MDFS": "labelsieve.selectors.regressions.sparse",
    "MFSMCDM": "labelsieve.selectors.regressions.sparse",
    "MGFS": "labelsieve.selectors.rankings.univariate",
    "MSSL": "labelsieve.selectors.regressions.sparse",
    "ManifoldMIFS": "labelsieve.selectors.regressions.latent",
    "MarginalDiscoveries": "labelsieve.selectors.discoveries",
    "NeighborInformation": "labelsieve.selectors.rankings.univariate",
    "PCALoadings": "labelsieve.selectors.rankings.univariate",
    "PMFS": "labelsieve.selectors.regressions.sparse",
    "PermutationImportance": "labelsieve.selectors.rankings.importance",
    "RFS": "labelsieve.selectors.regressions.sparse",
    "RReliefF": "labelsieve.selectors.rankings.relief",
    "RankEnsemble": "labelsieve.selectors.rankings.ensemble",
    "RecursiveElimination": "labelsieve.selectors.rankings.importance",
    "RedundantFeature": "labelsieve.selection.information",
    "ReliefF": "labelsieve.selectors.rankings.relief",
    "ReliefFML": "labelsieve.selectors.rankings.relief",
    "SCMFS": "labelsieve.selectors.regressions.latent",
    "SSFS": "labelsieve.selectors.regressions.latent",
    "SelectedFeature": "labelsieve.selection.selection",
    "Selection": "labelsieve.selection.selection",
    "ShadowFeatures": "labelsieve.selectors.rankings.importance",
    "Stability": "labelsieve.statistics",
    "TreeImportance": "labelsieve.selectors.rankings.importance",
    "chi_square": "labelsieve.selectors.rankings.chi_square",
    "selection_stability": "labelsieve.selectors.stability",
    "stability_index": "labelsieve.statistics",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        from importlib import import_module

        found = globals()[name] = getattr(import_module(_MODULES[name]), name)
        return found
    raise AttributeError(f"module 'labelsieve.selectors' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
