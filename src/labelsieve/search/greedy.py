"""Greedy forward search: the best feature given those chosen, again and again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.formula.plan import Plan

Progress = Callable[[int, int], None]


@dataclass
class GreedySearch:
    """A selection that grows.

    Ties go to the lowest column. ``forced`` features come first, in the order given; ``excluded`` ones never. Asking for more
    features goes on where the last call stopped, with the same result as asking for all at once. A criterion that does not
    look at what is selected is a ranking, and is sorted once.

    Parameters
    ----------
    plan, scorer : Plan, Scorer
        The criterion, and it bound to data.
    n_features : int
        Columns there are.
    forced, excluded : sequences of int

    Attributes
    ----------
    selected : list of int
        In order of choice.
    scores : list of float
        The score of each when it was chosen, in nats.
    components : list of dict
        The components of each score: relevance, redundancy, interaction, label pairs.
    """

    plan: Plan
    scorer: Any  # a Scorer; scores known beforehand will do for a ranking
    n_features: int
    forced: Sequence[int] = ()
    excluded: Sequence[int] = ()
    selected: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    components: list[dict[str, float]] = field(default_factory=list)
    _folded: int = 0

    @property
    def n_available(self) -> int:
        """Features that can be chosen at all."""
        return self.n_features - len(set(self.excluded))

    def extend(self, n_selected: int, progress: Progress | None = None) -> None:
        """Choose until there are ``n_selected`` features, or none is left."""
        n_selected = min(n_selected, self.n_available)
        self.scorer.report_to(progress)
        if self.plan.is_ranking:
            self._rank(n_selected)
            return
        closed = np.zeros(self.n_features)
        closed[[*self.excluded, *self.selected]] = -np.inf
        while len(self.selected) < n_selected:
            while self._folded < len(self.selected):
                self.scorer.select(self.selected[self._folded])
                self._folded += 1
            scores = self.scorer.scores()
            waiting = self.forced[len(self.selected) :]
            best = waiting[0] if len(waiting) else int((scores + closed).argmax())
            self._choose(best, scores)
            closed[best] = -np.inf
            if progress is not None:
                progress(len(self.selected), n_selected)

    def _rank(self, n_selected: int) -> None:
        scores = self.scorer.scores()
        order = np.argsort(-scores, kind="stable")
        closed = {*self.excluded, *self.forced}
        ranking = [*self.forced, *(int(k) for k in order if int(k) not in closed)]
        for best in ranking[len(self.selected) : n_selected]:
            self._choose(best, scores)

    def _choose(self, best: int, scores: NDArray[np.float64]) -> None:
        self.selected.append(best)
        self.scores.append(float(scores[best]))
        self.components.append(self.scorer.components(best))
