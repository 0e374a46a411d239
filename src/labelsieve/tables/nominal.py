"""Nominal columns: which of their levels are kept or pooled, the codes of their cells, and their indicators for learners."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import ColumnWarning, IdLikeColumnWarning, some_of, warn
from labelsieve.tables.codes import MAX_LEVELS, Codes, SparseCodes, require_finite
from labelsieve.tables.frames import NumberTable, read_table
from labelsieve.tables.text import LOOKED_AT, decimal_mark, is_placeholder
from labelsieve.tables.types import FloatArray, TableLike

MOST_KEPT = MAX_LEVELS - 2  # a code is left for pooled levels, and one for missing cells
ID_LEVELS = 20  # a column of more levels, and more than half as many as rows, is like an id
ID_LEVEL_ROWS = 10  # its levels of fewer rows are pooled
SENTENCE = 3  # words from which on the median of its levels may be running text
BIASED_ROWS = {"plugin": ID_LEVEL_ROWS, "miller-madow": 6}  # levels of fewer rows on average have too much information
MAX_INDICATORS = 20  # columns of a nominal feature for learners, for its most frequent levels
LARGEST_DENSE = 2**25  # cells of a sparse matrix that is made dense: most learners are much faster then
_BOTH = np.array([0.0, 1.0])  # levels of a column of booleans that has both


@dataclass(frozen=True, eq=False)
class KeptLevels:
    """The levels of a nominal column in order of their codes; where rare levels are ``pooled``, they share one more code.

    A level that is not listed has the code after the last: that of pooled levels, otherwise that of missing cells.
    """

    values: NDArray[Any]
    pooled: bool

    @property
    def n_levels(self) -> int:
        """Number of codes without that of missing cells."""
        return len(self.values) + self.pooled

    def codes_of(self, levels: NDArray[Any]) -> NDArray[np.uint16]:
        """Return the codes of levels: words, or numbers in ascending order."""
        if levels.dtype == object:
            codes = {level: code for code, level in enumerate(self.values)}
            return np.array([codes.get(level, len(self.values)) for level in levels], dtype=np.uint16)
        if not len(self.values):
            return np.zeros(len(levels), dtype=np.uint16)
        at = np.minimum(np.searchsorted(self.values, levels), len(self.values) - 1)
        return np.where(self.values[at] == levels, at, len(self.values)).astype(np.uint16)


def keep_levels(
    table: NumberTable, weights: NDArray[np.float64] | None, min_level_count: int, *, whole: bool = True
) -> dict[int, KeptLevels]:
    """Decide which levels of the nominal columns are kept.

    Levels with fewer than ``min_level_count`` rows are pooled. So are those with fewer than ten rows of a column that is
    like an id: it has more than 20 levels, and more than half as many as there are rows. Whole weights are repetitions of
    rows; others do not change the number of rows.

    ``whole`` is False if rows were left out since the table was read, so that some levels may not occur any more.
    """
    if weights is not None and (weights != np.floor(weights)).any():
        weights = None
    kept = {}
    both: NDArray[Any] = np.zeros(table.shape[1], dtype=bool)
    dense = table.dense
    if dense is not None and dense.dtype == np.bool_ and weights is None and min_level_count <= 1:
        both = np.logical_and(dense.any(axis=0), ~dense.all(axis=0))
    for column in sorted(table.nominal):
        words = table.text.get(column)
        if both[column]:
            kept[column] = KeptLevels(_BOTH, pooled=False)
            continue
        if whole and words is not None and len(words) <= ID_LEVELS and min_level_count <= 1:
            kept[column] = KeptLevels(words, pooled=False)
            continue
        index, levels, missing = _levels(table.column(column), words)
        times = weights
        if missing is not None:
            index, times = index[~missing], None if weights is None else weights[~missing]
        counts = np.bincount(index, weights=times, minlength=len(levels))
        n_rows = len(index) if times is None else times.sum()
        chosen = _chosen(counts, n_rows, min_level_count, table, column, levels)
        kept[column] = KeptLevels(levels[chosen], pooled=bool(chosen.sum() < np.count_nonzero(counts)))
    return kept


def _chosen(
    counts: NDArray[Any], n_rows: float, min_level_count: int, table: NumberTable, position: int, values: NDArray[Any]
) -> NDArray[np.bool_]:
    """Return the mask of the levels that are not pooled, and warn of columns that look like ids or have too many levels."""
    n_levels, name, column = int(np.count_nonzero(counts)), table.name(position), table.key(position)
    chosen: NDArray[np.bool_] = counts >= max(min_level_count, 1)
    if n_levels > ID_LEVELS and 2 * n_levels > n_rows:
        chosen &= counts >= ID_LEVEL_ROWS
        warn(
            f"X, {name} has {n_levels:,} levels in {n_rows:,.0f} rows, like an id: levels of fewer than {ID_LEVEL_ROWS} rows "
            "are pooled into one, because they look informative by chance. Exclude the column (excluded=, --excluded), or "
            f"derive groups from it.{_measurements(values)}",
            IdLikeColumnWarning,
            column=column,
        )
    if np.count_nonzero(chosen) > MOST_KEPT:
        most = np.argsort(-np.where(chosen, counts, 0), kind="stable")[:MOST_KEPT]
        chosen = np.zeros(len(counts), dtype=bool)
        chosen[most] = True
        warn(
            f"X, {name} has {n_levels:,} levels; the {MOST_KEPT:,} most frequent are kept and the others pooled into one. "
            "Use min_level_count= to pool more.",
            ColumnWarning,
            column=column,
        )
    return chosen


def _measurements(levels: NDArray[Any]) -> str:
    """Return a sentence for levels that may be measurements (numbers, or text that is numbers) or running text."""
    value = str(levels[0])[:40]
    if levels.dtype != object:
        return f" If its values, such as {value}, are measurements, do not declare it nominal."
    some = [str(level).strip() for level in levels[:: max(1, len(levels) // LOOKED_AT)]]
    if decimal_mark([word for word in some if word and not is_placeholder(word)]) is None:
        n_words = sorted(len(level.split()) for level in some)
        sentences = n_words[len(n_words) // 2] >= SENTENCE
        return " If it is running text, make a column of every word, with scikit-learn's CountVectorizer." if sentences else ""
    return f" If its values, such as {value!r}, are measurements, make them numbers, with labelsieve.datasets.to_numbers."


def warn_of_single_levels(codes: Codes) -> None:
    """Warn of a table in which every column has one level, so that no feature has information."""
    if codes.n_rows <= ID_LEVELS:  # too few to say anything
        return
    names = codes.names or [f"column {column}" for column in range(codes.n_columns)]
    warn(
        f"X: all columns have one level ({some_of(list(names), 4)}), because they are constant, or texts that hardly recur and "
        "are pooled. No feature has information, so all scores are 0 and the order of the features means nothing. Derive "
        "columns that recur: numbers, dates or groups.",
        ColumnWarning,
    )


def warn_of_bias(codes: Codes, estimator: str, excluded: Collection[int | str] = ()) -> None:
    """Warn of columns with few rows for each of their levels among columns of fewer levels: their information is too large.

    The plug-in estimate is about (levels - 1)(classes - 1) / 2N nats too large, so that such a column is selected without being
    informative. The correction of Miller and Madow is too small for levels of fewer than about six rows.
    """
    if estimator not in BIASED_ROWS:
        return
    many = (codes.levels > ID_LEVELS) & (codes.levels * BIASED_ROWS[estimator] > codes.n_rows)
    if not many.any():
        return
    names = codes.names or [str(column) for column in range(codes.n_columns)]
    columns = [column for column in np.flatnonzero(many).tolist() if not {column, names[column]} & set(excluded)]
    if not columns or 2 * codes.levels[codes.levels > 1].min() > codes.levels[columns].max():
        return
    found = ", ".join(f"{names[column]!r} ({codes.levels[column]:,})" for column in columns[:3])
    found += f", ... ({len(columns)} columns)" if len(columns) > 3 else ""
    bias = (int(codes.levels[columns].max()) - 1) / (2 * codes.n_rows)
    amount = f" by up to about {bias:.2f} nats" if estimator == "plugin" else f", with estimator={estimator!r} too"
    warn(
        f"X: {found} {'has' if len(columns) == 1 else 'have'} many levels for {codes.n_rows:,} rows, so that the information "
        f"about a label of two classes is overestimated{amount}. Use estimator='shrinkage' "
        "(--estimator shrinkage), pool levels of few rows (EqualFrequency(min_level_count=10), --discretizer-of "
        f"{names[columns[0]]}=levels:min_level_count=10), or exclude them.",
        ColumnWarning,
    )


def _levels(column: NDArray[Any], words: NDArray[Any] | None) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_] | None]:
    """Return the index of the level of every cell (0 if missing), the levels, and the mask of missing cells or None."""
    missing = np.isnan(column) if column.dtype.kind == "f" else None
    if missing is not None and missing.any():
        column = np.where(missing, 0 if missing.all() else np.nanmin(column), column)
    else:
        missing = None
    if words is not None:
        return column.astype(np.intp), words, missing
    low, high = column.min(), column.max()
    if column.dtype.kind == "b" or (low >= 0 and high < MAX_LEVELS):
        index = column.astype(np.intp)
        if column.dtype.kind != "f" or np.array_equal(index, column):
            return index, np.arange(int(high) + 1, dtype=np.float64), missing
    levels, index = np.unique(column, return_inverse=True)
    # Floating point would merge whole numbers beyond 2**53.
    return index, levels if levels.dtype.kind in "iu" else levels.astype(np.float64), missing


def encode_levels(codes: Codes, table: NumberTable, kept: Mapping[int, KeptLevels]) -> Codes:
    """Complete the codes of a table, in which measurements are encoded already, with those of nominal columns.

    A missing cell has the code after the last level.
    """
    if not kept:
        return codes
    dense = table.dense
    if dense is None:
        return _encode_sparse(codes, table, kept)
    # Ranks of words are codes already if all columns are text that keeps all of its levels, and so are booleans.
    whole_text = len(kept) == table.shape[1] and all(kept[column].values is table.text.get(column) for column in kept)
    if whole_text and dense.dtype in (np.uint8, np.uint16):
        levels = np.array([kept[column].n_levels for column in range(len(kept))], dtype=np.uint32)
        return replace(codes, levels=levels, dense=dense)
    if dense.dtype == np.bool_ and all(of_column.values is _BOTH for of_column in kept.values()):
        return replace(codes, levels=np.full(len(kept), 2, dtype=np.uint32), dense=dense.view(np.uint8))
    assert codes.dense is not None
    columns: dict[int, NDArray[Any]] = {}
    levels = codes.levels.copy()
    for position, of_column in kept.items():
        words, column = table.text.get(position), dense[:, position]
        same, missing = words is not None and words is of_column.values, None
        if not same or column.dtype.kind == "f":
            index, found, missing = _levels(column, words)
            column = index if same else of_column.codes_of(found)[index]
        levels[position] = of_column.n_levels
        if missing is not None:
            column = np.where(missing, of_column.n_levels, column)
        if missing is not None or (not same and not of_column.pooled):
            levels[position] = max(of_column.n_levels, int(column.max(initial=0)) + 1)
        columns[position] = column
    dtype = np.uint8 if levels.max() <= 256 else np.uint16
    merged: NDArray[Any] = np.empty(table.shape, dtype=dtype, order="F")
    for position in range(table.shape[1]):
        merged[:, position] = columns[position] if position in columns else codes.dense[:, position]
    return replace(codes, levels=levels, dense=merged)


def without_cuts(table: NumberTable, *, mark_missing: bool) -> Codes:
    """Return codes of zero for a dense table whose columns are all nominal: :func:`encode_levels` completes them."""
    assert table.dense is not None
    missing = np.isnan(table.dense).any(axis=0) if mark_missing and table.dense.dtype.kind == "f" else None
    levels = np.ones(table.shape[1], dtype=np.uint32)
    zeros: NDArray[np.uint8] = np.broadcast_to(np.uint8(0), table.shape)
    return Codes(table.shape[0], levels, table.names, dense=zeros, missing=missing)


def _encode_sparse(codes: Codes, table: NumberTable, kept: Mapping[int, KeptLevels]) -> Codes:
    sparse = codes.sparse
    assert sparse is not None
    listed, implicit, levels = sparse.codes.copy(), sparse.implicit.copy(), codes.levels.copy()
    for position, of_column in kept.items():
        cells = slice(sparse.starts[position], sparse.starts[position + 1])
        values = table.sparse.data[cells]
        has_zeros = len(values) < codes.n_rows
        implicit[position] = of_column.codes_of(np.zeros(1))[0] if has_zeros else 0
        levels[position] = max(of_column.n_levels, int(implicit[position]) + 1)
        if len(values):
            index, found, missing = _levels(values, None)
            column = of_column.codes_of(found)[index]
            listed[cells] = column if missing is None else np.where(missing, of_column.n_levels, column)
            levels[position] = max(levels[position], int(listed[cells].max()) + 1)
    return replace(codes, levels=levels, sparse=SparseCodes(sparse.starts, sparse.rows, listed, implicit))


def declare_nominal(table: NumberTable, columns: str | Collection[int]) -> NumberTable:
    """Return the table with more nominal columns: ``"all"``, or positions."""
    positions = range(table.shape[1]) if isinstance(columns, str) else columns
    return replace(table, nominal=table.nominal | frozenset(positions)) if len(positions) else table


class LearnerFeatures:
    """Features as columns of numbers: a nominal feature has an indicator for each of its most frequent levels.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.0, 2.5, None], "color": ["red", "blue", "green"]})
    >>> LearnerFeatures(frame).columns([1, 0])
    (array([[0. , 0. , 1. , 1. ],
           [1. , 0. , 0. , 2.5],
           [0. , 1. , 0. , nan]]), array([3, 4]))
    """

    def __init__(self, X: TableLike | NumberTable) -> None:
        self._table: NumberTable = read_table(X, allow_missing=True)
        require_finite(self._table, allow_missing=True)
        self.n_features = self._table.shape[1]

    def columns(self, features: Sequence[int]) -> tuple[FloatArray, NDArray[np.intp]]:
        """Return the columns of these features side by side, and their number up to every feature. Missing cells are NaN."""
        blocks = [self._columns_of(int(feature)) for feature in features]
        return np.column_stack(blocks), np.cumsum([block.shape[1] for block in blocks], dtype=np.intp)

    def everything(self) -> Any:
        """Return the columns of all features; a large sparse matrix stays sparse."""
        if self._table.dense is None:
            rows = self._table.sparse.tocsr().astype(np.float64)
            return rows.toarray() if rows.shape[0] * rows.shape[1] <= LARGEST_DENSE else rows
        if not self._table.nominal:
            return np.asarray(self._table.dense, dtype=np.float64)
        return self.columns(range(self.n_features))[0]

    @property
    def has_gaps(self) -> bool:
        """Whether some feature is nominal or has missing cells, so that methods that calculate refuse the table."""
        values = self._table.sparse.data if self._table.dense is None else self._table.dense
        return bool(self._table.nominal) or bool(np.isnan(values).any())

    def _columns_of(self, feature: int) -> FloatArray:
        values = np.asarray(self._table.column(feature), dtype=np.float64)
        if feature not in self._table.nominal:
            return values[:, np.newaxis]
        levels, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        # Two levels need one column, the second against the first; of more, rare ones share a row of zeros.
        if len(levels) <= 2:
            return np.where(np.isnan(values), np.nan, values == levels[-1])[:, np.newaxis] if len(levels) else values[:, None]
        kept = np.sort(levels[np.argsort(-counts, kind="stable")[:MAX_INDICATORS]])
        indicators: FloatArray = (values[:, np.newaxis] == kept).astype(np.float64)
        return indicators
