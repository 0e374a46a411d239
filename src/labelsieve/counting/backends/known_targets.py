r"""Targets with unknown cells, for any backend: sums over the rows in which a target is known (pairwise deletion).

Let a target :math:`y` be known in :math:`K` of :math:`N` rows, :math:`S_K` be sums over the cells of these rows, and :math:`T`
sums over all rows. The tables of :math:`y` with variables :math:`A` that are handed out are

.. math:: T'(A, y) = T(A) + \frac{N}{K} \bigl( S_K(A, y) - S_K(A) \bigr) ,

so that every formula in which :math:`y` is an argument and no condition stays as it is:
:math:`T'(A, B, y) - T(A, B) - T'(B, y) + T(B) = N \, I_K(A; y \mid B)`, the information in the known rows.
The difference needs no other rows: with ":math:`y` or unknown" and "known or not" as targets of the wrapped backend, the
cells of the unknown rows are the same in both tables.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.counting.backends.protocol import (
    ALL_TARGETS,
    Backend,
    BackendFactory,
    Condition,
    Panel,
    Reduce,
    RowOptions,
    Sums,
    target_range,
)
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.sums import WholeColumns
from labelsieve.counting.whole_tables import CountBlock
from labelsieve.errors import InputError
from labelsieve.tables.codes import Codes, SparseCodes
from labelsieve.tables.weights import RowWeights


class KnownTargets(Backend):
    """A backend whose targets may have unknown cells: the last level of the columns that ``Y.missing`` names.

    ``build`` makes the backend that counts. Cost: one more target of two levels for every target with unknown cells, and every
    panel by target. Whole tables have the unknown cells as the last level; conditions on a target count them as a level.
    """

    def __init__(self, build: BackendFactory, X: Codes, Y: Codes, fixed: FixedPoint, **options: Unpack[RowOptions]) -> None:
        self._n_targets, self._fixed = Y.n_columns, fixed
        weights = options.get("weights")
        self._all_ratios = known_ratios(Y, None if weights is None else weights.of(options.get("row_index")))
        self._with_unknown = np.flatnonzero(self._all_ratios > 1)
        self._ratios = self._all_ratios[self._with_unknown]
        self._backend: Backend = build(X, _with_indicators(Y, self._with_unknown), fixed, **options)

    @cached_property
    def _singles(self) -> tuple[Sums, Sums]:
        features, targets = self._backend.singles()
        return features, self._combined(np.full(1, self._fixed.top), targets[np.newaxis], ALL_TARGETS)[0]

    def singles(self) -> tuple[Sums, Sums]:
        return self._singles

    def panel(self, given: Condition | None, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Panel:
        panels = [self._backend.panel(given, targets=part) for part in self._parts(targets)]
        pair, triple = panels[0].pair, panels[0].triple if len(panels) == 1 else np.hstack([one.triple for one in panels])
        combined = self._combined(pair, triple, targets)
        return Panel(pair, combined.sum(axis=1) if reduce else combined)

    def given_targets(self, given: Condition) -> Sums:
        sums = self._backend.given_targets(given)[np.newaxis]
        combined: Sums = self._combined(np.full(1, self.given_single(given)), sums, ALL_TARGETS)[0]
        return combined

    def given_single(self, given: Condition) -> int:
        return self._backend.given_single(given)

    def joint_counts(
        self, given: Condition | None = None, *, targets: slice | None = ALL_TARGETS, features: bool = True
    ) -> Iterator[CountBlock]:
        within = None if targets is None else slice(*targets.indices(self._n_targets))
        return self._backend.joint_counts(given, targets=within, features=features)

    def hold_columns(self, columns: WholeColumns) -> WholeColumns:
        return self._backend.hold_columns(columns)

    def of_known_rows(self) -> "KnownTables":
        return KnownTables(self, self._fixed, self._all_ratios)

    def _flagged(self, targets: slice) -> tuple[int, int, slice]:
        """Return the range of the targets, and which of the targets with unknown cells are in it."""
        first, last = target_range(targets, self._n_targets)
        start, stop = np.searchsorted(self._with_unknown, (first, last))
        return first, last, slice(int(start), int(stop))

    def _parts(self, targets: slice) -> list[slice]:
        """Return slices of the wrapped backend's targets: these, and the indicators of those with unknown cells."""
        first, last, flagged = self._flagged(targets)
        if last - first == self._n_targets:
            return [ALL_TARGETS]
        indicators = slice(self._n_targets + flagged.start, self._n_targets + flagged.stop)
        return [slice(first, last), *([indicators] if flagged.stop > flagged.start else [])]

    def _combined(self, base: Sums, sums: Sums, targets: slice) -> Sums:
        """Compute ``T'`` from sums for targets and, behind them, indicators; ``base`` are the tables without a target."""
        first, last, flagged = self._flagged(targets)
        n_targets = last - first
        combined = sums[:, :n_targets].copy()
        if flagged.stop > flagged.start:
            columns = self._with_unknown[flagged] - first
            known = np.floor((combined[:, columns] - sums[:, n_targets:]) * self._ratios[flagged] + 0.5)
            combined[:, columns] = base[:, np.newaxis] + known.astype(np.int64)
        return combined


class KnownTables(Backend):
    """Tables of targets as sums over the known rows, times the ratio of all rows to these: the same bits as the core's.

    They are computed from whole tables, which have the unknown cells as the last level of a target: see
    :class:`~labelsieve.counting.whole_tables.JointTables` for the cost.
    """

    def __init__(self, backend: Backend, fixed: FixedPoint, ratios: NDArray[np.float64]) -> None:
        self._backend, self._fixed, self._ratios = backend, fixed, ratios
        self._n_features = len(backend.singles()[0])

    def singles(self) -> tuple[Sums, Sums]:
        return self._backend.singles()[0], self._sums(None, ALL_TARGETS, features=False)[0]

    def panel(self, given: Condition | None, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Panel:
        sums = self._sums(given, targets)
        return Panel(self._backend.panel(given, targets=slice(0)).pair, sums.sum(axis=1) if reduce else sums)

    def given_targets(self, given: Condition) -> Sums:
        sums: Sums = self._sums(given, ALL_TARGETS, features=False)[0]
        return sums

    def given_single(self, given: Condition) -> int:
        return self._backend.given_single(given)

    def joint_counts(
        self, given: Condition | None = None, *, targets: slice | None = ALL_TARGETS, features: bool = True
    ) -> Iterator[CountBlock]:
        return self._backend.joint_counts(given, targets=targets, features=features)

    def _sums(self, given: Condition | None, targets: slice, *, features: bool = True) -> Sums:
        ratios = self._ratios[targets]
        sums = np.empty((self._n_features if features else 1, len(ratios)), dtype=np.int64)
        for block in self._backend.joint_counts(given, targets=targets, features=features):
            ratio = ratios[block.target]
            known = block.counts[:, :, :-1] if ratio > 1 else block.counts
            cells = self._fixed(np.rint(known * self._fixed.unit).astype(np.int64)).sum(axis=(1, 2, 3))
            sums[block.features, block.target] = np.floor(cells * ratio + 0.5).astype(np.int64)
        return sums


def known_tables_suffice(tables: Iterable[tuple[float, Iterable[str]]]) -> bool:
    """True when tables of known rows add up to a term: each one with ``y`` has its counterpart without, of opposite sign.

    >>> known_tables_suffice([(1.0, "xy"), (-1.0, "x"), (-1.0, "y"), (1.0, "")])  # I(x; y)
    True
    >>> known_tables_suffice([(1.0, "xyz"), (-1.0, "xy"), (-1.0, "yz"), (1.0, "y")])  # I(x; z | y)
    False
    """
    left_over: dict[frozenset[str], float] = {}
    with_y = False
    for sign, names in tables:
        others = frozenset(names) - {"y"}
        left_over[others] = left_over.get(others, 0.0) + sign
        with_y = with_y or "y" in names
    return not with_y or not any(left_over.values())


def known_ratios(Y: Codes, weights: RowWeights | None) -> NDArray[np.float64]:
    """Return the ratio of all rows (or their weight) to the known ones, for every target: 1 where all are known.

    >>> Y = Codes(4, np.array([3, 2], dtype=np.uint32), dense=np.array([[0, 1], [2, 0], [1, 0], [2, 1]], dtype=np.uint8),
    ...           missing=np.array([True, False]))
    >>> known_ratios(Y, None)
    array([2., 1.])
    """
    ratios = np.ones(Y.n_columns)
    if Y.missing is None:
        return ratios
    for target in map(int, np.flatnonzero(Y.n_missing)):
        counted = Y.n_rows - int(Y.n_missing[target])
        if weights is not None:
            counted = int(weights.values[Y.is_known(target)].sum())
        if counted == 0:
            name = f"label {target}" if Y.names is None else f"label {Y.names[target]!r}"
            raise InputError(f"Y: {name} is unknown in every row that counts; leave it out.")
        ratios[target] = (Y.n_rows if weights is None else weights.total) / counted
    return ratios


def _with_indicators(Y: Codes, columns: NDArray[np.intp]) -> Codes:
    """Return the targets, and behind them an indicator of unknown cells for each of ``columns``."""
    last = (Y.levels[columns] - 1).astype(np.uint16)
    levels = np.concatenate([Y.levels, np.full(len(columns), 2, dtype=np.uint32)])
    if Y.dense is not None:
        dense = np.empty((Y.n_rows, len(levels)), dtype=Y.dense.dtype, order="F")
        dense[:, : Y.n_columns] = Y.dense
        dense[:, Y.n_columns :] = Y.dense[:, columns] == last
        return Codes(Y.n_rows, levels, dense=dense)
    assert Y.sparse is not None
    starts, rows, codes, implicit = Y.sparse.starts, Y.sparse.rows, Y.sparse.codes, Y.sparse.implicit
    table = sp.csc_array((codes, rows, starts), shape=Y.shape)[:, columns]
    unknown = table.data == np.repeat(last, np.diff(table.indptr))
    return Codes(
        Y.n_rows,
        levels,
        sparse=SparseCodes(
            np.concatenate([starts, starts[-1] + table.indptr[1:]]).astype(np.int64),
            np.concatenate([rows, table.indices.astype(np.uint32)]),
            np.concatenate([codes, unknown.astype(np.uint16)]),
            np.concatenate([implicit, (implicit[columns] == last).astype(np.uint16)]),
        ),
    )
