"""Greedy forward search: at every step the feature with the best score given the selected ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from labelsieve.search.gains import CandidateGain, Gain, Progress, SelectingGain

AHEAD = 64  # steps that a gain makes itself before progress is reported


@dataclass
class GreedySearch:
    """Forward selection that can be extended, one feature at a time, by the scores of a gain.

    Ties go to the lowest column. ``forced`` features are always selected first, in the order given; ``excluded`` ones never,
    and those in ``last`` when no other is left, whatever their scores. Extending continues where the last call stopped, with
    the same result as selecting all at once. A gain that does not depend on the selection is a ranking: it is sorted once.

    Parameters
    ----------
    gain : Gain
        Scores of all features given the selected ones: those of a formula, or others.
    n_features : int
        Number of columns.
    forced, excluded, last : sequences of int, default=()

    Attributes
    ----------
    selected : list of int
        In order of selection.
    scores : list of float
        The score of each when it was selected, in nats for a formula.
    components : list of dict
        The components of each score: relevance, redundancy, interaction, label pairs.
    last_scores : ndarray of float, shape (n_features,), or None
        Scores of all features at the last step so far; for a lazy gain, upper bounds of those that it left out.
    relevance : ndarray of float, shape (n_features,), or None
        Information of every feature alone about the targets, added up, where the first step computes it.
    """

    gain: Gain
    n_features: int
    forced: Sequence[int] = ()
    excluded: Sequence[int] = ()
    last: Sequence[int] | NDArray[np.intp] = ()
    selected: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    components: list[dict[str, float]] = field(default_factory=list)
    last_scores: NDArray[np.float64] | None = None
    relevance: NDArray[np.float64] | None = None
    _folded: int = 0  # selected features that the gain knows of

    @property
    def n_available(self) -> int:
        """Number of features that are not excluded."""
        return self.n_features - len(set(self.excluded))

    def extend(self, n_selected: int, progress: Progress | None = None) -> None:
        """Select until there are ``n_selected`` features, or none is left."""
        n_selected, gain = min(n_selected, self.n_features - len(set(self.excluded))), self.gain
        gain.report_to(progress)
        if gain.is_ranking:
            self._rank(n_selected)
            return
        # A gain on a GPU, or in the core, selects many features without returning to Python.
        ahead = cast(SelectingGain, gain) if gain.selects_ahead else None
        penalty, n_open = self._penalty()
        while len(self.selected) < n_selected:
            while self._folded < len(self.selected):
                gain.select(self.selected[self._folded])
                self._folded += 1
            if ahead is not None and self._select_ahead(ahead, n_selected):
                penalty, n_open = self._penalty()
            else:
                forced = self.forced[len(self.selected) : len(self.selected) + 1]
                if not len(forced) and n_open == 0:  # only features that are selected last are left
                    last = {*map(int, self.last)} - {*self.excluded, *self.selected}
                    penalty[list(last)] = 0.0
                    n_open = len(last)
                if gain.is_lazy:
                    scores = cast(CandidateGain, gain).scores_among(self._available(penalty, forced))
                else:
                    scores = gain.scores()
                best = forced[0] if len(forced) else int((scores + penalty).argmax())
                self._add(best, scores)
                n_open -= int(penalty[best] == 0)
                penalty[best] = -np.inf
            if progress is not None:
                progress(len(self.selected), n_selected)
        if self.selected and self.last_scores is None and ahead is not None and not gain.is_lazy:
            self.last_scores = ahead.last_scores()

    def _penalty(self) -> tuple[NDArray[np.float64], int]:
        """Return what is added to the scores: 0 for open features and minus infinity for others; and how many are open."""
        penalty, closed = np.zeros(self.n_features), list({*self.excluded, *self.selected, *map(int, self.last)})
        penalty[closed] = -np.inf
        return penalty, self.n_features - len(closed)

    def _available(self, penalty: NDArray[np.float64], forced: Sequence[int]) -> NDArray[np.bool_]:
        """Return the features among which a lazy gain looks for the best one."""
        available: NDArray[np.bool_] = penalty == 0
        if len(forced):
            available[:] = False
            available[list(forced)] = True
        return available

    def _select_ahead(self, gain: SelectingGain, n_selected: int) -> bool:
        """Let the gain select some features, if the next ones are neither the first, nor forced, nor last."""
        unavailable = {*self.excluded, *self.selected, *map(int, self.last)}
        n_steps = min(n_selected - len(self.selected), self.n_features - len(unavailable), AHEAD)
        if not self.selected or len(self.selected) < len(self.forced) or n_steps <= 0:
            return False
        features, scores, components = zip(*gain.select_best(n_steps, sorted(unavailable)), strict=True)
        self.selected += features
        self.scores += scores
        self.components += components
        self._folded = len(self.selected) - 1
        self.last_scores = None
        return True

    def _rank(self, n_selected: int) -> None:
        """Sort the scores of a gain that does not depend on the selection."""
        scores = self.gain.scores()
        order = np.argsort(-scores, kind="stable")
        if len(self.last):
            order = order[np.argsort(np.isin(order, self.last), kind="stable")]
        unavailable = {*self.excluded, *self.forced}
        ranking = [*self.forced, *(best for best in order.tolist() if best not in unavailable)]
        for best in ranking[len(self.selected) : n_selected]:
            self._add(best, scores)

    def _add(self, best: int, scores: NDArray[np.float64]) -> None:
        if not self.selected:
            self.relevance = self.gain.relevance()
        self.last_scores = scores
        self.selected.append(best)
        self.scores.append(float(scores[best]))
        self.components.append(self.gain.components(best))
