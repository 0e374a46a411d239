"""Greedy forward search for many targets at once, with a separate list of features for each."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.workspace import Workspace
from labelsieve.formula.evaluation import PANEL_BYTES, Parents
from labelsieve.formula.labelwise_evaluation import LabelwiseScorer, can_share
from labelsieve.formula.plan import Plan
from labelsieve.search.gains import Progress
from labelsieve.search.greedy import GreedySearch

NONE = np.empty(0, dtype=np.intp)
Lists = tuple[NDArray[np.intp], NDArray[np.float64]]


def search_each(
    plan: Plan,
    workspace: Workspace,
    n_selected: int,
    *,
    targets: slice = slice(None),
    parents: Parents | None = None,
    forced: Sequence[int] = (),
    closed: NDArray[np.bool_] | None = None,
    last: NDArray[np.intp] = NONE,
    progress: Progress | None = None,
) -> Lists:
    """``n_selected`` features for each of the targets, and their scores: arrays of shape ``(n_targets, n_selected)``.

    The same lists as one :class:`GreedySearch` after the other, with the same ``last``. ``closed[k, l]`` excludes feature ``k``
    for target ``l``, or for all targets if it has one column; it must leave enough features. Targets are searched in blocks
    whose accumulators take 64 MB each: nothing of the size of all features and targets is kept.
    """
    n_features, n_targets = workspace.X.n_columns, workspace.Y.n_columns
    closed = np.zeros((n_features, 1), dtype=bool) if closed is None else closed
    suited = plan.suited_to(workspace)
    shared = can_share(suited) and not suited.keeps_terms
    width = max(1, PANEL_BYTES // (8 * n_features)) if shared else 1
    lists: list[Lists] = []
    first, end, _ = targets.indices(n_targets)
    for start in range(first, end, width):
        block = slice(start, min(end, start + width))
        of_block = np.broadcast_to(closed, (n_features, n_targets))[:, block]
        if shared:
            scorer = LabelwiseScorer(suited, workspace, block, parents)
            report = None if progress is None else partial(_in_all, progress, block, n_targets)
            if plan.is_ranking:
                lists.append(_ranked(scorer, n_selected, forced, of_block, last))
            else:
                lists.append(_greedy(scorer, n_selected, forced, of_block, last, report))
        else:
            excluded = np.flatnonzero(of_block[:, 0]).tolist()
            scores = plan.bind(workspace, targets=block, parents=parents)
            alone = GreedySearch(scores, n_features, forced, excluded, last)
            alone.extend(n_selected)
            lists.append((np.array([alone.selected], dtype=np.intp), np.array([alone.scores])))
            if progress is not None:
                progress(block.stop, n_targets)
    return np.concatenate([selected for selected, _ in lists]), np.concatenate([scores for _, scores in lists])


def together(rows: Sequence[tuple[NDArray[np.intp], NDArray[np.float64]]]) -> Lists:
    """Lists of any lengths, with their scores, as two arrays padded with -1 and NaN.

    >>> together([(np.array([4, 2]), np.array([0.5, 0.1])), (np.array([3]), np.array([0.2]))])[0]
    array([[ 4,  2], [ 3, -1]])
    """
    longest = max(len(columns) for columns, _ in rows)
    selected, scores = np.full((len(rows), longest), -1, dtype=np.intp), np.full((len(rows), longest), np.nan)
    for row, (columns, values) in enumerate(rows):
        selected[row, : len(columns)], scores[row, : len(columns)] = columns, values
    return selected, scores


def _in_all(progress: Progress, block: slice, n_targets: int, done: int, n_selected: int) -> None:
    """Report the picks of a block relative to those of all targets."""
    progress(block.start * n_selected + done * (block.stop - block.start), n_targets * n_selected)


def _greedy(
    scorer: LabelwiseScorer,
    n_selected: int,
    forced: Sequence[int],
    closed: NDArray[np.bool_],
    last: NDArray[np.intp],
    progress: Progress | None,
) -> Lists:
    """One pick after the other, for all targets of a block."""
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
    """Scores that do not depend on the selection are sorted once."""
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
    """The first columns of every row in descending order, ties from the left, without sorting the others."""
    selected = np.empty((len(scores), n_selected), dtype=np.intp)
    least = -np.partition(-scores, n_selected - 1, axis=1)[:, n_selected - 1]
    for row, (values, threshold) in enumerate(zip(scores, least, strict=True)):
        enough = np.flatnonzero(values >= threshold)
        selected[row] = enough[np.argsort(-values[enough], kind="stable")[:n_selected]]
    return selected, np.take_along_axis(scores, selected, axis=1)
