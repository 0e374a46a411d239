from labelsieve.stopping.base_rule import SelectionPath, StoppingRule
from labelsieve.stopping.cross_validation import CrossValidated
from labelsieve.stopping.false_discovery_rule import FDR
from labelsieve.stopping.g_test import GTest
from labelsieve.stopping.permutation import PermutationTest
from labelsieve.stopping.score_curve import Knee, ScoreThreshold
from labelsieve.stopping.stop_ranking import stop_ranking

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
