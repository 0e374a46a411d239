"""Greedy lists for many targets among all sparse features, from the non-empty tables.

For each target, the features that have a listed row in common with it are evaluated one by one. All others are in groups by the
number of rows that they list: a group is looked into only if an upper bound of its scores is as large as the best score.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.formula.labelwise import LabelwiseScorer
from labelsieve.formula.plan import Plan
from labelsieve.search.many_labels.bounds import GroupBounds
from labelsieve.search.many_labels.listed import (
    VISITS,
    Columns,
    ListedRows,
    Lists,
    Newest,
    PairTables,
    blocks_of,
    ragged,
    visits,
)

Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]
Counts = NDArray[np.int64]
GROUP_RATIO = 1.25  # of the largest to the smallest number of rows in a group
PAIRS = 2**18  # of a target and a feature, or a group of them, that are evaluated together
FIRST_OPENED = 2  # features of a target that are evaluated before bounds are compared again, then four times as many


def lists_from_non_empty(
    plan: Plan, fixed: FixedPoint, columns: Columns, n_selected: int, targets: range, available: Mask
) -> Iterator[Lists]:
    """Yield ``n_selected`` features for each target, and their scores, in blocks of targets: those of a search among all.

    Cost of a step: the common rows of targets and features, the features that have a row in common with the selected one, and
    the bounds of all groups, of which there are a few dozen.
    """
    features, of_targets = columns
    groups = MarginGroups(features, available)
    work = visits(features, of_targets)[targets.start : targets.stop]
    for block in blocks_of(work + len(groups.least), VISITS // 2, targets.start):
        search = _Block(plan, fixed, columns, block, groups)
        for step in range(n_selected):
            search.step()
            if step + 1 < n_selected:
                search.fold()
        yield search.selected, search.scores


class MarginGroups:
    """Available features by their numbers of listed rows: classes of the same number, and groups of similar numbers."""

    def __init__(self, features: ListedRows, available: Mask) -> None:
        counts, members = features.counts, np.flatnonzero(available)
        self.available = available
        self.members = members[np.argsort(counts[members], kind="stable")]  # by number of rows, then by feature
        self.margins, self.starts = np.unique(counts[self.members], return_index=True)
        self.ends = np.append(self.starts[1:], len(members))
        self.first_of_class = self.members[self.starts]
        level = np.where(self.margins > 0, 1 + np.floor(np.log(np.maximum(self.margins, 1)) / np.log(GROUP_RATIO)), 0)
        _, self.class_starts, group_of_class = np.unique(level, return_index=True, return_inverse=True)
        self.class_ends = np.append(self.class_starts[1:], len(level))
        self.least, self.most = self.margins[self.class_starts], self.margins[self.class_ends - 1]
        self.first_of_group = np.minimum.reduceat(self.first_of_class, self.class_starts)
        self.class_of, group_of = (np.full(len(counts), -1, dtype=np.int32) for _ in range(2))
        self.class_of[self.members] = np.repeat(np.arange(len(self.starts)), self.ends - self.starts)
        group_of[self.members] = group_of_class[self.class_of[self.members]]
        row_starts, columns = features.by_row.indptr.astype(np.int64), features.by_row.indices.astype(np.int32, copy=False)
        self.common_rows = core.CommonRows(row_starts, columns, features.starts, features.rows, group_of, len(self.least))


class _Waiting(NamedTuple):
    """Classes of features that may have a better one for a target, the best bound first: where they start and end."""

    target: int
    starts: Indices
    ends: Indices
    upper: NDArray[np.float64]
    is_known: Mask  # the bound is the score


class _Block:
    """A block of targets with their lists so far."""

    def __init__(self, plan: Plan, fixed: FixedPoint, columns: Columns, block: slice, groups: MarginGroups) -> None:
        self._plan, self._fixed, self._groups = plan, fixed, groups
        self._features, of_targets = columns
        self._size = block.stop - block.start
        self._listing = of_targets.counts[block]
        starts = of_targets.starts[block.start : block.stop + 1]
        self._rows = starts - starts[0], of_targets.rows[starts[0] : starts[-1]]
        # Pairs with a row in common are scored one by one at every step; there are few of them in sparse data.
        product = of_targets.by_column(block.start, block.stop) @ self._features.by_row
        self._indices, self._ends = product.indices.astype(np.int32, copy=False), product.indptr.astype(np.int64, copy=False)
        self._common = product.data.astype(np.int64)
        self._target = np.repeat(np.arange(self._size), np.diff(self._ends))
        of_features = self._features.counts[self._indices]
        self._pairs = LabelwiseScorer(plan, PairTables(fixed, of_features, self._listing[self._target], self._common))
        keys = self._target * len(groups.starts) + groups.class_of[self._indices]
        self._keys = np.sort(keys[groups.available[self._indices]])  # of targets and classes
        self._barred = np.where(groups.available[self._indices], 0.0, -np.inf)
        n_groups = len(groups.least)
        target, group = np.repeat(np.arange(self._size), n_groups), np.tile(np.arange(n_groups), self._size)
        has_others = self._has_others(target, groups.class_starts[group], groups.class_ends[group])
        self._group_target, self._group = target[has_others], group[has_others]
        least, most = groups.least[self._group], groups.most[self._group]
        self._bounds = GroupBounds(plan, fixed, least, most, self._listing[self._group_target])
        self._is_marked = np.zeros(self._features.n_rows, dtype=bool)
        self._is_closed = np.zeros(len(self._features.counts), dtype=bool)
        self._with_target: list[Counts] = []  # for each step: rows of the selected feature in common with the target
        self._most_common: list[Counts] = []  # and those in common with a feature of each group, at most
        self.selected = np.empty((self._size, 0), dtype=np.intp)
        self.scores = np.empty((self._size, 0))

    def step(self) -> None:
        """Add the best feature of every target to its list."""
        self._best = np.full(self._size, -np.inf)
        self._index = np.full(self._size, len(self._features.counts), dtype=np.intp)
        self._improve(self._target, self._indices, self._pairs.scores()[:, 0] + self._barred)
        # Among one more feature than were selected, at least one is still free.
        first = np.flatnonzero(self._groups.available)[: self.selected.shape[1] + 1]
        without = np.flatnonzero(self._best == -np.inf).tolist()  # targets that have no feature to compare bounds with
        self._evaluate([(target, np.setdiff1d(first, self.selected[target])[:1]) for target in without])
        # Most groups end here: the bound of all their features is below the best pair of the target.
        kept = self._is_promising(self._group_target, self._bounds.bounds(), self._groups.first_of_group[self._group])
        target, group = self._group_target[kept], self._group[kept]
        n_classes = (self._groups.class_ends - self._groups.class_starts)[group]
        for part in blocks_of(n_classes, PAIRS):
            self._look_into(target[part], group[part])
        self._barred[(self._indices == self._index[self._target])] = -np.inf
        self.selected = np.column_stack([self.selected, self._index])
        self.scores = np.column_stack([self.scores, self._best])

    def fold(self) -> None:
        """Condition on the newest feature of every target."""
        newest, n_groups = self.selected[:, -1], len(self._groups.least)
        with_feature, with_both = np.empty_like(self._common), np.empty_like(self._common)
        with_target = np.empty(self._size, dtype=np.int64)
        most_common = np.empty((self._size, n_groups), dtype=np.int64)
        self._groups.common_rows.count(
            newest, *self._rows, self._ends, self._indices, with_feature, with_both, with_target, most_common.ravel()
        )
        of_newest = self._features.counts[newest]
        self._pairs.select(Newest(of_newest[self._target], with_feature, with_target[self._target], with_both))
        target = self._group_target
        self._bounds.select(of_newest[target], with_target[target], most_common[target, self._group])
        self._with_target.append(with_target)
        self._most_common.append(most_common)

    def _has_others(self, target: Indices, first: Indices, last: Indices) -> Mask:
        """Mark whether classes ``first`` to ``last`` have features without a row in common with a target."""
        keys = target * len(self._groups.starts)
        n_paired = np.searchsorted(self._keys, keys + last) - np.searchsorted(self._keys, keys + first)
        has_others: Mask = n_paired < self._groups.ends[last - 1] - self._groups.starts[first]
        return has_others

    def _is_promising(self, target: Indices, bounds: NDArray[np.float64], first: Indices) -> Mask:
        """Mark features that may be better than the best one of a target, or as good with a smaller index."""
        best, index = self._best[target], self._index[target]
        is_promising: Mask = (bounds > best) | ((bounds == best) & (first < index))
        return is_promising

    def _improve(self, target: Indices, features: Indices, scores: NDArray[np.float64]) -> None:
        """Replace the best features so far where others are better; ties go to the smaller index."""
        before = self._best.copy()
        np.maximum.at(self._best, target, scores)
        self._index[self._best > before] = len(self._is_closed)  # above all features: the minimum replaces it
        reached = (scores == self._best[target]) & (scores > -np.inf)
        np.minimum.at(self._index, target[reached], features[reached])

    def _look_into(self, target: Indices, group: Indices) -> None:
        """Compare the classes of some groups with the best features, and open those that may have a better one."""
        groups = self._groups
        counts = (groups.class_ends - groups.class_starts)[group]
        classes = ragged(groups.class_starts[group], counts)
        target, group = np.repeat(target, counts), np.repeat(group, counts)
        has_others = self._has_others(target, classes, classes + 1)
        target, group, classes = target[has_others], group[has_others], classes[has_others]
        margins, listing = groups.margins[classes], self._listing[target]
        possible = margins + listing <= self._fixed.total  # with more rows, some are in common
        is_known, is_empty = np.ones(len(classes), dtype=bool), ~possible
        margins = np.where(possible, margins, 0)
        bounds = GroupBounds(self._plan, self._fixed, margins, margins, listing)
        exact = LabelwiseScorer(self._plan, PairTables(self._fixed, margins, listing, np.zeros_like(margins)))
        none = np.zeros_like(margins)
        for step, (with_target, most_common) in enumerate(zip(self._with_target, self._most_common, strict=True)):
            of_selected, m = self._features.counts[self.selected[target, step]], with_target[target]
            # No feature of the class has more rows in common with the selected one; 0 makes its tables, and its score, known.
            x = np.minimum(np.minimum(most_common[target, group], margins), of_selected - m)
            is_known &= x == 0
            bounds.select(of_selected, m, x)
            impossible = margins + listing + of_selected - m > self._fixed.total
            is_empty |= impossible & (x == 0)
            with_feature = np.where(impossible, np.minimum(margins, of_selected), none)
            exact.select(Newest(of_selected, with_feature, m, none))
        upper = np.where(is_empty, -np.inf, np.where(is_known, exact.scores()[:, 0], bounds.bounds()))
        first = groups.first_of_class[classes]
        order = np.lexsort((first, -upper, target))
        order = order[self._is_promising(target[order], upper[order], first[order])]
        starts, ends = groups.starts[classes], groups.ends[classes]
        waiting = [
            _Waiting(int(target[part[0]]), starts[part], ends[part], upper[part], is_known[part])
            for part in (np.split(order, np.flatnonzero(np.diff(target[order])) + 1) if len(order) else [])
        ]
        # A few features at first: the best of them often closes the other classes. Then four times as many.
        budget = FIRST_OPENED
        while waiting:
            opened = [self._open(one, budget) for one in waiting]
            self._evaluate([(one.target, features) for one, (features, _) in zip(waiting, opened, strict=True)])
            waiting = [left for _, left in opened if len(left.starts)]
            budget *= 4

    def _open(self, waiting: "_Waiting", budget: int) -> tuple[Indices, "_Waiting"]:
        """Return the most promising features of a target, at most ``budget``, and the classes that are left.

        A class of which the score is known is not evaluated: its first feature that is free is compared at once.
        """
        target, starts, ends, upper, is_known = waiting
        kept = self._is_promising(np.full(len(upper), target), upper, self._groups.members[starts])
        starts, ends, upper, is_known = starts[kept], ends[kept], upper[kept], is_known[kept]
        closed = np.concatenate([self._indices[self._ends[target] : self._ends[target + 1]], self.selected[target]])
        self._is_closed[closed] = True
        found, number = [np.empty(0, dtype=np.intp)], 0
        while number < len(starts) and budget > 0:
            part = self._groups.members[starts[number] : min(ends[number], starts[number] + budget)]
            budget -= len(part)
            starts[number] += len(part)
            free = part[~self._is_closed[part]]
            if not is_known[number]:
                found.append(free)
            elif len(free):
                self._improve(np.array([target]), free[:1], upper[[number]])
                starts[number] = ends[number]
            number += int(starts[number] == ends[number])
        self._is_closed[closed] = False
        return np.concatenate(found), _Waiting(target, starts[number:], ends[number:], upper[number:], is_known[number:])

    def _evaluate(self, opened: list[tuple[int, Indices]]) -> None:
        """Evaluate features that have no row in common with their targets."""
        target = np.repeat([one for one, _ in opened], [len(members) for _, members in opened])
        features = np.concatenate([members for _, members in opened]) if opened else np.empty(0, dtype=np.intp)
        listed = self._features.counts[features]
        for part in blocks_of(listed + 8, VISITS):
            self._improve(target[part], features[part], self._scores_of(target[part], features[part]))

    def _scores_of(self, target: Indices, features: Indices) -> NDArray[np.float64]:
        rows, ends = self._features.rows_of(features)
        none = np.zeros(len(features), dtype=np.int64)
        scorer = LabelwiseScorer(self._plan, PairTables(self._fixed, np.diff(ends), self._listing[target], none))
        starts = np.flatnonzero(np.diff(target, prepend=-1))
        bounds = ends[np.append(starts, len(target))]
        hits = np.empty(len(rows), dtype=bool)
        for step, with_target in enumerate(self._with_target):
            newest = self.selected[target, step]
            for one, start, end in zip(newest[starts].tolist(), bounds[:-1], bounds[1:], strict=True):
                listed = self._features[one]
                self._is_marked[listed] = True
                np.take(self._is_marked, rows[start:end], out=hits[start:end])
                self._is_marked[listed] = False
            common = np.diff(np.searchsorted(np.flatnonzero(hits), ends))
            scorer.select(Newest(self._features.counts[newest], common, with_target[target], none))
        return scorer.scores()[:, 0]
