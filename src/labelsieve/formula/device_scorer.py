"""Scores that are computed, and compared, on the card that counts; only what is selected comes back."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve.formula.evaluation import Program
from labelsieve.formula.scorer import Scorer
from labelsieve.formula.values import Real, Value

if TYPE_CHECKING:
    from labelsieve.formula.plan import Component


class Pick(NamedTuple):
    """A selected feature, its score and the components of that."""

    feature: int
    score: float
    components: dict[str, float]


class DeviceScorer(Scorer):
    """A scorer whose tables and accumulators are in the memory of a card.

    The same operations on the same integers and doubles, one by one, as on the host: the scores are equal to the last bit. A
    card that has packed all features alike also finds the best one itself and conditions on it, so that the host only
    queues picks and reads them when all are done.
    """

    def scores(self) -> Real:
        """Score of every feature, in nats."""
        with self._device:
            self._total = self._to_host(super().scores())
        return self._total

    def relevance(self) -> Real | None:
        """Information of every feature alone about the targets, added up, in nats; None if the last ``scores`` need it not."""
        with self._device:
            relevance = super().relevance()
            return None if relevance is None else self._to_host(relevance)

    def select(self, feature: int) -> None:
        """Add ``feature`` to the selected ones."""
        with self._device:
            super().select(feature)

    def select_best(self, n_picks: int, unavailable: Sequence[int]) -> list[Pick]:
        """Select the best feature and add it to the selected ones, as many times; the last one is not added.

        ``unavailable`` are all features that must not be selected; at least ``n_picks`` others are left.
        """
        sums, program, xp = self._sums, self._program, self._sums.xp
        with self._device:
            is_taken = xp.zeros(program.sources.X.n_columns, dtype=np.bool_)
            if len(unavailable):
                is_taken[xp.asarray(np.asarray(unavailable, dtype=np.intp))] = True
            features, scores = xp.empty(n_picks, dtype=np.int64), xp.empty(n_picks)
            on_card = sums.chooses and program.is_from_one_panel
            steps: list[tuple[list[Component], list[Value]]] = []
            for k in range(n_picks):
                if k:
                    chosen = features[k - 1 : k].reshape(())
                    program.select(chosen if on_card else int(chosen))
                self._components, self._values, total = self._evaluate()
                same_for_all = len(total) < len(is_taken)
                self._total = xp.full(is_taken.shape, float(total[0, 0])) if same_for_all else total[:, 0]
                sums.best(self._total, is_taken, features[k : k + 1], scores[k : k + 1])
                steps.append((self._components, self._taken(features[k : k + 1])))
            picked = self._to_host(features).tolist(), self._to_host(scores).tolist()
            parts = [self._by_kind(*step, score) for step, score in zip(steps, picked[1], strict=True)]
        return [Pick(*pick) for pick in zip(*picked, parts, strict=True)]

    def last_scores(self) -> Real:
        """Scores of all features at the last pick."""
        with self._device:
            return self._to_host(self._total)

    def _taken(self, chosen: Any) -> list[Value]:
        """The summands of the score of a feature that the card has chosen; none where the score is the only one."""
        if len(self._values) == 1:
            return []
        columns: list[Any] = [value.array[:, 0] for value in self._values]
        taken = [column.take(chosen) if len(column) > 1 else column for column in columns]
        return [Value(array, value.exact) for array, value in zip(taken, self._values, strict=True)]

    def _by_kind(self, components: "list[Component]", values: list[Value], score: float) -> dict[str, float]:
        if not values:
            return {components[0].kind: score}
        by_kind: dict[str, float] = {}
        for component, value in zip(components, values, strict=True):
            on_host = Value(np.asarray(self._to_host(value.array)).reshape(1, 1), value.exact)
            nats = float(on_host.real(self._program.sources.fixed)[0, 0])
            by_kind[component.kind] = by_kind.get(component.kind, 0.0) + nats
        return by_kind

    def _sum(self, components: "list[Component]", program: Program) -> Real:
        fixed, total = program.sources.fixed, np.zeros(program.sources.X.n_columns)
        with self._device:
            if components:
                values = [program.evaluate(component.lowered) for component in components]
                total += self._to_host(Value.total(values, fixed).real(fixed)[:, 0])
        return total

    @property
    def _sums(self) -> Any:
        return self._program.sources.backend

    @property
    def _device(self) -> Any:
        return self._sums.device

    def _to_host(self, values: Any) -> NDArray[Any]:
        host: NDArray[Any] = values if isinstance(values, np.ndarray) else self._sums.to_host(values)
        return host
