"""A search for each target separately, and the scores of single targets joined into one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends import CountingOptions
from labelsieve.counting.workspace import Workspace
from labelsieve.criteria import MIM, JoinedMIM
from labelsieve.errors import InputError, one_of
from labelsieve.formula.evaluation import PANEL_BYTES, Parents
from labelsieve.formula.labelwise import LabelwiseScorer, LabelwiseSources, can_share
from labelsieve.formula.plan import Plan
from labelsieve.labelspace.base import CountingInput
from labelsieve.search.gains import Gain, Progress
from labelsieve.search.greedy import GreedySearch
from labelsieve.search.many_labels.listed import (
    VISITS,
    CandidateScorer,
    Columns,
    Lists,
    blocks_of,
    listed_columns,
    rank_listed,
    visits,
)
from labelsieve.search.many_labels.non_empty import lists_from_non_empty

TABLES_PER_VISIT = 1  # a visit of a common row costs as much as a table of a panel
NONE = np.empty(0, dtype=np.intp)


def search_each(
    plan: Plan,
    workspace: Workspace,
    n_selected: int,
    *,
    targets: slice = slice(None),
    parents: Parents | None = None,
    forced: Sequence[int] = (),
    excluded: Sequence[int] = (),
    candidates: NDArray[np.intp] | None = None,
    last: NDArray[np.intp] = NONE,
    progress: Progress | None = None,
) -> Lists:
    """Select ``n_selected`` features for each of the targets; return them and their scores, ``(n_targets, n_selected)``.

    The same lists as one :class:`GreedySearch` after the other, with the same ``last``. ``excluded`` features are selected for
    no target, and a target with a row of ``candidates`` selects among those; enough features must be left. Targets are
    searched in blocks whose accumulators take 64 MB each: nothing of the size of all features and targets is kept. Sparse
    features of two levels are ranked and searched from the non-empty tables.
    """
    first, end, _ = targets.indices(workspace.Y.n_columns)
    search = _Searches(plan, workspace, n_selected, range(first, end), parents, forced, excluded, candidates, last, progress)
    parts, lists = search.from_lists_of_rows(), []
    is_reported = parts is None  # panels report every step of a block
    for part in search.from_panels() if parts is None else parts:
        lists.append(part)
        if progress is not None and not is_reported:
            progress(sum(len(selected) for selected, _ in lists), workspace.Y.n_columns)
    return np.concatenate([selected for selected, _ in lists]), np.concatenate([scores for _, scores in lists])


@dataclass(frozen=True, eq=False)
class _Searches:
    """One search for each of the targets, in blocks: see :func:`search_each`."""

    plan: Plan
    workspace: Workspace
    n_selected: int
    targets: range
    parents: Parents | None
    forced: Sequence[int]
    excluded: Sequence[int]
    candidates: NDArray[np.intp] | None
    last: NDArray[np.intp]
    progress: Progress | None

    def from_lists_of_rows(self) -> Iterator[Lists] | None:
        """Search from the rows that sparse columns list; None if that is not possible, or not faster than panels."""
        plan, fixed, n_features = self.plan, self.workspace.fixed, self.workspace.X.n_columns
        if len(self.forced) or 8 * n_features * len(self.targets) <= PANEL_BYTES:
            return None
        is_open = np.ones(n_features, dtype=bool)
        is_open[[*self.excluded, *self.last]] = False
        if self.candidates is None and np.count_nonzero(is_open) < self.n_selected:
            return None
        columns = listed_columns(plan.suited_to(self.workspace), self.workspace)
        if columns is None:
            return None
        if self.candidates is not None:
            return self._among_candidates(columns, np.sort(self.candidates, axis=1))
        if plan.is_ranking:
            return rank_listed(plan, fixed, columns, self.n_selected, self.targets, is_open)
        n_common = visits(*columns)[self.targets.start : self.targets.stop].sum()
        if fixed.penalty or TABLES_PER_VISIT * n_common > n_features * len(self.targets):
            return None
        return lists_from_non_empty(plan, fixed, columns, self.n_selected, self.targets, is_open)

    def _among_candidates(self, columns: Columns, candidates: NDArray[np.intp]) -> Iterator[Lists]:
        is_last = np.zeros(self.workspace.X.n_columns, dtype=bool)
        is_last[self.last] = True
        first = self.targets.start
        for block in blocks_of(columns[0].counts[candidates].sum(axis=1), VISITS):
            some, targets = candidates[block], slice(first + block.start, first + block.stop)
            scorer = CandidateScorer(self.plan, self.workspace.fixed, columns, targets, some)
            closed = np.zeros(some.T.shape, dtype=bool)
            selected, scores = _greedy(scorer, self.n_selected, (), closed, is_last[some.T], None)
            yield np.take_along_axis(some, selected, axis=1), scores

    def from_panels(self) -> Iterator[Lists]:
        """Search from panels of all features, conditioned on the features that the targets of a block select."""
        n_features, n_targets = self.workspace.X.n_columns, self.workspace.Y.n_columns
        suited = self.plan.suited_to(self.workspace)
        shared = can_share(suited) and not suited.keeps_terms and not suited.needs_of_known_rows
        width = targets_per_block(n_features) if shared else 1
        for start in range(self.targets.start, self.targets.stop, width):
            block = slice(start, min(self.targets.stop, start + width))
            closed = np.full((n_features, block.stop - start), self.candidates is not None)
            if self.candidates is not None:
                of_block = self.candidates[start - self.targets.start : block.stop - self.targets.start]
                np.put_along_axis(closed, of_block.T, False, axis=0)
            closed[list(self.excluded)] = True
            if shared:
                sources = LabelwiseSources(self.workspace, suited.needs, block)
                scorer = LabelwiseScorer(suited, sources, targets=block, parents=self.parents)
                if suited.is_ranking:
                    yield _ranked(scorer, self.n_selected, self.forced, closed, self.last)
                else:
                    report = None if self.progress is None else partial(_in_all, self.progress, block, n_targets)
                    yield _greedy(scorer, self.n_selected, self.forced, closed, self.last, report)
                continue
            gain = self.plan.bind(self.workspace, targets=block, parents=self.parents)
            alone = GreedySearch(gain, n_features, self.forced, np.flatnonzero(closed[:, 0]).tolist(), self.last)
            alone.extend(self.n_selected)
            yield np.array([alone.selected], dtype=np.intp), np.array([alone.scores])
            if self.progress is not None:
                self.progress(block.stop, n_targets)


def targets_per_block(n_features: int) -> int:
    """Return the number of targets that are searched together, so that an accumulator of all features takes 64 MB."""
    return max(1, PANEL_BYTES // (8 * n_features))


def together(rows: Sequence[tuple[NDArray[np.intp], NDArray[np.float64]]]) -> Lists:
    """Put lists of any lengths, and their scores, into two arrays padded with -1 and NaN.

    >>> together([(np.array([4, 2]), np.array([0.5, 0.1])), (np.array([3]), np.array([0.2]))])[0]
    array([[ 4,  2], [ 3, -1]])
    """
    longest = max(len(columns) for columns, _ in rows)
    selected, scores = np.full((len(rows), longest), -1, dtype=np.intp), np.full((len(rows), longest), np.nan)
    for row, (columns, values) in enumerate(rows):
        selected[row, : len(columns)], scores[row, : len(columns)] = columns, values
    return selected, scores


def _in_all(progress: Progress, block: slice, n_targets: int, done: int, n_selected: int) -> None:
    """Report the steps of a block relative to those of all targets."""
    progress(block.start * n_selected + done * (block.stop - block.start), n_targets * n_selected)


def _greedy(
    scorer: LabelwiseScorer | CandidateScorer,
    n_selected: int,
    forced: Sequence[int],
    closed: NDArray[np.bool_],
    last: NDArray[np.intp] | NDArray[np.bool_],
    progress: Progress | None,
) -> Lists:
    """Search greedily for all targets of a block at once; ``last`` are indices of all targets, or a mask."""
    n_targets = closed.shape[1]
    barred = np.where(closed, -np.inf, 0.0)
    in_the_end = barred if not len(last) else barred.copy()  # when none but the last ones is left
    barred[last] = -np.inf
    selected, scores = np.empty((n_targets, n_selected), dtype=np.intp), np.empty((n_targets, n_selected))
    targets = np.arange(n_targets)
    for step in range(n_selected):
        if step:
            scorer.select(selected[:, step - 1])
        now = scorer.scores()
        best = np.full(n_targets, forced[step]) if step < len(forced) else (now + barred).argmax(axis=0)
        ended = (barred[best, targets] < 0) & (step >= len(forced))
        if ended.any():
            best[ended] = (now + in_the_end)[:, ended].argmax(axis=0)
        selected[:, step], scores[:, step] = best, now[best, targets]
        barred[best, targets] = in_the_end[best, targets] = -np.inf
        if progress is not None:
            progress(step + 1, n_selected)
    return selected, scores


def _ranked(
    scorer: LabelwiseScorer, n_selected: int, forced: Sequence[int], closed: NDArray[np.bool_], last: NDArray[np.intp]
) -> Lists:
    """Sort scores that do not depend on the selection, once for each target."""
    now = scorer.scores()
    tier = np.where(closed, 2, 0)
    tier[last] += 1
    if not len(forced) and n_selected < len(now) // 8 and (tier == 0).sum(axis=0).min() >= n_selected:
        return _largest(np.where(tier == 0, now, -np.inf).T, n_selected)
    order = np.lexsort((-now, tier), axis=0).T
    free = order[~np.isin(order, forced)].reshape(len(order), -1)
    first = np.broadcast_to(np.array(forced, dtype=np.intp), (len(order), len(forced)))
    selected = np.hstack([first, free])[:, :n_selected]
    return selected, np.take_along_axis(now.T, selected, axis=1)


def _largest(scores: NDArray[np.float64], n_selected: int) -> Lists:
    """Return the largest columns of every row in descending order, ties from the left, without sorting the others."""
    selected = np.empty((len(scores), n_selected), dtype=np.intp)
    least = -np.partition(-scores, n_selected - 1, axis=1)[:, n_selected - 1]
    for row, (values, threshold) in enumerate(zip(scores, least, strict=True)):
        enough = np.flatnonzero(values >= threshold)
        selected[row] = enough[np.argsort(-values[enough], kind="stable")[:n_selected]]
    return selected, np.take_along_axis(scores, selected, axis=1)


Join = Literal["max", "mean", "min", "sum", "geometric"]
Scale = Literal["none", "length", "largest"]


def join_labels(scores: NDArray[np.float64], *, join: Join = "max", scale: Scale = "length") -> NDArray[np.float64]:
    r"""Join a table of scores, features by labels, to one score for each feature.

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
    """Return the scores of a ranking for each of the targets separately, ``(d, t)``."""
    selected, scores = search_each(plan, workspace, workspace.X.n_columns, targets=targets)
    table = np.empty(scores.shape)
    np.put_along_axis(table, selected, scores, axis=1)
    return table.T


def joined_scores(tables: Sequence[CountingInput], criterion: JoinedMIM, options: CountingOptions) -> "KnownScores":
    """Score features for each label, with separate bins if there is a table for each, and join the scores by the criterion."""
    scores = []
    if len(tables) not in (1, tables[0].Y.n_columns):
        raise InputError(
            f"The discretizer has separate bins for each of {len(tables)} labels, and the label space makes another number of "
            f'targets of them, {tables[0].Y.n_columns}; use targets="single", or a discretizer with the same bins for all.'
        )
    for label, table in enumerate(tables):
        workspace = Workspace(table.X, table.Y, replace(options, weights=table.weights), row_index=table.row_index)
        block = slice(None) if len(tables) == 1 else slice(label, label + 1)
        scores.append(scores_by_label(criterion.plan, workspace, block))
    return KnownScores(join_labels(np.hstack(scores), join=criterion.join, scale=criterion.scale))


def sampling_error(workspace: Workspace, n_targets: int) -> NDArray[np.float64]:
    r"""Estimate the standard error of the relevance of every feature for ``n_targets`` targets from a sample of them, in nats.

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
    """The gain of a ranking whose scores are computed beforehand."""

    name = "joined-mim"
    is_ranking = True

    def __init__(self, scores: NDArray[np.float64]) -> None:
        self._scores = scores

    def scores(self) -> NDArray[np.float64]:
        """Return the score of every feature."""
        return self._scores

    def components(self, feature: int) -> dict[str, float]:
        """Return the score of a feature as its only component, relevance."""
        return {"relevance": float(self._scores[feature])}
