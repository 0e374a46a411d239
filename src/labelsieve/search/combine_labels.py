"""Scores of every feature for every label, joined into one score for each feature."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends import CountingOptions
from labelsieve.counting.workspace import Workspace
from labelsieve.criteria import JoinedMIM
from labelsieve.criteria.relevance import MIM
from labelsieve.errors import one_of
from labelsieve.formula.plan import Plan
from labelsieve.labelspace.base_space import CountingInput
from labelsieve.search.gains import Gain
from labelsieve.search.labelwise_search import search_each

Join = Literal["max", "mean", "min", "sum", "geometric"]
Scale = Literal["none", "length", "largest"]


def join_labels(scores: NDArray[np.float64], *, join: Join = "max", scale: Scale = "length") -> NDArray[np.float64]:
    r"""One score for each feature from a table of features by labels.

    .. math:: J(f) = \max_y \frac{I(f; y)}{\sqrt{\sum_g I(g; y)^2}}

    Binary relevance with information gain (Pereira et al. 2015) does not define how labels are joined; its printed numbers fit
    Mulan's maximum over the labels after the scores of each are divided by their Euclidean length. A label whose scores are
    all 0 contributes 0.

    Parameters
    ----------
    scores : ndarray of shape (n_features, n_labels)
    join : {"max", "mean", "min", "sum", "geometric"}, default="max"
        ``"geometric"`` is the geometric mean (Gonzalez-Lopez et al. 2020): 0 where a label has a score of 0 or less.
    scale : {"none", "length", "largest"}, default="length"
        Divisor of the scores of each label: none, their Euclidean length, or the largest of them.

    Examples
    --------
    >>> join_labels(np.array([[3.0, 0.0], [4.0, 1.0]]))
    array([0.6, 1. ])
    """
    one_of(join, "join", ("max", "mean", "min", "sum", "geometric"))
    one_of(scale, "scale", ("none", "length", "largest"))
    if scale != "none":
        size = np.sqrt((scores**2).sum(axis=0)) if scale == "length" else scores.max(axis=0)
        scores = np.divide(scores, size, out=np.zeros_like(scores), where=size > 0)
    if join == "geometric":
        return np.asarray(np.prod(np.maximum(scores, 0.0) ** (1 / scores.shape[1]), axis=1))
    joined: NDArray[np.float64] = getattr(scores, join)(axis=1)
    return joined


def scores_by_label(plan: Plan, workspace: Workspace, targets: slice) -> NDArray[np.float64]:
    """``(d, t)``: scores of all features for each of the targets separately; for a criterion that is a ranking."""
    selected, scores = search_each(plan, workspace, workspace.X.n_columns, targets=targets)
    table = np.empty(scores.shape)
    np.put_along_axis(table, selected, scores, axis=1)
    return table.T


def joined_scores(tables: Sequence[CountingInput], criterion: JoinedMIM, options: CountingOptions) -> "KnownScores":
    """Scores by label, with separate bins if there is a table for each label, joined as the criterion defines."""
    scores = []
    for label, table in enumerate(tables):
        workspace = Workspace(table.X, table.Y, replace(options, weights=table.weights), row_index=table.row_index)
        block = slice(None) if len(tables) == 1 else slice(label, label + 1)
        scores.append(scores_by_label(criterion.plan, workspace, block))
    return KnownScores(join_labels(np.hstack(scores), join=criterion.join, scale=criterion.scale))


def sampling_error(workspace: Workspace, n_targets: int) -> NDArray[np.float64]:
    r"""Standard error of the relevance of every feature for ``n_targets`` targets, estimated from a random sample, in nats.

    .. math:: q \sqrt{1 - m / q} \, \frac{s}{\sqrt{g}}

    The ``m`` targets of ``workspace``, in random order, are split into 20 groups of about the same size, or into single ones if
    there are at most 40; ``s`` is the standard deviation of the mean information per target in a group, and the first root the
    correction for a finite number of targets. 0 if all targets were drawn, infinite if only one was. Cost: that of the
    relevance.
    """
    size = workspace.Y.n_columns
    if size in (1, n_targets):
        return np.full(workspace.X.n_columns, 0.0 if size == n_targets else np.inf)
    bounds = np.linspace(0, size, (20 if size > 40 else size) + 1).astype(int)
    plan = MIM().plan
    groups = [slice(start, stop) for start, stop in pairwise(bounds)]
    means = np.array([plan.bind(workspace, targets=group).scores() / (group.stop - group.start) for group in groups])
    error = n_targets * np.sqrt((1 - size / n_targets) / len(groups)) * means.std(axis=0, ddof=1)
    return np.asarray(error, dtype=np.float64)


class KnownScores(Gain):
    """The gain of a ranking whose scores are computed beforehand; joined ones are not the relevance of all labels together."""

    name = "joined-mim"
    is_ranking = True

    def __init__(self, scores: NDArray[np.float64]) -> None:
        self._scores = scores

    def scores(self) -> NDArray[np.float64]:
        """Score of every feature."""
        return self._scores

    def components(self, feature: int) -> dict[str, float]:
        """All of it is relevance."""
        return {"relevance": float(self._scores[feature])}
