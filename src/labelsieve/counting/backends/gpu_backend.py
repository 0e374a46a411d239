"""Counting on a graphics card."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.gpu_kernels import CudaKernels
from labelsieve.counting.backends.gpu_sums import DeviceSums
from labelsieve.counting.backends.joint_tables import JointTables
from labelsieve.counting.backends.protocol import (
    ALL_TARGETS,
    Condition,
    CountBlock,
    Panel,
    PanelFold,
    Reduce,
    Sums,
    fold_panel,
)
from labelsieve.counting.codes import Codes
from labelsieve.counting.fixed_point import FixedPoint
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
        packed in the memory of the host and are copied to the card whenever they are counted, in blocks of rows if need be.
    kernels : CudaKernels, optional
        What counts; for tests.

    Notes
    -----
    Features are packed once, as a column of bits for each level but the first, and stay on the card as long as the backend
    exists, with ``warm_start`` from fit to fit. A panel counts the intersections of these columns with those of the targets
    and of the condition: with the one-bit tensor cores on cards of compute capability 8.0 to 9.0, else by AND and population
    count. The counts of first levels follow from the margins. The table of n log n is looked up on the card, and one number
    for each feature (or feature and target) comes back, or stays there for the scores (:attr:`on_device`). Variables with more
    than 16 levels, and all variables of weighted rows, are counted as codes, one table after the other. Whole tables are
    counted with numpy, as by the core.
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
        kernels = CudaKernels(device) if kernels is None else kernels
        self._kernels, self._X, self._Y, self._row_index = kernels, X, Y, row_index
        self._weights = None if weights is None else weights.of(row_index)
        self.on_device = DeviceSums(kernels, X, Y, fixed, self._weights, row_index, memory_limit)
        """The same with results on the card, for a search there."""

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

    def given_single(self, given: Condition) -> int:
        return self.on_device.given_single(given)

    def fold_given_feature(self, accumulator: Sums, feature: int, fold: PanelFold, *, targets: slice = ALL_TARGETS) -> None:
        with self._kernels.device:
            sums = self._kernels.xp.zeros(self._X.n_columns, dtype=np.int64)
            self.on_device.fold_given_feature(sums, feature, fold._replace(fixed=None), targets=targets)
            folded = self._kernels.to_buffer(sums)
        fold_panel(accumulator, Panel(folded, folded), PanelFold(0, fold.fixed, 1, 0))

    def joint_counts(
        self, given: Condition | None = None, *, targets: slice | None = ALL_TARGETS, features: bool = True
    ) -> Iterator[CountBlock]:
        return self._tables.joint_counts(given, targets=targets, features=features)

    @cached_property
    def _tables(self) -> JointTables:
        of_rows = None if self._weights is None else self._weights.values / self._weights.unit
        return JointTables(self._X, self._Y, weights=of_rows, row_index=self._row_index)

    def _panel(self, given: Condition | None, targets: slice, reduce: Reduce, *, pairs: bool) -> Panel:
        if not reduce:
            n_wide = len(range(*targets.indices(self._Y.n_columns)))
            require_memory(8 * self._X.n_columns * n_wide, "sums of", self._X.n_columns, n_wide)
        with self._kernels.device:
            return Panel(*map(self._kernels.to_host, self.on_device.count(given, targets, reduce, pairs=pairs)))
