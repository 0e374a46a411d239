"""Sums over the known rows of a target, from whole tables: for backends whose sums have the unknown cells, too."""

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.protocol import ALL_TARGETS, Backend, Condition, Panel, Reduce, Sums
from labelsieve.counting.fixed_point import FixedPoint


class KnownTables:
    r"""Tables of targets as sums over the known rows, times :math:`N/K`: the same bits as the core's.

    Parameters
    ----------
    backend : Backend
        Its whole tables have the unknown cells as the last level of a target.
    fixed : FixedPoint
    ratios : ndarray of float, shape (n_targets,)
        :math:`N/K`: 1 for targets without unknown cells.

    Notes
    -----
    Cost: whole tables, see :class:`~labelsieve.counting.backends.joint_tables.JointTables`.
    """

    def __init__(self, backend: Backend, fixed: FixedPoint, ratios: NDArray[np.float64]) -> None:
        self._backend, self._fixed, self._ratios = backend, fixed, ratios
        self._n_features = len(backend.singles()[0])

    def singles(self) -> tuple[Sums, Sums]:
        return self._backend.singles()[0], self._sums(None, ALL_TARGETS, features=False)[0]

    def pairs(self, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Sums:
        sums = self._sums(None, targets)
        return sums if reduce is None else sums.sum(axis=1)

    def panel(self, given: Condition, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Panel:
        sums = self._sums(given, targets)
        return Panel(self._backend.panel(given, targets=slice(0)).pair, sums if reduce is None else sums.sum(axis=1))

    def given_targets(self, given: Condition) -> Sums:
        sums: Sums = self._sums(given, ALL_TARGETS, features=False)[0]
        return sums

    def given_single(self, given: Condition) -> int:
        return self._backend.given_single(given)

    def _sums(self, given: Condition | None, targets: slice, *, features: bool = True) -> Sums:
        ratios = self._ratios[targets]
        sums = np.empty((self._n_features if features else 1, len(ratios)), dtype=np.int64)
        for block in self._backend.joint_counts(given, targets=targets, features=features):
            ratio = ratios[block.target]
            known = block.counts[:, :, :-1] if ratio > 1 else block.counts
            cells = self._fixed(np.rint(known * self._fixed.unit).astype(np.int64)).sum(axis=(1, 2, 3))
            sums[block.features, block.target] = np.floor(cells * ratio + 0.5).astype(np.int64)
        return sums
