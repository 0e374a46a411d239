"""The stopping rules by name: the one list that storage and documentation read."""

from labelsieve.stopping.cross_validation import CrossValidated
from labelsieve.stopping.g_test import GTest
from labelsieve.stopping.knee import Knee
from labelsieve.stopping.permutation import PermutationTest
from labelsieve.stopping.rule import StoppingRule
from labelsieve.stopping.threshold import ScoreThreshold

STOPPING_RULES: dict[str, type[StoppingRule]] = {
    rule.__name__: rule for rule in (ScoreThreshold, Knee, GTest, PermutationTest, CrossValidated)
}
