"""Stopping rules for selectors that rank all features at once and have no selection path."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from labelsieve.errors import InputError
from labelsieve.stopping.base_rule import Evaluator, SelectionPath, StoppingRule
from labelsieve.stopping.cross_validation import CrossValidated
from labelsieve.stopping.score_curve import Knee, ScoreThreshold
from labelsieve.table_types import TableLike, TargetsLike


@dataclass(frozen=True)
class Ranked:
    """A complete ranking with the interface of a search: features in order, with their scores."""

    selected: list[int]
    scores: list[float]
    forced: list[int]
    excluded: list[int]
    n_features: int

    @property
    def n_available(self) -> int:
        """Number of features that can be selected."""
        return len(self.selected)

    def extend(self, n_selected: int) -> None:
        """Do nothing: all features are ranked already."""


def stop_ranking(
    rule: StoppingRule,
    order: NDArray[np.intp],
    scores: NDArray[np.float64],
    *,
    n_forced: int = 0,
    evaluator: Evaluator,
    X: TableLike,
    Y: TargetsLike,
) -> tuple[int, StoppingRule]:
    """The number of features of a ranking to keep, and the fitted rule.

    Thresholds and knees use the scores in order, cross-validation the predictions. Significance tests of the information that a
    feature adds need a selection path, so they are refused.

    >>> from labelsieve.stopping.base_rule import cannot_evaluate
    >>> rule = ScoreThreshold(0.5, relative=True)
    >>> stop_ranking(rule, np.array([2, 0, 1]), np.array([0.9, 0.8, 0.1]), evaluator=cannot_evaluate, X=None, Y=None)[0]
    2
    """
    ranking = [int(column) for column in order]
    search: Any = Ranked(ranking, [float(value) for value in scores], ranking[:n_forced], [], len(ranking))
    return stop_search(rule, search, evaluator=evaluator, X=X, Y=Y)


def stop_search(
    rule: StoppingRule, search: Any, *, evaluator: Evaluator, X: TableLike, Y: TargetsLike
) -> tuple[int, StoppingRule]:
    """The same for a search without counts, whose scores are no information."""
    name = type(rule).__name__
    if not isinstance(rule, ScoreThreshold | Knee | CrossValidated):
        raise InputError(
            f"{name} tests what a feature adds to those selected before it, by counts that this method has not; use "
            "ScoreThreshold, Knee, CrossValidated or a number."
        )
    if getattr(rule, "of", "score") != "score":
        raise InputError(f"{name}: the added information is not available for this method; use {name}(of='score').")
    fitted: StoppingRule = clone(rule)
    workspace: Any = None  # such a method has no counts
    return fitted.decide(SelectionPath(search, workspace, None, X, Y, evaluator)), fitted
