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

# Modules and the names in them, loaded when asked for: most need parts of scikit-learn and SciPy that `Sieve` does without.
_MODULES = {
    "selection.explained": "Explained",
    "selection.information": "RedundantFeature",
    "selection.selection": "SelectedFeature Selection",
    "selectors.discoveries": "ConditionalDiscoveries MarginalDiscoveries",
    "selectors.rankings.chi_square": "ChiSquare chi_square",
    "selectors.rankings.ensemble": "RankEnsemble",
    "selectors.rankings.grro": "GRRO",
    "selectors.rankings.importance": "L1Importance PermutationImportance RecursiveElimination ShadowFeatures TreeImportance",
    "selectors.rankings.relief": "RReliefF ReliefF ReliefFML",
    "selectors.rankings.univariate": "BMFS FScore MGFS NeighborInformation PCALoadings",
    "selectors.regressions.latent": "ManifoldMIFS SCMFS SSFS",
    "selectors.regressions.llsf": "LLSF",
    "selectors.regressions.mddm": "MDDM",
    "selectors.regressions.sparse": "MDFS MFSMCDM MSSL PMFS RFS",
    "selectors.stability": "selection_stability",
    "statistics": "Stability stability_index",
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names.split():
            from importlib import import_module

            found = globals()[name] = getattr(import_module(f"labelsieve.{module}"), name)
            return found
    raise AttributeError(f"module 'labelsieve.selectors' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
