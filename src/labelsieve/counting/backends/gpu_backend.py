"""Counting on a graphics card."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.gpu_conditions import DeviceColumn, EveryRow
from labelsieve.counting.backends.gpu_counting import DeviceCounts
from labelsieve.counting.backends.gpu_kernels import CudaKernels
from labelsieve.counting.backends.gpu_outputs import NLogN, Output
from labelsieve.counting.backends.joint_tables import ConditionColumns, JointTables
from labelsieve.counting.backends.protocol import (
    ALL_TARGETS,
    Condition,
    CountBlock,
    Feature,
    Panel,
    PanelFold,
    Reduce,
    Sums,
    fold_panel,
)
from labelsieve.counting.codes import Codes
from labelsieve.counting.fixed_point import FixedPoint, logarithms
from labelsieve.counting.joint_codes import constant_column, sum_of_levels
from labelsieve.counting.resources import require_memory
from labelsieve.counting.row_weights import RowWeights
from labelsieve.errors import InputError

MOST_ROWS = 2**31 - 1


class GpuBackend:
    """A card of NVIDIA as a :class:`~labelsieve.counting.backends.protocol.Backend`, with the capability to fold panels.

    ``Sieve(backend="gpu")`` counts on the current card of CuPy; ``backend=functools.partial(GpuBackend, device=1)`` on another
    one. All sums are those of the core, to the last bit.

    Parameters
    ----------
    X, Y, fixed, weights, row_index
        As for :class:`~labelsieve.counting.backends.protocol.BackendFactory`.
    n_jobs : int, optional
        Without effect.
    device : int, optional
        The number of the card; None is CuPy's current one.
    memory_limit : int, optional
        Bytes of the card for packed features (default: three quarters of what is free). Blocks of features beyond it stay
        packed in the memory of the host and are copied to the card whenever they are counted.
    kernels : CudaKernels, optional
        What counts; for tests.

    Notes
    -----
    Features are packed once, as a column of bits for each level but the first, and stay on the card as long as the backend
    exists, with ``warm_start`` from fit to fit. A panel counts the intersections of these columns with those of the targets and
    of the condition: with the one-bit tensor cores on cards of compute capability 9.0, else by AND and population count. The
    counts of first levels follow from the margins. The table of n log n is looked up on the card, and one number for each
    feature (or feature and target) comes back. Variables with more than 16 levels, and all variables of weighted rows, are
    counted as codes, one table after the other. Whole tables are counted with numpy, as by the core.
    """

    def __init__(
        self,
        X: Codes,
        Y: Codes,
        fixed: FixedPoint,
        *,
        weights: RowWeights | None = None,
        row_index: NDArray[np.uint32] | None = None,
        n_jobs: int | None = None,
        device: int | None = None,
        memory_limit: int | None = None,
        kernels: CudaKernels | None = None,
    ) -> None:
        n_rows = X.n_rows if row_index is None else len(row_index)
        if n_rows != Y.n_rows:
            raise InputError(f"X has {n_rows} rows and Y has {Y.n_rows}; they must be the same rows.")
        if n_rows > MOST_ROWS:
            raise InputError(f"{n_rows:,} rows; a card counts up to {MOST_ROWS:,}. Use backend='native'.")
        self._kernels = CudaKernels(device) if kernels is None else kernels
        self.n_features, self.n_targets, self._n_rows = X.n_columns, Y.n_columns, n_rows
        self._X, self._Y, self._fixed, self._row_index = X, Y, fixed, row_index
        self._weights = None if weights is None else weights.of(row_index)
        self._memory_limit = memory_limit
        self._columns = ConditionColumns(X, Y, row_index)

    @cached_property
    def _counts(self) -> DeviceCounts:
        return self._on_card(self._X, self._Y, self._row_index)

    @cached_property
    def _among_targets(self) -> DeviceCounts:
        """The targets instead of the features."""
        return self._on_card(self._Y, constant_column(self._n_rows), None)

    def _on_card(self, X: Codes, Y: Codes, row_index: NDArray[np.uint32] | None) -> DeviceCounts:
        xp, weights, values = self._kernels.xp, self._weights, self._fixed.values
        table, of_rows = None, None
        if weights is not None and (weights.values == weights.values[0]).all():
            # Rows that weigh the same are counted without weights: n of them count as n times their weight.
            values = self._fixed(np.arange(Y.n_rows + 1) * int(weights.values[0]))
        elif weights is not None:
            of_rows = xp.asarray(weights.values)
            table = NLogN(None, xp.asarray(logarithms()), self._fixed.scale, self._fixed.penalty)
        if table is None:
            if values is None or len(values) <= Y.n_rows:
                raise InputError(f"The table of n log n is for fewer than {Y.n_rows} rows.")
            table = NLogN(xp.asarray(values[: Y.n_rows + 1]), None, 0.0, 0)
        return DeviceCounts(self._kernels, X, Y, row_index, table, of_rows, self._memory_limit)

    @property
    def bytes(self) -> int:
        """Memory of the packed features."""
        with self._kernels.device:
            return self._counts.bytes

    def singles(self) -> tuple[Sums, Sums]:
        with self._kernels.device:
            return self._pair_sums(self._counts, None), self._pair_sums(self._among_targets, None)

    def pairs(self, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Sums:
        return self._panel(None, targets, reduce, pairs=False).triple

    def panel(self, given: Condition, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Panel:
        return self._panel(given, targets, reduce, pairs=True)

    def given_targets(self, given: Condition) -> Sums:
        with self._kernels.device:
            return self._pair_sums(self._among_targets, self._host_column(given, self._among_targets))

    def given_single(self, given: Condition) -> int:
        return sum_of_levels(*self._columns.column(given), self._fixed, self._weights)

    def fold_given_feature(self, accumulator: Sums, feature: int, fold: PanelFold, *, targets: slice = ALL_TARGETS) -> None:
        with self._kernels.device:
            folded = self._kernels.to_buffer(self._folded(feature, fold, targets))
        fold_panel(accumulator, Panel(folded, folded), PanelFold(fold.constant, fold.fixed, 1, 0))

    def _folded(self, feature: int, fold: PanelFold, targets: slice) -> Any:
        """Pairs and triples of a panel with their factors, on the card."""
        (first, last), xp = self._range(targets), self._kernels.xp
        sums = xp.zeros(self.n_features, dtype=xp.int64)
        out = Output(sums, sums if last > first else None, 0, fold.pair_factor, fold.triple_factor)
        self._counts.add(self._condition(Feature(feature)), first, last, out)
        return sums

    def joint_counts(
        self, given: Condition | None = None, *, targets: slice | None = ALL_TARGETS, features: bool = True
    ) -> Iterator[CountBlock]:
        return self._tables.joint_counts(given, targets=targets, features=features)

    @cached_property
    def _tables(self) -> JointTables:
        of_rows = None if self._weights is None else self._weights.values / self._weights.unit
        return JointTables(self._X, self._Y, weights=of_rows, row_index=self._row_index)

    def _panel(self, given: Condition | None, targets: slice, reduce: Reduce, *, pairs: bool) -> Panel:
        if reduce not in (None, "sum"):
            raise InputError(f"reduce must be None or 'sum', not {reduce!r}.")
        first, last = self._range(targets)
        wide = 0 if reduce else last - first
        if not reduce:
            require_memory(8 * self.n_features * wide, "sums of", self.n_features, wide)
        with self._kernels.device:
            xp, shape = self._kernels.xp, (self.n_features,) if reduce else (self.n_features, wide)
            pair = xp.zeros(self.n_features, dtype=xp.int64) if pairs else None
            triple = xp.zeros(shape, dtype=xp.int64)
            out = Output(pair, triple if last > first else None, wide)
            self._counts.add(self._condition(given), first, last, out)
            host = self._kernels.to_host
            return Panel(np.empty(0, dtype=np.int64) if pair is None else host(pair), host(triple))

    def _pair_sums(self, counts: DeviceCounts, given: DeviceColumn | None) -> Sums:
        xp = self._kernels.xp
        sums = xp.zeros(counts.n_features, dtype=xp.int64)
        counts.add(counts.no_condition if given is None else given, 0, 0, Output(sums, None, 0))
        return self._kernels.to_host(sums)

    def _range(self, targets: slice) -> tuple[int, int]:
        first, last, step = targets.indices(self.n_targets)
        if step != 1:
            raise InputError("The targets of a panel must be contiguous (a slice with step 1).")
        return first, max(first, last)

    def _condition(self, given: Condition | None) -> DeviceColumn | EveryRow:
        if given is None:
            return self._counts.no_condition
        if isinstance(given, Feature):
            if not 0 <= given.index < self.n_features:
                raise InputError(f"There is no such feature: {given.index} of {self.n_features}.")
            return self._counts.feature(given.index)
        return self._host_column(given, self._counts)

    def _host_column(self, given: Condition, counts: DeviceCounts) -> DeviceColumn:
        codes, n_levels = self._columns.column(given)
        if codes.shape != (self._n_rows,):
            raise InputError(f"given has {len(codes)} codes for {self._n_rows} rows.")
        if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < n_levels:
            raise InputError(f"given has codes outside of 0 to {n_levels - 1}, its number of levels.")
        return counts.column(codes, n_levels)
