"""Gains score the candidates of a search: a formula, a least-squares fit, or a combination of other gains.

A lazy gain counts a candidate only while it can be the best. Where scores never increase as features are selected, the last
known score of a candidate is an upper bound of it, so that most candidates need not be counted at most steps (Fleuret 2004, for
binary features). The selection and its scores are those of an evaluation of all candidates, to the last bit.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Literal, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.backends.protocol import Sums
from labelsieve.counting.workspace import Workspace
from labelsieve.errors import InputError, not_negative, one_of
from labelsieve.formula.evaluation import Scorer
from labelsieve.formula.nodes import Apply, Formula, Reduce
from labelsieve.formula.plan import Plan
from labelsieve.formula.values import MIN, SUM
from labelsieve.tables.codes import Codes

Real = NDArray[np.float64]
Progress = Callable[[int, int], None]
Combine = Literal["sum", "product"]
BLOCK = 16  # candidates that are evaluated together: in larger blocks more are evaluated that cannot be the best
CLOSE = 1e-12  # relative: bounds of powers may be rounded in the wrong direction, so those near the best score are looked at
ACCUMULATOR_BYTES = 2**30  # of all features and targets: with more, candidates are evaluated in batches


class Gain(Protocol):
    """What a greedy search needs: the scores of all features given the selected ones, and an update with the next.

    The :class:`~labelsieve.formula.plan.Scorer` of a formula is a gain, and so are
    :class:`~labelsieve.search.least_squares.LeastSquaresGain` and a :class:`CombinedGain` of several.
    """

    @property
    def name(self) -> str:
        """Name of the gain, shown in progress bars and error messages."""

    @property
    def is_ranking(self) -> bool:
        """Return True if the scores do not depend on the selected features."""

    @property
    def selects_ahead(self) -> bool:
        """Return True if the gain is a :class:`SelectingGain`."""
        return False

    @property
    def is_lazy(self) -> bool:
        """Return True if the gain is a :class:`CandidateGain`."""
        return False

    def scores(self) -> Real:
        """Score every feature, given the selected ones."""

    def components(self, feature: int) -> dict[str, float]:
        """Return the components of the last score of a feature."""

    def relevance(self) -> Real | None:
        """Return the information of every feature alone; None if the last scores are not made from it."""
        return None

    def select(self, feature: int) -> None:
        """Add a feature to the selected ones; a ranking does not depend on them."""
        return

    def report_to(self, progress: Progress | None) -> None:
        """Report progress inside a step, if it is long."""
        return

    def expect(self, scores: Real) -> None:
        """Take note of the scores, or upper bounds of them, by which features are selected: a gain may count ahead."""
        return

    def noise_level(self, alpha: float) -> float:
        """Return what the largest gain exceeds with probability ``alpha`` if all features are noise; 0 if it is not known."""
        return 0.0


class SelectingGain(Protocol):
    """An optional capability of a gain: it finds the best features itself, without handing out the scores of all."""

    def select_best(self, n_steps: int, unavailable: Sequence[int]) -> "Sequence[tuple[int, float, dict[str, float]]]":
        """Select ``n_steps`` features; return each with its score and components. The last one is not folded in yet."""

    def last_scores(self) -> Real:
        """Return the score of every feature at the last of these steps."""


class CandidateGain(Protocol):
    """An optional capability of a gain: it evaluates only candidates that can be the best one.

    What it returns for the others are upper bounds; ``is_exact`` says for which features it returns scores.
    """

    is_exact: NDArray[np.bool_]

    def scores_among(self, available: NDArray[np.bool_]) -> Real:
        """Return scores of which the largest of the ``available`` features is exact, and the others are upper bounds."""

    def advance(self, features: NDArray[np.intp]) -> Real:
        """Evaluate some features, in ascending order; return scores or upper bounds of all."""

    def scores_later(self) -> Callable[[], Real]:
        """Return a function that evaluates what was left out at the last step, without what only further steps need."""


class CombinedGain(Gain):
    r"""Several gains as one: each is divided by its maximum over the candidates, then they are added or multiplied.

    .. math:: J(f) = \sum_i w_i \frac{\max(0, J_i(f))}{\max_g J_i(g)} \quad \text{or} \quad
              \prod_i \left(\frac{\max(0, J_i(f))}{\max_g J_i(g)}\right)^{w_i}

    The maxima are over the features that can still be selected, at every step anew, so that gains of different units and
    of different decline have the same influence throughout. A gain without a positive value contributes 0. Where a gain has a
    level of noise (:meth:`Gain.noise_level`), it is divided by it at least, so that noise alone never gets a full share.

    Parameters
    ----------
    gains : mapping of str to Gain
        By the name of their component.
    n_features : int
    weights : sequence of float, default=None
        One for each gain; None: 1.
    combine : {"sum", "product"}, default="sum"
    unavailable : sequence of int, default=()
        Features that do not count for the maxima: excluded ones, and those that are selected when no other is left.
    alpha : float, default=1.0
        The probability of noise above its level; 1: gains are divided by their maxima, however small.

    Examples
    --------
    >>> from labelsieve.search.labelwise import KnownScores
    >>> gains = {"a": KnownScores(np.array([4.0, 2.0, 0.0])), "b": KnownScores(np.array([1.0, 9.0, 10.0]))}
    >>> combined = CombinedGain(gains, 3)
    >>> combined.scores()
    array([1.1, 1.4, 1. ])
    >>> combined.select(1)
    >>> CombinedGain(gains, 3, combine="product").scores()
    array([0.1 , 0.45, 0.  ])
    """

    def __init__(
        self,
        gains: Mapping[str, Gain],
        n_features: int,
        weights: Sequence[float] | None = None,
        *,
        combine: Combine = "sum",
        unavailable: Sequence[int] | NDArray[np.intp] = (),
        alpha: float = 1.0,
    ) -> None:
        one_of(combine, "combine", ("sum", "product"))
        weights = [1.0] * len(gains) if weights is None else list(weights)
        if len(weights) != len(gains):
            raise InputError(f"weights has {len(weights)} numbers; one for each of the {len(gains)} gains is needed.")
        self._weights = [not_negative(weight, "weights") for weight in weights]
        if not any(self._weights):
            raise InputError("weights are all 0; at least one gain must count.")
        self._gains, self._combine, self._alpha = dict(gains), combine, alpha
        self._available = np.ones(n_features, dtype=bool)
        self._available[np.asarray(unavailable, dtype=np.intp)] = False
        self._shares = Shares([], self._weights, combine)
        self._parts: list[Real] = []

    @property
    def name(self) -> str:
        """Names of the combined gains, for progress bars and error messages."""
        return " and ".join(self._gains)

    @property
    def is_ranking(self) -> bool:
        """A combination is never a ranking: its maxima depend on the selected features."""
        return False

    @property
    def is_lazy(self) -> bool:
        """A combination need not evaluate all candidates if one of its gains does not."""
        return any(gain.is_lazy for gain in self._gains.values())

    def scores(self) -> Real:
        """Combine the gains of every feature, each relative to its maximum, into one score."""
        known = [gain.scores() for gain in self._gains.values()]
        self._parts = self._find_shares(known).of(known)
        return self._told(self._shares.total(self._parts))

    def scores_among(self, available: NDArray[np.bool_]) -> Real:
        """Return scores or upper bounds, when the best feature is looked for among the ``available`` ones.

        The maxima come first: they are exact, so that bounds of gains make bounds of scores. Then candidates are evaluated in
        blocks, as long as the bound of a score is as large as the best score.
        """
        gains = list(self._gains.values())
        lazy = {place: cast(CandidateGain, gain) for place, gain in enumerate(gains) if gain.is_lazy}
        known = [lazy[i].scores_among(self._available) if i in lazy else gain.scores() for i, gain in enumerate(gains)]
        shares = self._find_shares(known)
        counting = {place: gain for place, gain in lazy.items() if shares.largest[place] > 0 and self._weights[place] > 0}
        while True:
            self._parts = shares.of(known)
            total, is_exact = shares.total(self._parts), np.ones(len(available), dtype=bool)
            for gain in counting.values():
                is_exact &= gain.is_exact
            stale = may_win(total, is_exact, available)
            if not len(stale):
                return self._told(total)
            if len(stale) > BLOCK:
                stale = np.sort(stale[np.argpartition(-total[stale], BLOCK)[:BLOCK]])
            for place, gain in counting.items():
                known[place] = gain.advance(stale)

    def _told(self, total: Real) -> Real:
        """Tell the gains by which scores features are selected."""
        for gain in self._gains.values():
            gain.expect(total)
        return total

    def scores_later(self) -> Callable[[], Real]:
        """Return a function that evaluates what was left out at the last step, without what only further steps need."""
        gains, shares = self._gains.values(), self._shares
        rest = [cast(CandidateGain, gain).scores_later() if gain.is_lazy else None for gain in gains]
        parts = self._parts

        def later() -> Real:
            zeros = np.zeros(len(parts[0]))
            known = shares.of([zeros if evaluate is None else evaluate() for evaluate in rest])
            return shares.total([part if of is None else new for part, of, new in zip(parts, rest, known, strict=True)])

        return later

    def _find_shares(self, known: list[Real]) -> "Shares":
        """Find what each gain is divided by: its maximum, or its level of noise."""
        largest = []
        for scores, gain in zip(known, self._gains.values(), strict=True):
            most = float(scores.max(where=self._available, initial=0.0))
            largest.append(max(most, gain.noise_level(self._alpha)))
        self._shares = Shares(largest, self._weights, self._combine)
        return self._shares

    def components(self, feature: int) -> dict[str, float]:
        """Return the summands or factors of a feature's last score, by the names of the gains."""
        return {name: float(part[feature]) for name, part in zip(self._gains, self._parts, strict=True)}

    def relevance(self) -> Real | None:
        """Relevance of every feature, from the first gain that has one."""
        return next((known for gain in self._gains.values() if (known := gain.relevance()) is not None), None)

    def select(self, feature: int) -> None:
        """Add a feature to the selected ones, in every gain."""
        self._available[feature] = False
        for gain in self._gains.values():
            gain.select(feature)

    def report_to(self, progress: Progress | None) -> None:
        """Report progress inside a step, where a gain does."""
        for gain in self._gains.values():
            gain.report_to(progress)


class Shares(NamedTuple):
    """How gains are combined at a step: what each is divided by, its weight, and the operation."""

    largest: list[float]
    weights: list[float]
    combine: Combine

    def of(self, gains: list[Real]) -> list[Real]:
        """Return the summands or factors of the scores."""
        parts = []
        for scores, largest, weight in zip(gains, self.largest, self.weights, strict=True):
            share = np.maximum(scores, 0.0) / largest if largest > 0 else np.zeros(len(scores))
            parts.append(weight * share if self.combine == "sum" else share**weight)
        return parts

    def total(self, parts: list[Real]) -> Real:
        """Add or multiply the parts."""
        total: Real = np.sum(parts, axis=0) if self.combine == "sum" else np.prod(parts, axis=0)
        return total


def may_win(scores: Real, is_exact: NDArray[np.bool_], available: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the available features with an upper bound as large as the best score, which must be evaluated."""
    best = scores[is_exact & available].max(initial=-np.inf)
    slack = CLOSE * abs(best) if np.isfinite(best) else 0.0
    return np.flatnonzero(available & ~is_exact & (scores >= best - slack))


def is_batched(plan: Plan, X: Codes, Y: Codes) -> bool:
    """True when accumulators of all features would be too large, and the scores never increase: see ``BatchedLazyGain``."""
    if 8 * X.n_columns * Y.n_columns <= ACCUMULATOR_BYTES or X.has_missing or Y.has_missing:
        return False
    from labelsieve.search.many_labels.lazy_gain import never_increases

    return never_increases(plan)


def make_lazy_gain(plan: Plan, workspace: Workspace) -> Gain | None:
    """Return a gain that evaluates only candidates that can be the best; None where all are to be evaluated at every step."""
    if workspace.by_term or workspace.target_weights is not None:
        return None
    if is_batched(plan, workspace.X, workspace.Y):
        from labelsieve.search.many_labels.lazy_gain import BatchedLazyGain

        return BatchedLazyGain(plan, workspace)
    if (score := falling_score(plan)) is None:
        return None
    candidates = workspace.backend.candidates()
    return None if candidates is None else LazyGain(plan, workspace, candidates, score)


class FallingScore(NamedTuple):
    """A score as the core knows it: the sum over the targets of the least value, over the selected features, of some tables.

    Factors of tables are listed by their variables: bit 0 of the index stands for the candidate, 1 for the target and 2 for the
    selected feature.
    """

    body: Sums
    limit: Sums | None  # which the least value does not exceed
    positive: bool  # least values below 0 count as 0


class LazyGain(Gain):
    """A :class:`~labelsieve.search.gains.Gain` that evaluates candidates one by one in the core, where they can be the best.

    Parameters
    ----------
    plan : Plan
    workspace : Workspace
    candidates : core.Candidates
        Of the backend of ``workspace``, which answers the first step from them.
    score : FallingScore
        See :func:`falling_score`.

    Notes
    -----
    Cost of a step: one pass over the bounds, and the tables of the candidates that are evaluated with every feature selected
    since their last evaluation. ``n_counted`` and ``n_tables`` say how many that were, and how many there are.
    """

    is_ranking = False
    selects_ahead = True
    is_lazy = True

    def __init__(self, plan: Plan, workspace: Workspace, candidates: core.Candidates, score: FallingScore) -> None:
        self._name, self._kind, self._divisor = plan.name, plan.components[0].kind, workspace.fixed.divisor
        self._candidates = candidates
        self._first: Scorer | None = plan.bind(workspace)  # until a feature is selected
        self._n_features, self.n_tables = workspace.X.n_columns, 0
        self._scores = np.empty(self._n_features)
        self.is_exact = np.ones(self._n_features, dtype=bool)
        candidates.begin(score.body, score.limit, score.positive)

    @property
    def name(self) -> str:
        """Name of the criterion, for progress bars and error messages."""
        return self._name

    @property
    def n_counted(self) -> int:
        """The number of tables of a candidate, a selected feature and all targets that were counted, of ``n_tables``."""
        return self._candidates.n_counted

    def scores(self) -> Real:
        """Return the scores of all features."""
        return self.scores_among(np.zeros(self._n_features, dtype=bool)) if self._first else self.scores_later()()

    def scores_among(self, available: NDArray[np.bool_]) -> Real:
        """Return scores or upper bounds, when the best feature is looked for among the ``available`` ones."""
        if self._first is not None:
            self._scores = self._first.scores()
            return self._scores
        self._find_best(available.copy(), 1)
        return self._read()

    def advance(self, features: NDArray[np.intp]) -> Real:
        """Evaluate some features, in ascending order, and return scores or upper bounds of all."""
        self._candidates.advance(features.astype(np.uint32))
        return self._read()

    def scores_later(self) -> Callable[[], Real]:
        """Return a function that evaluates what was left out at the last step; until then the packed columns are kept."""
        if self._first is not None:
            return self._scores.copy
        return partial(self.advance, np.arange(self._n_features))

    def components(self, feature: int) -> dict[str, float]:
        """Return the components of a feature's last score: after the first step there is one."""
        if self._first is not None:
            return self._first.components(feature)
        return {self._kind: float(self._scores[feature])}

    def relevance(self) -> Real | None:
        """Return the information of every feature alone, where the first scores are made from it."""
        return None if self._first is None else self._first.relevance()

    def select(self, feature: int) -> None:
        """Add a feature to the selected ones."""
        self._first = None  # with the codes, which are needed no more
        self._candidates.select(feature)
        self.n_tables += self._n_features

    def select_best(self, n_steps: int, unavailable: Sequence[int]) -> list[tuple[int, float, dict[str, float]]]:
        """Select ``n_steps`` features in the core; the last one is not folded in yet."""
        available = np.ones(self._n_features, dtype=bool)
        available[list(unavailable)] = False
        features, scores = self._find_best(available, n_steps)
        self.n_tables += self._n_features * (n_steps - 1)
        steps = zip(features.tolist(), scores.tolist(), strict=True)
        return [(feature, score, {self._kind: score}) for feature, score in steps]

    def _find_best(self, available: NDArray[np.bool_], n_steps: int) -> tuple[NDArray[np.uint32], Real]:
        features, totals = np.empty(n_steps, dtype=np.uint32), np.empty(n_steps, dtype=np.int64)
        n_found = self._candidates.find_best(available, self._divisor, features, totals)
        return features[:n_found], totals[:n_found] / self._divisor

    def _read(self) -> Real:
        totals = np.empty(self._n_features, dtype=np.int64)
        self._candidates.read(totals, self.is_exact)
        self._scores = totals / self._divisor
        return self._scores


@lru_cache(maxsize=64)  # finding it takes as long as a tenth of a small fit
def falling_score(plan: Plan) -> FallingScore | None:
    """Return what the core needs to evaluate single candidates; None for formulas other than plain minima.

    >>> from labelsieve.registry import make_criterion
    >>> [falling_score(make_criterion(name).plan) is not None for name in ("cmim", "cmim-positive", "jmim", "jmi")]
    [True, True, True, False]
    """
    if len(plan.components) > 1 or plan.first is None or plan.keeps_terms:
        return None
    over_targets, limit, positive = plan.components[0].lowered, None, False
    if not (isinstance(over_targets, Reduce) and over_targets.variable == "y" and over_targets.operation == SUM):
        return None
    node = over_targets.body
    if isinstance(node, Apply) and node.function == "pos":
        node, positive = node.arguments[0], True
    if isinstance(node, Apply) and node.function == "minimum":
        static, node = sorted(node.arguments, key=lambda argument: not argument.is_static)
        limit = _factors(static)
        if limit is None:
            return None
    if not (isinstance(node, Reduce) and node.variable == "s" and node.operation == MIN):
        return None
    body = node.body
    if isinstance(body, Apply) and body.function == "pos":  # the least of positive parts is the positive part of the least
        body, positive = body.arguments[0], True
    factors = _factors(body)
    return None if factors is None else FallingScore(factors, limit, positive)


def _factors(node: Formula) -> Sums | None:
    """Return the factors of a sum of tables of the candidate, one target and one selected feature; None for other formulas."""
    linear = node.linear
    if linear is None or linear.adds_targets:
        return None
    factors = np.zeros(8, dtype=np.int64)
    for term in [*linear.moving, *linear.static]:
        if not term.names <= {"f", "y", "s"}:
            return None
        factors[sum(1 << "fys".index(name) for name in term.names)] += term.number
    return factors
