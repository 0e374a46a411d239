"""Greedy lists for many targets among all sparse features, from the tables that are not empty.

For each target, the features that have a listed row in common with it are evaluated one by one. All others are in groups by the
number of rows that they list: a group is looked into only if an upper bound of its scores is as large as the best score.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.listed_rows import blocks_of, ragged, visits
from labelsieve.formula.group_bounds import GroupBounds
from labelsieve.formula.listed_pairs import PairScorer
from labelsieve.formula.plan import Plan
from labelsieve.search.listed_search import VISITS, Columns, Lists

Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]
Counts = NDArray[np.int64]
GROUP_RATIO = 1.25  # of the largest to the smallest number of rows in a group
PAIRS = 2**18  # of a target and a feature, or a group of them, that are evaluated together
FIRST_OPENED = 64  # features of a target that are evaluated before bounds are compared again


def lists_from_non_empty(
    plan: Plan, fixed: FixedPoint, columns: Columns, n_selected: int, targets: range, available: Mask
) -> Iterator[Lists]:
    """``n_selected`` features for each target, and their scores, in blocks of targets: those of a search among all features.

    Cost of a pick: the common rows of targets and features, the features that have a row in common with the selected one, and
    the bounds of all groups, of which there are a few dozen.
    """
    features, of_targets = columns
    groups = MarginGroups(features.counts, available)
    work = visits(features, of_targets)[targets.start : targets.stop]
    for block in blocks_of(work + len(groups.least), VISITS // 2, targets.start):
        search = _Block(plan, fixed, columns, block, groups)
        for step in range(n_selected):
            search.pick()
            if step + 1 < n_selected:
                search.fold()
        yield search.selected, search.scores


class MarginGroups:
    """Available features by their numbers of listed rows: classes of the same number, and groups of similar numbers."""

    def __init__(self, counts: Counts, available: Mask) -> None:
        members = np.flatnonzero(available)
        self.available = available
        self.members = members[np.argsort(counts[members], kind="stable")]  # by number of rows, then by feature
        self.margins, self.starts = np.unique(counts[self.members], return_index=True)
        self.ends = np.append(self.starts[1:], len(members))
        self.first_of_class = self.members[self.starts]
        level = np.where(self.margins > 0, 1 + np.floor(np.log(np.maximum(self.margins, 1)) / np.log(GROUP_RATIO)), 0)
        _, self.class_starts, self.group_of_class = np.unique(level, return_index=True, return_inverse=True)
        self.class_ends = np.append(self.class_starts[1:], len(level))
        self.least, self.most = self.margins[self.class_starts], self.margins[self.class_ends - 1]
        self.first_of_group = np.minimum.reduceat(self.first_of_class, self.class_starts)
        self.of_feature = np.full(len(counts), -1)
        self.of_feature[self.members] = np.repeat(self.group_of_class, self.ends - self.starts)


class _Block:
    """A block of targets with their lists so far."""

    def __init__(self, plan: Plan, fixed: FixedPoint, columns: Columns, block: slice, groups: MarginGroups) -> None:
        self._plan, self._fixed, self._groups = plan, fixed, groups
        self._features, of_targets = columns
        self._size = block.stop - block.start
        self._listing = of_targets.counts[block]
        self._rows = of_targets.by_column(block.start, block.stop)
        product = self._rows @ self._features.by_row
        self._indices, self._ends, self._common = product.indices, product.indptr, product.data.astype(np.int64)
        self._target = np.repeat(np.arange(self._size), np.diff(self._ends))
        of_features = self._features.counts[self._indices]
        self._pairs = PairScorer(plan, fixed, of_features, self._listing[self._target], self._common)
        self._barred = np.where(groups.available[self._indices], 0.0, -np.inf)
        n_groups = len(groups.least)
        least, most = (np.tile(counts, self._size) for counts in (groups.least, groups.most))
        self._bounds = GroupBounds(plan, fixed, least, most, np.repeat(self._listing, n_groups))
        self._is_marked = np.zeros(self._features.n_rows, dtype=bool)
        self._is_closed = np.zeros(len(self._features.counts), dtype=bool)
        self._with_target: list[Counts] = []  # for each pick: rows of the selected feature in common with the target
        self._most_common: list[Counts] = []  # and those in common with a feature of each group, at most
        self.selected = np.empty((self._size, 0), dtype=np.intp)
        self.scores = np.empty((self._size, 0))

    def pick(self) -> None:
        """Add the best feature of every target to its list."""
        self._best = np.full(self._size, -np.inf)
        self._index = np.full(self._size, len(self._features.counts), dtype=np.intp)
        self._improve(self._target, self._indices, self._pairs.scores() + self._barred)
        shape = self._size, len(self._groups.least)
        target, group = np.nonzero(self._promising(self._bounds.bounds().reshape(shape), self._groups.first_of_group))
        n_classes = (self._groups.class_ends - self._groups.class_starts)[group]
        for part in blocks_of(n_classes, PAIRS):
            self._look_into(target[part], group[part])
        self._barred[(self._indices == self._index[self._target])] = -np.inf
        self.selected = np.column_stack([self.selected, self._index])
        self.scores = np.column_stack([self.scores, self._best])

    def fold(self) -> None:
        """Condition on the newest feature of every target."""
        newest, starts = self.selected[:, -1], self._rows.indptr
        with_feature, with_target = np.empty(len(self._indices), dtype=np.int64), np.empty(self._size, dtype=np.int64)
        most_common = np.zeros((self._size, len(self._groups.least)), dtype=np.int64)
        counts = np.zeros(len(self._is_closed), dtype=np.int64)
        weighted = self._rows.copy()
        for feature, common, of_common in self._rows_of_products(np.unique(newest)):
            counts[common] = of_common
            of_group = self._groups.of_feature[common]
            listed = self._features[feature]
            self._is_marked[listed] = True
            for target in np.flatnonzero(newest == feature):
                part = slice(self._ends[target], self._ends[target + 1])
                with_feature[part] = counts[self._indices[part]]
                hits = self._is_marked[self._rows.indices[starts[target] : starts[target + 1]]]
                with_target[target] = np.count_nonzero(hits)
                weighted.data[starts[target] : starts[target + 1]] += hits
                self._is_closed[self._indices[part]] = True
                others = (of_group >= 0) & ~self._is_closed[common]
                np.maximum.at(most_common[target], of_group[others], of_common[others])
                self._is_closed[self._indices[part]] = False
            self._is_marked[listed] = False
            counts[common] = 0
        with_both = (weighted @ self._features.by_row).data - self._common  # rows of both count twice
        of_newest = self._features.counts[newest]
        self._pairs.select(of_newest[self._target], with_feature, with_target[self._target], with_both)
        n_groups = most_common.shape[1]
        self._bounds.select(np.repeat(of_newest, n_groups), np.repeat(with_target, n_groups), most_common.ravel())
        self._with_target.append(with_target)
        self._most_common.append(most_common)

    def _rows_of_products(self, features: Indices) -> Iterator[tuple[int, Indices, Counts]]:
        """For each of some features, the features that have a row in common with it, and the numbers of these rows."""
        of_row = np.diff(self._features.by_row.indptr)
        rows, ends = self._features.rows_of(features)
        work = np.diff(np.concatenate([[0], np.cumsum(of_row[rows])])[ends])
        for part in blocks_of(work, VISITS):
            product = self._features.take(features[part]) @ self._features.by_row
            for number, feature in enumerate(features[part].tolist()):
                inside = slice(product.indptr[number], product.indptr[number + 1])
                yield feature, product.indices[inside], product.data[inside]

    def _promising(self, bounds: NDArray[np.float64], first: Indices) -> Mask:
        """Groups that may have a better feature for each target, or the same score and a smaller index."""
        best, index = self._best[:, np.newaxis], self._index[:, np.newaxis]
        return (bounds > best) | ((bounds == best) & (first < index))

    def _improve(self, target: Indices, features: Indices, scores: NDArray[np.float64]) -> None:
        """Replace the best features so far where others are better; ties go to the smaller index."""
        before = self._best.copy()
        np.maximum.at(self._best, target, scores)
        self._index[self._best > before] = len(self._is_closed)
        reached = (scores == self._best[target]) & (scores > -np.inf)
        np.minimum.at(self._index, target[reached], features[reached])

    def _look_into(self, target: Indices, group: Indices) -> None:
        """Compare the classes of some groups of some targets with the best features, and open those that may have a better one."""
        groups = self._groups
        counts = (groups.class_ends - groups.class_starts)[group]
        classes = ragged(groups.class_starts[group], counts)
        target, group = np.repeat(target, counts), np.repeat(group, counts)
        margins, listing = groups.margins[classes], self._listing[target]
        possible = margins + listing <= self._fixed.total  # with more rows, some are in common
        is_known, is_empty = np.ones(len(classes), dtype=bool), ~possible
        margins = np.where(possible, margins, 0)
        bounds = GroupBounds(self._plan, self._fixed, margins, margins, listing)
        exact = PairScorer(self._plan, self._fixed, margins, listing, np.zeros_like(margins))
        none = np.zeros_like(margins)
        for step, (with_target, most_common) in enumerate(zip(self._with_target, self._most_common, strict=True)):
            of_selected, m = self._features.counts[self.selected[target, step]], with_target[target]
            x = np.minimum(np.minimum(most_common[target, group], margins), of_selected - m)
            is_known &= x == 0
            bounds.select(of_selected, m, x)
            impossible = margins + listing + of_selected - m > self._fixed.total
            is_empty |= impossible & (x == 0)
            exact.select(of_selected, np.where(impossible, np.minimum(margins, of_selected), none), m, none)
        upper = np.where(is_empty, -np.inf, np.where(is_known, exact.scores(), bounds.bounds()))
        best, index = self._best[target], self._index[target]
        kept = (upper > best) | ((upper == best) & (groups.first_of_class[classes] < index))
        order = np.flatnonzero(kept)
        order = order[np.lexsort((-upper[order], target[order]))]
        starts = np.flatnonzero(np.diff(target[order], prepend=-1))
        waiting = [
            (int(target[part[0]]), classes[part], upper[part], is_known[part]) for part in np.split(order, starts[1:]) if len(part)
        ]
        budget = FIRST_OPENED
        while waiting:
            waiting = self._open(waiting, budget)
            budget *= 4

    def _open(self, waiting: list[tuple[int, Indices, NDArray[np.float64], Mask]], budget: int) -> list:
        """Evaluate the most promising features of each target, about as many as ``budget``; what is left of the classes."""
        groups, later = self._groups, []
        opened: list[tuple[int, Indices]] = []
        for target, classes, upper, is_known in waiting:
            best, index = self._best[target], self._index[target]
            kept = (upper > best) | ((upper == best) & (groups.first_of_class[classes] < index))
            classes, upper, is_known = classes[kept], upper[kept], is_known[kept]
            if not len(classes):
                continue
            closed = np.concatenate([self._indices[self._ends[target] : self._ends[target + 1]], self.selected[target]])
            self._is_closed[closed] = True
            n_taken, found = 0, [np.empty(0, dtype=np.intp)]
            for number, one in enumerate(classes.tolist()):
                if n_taken and n_taken + groups.ends[one] - groups.starts[one] > budget:
                    later.append((target, classes[number:], upper[number:], is_known[number:]))
                    break
                members = self._free(one, upper[number] == self._best[target], int(self._index[target]), bool(is_known[number]))
                if is_known[number]:
                    if len(members):
                        self._improve(np.array([target]), members, upper[[number]])
                else:
                    found.append(members)
                    n_taken += len(members)
            self._is_closed[closed] = False
            opened.append((target, np.concatenate(found)))
        self._evaluate(opened)
        return later

    def _free(self, one: int, is_tie: bool, index: int, first_alone: bool) -> Indices:
        """Members of a class that can still be selected and have no row in common with the target."""
        members = self._groups.members[self._groups.starts[one] : self._groups.ends[one]]
        if is_tie:
            members = members[: np.searchsorted(members, index)]
        if not first_alone:
            return members[~self._is_closed[members]]
        size = FIRST_OPENED
        while True:
            free = np.flatnonzero(~self._is_closed[members[:size]])
            if len(free) or size >= len(members):
                return members[free[:1]]
            size *= 4

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
        scorer = PairScorer(self._plan, self._fixed, np.diff(ends), self._listing[target], none)
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
            scorer.select(self._features.counts[newest], common, with_target[target], none)
        return scorer.scores()
