"""The stopping rules by name: the one list that storage and documentation read."""

import inspect
from typing import Any

from labelsieve.errors import InputError
from labelsieve.stopping.cross_validation import CrossValidated
from labelsieve.stopping.g_test import GTest
from labelsieve.stopping.knee import Knee
from labelsieve.stopping.permutation import PermutationTest
from labelsieve.stopping.rule import StoppingRule
from labelsieve.stopping.threshold import ScoreThreshold

RULES: dict[str, type[StoppingRule]] = {
    "threshold": ScoreThreshold,
    "knee": Knee,
    "g-test": GTest,
    "permutation": PermutationTest,
    "cross-validation": CrossValidated,
}
STOPPING_RULES: dict[str, type[StoppingRule]] = {rule.__name__: rule for rule in RULES.values()}


def rule_named(name: str, **parameters: Any) -> StoppingRule:
    """A rule by its short name, with other parameters where they are given.

    >>> rule_named("permutation", alpha=0.01)
    PermutationTest(alpha=0.01)
    """
    if name not in RULES:
        raise InputError(f"{name!r} is no stopping rule; there are {', '.join(RULES)}.")
    known = inspect.signature(RULES[name]).parameters
    for key in parameters:
        if key not in known:
            raise InputError(f"{name} takes no {key}; {RULES[name].__name__} has {', '.join(known)}.")
    return RULES[name](**parameters)
