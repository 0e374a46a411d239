"""Scores for each of very many labels, computed from the lists of the rows that have a feature or a label."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.workspace import Workspace
from labelsieve.formula.labelwise import LabelwiseScorer
from labelsieve.formula.nodes import Variables
from labelsieve.formula.plan import Plan
from labelsieve.formula.sources import Context, Tables
from labelsieve.formula.values import Fixed
from labelsieve.tables.codes import Codes

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ListedRows:
    """For each column, the rows in which it has its rarer level, ascending.

    >>> listed = ListedRows.of(Codes.from_values(sp.csc_array([[1, 0], [0, 0], [1, 1]])))
    >>> listed[0], listed.counts
    (array([0, 2]), array([2, 1]))
    """

    starts: NDArray[np.int64]
    rows: NDArray[np.int64]
    n_rows: int

    @classmethod
    def of(cls, codes: Codes) -> "ListedRows | None":
        """List the rows of sparse codes with at most two levels in every column and all cells known; None for other codes."""
        sparse = codes.sparse
        if sparse is None or codes.has_missing or codes.levels.max() > 2:
            return None
        listed = sparse.codes != np.repeat(sparse.implicit, np.diff(sparse.starts))
        if listed.all():
            return cls(sparse.starts, sparse.rows.astype(np.int64), codes.n_rows)
        starts = np.concatenate([[0], np.cumsum(listed, dtype=np.int64)])[sparse.starts]
        return cls(starts, sparse.rows[listed].astype(np.int64), codes.n_rows)

    def __getitem__(self, column: int) -> NDArray[np.int64]:
        return self.rows[self.starts[column] : self.starts[column + 1]]

    def rows_of(self, columns: NDArray[np.intp]) -> tuple[NDArray[np.int64], Counts]:
        """Return the rows that some columns list, one column after the other, and where each starts and the last one ends."""
        counts = self.counts[columns]
        return self.rows[ragged(self.starts[columns], counts)], np.concatenate([[0], np.cumsum(counts)])

    @cached_property
    def counts(self) -> Counts:
        """The number of rows that each column lists."""
        return np.diff(self.starts)

    @cached_property
    def by_row(self) -> sp.csr_array:
        """Rows by columns, with ones where a row is listed."""
        ones = np.ones(len(self.rows), dtype=np.int32)
        return sp.csc_array((ones, self.rows, self.starts), shape=(self.n_rows, len(self.counts))).tocsr()

    def by_column(self, first: int, last: int) -> sp.csr_array:
        """Return columns ``first`` to ``last`` by rows, with ones where a row is listed."""
        starts = self.starts[first : last + 1]
        rows = self.rows[starts[0] : starts[-1]]
        return sp.csr_array((np.ones(len(rows), dtype=np.int32), rows, starts - starts[0]), shape=(last - first, self.n_rows))


def ragged(starts: NDArray[np.integer], counts: NDArray[np.integer]) -> Counts:
    """Return ranges of numbers one after the other, each from its start and as long as its count.

    >>> ragged(np.array([7, 2]), np.array([2, 3]))
    array([7, 8, 2, 3, 4])
    """
    ends = np.cumsum(counts)
    numbers: Counts = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + counts, counts)
    return numbers


def visits(features: ListedRows, targets: ListedRows) -> Counts:
    """Count, for each target, the pairs of a row that it lists and a feature that lists this row too."""
    of_row = np.bincount(features.rows, minlength=features.n_rows)  # features that list each row
    return np.diff(np.concatenate([[0], np.cumsum(of_row[targets.rows])])[targets.starts])


def blocks_of(work: Counts, most: int, start: int = 0) -> Iterator[slice]:
    """Yield slices of consecutive items whose work adds up to at most ``most``, or of single items.

    >>> [(block.start, block.stop) for block in blocks_of(np.array([3, 3, 9, 1]), 6)]
    [(0, 2), (2, 3), (3, 4)]
    """
    ends = np.cumsum(work)
    first = 0
    while first < len(work):
        done = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + most, side="right")))
        yield slice(start + first, start + last)
        first = last


def can_list(plan: Plan) -> bool:
    """True when the tables of a pair, alone and with a selected feature, are all that a formula needs."""
    return plan.needs.keys() <= {None, "s"} and not plan.keeps_terms


class Newest(NamedTuple):
    """For each pair, the newest feature of its target: the rows that it lists, and those in common with others of the pair."""

    listed: Counts
    with_feature: Counts
    with_target: Counts
    with_both: Counts


class PairTables(Tables):
    """Tables of pairs of a feature and a target, and of both with the newest selected feature of the target.

    Every pair is a row of its own, and there is one column. The arrays are, for each pair, the rows that the feature lists,
    those that the target lists, and those that both list.
    """

    def __init__(self, fixed: FixedPoint, of_features: Counts, of_targets: Counts, common: Counts) -> None:
        assert fixed.values is not None
        self.fixed, self.n_features, self.n_targets, self._values = fixed, len(common), 1, fixed.values
        self._listed = {"f": of_features, "y": of_targets}
        self._both = {frozenset("fy"): common}
        self._all = common  # of the feature, the target and the newest feature
        self._tables: dict[Variables, Fixed] = {}

    def select(self, newest: Newest) -> None:
        self._listed["s"], self._all = newest.listed, newest.with_both
        self._both |= {frozenset("fs"): newest.with_feature, frozenset("sy"): newest.with_target}
        self._tables = {names: table for names, table in self._tables.items() if "s" not in names}

    def table(self, names: Variables, context: Context) -> Fixed:
        if names not in self._tables:
            self._tables[names] = self._sum(names)[:, np.newaxis]
        return self._tables[names]

    def _sum(self, names: Variables) -> Fixed:
        # Cells by inclusion and exclusion: the rows that variables list, and list together, give every cell of the table.
        value, n = self._values, self.fixed.total
        listed = [self._listed[name] for name in sorted(names)]
        if not names:
            return np.array([self.fixed.top])
        if len(names) == 1:
            return value[listed[0]] + value[n - listed[0]]
        if len(names) == 2:
            (a, b), both = listed, self._both[names]
            four: Fixed = value[both] + value[a - both] + value[b - both] + value[n - a - b + both]
            return four
        (f, s, y), fs, fy, sy, every = listed, *(self._both[frozenset(pair)] for pair in ("fs", "fy", "sy")), self._all
        two = value[fs - every] + value[fy - every] + value[sy - every]
        one = value[f - fs - fy + every] + value[s - fs - sy + every] + value[y - fy - sy + every]
        eight: Fixed = value[every] + two + one + value[n - f - s - y + fs + fy + sy - every]
        return eight


VISITS = 2**22  # common rows that are looked at together
Lists = tuple[NDArray[np.intp], NDArray[np.float64]]
Columns = tuple[ListedRows, ListedRows]


def listed_columns(plan: Plan, workspace: Workspace) -> Columns | None:
    """Return the rows that features and targets list, if the tables of ``plan`` can be computed from them; else None."""
    plain = workspace.options.weights is None and workspace.row_index is None and workspace.target_weights is None
    if not plain or workspace.by_term or workspace.fixed.values is None or not can_list(plan):
        return None
    features, targets = ListedRows.of(workspace.X), ListedRows.of(workspace.Y)
    return None if features is None or targets is None else (features, targets)


def rank_listed(
    plan: Plan, fixed: FixedPoint, columns: Columns, n_selected: int, targets: range, available: NDArray[np.bool_]
) -> Iterator[Lists]:
    """Yield the ``n_selected`` features of the largest scores of a ranking for each target, in blocks of targets.

    Cost: the common rows of targets and features, and a few look-ups for each distinct pair of numbers of listed rows.
    """
    features, of_targets = columns
    empty = EmptyTables(plan, fixed, features.counts, available)
    work = visits(features, of_targets)[targets.start : targets.stop]
    is_common = np.zeros(len(features.counts), dtype=bool)
    for block in blocks_of(work, VISITS, targets.start):
        # Entries of the sparse product are the pairs with common rows; all other pairs score by their margins alone.
        product = of_targets.by_column(block.start, block.stop) @ features.by_row
        common, listing = product.data.astype(np.int64), np.repeat(of_targets.counts[block], np.diff(product.indptr))
        tables = PairTables(fixed, features.counts[product.indices], listing, common)
        scores = LabelwiseScorer(plan, tables).scores()[:, 0]
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
        """Return the best features for a target with ``n_listed`` rows, without those that have a row in common with it."""
        size = 4 * n_wanted  # of the ranked features, some have rows in common with this target and are skipped
        features, scores = self._ranked.get(n_listed) or self._rank(n_listed, size)
        while True:
            free = np.flatnonzero(~is_common[features[:size]])
            if len(free) >= n_wanted or size >= len(self._members):
                return features[free[:n_wanted]], scores[free[:n_wanted]]
            size *= 4
            if len(features) < min(size, len(self._members)):
                features, scores = self._rank(n_listed, size)

    def _rank(self, n_listed: int, n_wanted: int) -> Lists:
        """Rank at least ``n_wanted`` features of the largest scores, the best first, ties from the left."""
        possible = self._distinct + n_listed <= self._fixed.total  # with more rows, some are in common
        listing, none = np.full(len(self._distinct), n_listed), np.zeros(len(self._distinct), dtype=np.int64)
        scores = np.full(len(self._distinct), -np.inf)
        tables = PairTables(self._fixed, self._distinct[possible], listing[possible], none[possible])
        scores[possible] = LabelwiseScorer(self._plan, tables).scores()[:, 0]
        sizes = self._ends - self._first
        order = np.argsort(-scores, kind="stable")
        enough = min(len(order) - 1, int(np.searchsorted(np.cumsum(sizes[order]), n_wanted)))
        kept = np.flatnonzero(scores >= scores[order[enough]])  # whole classes, all of those that tie with the last
        features = np.concatenate([self._members[self._first[one] : self._ends[one]] for one in kept])
        ranked = _first(features, np.repeat(scores[kept], sizes[kept]), len(features))
        self._ranked[n_listed] = ranked
        return ranked


class CandidateScorer:
    """Scores of the candidates of some targets, ``(n_candidates, n_targets)``, given the features selected for each target.

    ``candidates`` has the features of every target, ascending. Cost of a step: the rows that the candidates list.
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
        self._scorer = LabelwiseScorer(plan, PairTables(fixed, listed, listing, self._common))

    def scores(self) -> NDArray[np.float64]:
        """Return the score of every candidate for its target, in nats."""
        return self._scorer.scores()[:, 0].reshape(self._candidates.shape).T

    def select(self, best: NDArray[np.intp]) -> None:
        """Add candidate ``best[l]`` to the selected ones of target ``l``."""
        if self._is_ranking:
            return
        newest, width = self._candidates[self._size, best], self._candidates.shape[1]
        # Only the rows of the candidates are looked at, marked by membership in the newest feature and in the target.
        in_newest = self._hits([self._features[feature] for feature in newest])
        with_target = self._common.reshape(self._candidates.shape)[self._size, best]
        of_newest, with_target = np.repeat(self._features.counts[newest], width), np.repeat(with_target, width)
        with_both = self._sums(in_newest & self._in_target)
        self._scorer.select(Newest(of_newest, self._sums(in_newest), with_target, with_both))

    def _hits(self, listed: list[NDArray[np.int64]]) -> NDArray[np.bool_]:
        """Mark the rows of the candidates of each target that are among the rows listed for it."""
        hits, ends = np.empty(len(self._rows), dtype=bool), self._ends[:: self._candidates.shape[1]]
        for rows, start, end in zip(listed, ends[:-1], ends[1:], strict=True):
            self._is_marked[rows] = True
            np.take(self._is_marked, self._rows[start:end], out=hits[start:end])
            self._is_marked[rows] = False
        return hits

    def _sums(self, hits: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Count the hits of each pair."""
        return np.diff(np.searchsorted(np.flatnonzero(hits), self._ends))


def _first(features: NDArray[np.intp], scores: NDArray[np.float64], n_selected: int) -> Lists:
    """Return the features of the largest scores in descending order, ties from the left."""
    if len(scores) > 4 * n_selected:
        enough = np.flatnonzero(scores >= -np.partition(-scores, n_selected - 1)[n_selected - 1])
        features, scores = features[enough], scores[enough]
    order = np.lexsort((features, -scores))[:n_selected]
    return features[order], scores[order]
