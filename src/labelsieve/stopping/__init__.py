from labelsieve.stopping.cross_validation import CrossValidated
from labelsieve.stopping.g_test import GTest
from labelsieve.stopping.knee import Knee
from labelsieve.stopping.permutation import PermutationTest
from labelsieve.stopping.ranking import stop_ranking
from labelsieve.stopping.registry import RULES, STOPPING_RULES, rule_named
from labelsieve.stopping.rule import Evidence, StoppingRule
from labelsieve.stopping.threshold import ScoreThreshold

__all__ = [
    "RULES",
    "STOPPING_RULES",
    "CrossValidated",
    "Evidence",
    "GTest",
    "Knee",
    "PermutationTest",
    "ScoreThreshold",
    "StoppingRule",
    "rule_named",
    "stop_ranking",
]
