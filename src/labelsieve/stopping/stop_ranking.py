"""Stopping rules for selectors that weigh all features at once and have no growing selection."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from labelsieve.errors import InputError
from labelsieve.stopping.base_rule import Evaluator, SelectionPath, StoppingRule
from labelsieve.stopping.cross_validation import CrossValidated
from labelsieve.stopping.knee import Knee
from labelsieve.stopping.threshold import ScoreThreshold


@dataclass(frozen=True)
class Ranked:
    """A ranking that is there already, in place of a search: features in order, with their scores."""

    selected: list[int]
    scores: list[float]
    forced: list[int]
    excluded: list[int]
    n_features: int

    @property
    def n_available(self) -> int:
        """Features that can be chosen at all."""
        return len(self.selected)

    def extend(self, n_selected: int) -> None:
        """All have been chosen."""


def stop_ranking(
    rule: StoppingRule,
    order: NDArray[np.intp],
    scores: NDArray[np.float64],
    *,
    n_forced: int = 0,
    evaluator: Evaluator,
    X: Any,
    Y: Any,
) -> tuple[int, StoppingRule]:
    """How many of a ranking to keep, and the rule with what it found.

    Thresholds and knees look at the scores in order, cross-validation at predictions. Tests ask what a feature adds to those
    before it, which is a question about a growing selection, so they are refused.

    >>> from labelsieve.stopping.base_rule import cannot_evaluate
    >>> rule = ScoreThreshold(0.5, relative=True)
    >>> stop_ranking(rule, np.array([2, 0, 1]), np.array([0.9, 0.8, 0.1]), evaluator=cannot_evaluate, X=None, Y=None)[0]
    2
    """
    name = type(rule).__name__
    if not isinstance(rule, ScoreThreshold | Knee | CrossValidated):
        raise InputError(
            f"{name} tests what a feature adds to those chosen before it, and this method weighs all at once; use "
            "ScoreThreshold, Knee, CrossValidated or a number."
        )
    if getattr(rule, "of", "score") != "score":
        raise InputError(f"{name}: what each feature adds is not known here; use {name}(of='score').")
    places = [int(column) for column in order]
    search: Any = Ranked(places, [float(value) for value in scores], places[:n_forced], [], len(places))
    own: StoppingRule = clone(rule)
    nothing: Any = None  # there are no counts
    return own.decide(SelectionPath(search, nothing, None, X, Y, evaluator)), own
