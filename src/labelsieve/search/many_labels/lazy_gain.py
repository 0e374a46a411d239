"""Lazy evaluation of criteria whose scores never increase, for data whose accumulators do not fit into memory."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.workspace import Workspace
from labelsieve.formula.evaluation import Scorer
from labelsieve.formula.nodes import Add, Apply, Formula, Multiply, Number, Reduce
from labelsieve.formula.plan import Plan
from labelsieve.formula.sources import Sources
from labelsieve.formula.values import MAX, MEAN, MIN, SUM
from labelsieve.search.gains import Progress, may_win

Real = NDArray[np.float64]
BATCH_BYTES = 2**25  # of an accumulator of the candidates that are evaluated together
MOST_BATCHES = 10  # that are kept; others are evaluated from the first selected feature on when they are needed again


def never_increases(plan: Plan) -> bool:
    """True for scores that never increase with the selection, and that need accumulators or panels of every target.

    >>> from labelsieve.registry import make_criterion
    >>> [never_increases(make_criterion(name).plan) for name in ("cmim", "jmim", "icap")]
    [True, True, True]
    """
    if not plan.has_values_of_targets or plan.needs.keys() & {"S", "t", "z", "pa"}:
        return False
    return _direction(plan.score) == -1 and (plan.first is None or not _by_target(_with_one(plan)))


class BatchedLazyGain:
    """A :class:`~labelsieve.search.gains.Gain` that evaluates a candidate only when it can be the best.

    Scores of the plan never increase with the selection (:func:`never_increases`), so the last known score of a candidate is an
    upper bound of it. Candidates are evaluated from the largest bound down, in batches, until none that is left has a bound as
    large as the best score (Fleuret 2004, for binary features). The selected feature and its score are those of an evaluation
    of all candidates.

    Cost of a step: a panel of every batch that is evaluated, for every feature selected since its last evaluation. Memory: the
    accumulators of ``MOST_BATCHES`` batches, three to six times ``BATCH_BYTES`` each.
    """

    is_ranking = False
    selects_ahead = False
    is_lazy = True

    def __init__(self, plan: Plan, workspace: Workspace) -> None:
        self.name = plan.name
        self._plan, self._workspace = plan, workspace
        self._selected: list[int] = []
        self._batches: dict[int, _Batch] = {}  # by number, those that were used last at the end
        self._n_batches = 0
        self._batch_of = np.full(workspace.X.n_columns, -1)
        self._all = plan.bind(workspace) if plan.first is None else _with_one(plan).bind(workspace)
        self._bounds = np.empty(0)
        self._n_together = 1 if plan.first is not None else 0  # selected features up to which all scores are evaluated at once
        self.is_exact = np.zeros(workspace.X.n_columns, dtype=bool)

    def scores(self) -> Real:
        """Return the scores of all features."""
        self.scores_among(self.is_exact)
        self.advance(np.arange(len(self.is_exact)))
        return self._bounds.copy()

    def scores_among(self, available: NDArray[np.bool_]) -> Real:
        """Return scores or upper bounds, when the best feature is looked for among the ``available`` ones."""
        if len(self._selected) <= self._n_together:
            self._bounds, self.is_exact[:] = self._all.scores(), True
            return self._bounds.copy()
        while True:
            stale = may_win(self._bounds, self.is_exact, available)
            if not len(stale):
                return self._bounds.copy()
            self._evaluate(stale)

    def advance(self, features: NDArray[np.intp]) -> Real:
        """Evaluate some features, and return scores or upper bounds of all."""
        while len(stale := features[~self.is_exact[features]]):
            self._evaluate(stale)
        return self._bounds.copy()

    def scores_later(self) -> Callable[[], Real]:
        """Return the scores as they are: for data of this size, those that were left out stay upper bounds."""
        return self._bounds.copy

    def _evaluate(self, stale: NDArray[np.intp]) -> None:
        batch = self._batch(stale)
        self._bounds[batch.features] = batch.scores(self._selected)
        self.is_exact[batch.features] = True

    def _batch(self, stale: NDArray[np.intp]) -> "_Batch":
        """Return the batch of the largest bound; a new one has the largest bounds that are in no batch."""
        top = int(stale[np.argmax(self._bounds[stale])])
        if self._batch_of[top] < 0:
            size = max(1, BATCH_BYTES // (8 * self._workspace.Y.n_columns))
            new = stale[self._batch_of[stale] < 0]
            new = np.sort(new[np.argsort(-self._bounds[new], kind="stable")[:size]])
            while len(self._batches) >= MOST_BATCHES:
                oldest = self._batches.pop(next(iter(self._batches)))
                self._batch_of[oldest.features] = -1
            self._batch_of[new] = self._n_batches
            self._batches[self._n_batches] = _Batch(self._plan, self._workspace, new)
            self._n_batches += 1
        number = int(self._batch_of[top])
        self._batches[number] = self._batches.pop(number)
        return self._batches[number]

    def components(self, feature: int) -> dict[str, float]:
        """Return the components of a feature's last score."""
        if len(self._selected) > self._n_together:
            batch = self._batch(np.array([feature]))
            batch.scores(self._selected)  # known, unless others have taken its place since
            return batch.components(feature)
        return self._all.components(feature)

    def relevance(self) -> Real | None:
        """Return the information of every feature alone, where the first scores are made from it."""
        return self._all.relevance()

    def select(self, feature: int) -> None:
        """Add a feature to the selected ones."""
        self._selected.append(feature)
        self.is_exact[:] = False
        if len(self._selected) <= self._n_together:
            self._all.select(feature)

    def report_to(self, progress: Progress | None) -> None:
        """Ignore progress reports: lazy steps finish quickly."""

    def expect(self, scores: Real) -> None:
        """Ignore by which scores features are selected: nothing is counted ahead."""

    def noise_level(self, alpha: float) -> float:
        """Return 0: it is not known what a formula scores for noise."""
        return 0.0


class _Batch:
    """Some candidates with their accumulators, which are brought up to date when they are needed."""

    def __init__(self, plan: Plan, workspace: Workspace, features: NDArray[np.intp]) -> None:
        self.features = features
        X = workspace.X.take_columns(features)
        candidates = Workspace(X, workspace.Y, workspace.options, row_index=workspace.row_index)
        self._scorer = Scorer(plan, Sources(candidates, plan.needs, selected_in=workspace))

    def scores(self, selected: Sequence[int]) -> Real:
        """Return the scores of its candidates, given the selected features."""
        for feature in selected[self._scorer.n_selected :]:
            self._scorer.select(feature)
        return self._scorer.scores()

    def components(self, feature: int) -> dict[str, float]:
        """Return the components of a candidate's last score."""
        return self._scorer.components(int(np.searchsorted(self.features, feature)))


def _by_target(plan: Plan) -> bool:
    """True when a reducer over the selected features has a value for each target."""
    return any(fold.by_target for fold in plan.folds)


def _with_one(plan: Plan) -> Plan:
    """Return a plan with sums in the place of extrema: it has the same scores while at most one feature is selected."""
    return Plan(_sums(plan.score), plan.first, name=plan.name)


def _sums(node: Formula) -> Formula:
    match node:
        case Reduce(variable="s", body=body) if node.operation in (MIN, MAX):
            return Reduce(SUM, "s", body)
        case Reduce(variable=variable, body=body):
            return Reduce(node.operation, variable, _sums(body), node.domain, node.top)
        case Add(terms=terms):
            return Add(tuple(map(_sums, terms)))
        case Multiply(factors=factors):
            return Multiply(tuple(map(_sums, factors)))
    return node


def _direction(node: Formula) -> int | None:
    """Return 1 if a value never decreases as features are selected, -1 if it never increases, 0 if constant, else None."""
    if node.is_static:
        return 0
    match node:
        case Reduce(variable="s", body=body):
            is_positive = isinstance(body, Apply) and body.function == "pos"
            return {MIN: -1, MAX: 1, SUM: 1 if is_positive else None}.get(node.operation)
        case Reduce(variable="y", body=body) if node.operation in (SUM, MEAN, MIN, MAX):
            return _direction(body)
        case Add(terms=terms):
            return _common([_direction(term) for term in terms])
        case Multiply(factors=(Number(value=number), rest)):
            inner = _direction(rest)
            return None if inner is None else int(np.sign(number)) * inner
        case Apply(function="pos" | "minimum" | "maximum", arguments=arguments):
            return _common([_direction(argument) for argument in arguments])
    return None


def _common(directions: list[int | None]) -> int | None:
    """Return the direction of an increasing function of several values."""
    moving = {direction for direction in directions if direction != 0}
    return moving.pop() if len(moving) == 1 else (None if moving else 0)
