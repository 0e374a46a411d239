"""Lists of features for many targets from the non-empty tables: sparse features and targets of two levels.

Most features and targets have no listed row in common. The scores of a ranking then depend on two numbers of listed rows alone,
so they are computed once for each distinct pair of them; only pairs with a common row are evaluated one by one.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.listed_rows import ListedRows, blocks_of, visits
from labelsieve.counting.workspace import Workspace
from labelsieve.formula.listed_pairs import PairScorer, can_list
from labelsieve.formula.plan import Plan

VISITS = 2**22  # common rows that are looked at together
Lists = tuple[NDArray[np.intp], NDArray[np.float64]]
Columns = tuple[ListedRows, ListedRows]


def listed_columns(plan: Plan, workspace: Workspace) -> Columns | None:
    """The rows that features and targets list, where the tables of ``plan`` can be computed from them; None elsewhere."""
    plain = workspace.options.weights is None and workspace.row_index is None and workspace.target_weights is None
    if not plain or workspace.by_term or workspace.fixed.values is None or not can_list(plan):
        return None
    features, targets = ListedRows.of(workspace.X), ListedRows.of(workspace.Y)
    return None if features is None or targets is None else (features, targets)


def rank_listed(
    plan: Plan, fixed: FixedPoint, columns: Columns, n_selected: int, targets: range, available: NDArray[np.bool_]
) -> Iterator[Lists]:
    """The ``n_selected`` features of the largest scores of a ranking for each target, in blocks of targets.

    Cost: the common rows of targets and features, and a few look-ups for each distinct pair of numbers of listed rows.
    """
    features, of_targets = columns
    empty = EmptyTables(plan, fixed, features.counts, available)
    work = visits(features, of_targets)[targets.start : targets.stop]
    is_common = np.zeros(len(features.counts), dtype=bool)
    for block in blocks_of(work, VISITS, targets.start):
        product = of_targets.by_column(block.start, block.stop) @ features.by_row
        common, listing = product.data.astype(np.int64), np.repeat(of_targets.counts[block], np.diff(product.indptr))
        scores = PairScorer(plan, fixed, features.counts[product.indices], listing, common).scores()
        size = block.stop - block.start
        best, values = np.empty((size, n_selected), dtype=np.intp), np.empty((size, n_selected))
        for number, n_listed in enumerate(of_targets.counts[block].tolist()):
            part = slice(product.indptr[number], product.indptr[number + 1])
            is_common[product.indices[part]] = True
            others, of_others = empty.largest(n_listed, n_selected, is_common)
            is_common[product.indices[part]] = False
            kept = available[product.indices[part]]
            candidates = np.concatenate([product.indices[part][kept], others])
            of_candidates = np.concatenate([scores[part][kept], of_others])
            best[number], values[number] = _first(candidates, of_candidates, n_selected)
        yield best, values


class EmptyTables:
    """Scores of features that have no listed row in common with a target: functions of two numbers of listed rows."""

    def __init__(self, plan: Plan, fixed: FixedPoint, counts: NDArray[np.int64], available: NDArray[np.bool_]) -> None:
        self._plan, self._fixed = plan, fixed
        members = np.flatnonzero(available)
        self._members = members[np.argsort(counts[members], kind="stable")]  # by their number of rows, then by number
        self._distinct, self._first = np.unique(counts[self._members], return_index=True)
        self._ends = np.append(self._first[1:], len(members))
        self._ranked: dict[int, Lists] = {}

    def largest(self, n_listed: int, n_wanted: int, is_common: NDArray[np.bool_]) -> Lists:
        """The best features for a target with ``n_listed`` rows, without those that have a row in common with it."""
        size = 4 * n_wanted
        features, scores = self._ranked.get(n_listed) or self._rank(n_listed, size)
        while True:
            free = np.flatnonzero(~is_common[features[:size]])
            if len(free) >= n_wanted or size >= len(self._members):
                return features[free[:n_wanted]], scores[free[:n_wanted]]
            size *= 4
            if len(features) < min(size, len(self._members)):
                features, scores = self._rank(n_listed, size)

    def _rank(self, n_listed: int, n_wanted: int) -> Lists:
        """At least ``n_wanted`` features of the largest scores, the best first, ties from the left."""
        possible = self._distinct + n_listed <= self._fixed.total  # with more rows, some are in common
        listing, none = np.full(len(self._distinct), n_listed), np.zeros(len(self._distinct), dtype=np.int64)
        scores = np.full(len(self._distinct), -np.inf)
        scorer = PairScorer(self._plan, self._fixed, self._distinct[possible], listing[possible], none[possible])
        scores[possible] = scorer.scores()
        sizes = self._ends - self._first
        order = np.argsort(-scores, kind="stable")
        enough = min(len(order) - 1, int(np.searchsorted(np.cumsum(sizes[order]), n_wanted)))
        kept = np.flatnonzero(scores >= scores[order[enough]])
        features = np.concatenate([self._members[self._first[one] : self._ends[one]] for one in kept])
        ranked = _first(features, np.repeat(scores[kept], sizes[kept]), len(features))
        self._ranked[n_listed] = ranked
        return ranked


class CandidateScorer:
    """Scores of the candidates of some targets, ``(n_candidates, n_targets)``, given the features selected for each target.

    Parameters
    ----------
    plan, fixed, columns
        As for :func:`rank_listed`.
    targets : slice
    candidates : ndarray of int, shape (n_targets, n_candidates)
        Features, ascending.

    Notes
    -----
    Cost of a step: the rows that the candidates list.
    """

    def __init__(self, plan: Plan, fixed: FixedPoint, columns: Columns, targets: slice, candidates: NDArray[np.intp]) -> None:
        features, of_targets = columns
        self._features, self._candidates, self._size = features, candidates, np.arange(len(candidates))
        self._is_ranking = "s" not in plan.needs
        listed = features.counts[candidates.ravel()]
        self._rows, self._ends = features.rows_of(candidates.ravel())
        self._is_marked = np.zeros(features.n_rows, dtype=bool)
        self._in_target = self._hits([of_targets[target] for target in range(targets.start, targets.stop)])
        self._common = self._sums(self._in_target)
        listing = np.repeat(of_targets.counts[targets], candidates.shape[1])
        self._scorer = PairScorer(plan, fixed, listed, listing, self._common)

    def scores(self) -> NDArray[np.float64]:
        """Score of every candidate for its target, in nats."""
        return self._scorer.scores().reshape(self._candidates.shape).T

    def select(self, best: NDArray[np.intp]) -> None:
        """Add candidate ``best[l]`` to the selected ones of target ``l``."""
        if self._is_ranking:
            return
        newest, width = self._candidates[self._size, best], self._candidates.shape[1]
        in_newest = self._hits([self._features[feature] for feature in newest])
        with_target = self._common.reshape(self._candidates.shape)[self._size, best]
        of_newest, with_target = np.repeat(self._features.counts[newest], width), np.repeat(with_target, width)
        self._scorer.select(of_newest, self._sums(in_newest), with_target, self._sums(in_newest & self._in_target))

    def _hits(self, listed: list[NDArray[np.int64]]) -> NDArray[np.bool_]:
        """Which rows of the candidates of each target are among the rows that are listed for it."""
        hits, ends = np.empty(len(self._rows), dtype=bool), self._ends[:: self._candidates.shape[1]]
        for rows, start, end in zip(listed, ends[:-1], ends[1:], strict=True):
            self._is_marked[rows] = True
            np.take(self._is_marked, self._rows[start:end], out=hits[start:end])
            self._is_marked[rows] = False
        return hits

    def _sums(self, hits: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The number of hits of each pair."""
        return np.diff(np.searchsorted(np.flatnonzero(hits), self._ends))


def _first(features: NDArray[np.intp], scores: NDArray[np.float64], n_selected: int) -> Lists:
    """The features of the largest scores in descending order, ties from the left."""
    if len(scores) > 4 * n_selected:
        enough = np.flatnonzero(scores >= -np.partition(-scores, n_selected - 1)[n_selected - 1])
        features, scores = features[enough], scores[enough]
    order = np.lexsort((features, -scores))[:n_selected]
    return features[order], scores[order]
