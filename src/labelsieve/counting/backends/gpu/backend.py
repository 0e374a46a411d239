"""The backends that count on an NVIDIA GPU: with results on the host, and with results that stay on the GPU."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.gpu.counting import DeviceColumn, DeviceCounts, EveryRow
from labelsieve.counting.backends.gpu.kernels import CudaKernels, NLogN, Output
from labelsieve.counting.backends.gpu.sums import held_columns
from labelsieve.counting.backends.protocol import (
    ALL_TARGETS,
    CodesBackend,
    Condition,
    Feature,
    Panel,
    PanelFold,
    Reduce,
    Sums,
    fold_panel,
    target_range,
)
from labelsieve.counting.fixed_point import logarithms
from labelsieve.counting.sums import WholeColumns
from labelsieve.errors import InputError
from labelsieve.resources import require_memory
from labelsieve.tables.codes import Codes, constant_column
from labelsieve.tables.types import DeviceArray

Result = TypeVar("Result")


@dataclass(eq=False, repr=False, kw_only=True)
class DeviceBackend(CodesBackend):
    """A backend whose results stay in the memory of the GPU that counts."""

    kernels: CudaKernels
    memory_limit: int | None = None  # bytes of packed features that stay on the GPU

    def __post_init__(self) -> None:
        super().__post_init__()
        self.xp, self.device = (
            self.kernels.xp,
            self.kernels.device,
        )  # the device is a context in which its arrays are computed with

    def to_host(self, values: object) -> NDArray[Any]:
        """Copy an array of the GPU to the memory of the host."""
        host: NDArray[Any] = self.kernels.to_host(values)
        return host

    @cached_property
    def counts(self) -> DeviceCounts:
        """Counts of features by targets."""
        return self._packed(self.X, self.Y, self.row_index)

    @cached_property
    def _among_targets(self) -> DeviceCounts:
        """Counts of the targets in place of the features."""
        return self._packed(self.Y, constant_column(self.n_rows), None)

    def _packed(self, X: Codes, Y: Codes, row_index: NDArray[np.uint32] | None) -> DeviceCounts:
        xp, weights, fixed, values = self.xp, self.weights_of_targets, self.fixed, self.fixed.values
        table, of_rows = None, None
        if weights is not None and (weights.values == weights.values[0]).all():
            # Rows that weigh the same are counted without weights: n of them count as n times their weight.
            values = fixed(np.arange(Y.n_rows + 1) * int(weights.values[0]))
        elif weights is not None:
            of_rows = xp.asarray(weights.values)
            table = NLogN(None, xp.asarray(logarithms()), fixed.scale, fixed.penalty)
        if table is None:
            if values is None or len(values) <= Y.n_rows:
                raise InputError(f"The table of n log n is for fewer than {Y.n_rows} rows.")
            table = NLogN(xp.asarray(values[: Y.n_rows + 1]), None, 0.0, 0)
        return DeviceCounts(self.kernels, X, Y, row_index, table, of_rows, self.memory_limit)

    def singles(self) -> tuple[Any, Any]:
        with self.device:
            return self._pair_sums(self.counts, None), self._pair_sums(self._among_targets, None)

    def panel(self, given: Condition | None, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Panel:
        first, last = target_range(targets, self.n_targets)
        wide = 0 if reduce else last - first
        with self.device:
            xp, shape = self.xp, (self.n_features,) if reduce else (self.n_features, wide)
            pair, triple = xp.zeros(self.n_features, dtype=xp.int64), xp.zeros(shape, dtype=xp.int64)
            self.counts.add(self._condition(given), first, last, Output(pair, triple if last > first else None, wide))
            return Panel(pair, triple)

    def given_targets(self, given: Condition) -> Any:
        with self.device:
            return self._pair_sums(self._among_targets, self._host_column(given, self._among_targets))

    def fold_given_feature(self, accumulator: Any, feature: Any, fold: PanelFold, *, targets: slice = ALL_TARGETS) -> None:
        """Add ``fold`` of a panel to an array of the GPU; ``feature`` may be an array with one that the GPU has chosen."""
        first, last = target_range(targets, self.n_targets)
        out = Output(accumulator, accumulator if last > first else None, 0, fold.pair_factor, fold.triple_factor)
        with self.device:
            if fold.fixed is not None:
                accumulator += fold.fixed
            accumulator += fold.constant
            self.counts.add(self._condition(Feature(feature)), first, last, out)

    @property
    def chooses(self) -> bool:
        """True when a condition may be a feature that only the GPU knows: all features are packed alike."""
        return self.counts.features.is_one_block

    def best(self, scores: DeviceArray, is_taken: DeviceArray, chosen: DeviceArray, value: DeviceArray) -> None:
        """Write the first of the largest scores of features that are not taken, take it, and write its score."""
        with self.device:
            self.kernels.best(scores, is_taken, chosen, value)

    def recorded(self, step: Callable[[], Result]) -> Callable[[], Result]:
        """Record the operations that ``step`` queues: the returned function queues all of them by one call.

        ``step`` is not executed. It must have been executed once, and must not read anything from the GPU. Its result is that
        of every call.
        """
        with self.device:
            repeat: Callable[[], Result] = self.kernels.recorded(step)
        return repeat

    def _pair_sums(self, counts: DeviceCounts, given: DeviceColumn | None) -> Any:
        sums = self.xp.zeros(counts.n_features, dtype=self.xp.int64)
        counts.add(counts.no_condition if given is None else given, 0, 0, Output(sums, None, 0))
        return sums

    def _condition(self, given: Condition | None) -> DeviceColumn | EveryRow:
        if given is None:
            return self.counts.no_condition
        if not isinstance(given, Feature):
            return self._host_column(given, self.counts)
        index: int | DeviceArray = given.index
        if isinstance(index, int | np.integer) and not 0 <= given.index < self.n_features:
            raise InputError(f"There is no such feature: {given.index} of {self.n_features}.")
        return self.counts.features.column(index)

    def _host_column(self, given: Condition, counts: DeviceCounts) -> DeviceColumn:
        codes, n_levels = self.column(given)
        if codes.shape != (self.n_rows,):
            raise InputError(f"given has {len(codes)} codes for {self.n_rows} rows.")
        if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < n_levels:
            raise InputError(f"given has codes outside of 0 to {n_levels - 1}, its number of levels.")
        return counts.column(codes, n_levels)


MOST_ROWS = 2**31 - 1


@dataclass(eq=False, repr=False, kw_only=True)
class GpuBackend(CodesBackend):
    """An NVIDIA GPU as a :class:`~labelsieve.counting.backends.protocol.Backend`, with results on the host.

    ``Sieve(backend="gpu")`` counts on the current GPU of CuPy; ``backend=functools.partial(GpuBackend, device=1)`` on another
    one. All sums are those of the core, to the last bit.

    Parameters
    ----------
    X, Y, fixed, weights, row_index
        As for :class:`~labelsieve.counting.backends.protocol.BackendFactory`.
    n_jobs : int, optional
        Not used.
    device : int, default=None
        The number of the GPU; None is CuPy's current one.
    memory_limit : int, default=None
        Bytes of the GPU for packed features (default: three quarters of what is free). Blocks of features beyond it stay
        packed in the memory of the host and are copied to the GPU whenever they are counted, in blocks of rows if need be.
        Columns of whole numbers for linear models may take as many bytes more (default: half of what is free).
    kernels : CudaKernels, default=None
        The kernels; for tests.

    Notes
    -----
    Features are packed once, as a column of bits for each level but the first, and stay on the GPU as long as the backend
    exists, with ``warm_start`` from fit to fit. A panel counts the intersections of these columns with those of the targets
    and of the condition: with the one-bit tensor cores on GPUs of compute capability 8.0 to 9.0, else by AND and population
    count. The counts of first levels follow from the margins. The table of n log n is looked up on the GPU, and one number
    for each feature (or feature and target) comes back, or stays there for the scores (``on_device``). Variables with more
    than 16 levels, and all variables of weighted rows, are counted as codes, one table after the other. Whole tables are
    counted with numpy, as by the core.
    """

    device: int | None = None
    memory_limit: int | None = None
    kernels: CudaKernels | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_rows > MOST_ROWS:
            raise InputError(f"{self.n_rows:,} rows; a GPU counts up to {MOST_ROWS:,}. Use backend='native'.")
        self._kernels = CudaKernels(self.device) if self.kernels is None else self.kernels
        # Not a view of this object, which would refer to itself: the memory of the GPU must be free as soon as it is not used.
        self.on_device: DeviceBackend = DeviceBackend(
            self.X,
            self.Y,
            self.fixed,
            weights=self.weights,
            row_index=self.row_index,
            kernels=self._kernels,
            memory_limit=self.memory_limit,
        )

    @property
    def bytes(self) -> int:
        """Memory of the packed features."""
        with self._kernels.device:
            return self.on_device.counts.features.bytes

    def singles(self) -> tuple[Sums, Sums]:
        with self._kernels.device:
            features, targets = self.on_device.singles()
            return self._kernels.to_host(features), self._kernels.to_host(targets)

    def panel(self, given: Condition | None, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Panel:
        if not reduce:
            first, last = target_range(targets, self.n_targets)
            require_memory(8 * self.n_features * (last - first), "sums of", self.n_features, last - first)
        with self._kernels.device:
            return Panel(*map(self._kernels.to_host, self.on_device.panel(given, targets=targets, reduce=reduce)))

    def given_targets(self, given: Condition) -> Sums:
        with self._kernels.device:
            return self._kernels.to_host(self.on_device.given_targets(given))

    def fold_given_feature(self, accumulator: Sums, feature: int, fold: PanelFold, *, targets: slice = ALL_TARGETS) -> None:
        with self._kernels.device:
            sums = self._kernels.xp.zeros(self.n_features, dtype=np.int64)
            self.on_device.fold_given_feature(sums, feature, fold._replace(fixed=None), targets=targets)
            folded = self._kernels.to_buffer(sums)
        fold_panel(accumulator, Panel(folded, folded), PanelFold(0, fold.fixed, 1, 0))

    def hold_columns(self, columns: WholeColumns) -> WholeColumns:
        limit = self._kernels.free_bytes() // 2 if self.memory_limit is None else self.memory_limit
        return held_columns(self._kernels, columns, limit)
