"""Search beyond greedy: floating search and swaps, for criteria that are objectives of sets."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError
from labelsieve.formula.evaluation import Scorer
from labelsieve.formula.plan import Plan
from labelsieve.search.gains import Gain, Progress
from labelsieve.search.greedy import GreedySearch
from labelsieve.search.pairwise_terms import PairwiseTerms, Real

Strategy = Literal["floating", "swap"]
Columns = Sequence[int] | NDArray[np.intp]
TOLERANCE = 1e-12  # relative: smaller increases of the objective are rounding


@dataclass
class SetSearch(GreedySearch):
    """A search for the set of a given size with the largest objective, with the interface of :class:`GreedySearch`.

    ``"floating"`` is sequential floating forward selection [Pudil, Novovicova and Kittler 1994]: after every feature that is
    added, features are removed as long as that gives the best set so far of the smaller size. ``"swap"`` exchanges features of
    the greedy set for others, always the pair that increases the objective most, until none does. Neither finds less than
    greedy search; neither is exhaustive.

    Features are listed in the order in which greedy search would add those of the set. Sets of different sizes need not be
    nested: a larger number starts again, with the counts that are kept.

    Parameters
    ----------
    gain, n_features, forced, excluded, last
        As for :class:`GreedySearch`.
    terms : PairwiseTerms
        The scores in their parts.
    strategy : {"floating", "swap"}

    Attributes
    ----------
    selected, scores, last_scores, relevance
        As for :class:`GreedySearch`; scores have no components.
    objective, greedy_objective : float
        That of the set, and that of the greedy set of the same size.
    """

    terms: PairwiseTerms = field(kw_only=True)
    strategy: Strategy = field(kw_only=True)
    objective: float = 0.0
    greedy_objective: float = 0.0

    def extend(self, n_selected: int, progress: Progress | None = None) -> None:
        """Find the set of ``n_selected`` features, or of all that are left."""
        n_selected = max(min(n_selected, self.n_available), len(self.forced))
        self._pool = np.ones(self.n_features, dtype=bool)
        self._pool[[*self.excluded, *self.last, *self.forced]] = False
        n_searched = min(n_selected, len(self.forced) + int(self._pool.sum()))
        greedy = self._greedy(list(self.forced), n_searched)
        found = greedy
        if 1 < n_searched < len(self.forced) + int(self._pool.sum()):
            found = self._swapped(greedy, progress) if self.strategy == "swap" else self._floating(n_searched, progress)
        self.objective, self.greedy_objective = (self.terms.objective(one) if one else 0.0 for one in (found, greedy))
        if self.objective < self.greedy_objective:  # a floating search may end elsewhere
            found, self.objective = greedy, self.greedy_objective
        in_order = self._ordered(found)
        self._pool[:] = False
        self._pool[[column for column in self.last if column not in {*self.excluded, *in_order}]] = True
        self._describe(self._greedy(in_order, n_selected))

    def _score(self, selected: list[int]) -> Real:
        """Scores of all features given the selected ones."""
        if not selected:
            return self.terms.first
        return self.terms.alone + self.terms.weight(len(selected)) * self.terms.sums(selected)

    def _best(self, selected: list[int], allowed: NDArray[np.bool_]) -> int:
        """The allowed feature of the best score; ties go to the lowest column."""
        open_ = allowed.copy()
        open_[selected] = False
        return int(np.where(open_, self._score(selected), -np.inf).argmax())

    def _greedy(self, selected: list[int], n_selected: int) -> list[int]:
        selected = list(selected)
        while len(selected) < n_selected:
            selected.append(self._best(selected, self._pool))
        return selected

    def _floating(self, n_selected: int, progress: Progress | None) -> list[int]:
        n_forced = len(self.forced)
        selected, best = list(self.forced), dict[int, tuple[float, list[int]]]()
        while len(selected) < n_selected:
            newest = self._best(selected, self._pool)
            selected = self._keep([*selected, newest], best)
            while len(selected) > max(2, n_forced + 1):
                smaller = [[*selected[:at], *selected[at + 1 :]] for at in range(n_forced, len(selected))]
                values = [self.terms.objective(one) for one in smaller]
                at = int(np.argmax(values))
                if selected[n_forced + at] == newest or not _exceeds(values[at], best[len(selected) - 1][0]):
                    break
                selected = self._keep(smaller[at], best)
            if progress is not None:
                progress(len(selected), n_selected)
        return selected

    def _keep(self, selected: list[int], best: dict[int, tuple[float, list[int]]]) -> list[int]:
        """The best set of its size so far, after this one."""
        value = self.terms.objective(selected)
        if len(selected) not in best or _exceeds(value, best[len(selected)][0]):
            best[len(selected)] = value, selected
        return list(best[len(selected)][1])

    def _swapped(self, selected: list[int], progress: Progress | None) -> list[int]:
        selected, n_forced, weight = list(selected), len(self.forced), self.terms.weight(len(selected) - 1)
        n_swaps = 0
        while True:
            sums = self.terms.sums(selected)
            value = self.terms.objective(selected)
            open_ = self._pool.copy()
            open_[selected] = False
            gain, at, added = 0.0, -1, -1
            for index in range(n_forced, len(selected)):
                removed = selected[index]
                gains = (
                    self.terms.alone - self.terms.alone[removed] + weight * (sums - self.terms.column(removed) - sums[removed])
                )
                candidate = int(np.where(open_, gains, -np.inf).argmax())
                if gains[candidate] > gain:
                    gain, at, added = float(gains[candidate]), index, candidate
            if at < 0 or not _exceeds(value + gain, value):
                return selected
            selected[at] = added
            n_swaps += 1
            if progress is not None:
                progress(n_swaps, n_swaps + 1)

    def _ordered(self, found: list[int]) -> list[int]:
        """The features of a set in the order in which greedy search adds them; forced ones first, as they were given."""
        inside = np.zeros(self.n_features, dtype=bool)
        inside[found] = True
        ordered = list(self.forced)
        while len(ordered) < len(found):
            ordered.append(self._best(ordered, inside))
        return ordered

    def _describe(self, selected: list[int]) -> None:
        self.selected, self.scores, self.relevance = selected, [], self.terms.relevance
        for at, feature in enumerate(selected):
            self.last_scores = self._score(selected[:at])
            self.scores.append(float(self.last_scores[feature]))
        self.components = [{} for _ in selected]


def make_search(
    strategy: str, plan: Plan, gain: Gain, n_features: int, forced: Sequence[int], excluded: Sequence[int], last: Columns
) -> GreedySearch:
    """A search of that name: greedy, or one for sets."""
    if strategy == "greedy":
        return GreedySearch(gain, n_features, forced, excluded, last)
    if not isinstance(gain, Scorer):
        raise InputError(f"search={strategy!r} is for criteria that are a formula; use search='greedy'.")
    terms = PairwiseTerms(plan, gain)
    return SetSearch(gain, n_features, forced, excluded, last, terms=terms, strategy=cast(Strategy, strategy))


def _exceeds(value: float, other: float) -> bool:
    return value > other + TOLERANCE * max(1.0, abs(other))
