"""Scores that every label gives to every feature, joined into one score for each feature."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends import CountingOptions
from labelsieve.counting.workspace import Workspace
from labelsieve.errors import one_of
from labelsieve.formula.plan import Plan
from labelsieve.labelspace.base_space import CountingInput
from labelsieve.search.labelwise_search import search_each

Join = Literal["max", "mean", "min", "sum"]
Scale = Literal["none", "length", "largest"]


def join_labels(scores: NDArray[np.float64], *, join: Join = "max", scale: Scale = "length") -> NDArray[np.float64]:
    r"""One score for each feature from a table of features by labels.

    .. math:: J(f) = \max_y \frac{I(f; y)}{\sqrt{\sum_g I(g; y)^2}}

    Binary relevance with information gain (Pereira et al. 2015) does not say how labels are joined; its printed numbers fit
    Mulan's maximum of what each label gives after its scores are divided by their Euclidean length. A label all of whose
    scores are 0 gives 0.

    Parameters
    ----------
    scores : ndarray of shape (n_features, n_labels)
    join : {"max", "mean", "min", "sum"}
    scale : {"none", "length", "largest"}
        What the scores of each label are divided by first: nothing, their Euclidean length, the largest of them.

    Examples
    --------
    >>> join_labels(np.array([[3.0, 0.0], [4.0, 1.0]]))
    array([0.6, 1. ])
    """
    one_of(join, "join", ("max", "mean", "min", "sum"))
    one_of(scale, "scale", ("none", "length", "largest"))
    if scale != "none":
        size = np.sqrt((scores**2).sum(axis=0)) if scale == "length" else scores.max(axis=0)
        scores = np.divide(scores, size, out=np.zeros_like(scores), where=size > 0)
    joined: NDArray[np.float64] = getattr(scores, join)(axis=1)
    return joined


def scores_by_label(plan: Plan, workspace: Workspace, targets: slice) -> NDArray[np.float64]:
    """Scores of all features for each of the targets by itself, features down; for a criterion that is a ranking."""
    selected, scores = search_each(plan, workspace, workspace.X.n_columns, targets=targets)
    table = np.empty(scores.shape)
    np.put_along_axis(table, selected, scores, axis=1)
    return table.T


def joined_scores(tables: Sequence[CountingInput], criterion: Any, options: CountingOptions) -> "KnownScores":
    """Every label's scores, from its own bins if there is a table for each, joined as the criterion says."""
    scores = []
    for place, table in enumerate(tables):
        workspace = Workspace(table.X, table.Y, replace(options, weights=table.weights), row_index=table.row_index)
        block = slice(None) if len(tables) == 1 else slice(place, place + 1)
        scores.append(scores_by_label(criterion.plan, workspace, block))
    return KnownScores(join_labels(np.hstack(scores), join=criterion.join, scale=criterion.scale))


class KnownScores:
    """Scores that are known beforehand, in place of a scorer: what a ranking needs."""

    def __init__(self, scores: NDArray[np.float64]) -> None:
        self._scores = scores

    def scores(self) -> NDArray[np.float64]:
        """Score of every feature."""
        return self._scores

    def components(self, feature: int) -> dict[str, float]:
        """All of it is relevance."""
        return {"relevance": float(self._scores[feature])}

    def report_to(self, progress: Any) -> None:
        """There is nothing left to do."""
