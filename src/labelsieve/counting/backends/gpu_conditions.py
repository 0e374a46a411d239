"""Conditions of a panel on a GPU: columns of bits for the counting kernels, or codes for whole tables."""

from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

from labelsieve.counting.backends.gpu_bits import (
    WORDS,
    n_stages,
    pack_plain,
    padded_levels,
    rows_of_fragments,
    unpack_codes,
)
from labelsieve.counting.backends.gpu_outputs import GivenRows, Margins, TargetGroup
from labelsieve.counting.backends.gpu_transfer import BitBlock
from labelsieve.table_types import DeviceArray

if TYPE_CHECKING:
    from labelsieve.counting.backends.gpu_kernels import CudaKernels


class EveryRow:
    """No condition: one level, of every row."""

    n_levels = 1
    codes = None
    plain = None

    def __init__(self, xp: ModuleType, n_rows: int) -> None:
        self.fragments = xp.full((n_stages(n_rows), WORDS), 0xFFFFFFFF, dtype=xp.uint32)

    def counts_of(self, group: TargetGroup, margins: Margins | None) -> None:
        """No level but the first: nothing is counted."""

    def rows(self, stages: slice) -> GivenRows:
        """The same for some stages of the rows."""
        return GivenRows(None, self.fragments[stages])


class DeviceColumn:
    """A variable to condition on.

    Parameters
    ----------
    kernels : CudaKernels
    codes : ndarray of uint32 on the GPU, optional
        One for each row; not needed for a feature that is packed.
    n_levels, n_rows : int
    feature : tuple of (BitBlock, int or ndarray of one int64 on the GPU), default=None
        A packed feature: its block and its place in it.
    """

    def __init__(
        self,
        kernels: "CudaKernels",
        codes: Any,
        n_levels: int,
        n_rows: int,
        feature: tuple[BitBlock, Any] | None = None,
    ) -> None:
        self._kernels, self._xp, self._codes = kernels, kernels.xp, codes
        self.n_levels, self._n_rows, self.feature = n_levels, n_rows, feature
        self._wanted: tuple[Margins, DeviceArray] | None = None

    @cached_property
    def _bits(self) -> tuple[Any, Any]:
        xp, stages = self._xp, n_stages(self._n_rows)
        plain = xp.empty((self.n_levels - 1, stages, WORDS), dtype=xp.uint32)
        if self.feature is None:
            plain[...] = pack_plain(xp, self._codes[None], self.n_levels)
        elif not self.feature[0].is_resident:
            plain[...] = xp.asarray(self.feature[0].plain_columns(self.feature[1]))
        fragments = xp.empty((padded_levels(self.n_levels), stages, WORDS), dtype=xp.uint32)
        self._prepare(plain, fragments, self._wanted)
        return plain, fragments

    @property
    def plain(self) -> Any:
        """The columns as ``[level - 1][stage][word]``."""
        return self._bits[0]

    @property
    def fragments(self) -> Any:
        """The same in passes of four levels, in the order in which the threads of a warp group hold them."""
        return self._bits[1]

    def rows(self, stages: slice) -> GivenRows:
        """The columns in some stages of the rows."""
        xp, (plain, fragments) = self._xp, self._bits
        return GivenRows(xp.ascontiguousarray(plain[:, stages]), rows_of_fragments(xp, fragments, stages))

    def _prepare(self, plain: DeviceArray, fragments: DeviceArray, known: tuple[Margins, DeviceArray] | None) -> None:
        block, place = (None, 0) if self.feature is None else self.feature
        features = None if block is None or not block.is_resident else block.parts[0]
        self._kernels.condition(features, place, self.n_levels - 1, plain, fragments, known)

    def counts_of(self, group: TargetGroup, margins: Margins | None) -> Any:
        """Counts of (condition, target); ``margins`` are those of the block of a packed feature, where they are kept."""
        given = self._xp.empty((self.n_levels - 1, group.totals.size), dtype=self._xp.int32)
        if margins is None:
            self._kernels.cross(self.plain, group.plain, given)
        elif "_bits" in self.__dict__:
            self._prepare(*self._bits, (margins, given))
        else:  # together with the columns
            self._wanted = margins, given
            assert self._bits is not None
        return given

    @cached_property
    def codes(self) -> Any:
        """One for each row."""
        if self._codes is not None:
            return self._codes
        return unpack_codes(self._xp, self.plain, self.n_levels, self._n_rows)[0].astype(self._xp.uint32)
