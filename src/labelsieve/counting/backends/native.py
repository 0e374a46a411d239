"""Counting in this process, with the C++ core."""

from typing import Any, Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.backends.protocol import Panel, PanelFold, Reduce, Sums
from labelsieve.counting.codes import Codes
from labelsieve.counting.fixed_point import FixedPoint, logarithms
from labelsieve.counting.memory import require_memory
from labelsieve.counting.row_weights import RowWeights
from labelsieve.errors import InputError, is_whole

Strategy = Literal["auto", "positional", "grouped", "tiled", "sparse", "histogram"]


def n_threads(n_jobs: Any) -> int:
    """How many threads ``n_jobs`` means, as joblib counts: None is one unless a context says otherwise, -1 is all."""
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
        raise InputError(f"n_jobs must be None or a whole number other than 0, not {n_jobs!r}.")
    threads: int = effective_n_jobs(None if n_jobs is None else int(n_jobs))
    return threads


class NativeBackend:
    """The C++ core as a :class:`~labelsieve.counting.backends.Backend`.

    Parameters
    ----------
    X, Y : Codes
        Features and targets, with the same rows unless ``row_index`` are given. They are packed here, once.
    fixed : FixedPoint
        Made for these rows (or weights) and at least this number of targets.
    weights : RowWeights, optional
        Weighted rows are counted one column at a time: about ``n_rows`` steps for every pair of columns.
    row_index : ndarray of uint32, optional
        What is counted instead of the rows of ``X``: a row number for each row of ``Y``. Rows may be named several times,
        and are not copied; counting then goes by groups of rows, never by margins.
    n_jobs : int, optional
        Threads; None is one, -1 is all.
    strategy : {"auto", "positional", "grouped", "tiled", "sparse", "histogram"}
        How to count. Results never depend on it; it is for benchmarks and tests.

    Notes
    -----
    Positional popcount adds rows of 512 one-hot columns vertically, for the rarer values alone, and takes the rest from the
    margins; grouped does so for every cell of (given, target) and no margins, which wins when there are many; tiled
    popcount intersects columns of bits; sparse goes
    over the non-zeros of a row; histogram counts one column at a time and takes any number of levels. A panel given one
    column costs about ``d / 512 * sum_l n_l`` vector additions, ``n_l`` being the rows of target ``l`` outside its most
    frequent class, and one table look-up for each cell.
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
        strategy: Strategy = "auto",
    ) -> None:
        n_rows = X.n_rows if row_index is None else len(row_index)
        if n_rows != Y.n_rows:
            raise InputError(f"X has {n_rows} rows and Y has {Y.n_rows}; they must be the same rows.")
        self.n_features, self.n_targets, self._n_rows = X.n_columns, Y.n_columns, n_rows
        native_weights = None
        if weights is not None:
            native_weights = core.Weights(weights.values, logarithms(), fixed.scale, fixed.penalty)
        table = fixed.values if weights is None else None
        self._session = core.Session(X.native, Y.native, table, native_weights, n_threads(n_jobs), strategy, row_index)

    @property
    def bytes(self) -> int:
        """Memory of the packed tables."""
        return self._session.bytes

    def singles(self) -> tuple[Sums, Sums]:
        """``(d,)`` and ``(q,)``: cells of every feature and of every target."""
        features = np.empty(self.n_features, dtype=np.int64)
        targets = np.empty(self.n_targets, dtype=np.int64)
        self._session.feature_sums(features)
        self._session.target_sums(targets)
        return features, targets

    def pairs(self, *, reduce: Reduce = None) -> Sums:
        """``(d, q)``: cells of (feature, target); ``reduce="sum"`` adds over the targets: ``(d,)``."""
        return self.triples(np.zeros(self._n_rows, dtype=np.uint32), 1, reduce=reduce).triple

    def triples(self, given: NDArray[Any], n_levels: int, *, targets: slice = slice(None), reduce: Reduce = None) -> Panel:
        """Cells of (feature, given, target), where ``given`` has one code below ``n_levels`` for each row or entry."""
        first, last, panel = self._empty_panel(targets, reduce)
        column = np.ascontiguousarray(given, dtype=np.uint32)
        self._session.run(column, n_levels, first, last, reduce is not None, panel.pair, panel.triple.reshape(-1))
        return panel

    def triples_given_feature(self, feature: int, *, targets: slice = slice(None), reduce: Reduce = None) -> Panel:
        """The same, given one of the features."""
        first, last, panel = self._empty_panel(targets, reduce)
        self._session.run_feature(feature, first, last, reduce is not None, panel.pair, panel.triple.reshape(-1))
        return panel

    def fold_given_feature(self, account: Sums, feature: int, fold: PanelFold, *, targets: slice = slice(None)) -> None:
        """Add to ``account`` a linear function of the panel given one of the features, added over the targets."""
        first, last, _ = targets.indices(self.n_targets)
        constant, fixed, pair_factor, triple_factor = fold
        self._session.fold_feature(feature, first, max(first, last), account, fixed, pair_factor, triple_factor, constant)

    def _empty_panel(self, targets: slice, reduce: Reduce) -> tuple[int, int, Panel]:
        """Room for the sums, and the range of the targets."""
        if reduce not in (None, "sum"):
            raise InputError(f"reduce must be None or 'sum', not {reduce!r}.")
        first, last, step = targets.indices(self.n_targets)
        if step != 1:
            raise InputError("Targets of a panel must follow one another (a slice with step 1).")
        last = max(first, last)
        shape = (self.n_features,) if reduce else (self.n_features, last - first)
        if not reduce:
            require_memory(8 * self.n_features * (last - first), "sums of", self.n_features, last - first)
        return first, last, Panel(np.empty(self.n_features, dtype=np.int64), np.empty(shape, dtype=np.int64))
