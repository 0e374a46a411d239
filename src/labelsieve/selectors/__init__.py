from labelsieve.selectors.chi_square import ChiSquare, chi_square
from labelsieve.selectors.llsf import LLSF
from labelsieve.selectors.mddm import MDDM
from labelsieve.selectors.relief import ReliefF, ReliefFML
from labelsieve.selectors.rrelief import RReliefF
from labelsieve.selectors.selection_stability import selection_stability
from labelsieve.statistics import Stability, stability_index

__all__ = [
    "LLSF",
    "MDDM",
    "ChiSquare",
    "RReliefF",
    "ReliefF",
    "ReliefFML",
    "Stability",
    "chi_square",
    "selection_stability",
    "stability_index",
]
