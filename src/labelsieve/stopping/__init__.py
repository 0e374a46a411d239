"""Stopping rules: the path of a search comes in, the number of features to keep goes out.

Start reading in ``base.py``, which has :class:`StoppingRule` and the :class:`SelectionPath` that a rule extends; ``curves.py``
has rules that look at scores, ``significance.py`` has tests.
"""

from labelsieve.stopping.base import SelectionPath, StoppingRule
from labelsieve.stopping.curves import CrossValidated, Knee, ScoreThreshold, stop_ranking
from labelsieve.stopping.significance import FDR, GTest, PermutationTest

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
