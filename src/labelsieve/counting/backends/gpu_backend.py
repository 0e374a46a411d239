"""Counting on a GPU."""

from dataclasses import dataclass

import numpy as np

from labelsieve.counting.backends.gpu_kernels import CudaKernels
from labelsieve.counting.backends.gpu_sums import DeviceSums
from labelsieve.counting.backends.protocol import ALL_TARGETS, Condition, Panel, PanelFold, Reduce, Sums, fold_panel
from labelsieve.counting.backends.table_backend import TableBackend
from labelsieve.counting.resources import require_memory
from labelsieve.errors import InputError

MOST_ROWS = 2**31 - 1


@dataclass(eq=False, repr=False, kw_only=True)
class GpuBackend(TableBackend):
    """An NVIDIA GPU as a :class:`~labelsieve.counting.backends.protocol.Backend`, with the capability to fold panels.

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
        # Not this object, which refers to the sums: the memory of the GPU must be free as soon as nothing else does.
        tables = TableBackend(self.X, self.Y, self.fixed, weights=self.weights, row_index=self.row_index)
        self.on_device = DeviceSums(self._kernels, tables, self.memory_limit)
        """The same with results on the GPU, for a search there."""

    @property
    def bytes(self) -> int:
        """Memory of the packed features."""
        with self._kernels.device:
            return self.on_device.counts.bytes

    def singles(self) -> tuple[Sums, Sums]:
        with self._kernels.device:
            features, targets = self.on_device.singles()
            return self._kernels.to_host(features), self._kernels.to_host(targets)

    def pairs(self, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Sums:
        return self._panel(None, targets, reduce, pairs=False).triple

    def panel(self, given: Condition, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Panel:
        return self._panel(given, targets, reduce, pairs=True)

    def given_targets(self, given: Condition) -> Sums:
        with self._kernels.device:
            return self._kernels.to_host(self.on_device.given_targets(given))

    def fold_given_feature(self, accumulator: Sums, feature: int, fold: PanelFold, *, targets: slice = ALL_TARGETS) -> None:
        with self._kernels.device:
            sums = self._kernels.xp.zeros(self.n_features, dtype=np.int64)
            self.on_device.fold_given_feature(sums, feature, fold._replace(fixed=None), targets=targets)
            folded = self._kernels.to_buffer(sums)
        fold_panel(accumulator, Panel(folded, folded), PanelFold(0, fold.fixed, 1, 0))

    def _panel(self, given: Condition | None, targets: slice, reduce: Reduce, *, pairs: bool) -> Panel:
        if not reduce:
            n_wide = len(range(*targets.indices(self.n_targets)))
            require_memory(8 * self.n_features * n_wide, "sums of", self.n_features, n_wide)
        with self._kernels.device:
            return Panel(*map(self._kernels.to_host, self.on_device.count(given, targets, reduce, pairs=pairs)))
