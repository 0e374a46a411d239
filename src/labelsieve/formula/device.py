"""Scores on a GPU: tables and accumulators stay in its memory, and it finds the best features itself."""

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from labelsieve.formula.evaluation import Parents, Scorer
from labelsieve.formula.sources import Sources
from labelsieve.formula.values import Real, Value

if TYPE_CHECKING:
    from labelsieve.counting.backends.gpu.backend import DeviceBackend
    from labelsieve.formula.plan import Component, Plan

Scored = tuple["list[Component]", list[Value], Any]
"""Components of the score, their values, and the score of every feature."""
FEWEST_RECORDED = 4  # steps that are left when operations are recorded


class SelectionStep(NamedTuple):
    """A selected feature, its score and the components of the score."""

    feature: int
    score: float
    components: dict[str, float]


class Slots:
    """Memory of the GPU that steps read and write, always at the same place."""

    def __init__(self, xp: ModuleType, n_features: int, n_components: int) -> None:
        self.is_taken = xp.zeros(n_features, dtype=np.bool_)
        self.row = xp.zeros(2 + n_components, dtype=np.int64)
        """The feature that was chosen last, its score, and the summands of that; doubles where they are not exact."""
        self.newest = self.row[:1].reshape(())
        self.n_selected = xp.zeros((), dtype=np.float64)
        self.zero = xp.zeros(1, dtype=np.int64)
        self.taken: set[int] | None = None
        """The features that are taken, where the host knows it."""

    def reset(self, xp: ModuleType, unavailable: Sequence[int], n_selected: int) -> None:
        """Prepare for the first of some steps."""
        if self.taken != set(unavailable):
            self.is_taken[...] = False
            self.is_taken[xp.asarray(np.asarray(unavailable, dtype=np.intp))] = True
        self.n_selected[...] = float(n_selected)
        self.taken = None


def _is_constant(value: Value) -> bool:
    """True for a number that the host knows, the same for all features at every step."""
    array: Any = value.array
    return isinstance(array, np.ndarray) and array.size == 1


class DeviceScorer(Scorer):
    """A scorer whose tables and accumulators are in the memory of a GPU.

    The same operations on the same integers and doubles, one by one, as on the host: the scores are equal to the last bit. A
    GPU that has packed all features alike also finds the best one itself and conditions on it, so that the host only
    queues steps and reads them when all are done.
    """

    selects_ahead = True

    _slots: Slots | None = None
    _repeat: Callable[[], Scored] | None = None
    _is_recordable = False
    _pending: int | None = None  # the last step, selected, and not folded in before the next step
    _last_selected: int | None = None

    def __init__(self, plan: "Plan", sources: Sources, *, parents: Parents | None = None) -> None:
        super().__init__(plan, sources, parents=parents)
        self._backend: DeviceBackend = cast("DeviceBackend", sources.backend)
        self._device = self._backend.device

    def scores(self) -> Real:
        """Return the score of every feature, in nats."""
        with self._device:
            self._fold_pending()
            self._total = self._to_host(super().scores())
        return self._total

    def relevance(self) -> Real | None:
        """Return the information of every feature alone about all targets, in nats; None if the last ``scores`` need it not."""
        with self._device:
            relevance = super().relevance()
            return None if relevance is None else self._to_host(relevance)

    def select(self, feature: int) -> None:
        """Add ``feature`` to the selected ones."""
        with self._device:
            self._fold_pending()
            if self._repeat is not None and feature == self._last_selected and not self._spills_next():
                self._pending = feature  # together with the next step
            else:
                super().select(feature)

    def _fold_pending(self) -> None:
        if (feature := self._pending) is not None:
            self._pending = None
            super().select(feature)

    def _spills_next(self) -> bool:
        """True when the next feature is the last one before accumulators carry over."""
        return any(accumulator.spills_next for _, accumulator in self._folds)

    def select_best(self, n_steps: int, unavailable: Sequence[int]) -> list[SelectionStep]:
        """Select the best feature ``n_steps`` times and add each to the selected ones, except the last.

        ``unavailable`` are all features that must not be selected; at least ``n_steps`` others are left.
        """
        xp = self._backend.xp
        with self._device:
            if self._slots is None:
                self._slots = Slots(xp, self.sources.n_features, len(self.plan.components))
            slots, steps = self._slots, []
            slots.reset(xp, unavailable, self.n_selected)
            selected = xp.empty((n_steps, slots.row.size), dtype=np.int64)
            adds_first, self._pending = self._pending is not None, None
            for k in range(n_steps):
                scored = self._next(slots, n_steps - k) if k or adds_first else self._choose(slots)
                self._components, self._values, self._total = scored
                selected[k] = slots.row
                known = [value.array if _is_constant(value) else None for value in self._values]
                steps.append((self._components, known, [value.exact for value in self._values]))
            rows = self._to_host(selected)
        features = rows[:, 0].tolist()
        slots.taken, self._last_selected = {*unavailable, *features}, features[-1]
        scores = rows[:, 1].copy().view(np.float64).tolist()
        parts = [self._by_kind(*step, row[2:], score) for step, row, score in zip(steps, rows, scores, strict=True)]
        return [SelectionStep(*step) for step in zip(features, scores, parts, strict=True)]

    def _next(self, slots: Slots, n_left: int) -> Scored:
        """Add the feature that was chosen last to the selected ones, and choose another one.

        A GPU that chooses queues the same operations at every step until accumulators carry over, so they are recorded after
        one of them and repeated as a whole.
        """
        if not (self._backend.chooses and self.plan.is_from_one_panel and "S" not in self.plan.needs):
            super().select(int(slots.newest))
            return self._choose(slots)
        if self._spills_next():
            self._repeat, self._is_recordable = None, False
            super().select(slots.newest)
            slots.n_selected += 1.0
            return self._choose(slots)
        if self._repeat is None and self._is_recordable and n_left >= FEWEST_RECORDED:
            self._repeat = self._backend.recorded(partial(self._step, slots))
        scored = self._step(slots) if self._repeat is None else self._repeat()
        for _, accumulator in self._folds:
            accumulator.count_fold()
        self.n_selected += 1
        self._is_recordable = True
        return scored

    def _step(self, slots: Slots) -> Scored:
        """Queue what the GPU does at every step."""
        self.fold_panel(slots.newest)
        slots.n_selected += 1.0
        self._n_on_device = slots.n_selected
        try:
            return self._choose(slots)
        finally:
            self._n_on_device = None

    def _choose(self, slots: Slots) -> Scored:
        """Score all features and write the best one, its score, and the summands of the score."""
        column: Any = self._evaluate()[:, 0]
        xp, shape = self._backend.xp, slots.is_taken.shape
        if len(column) < shape[0]:  # the same for all
            is_known = isinstance(column, np.ndarray)
            column = xp.full(shape, float(column[0])) if is_known else xp.ascontiguousarray(xp.broadcast_to(column, shape))
        chosen, score, parts = slots.row[:1], slots.row[1:2].view(np.float64), slots.row[2:]
        self._backend.best(column, slots.is_taken, chosen, score)
        for place, value in enumerate(self._values if len(self._values) > 1 else ()):
            if not _is_constant(value):
                part = parts[place : place + 1]
                of_value: Any = value.array[:, 0]
                of_value.take(chosen if len(of_value) > 1 else slots.zero, None, part if value.exact else part.view(np.float64))
        return self._components, self._values, column

    def last_scores(self) -> Real:
        """Return the scores of all features at the last step."""
        with self._device:
            return self._to_host(self._total)

    def _by_kind(
        self,
        components: "list[Component]",
        known: list[NDArray[Any] | None],
        exact: list[bool],
        parts: NDArray[np.int64],
        score: float,
    ) -> dict[str, float]:
        """Return the summands of a score by kind: those ``known`` on the host, and the others as the GPU has written them."""
        if len(components) == 1:
            return {components[0].kind: score}
        by_kind: dict[str, float] = {}
        for component, array, is_exact, part in zip(components, known, exact, parts.reshape(-1, 1, 1), strict=True):
            written = part if is_exact else part.view(np.float64)
            nats = float(Value(written if array is None else array, is_exact).real(self.sources.fixed)[0, 0])
            by_kind[component.kind] = by_kind.get(component.kind, 0.0) + nats
        return by_kind

    def _to_host(self, values: object) -> NDArray[Any]:
        return values if isinstance(values, np.ndarray) else self._backend.to_host(values)
