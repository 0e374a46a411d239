from labelsieve.stopping.base_rule import SelectionPath, StoppingRule
from labelsieve.stopping.cross_validation import CrossValidated
from labelsieve.stopping.g_test import GTest
from labelsieve.stopping.knee import Knee
from labelsieve.stopping.permutation import PermutationTest
from labelsieve.stopping.stop_ranking import stop_ranking
from labelsieve.stopping.threshold import ScoreThreshold

__all__ = [
    "CrossValidated",
    "GTest",
    "Knee",
    "PermutationTest",
    "ScoreThreshold",
    "SelectionPath",
    "StoppingRule",
    "stop_ranking",
]
