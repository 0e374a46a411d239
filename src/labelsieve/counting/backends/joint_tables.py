"""Counting whole joint tables with numpy, for estimators that must see all cells of a table at once."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes
from labelsieve.counting.memory import require_memory

Real = NDArray[np.float64]
Column = NDArray[np.integer]
Terms = Sequence[tuple[float, str]]
Probabilities = Callable[[Real], Real]

CODES_AT_ONCE = 2**20  # of a block of features: rows times columns, about what a cache holds
CELLS_AT_ONCE = 2**18  # of the tables of a block
KEPT = 2**24  # codes of features that are kept in the form in which they are counted, 8 bytes each


class TableBackend:
    """Sums of entropies of joint tables (feature, target, given), every table estimated as a whole.

    Parameters
    ----------
    X, Y : Codes
        Features and targets, with the same rows unless ``row_index`` are given.
    probabilities : callable
        The estimator: probabilities from counts, for tables that come stacked along the first axis.
    weights : ndarray of float, optional
        What each row of ``Y`` counts.
    row_index : ndarray of uint32, optional
        The row of ``X`` that each row of ``Y`` belongs to.

    Notes
    -----
    A level counts when it occurs; a table has a cell for each combination of levels. Cost: for every feature and target a
    step for each row and some passes over the cells, in one thread: docs/entropy_estimators.md compares it with
    the core. Columns of sparse tables are made dense block by block.
    """

    def __init__(
        self,
        X: Codes,
        Y: Codes,
        probabilities: Probabilities,
        *,
        weights: Real | None = None,
        row_index: NDArray[np.uint32] | None = None,
    ) -> None:
        self._X, self._Y, self._row_index, self._weights = X, Y, row_index, weights
        self._probabilities = probabilities
        self._targets = [_numbered(Y.column(target)) for target in range(Y.n_columns)]
        self._levels = np.array([_numbered(self._feature(j))[1] for j in range(X.n_columns)])
        self._kept: dict[tuple[int, int], Column] = {}
        self._keeps = X.n_columns * Y.n_rows <= KEPT

    def information(self, terms: Terms, given: Column | None = None, *, targets: slice = slice(None)) -> Real:
        """The sum of entropies that ``terms`` say, in nats, features down and targets across.

        ``terms`` has factors and the variables of each entropy: "x" a feature, "y" a target, "z" what is ``given``. Without a
        feature, or a target, in any of them there is one row, or one column.
        """
        mentioned = set("".join(names for _, names in terms))
        z = _numbered(given) if given is not None and "z" in mentioned else None
        columns = self._targets[targets] if "y" in mentioned else [None]
        out = np.empty((self._X.n_columns if "x" in mentioned else 1, len(columns)))
        others = [_with_given(y, z, self._Y.n_rows) for y in columns]
        widest = max((y_levels * z_levels for _, y_levels, z_levels in others), default=1)
        if "x" not in mentioned:
            for place, (codes, y_levels, z_levels) in enumerate(others):
                counts = np.bincount(codes, weights=self._weights, minlength=y_levels * z_levels)
                out[:, place] = self._sums(counts.reshape(1, 1, y_levels, z_levels), terms)
            return out
        for features, block, n_levels in self._blocks(widest):
            for place, (codes, y_levels, z_levels) in enumerate(others):
                n_cells = y_levels * z_levels
                cells = block * n_cells + codes[:, np.newaxis]
                weights = None if self._weights is None else np.repeat(self._weights, len(features))
                counts = np.bincount(cells.ravel(), weights=weights, minlength=len(features) * n_levels * n_cells)
                out[features, place] = self._sums(counts.reshape(len(features), n_levels, y_levels, z_levels), terms)
        return out

    def _sums(self, counts: NDArray[np.generic], terms: Terms) -> Real:
        """For each of the stacked tables."""
        p = self._probabilities(counts.astype(np.float64))
        total = np.zeros(len(p))
        for factor, names in terms:
            margin = p.sum(axis=tuple(axis for axis, name in enumerate("xyz", 1) if name not in names))
            margin = margin.reshape(len(p), -1)
            logs = np.log(margin, where=margin > 0, out=np.zeros_like(margin))
            total -= factor * np.einsum("tc,tc->t", margin, logs)
        return total

    def _blocks(self, n_others: int) -> Iterator[tuple[NDArray[np.intp], Column, int]]:
        """Features of as many levels each: which they are, their codes (numbered on from feature to feature), the levels."""
        for n_levels in np.unique(self._levels):
            same = np.flatnonzero(self._levels == n_levels)
            n_cells = int(n_levels) * n_others
            require_memory(32 * n_cells, f"a whole table has a cell for each combination of levels, here {n_cells:,};", 1, 1)
            width = max(1, min(CODES_AT_ONCE // max(1, self._Y.n_rows), CELLS_AT_ONCE // n_cells))
            for start in range(0, len(same), width):
                features = same[start : start + width]
                yield features, self._codes(features, int(n_levels)), int(n_levels)

    def _codes(self, features: NDArray[np.intp], n_levels: int) -> Column:
        key = int(features[0]), len(features)
        if key in self._kept:
            return self._kept[key]
        codes = np.empty((self._Y.n_rows, len(features)), dtype=np.int64)
        for place, feature in enumerate(features):
            codes[:, place] = _numbered(self._feature(int(feature)))[0] + place * n_levels
        if self._keeps:
            self._kept[key] = codes
        return codes

    def _feature(self, j: int) -> Column:
        column = self._X.column(j)
        return column if self._row_index is None else column[self._row_index]


def _numbered(column: Column) -> tuple[Column, int]:
    """Codes without gaps, and how many there are.

    >>> _numbered(np.array([7, 2, 7]))
    (array([1, 0, 1]), 2)
    """
    occurs = np.bincount(column) > 0
    place = np.cumsum(occurs) - 1
    return place[column], int(place[-1]) + 1


def _with_given(y: tuple[Column, int] | None, z: tuple[Column, int] | None, n_rows: int) -> tuple[Column, int, int]:
    """A target and what is given as one code, and the levels of both."""
    codes, y_levels = (np.zeros(n_rows, dtype=np.int64), 1) if y is None else y
    if z is None:
        return codes, y_levels, 1
    return codes * z[1] + z[0], y_levels, z[1]
