from labelsieve.stopping.base import SelectionPath, StoppingRule
from labelsieve.stopping.curves import CrossValidated, Knee, ScoreThreshold, stop_ranking
from labelsieve.stopping.false_discovery import FDR
from labelsieve.stopping.significance import GTest, PermutationTest

__all__ = [
    "FDR",
    "CrossValidated",
    "GTest",
    "Knee",
    "PermutationTest",
    "ScoreThreshold",
    "SelectionPath",
    "StoppingRule",
    "stop_ranking",
]
