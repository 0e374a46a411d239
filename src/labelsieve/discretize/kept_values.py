"""Discretizers that keep the values of the columns: AsGiven takes them as codes, Levels makes each distinct value a level."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.discretize.base import BaseBins, Discretizer, Missing
from labelsieve.parameters import AT_LEAST_ONE, parameter
from labelsieve.tables.codes import Codes, SparseCodes
from labelsieve.tables.frames import NumberTable, read_table
from labelsieve.tables.nominal import encode_levels, keep_levels
from labelsieve.tables.types import TableLike, TargetsLike, WeightsLike
from labelsieve.tables.weights import read_weights


@dataclass(eq=False, repr=False)
class AsGiven(Discretizer):
    """Use the values as codes: whole numbers from 0, or the levels of text, categories and booleans of a frame.

    Parameters
    ----------
    missing, min_level_count
        See :class:`EqualWidth`.

    Examples
    --------
    >>> AsGiven().encode([[0], [2]]).levels
    array([3], dtype=uint32)
    """

    _: KW_ONLY
    missing: Missing = "level"
    min_level_count: int = parameter(1, AT_LEAST_ONE)

    def encode(
        self, X: TableLike | NumberTable | Codes, y: TargetsLike | Codes | None = None, sample_weight: WeightsLike = None
    ) -> Codes:
        """Take the values of ``X`` as codes."""
        if isinstance(X, Codes):
            return X
        self._validate_params()
        table = read_table(X, allow_missing=self.missing != "error")
        missing = None if self.missing == "error" else _missing_cells(table)
        if missing is None and not table.nominal:
            return Codes.from_table(table)
        levels = keep_levels(table, read_weights(sample_weight, table.shape[0]), self.min_level_count)
        codes = Codes.from_table(_filled(table, missing))
        if missing is not None:
            codes = _with_missing(codes, missing, mark=self.missing == "drop-pairwise")
        return encode_levels(codes, table, levels)


class Levels(BaseBins):
    """Keep every distinct value of every column as a level.

    For nominal columns that are numbers, such as postal codes; text, categories and booleans of a frame have their levels
    with every discretizer.

    Notes
    -----
    Cost: one pass over whole numbers up to 65,534, sorting other columns.

    Examples
    --------
    >>> Levels().fit_transform([[10.5], [-3.0], [10.5]]).ravel()
    array([1, 0, 1], dtype=uint8)
    """

    def _read_table(self, X: TableLike | NumberTable) -> NumberTable:
        table = super()._read_table(X)
        return replace(table, nominal=frozenset(range(table.shape[1])))


def _missing_cells(table: NumberTable) -> NDArray[np.bool_] | None:
    """Return the mask of the cells that are NaN, of the stored ones if the table is sparse; None if none is."""
    values: NDArray[Any] = table.sparse.data if table.dense is None else table.dense
    if values.dtype.kind != "f" or not np.isnan(np.min(values, initial=0)):
        return None
    missing: NDArray[np.bool_] = np.isnan(values)
    return missing


def _filled(table: NumberTable, missing: NDArray[np.bool_] | None) -> NumberTable:
    """Replace missing cells and the ranks of levels by zero."""
    if table.dense is None:
        filled = table.sparse.copy()
        filled.data[missing] = 0
        return replace(table, values=filled)
    dense = table.dense.copy(order="F")
    if missing is not None:
        dense[missing] = 0
    dense[:, sorted(table.nominal)] = 0
    return replace(table, values=dense)


def _with_missing(codes: Codes, missing: NDArray[np.bool_], *, mark: bool) -> Codes:
    """Give missing cells the code after the last of their column; ``mark`` makes the codes remember these columns."""
    if codes.sparse is not None:
        columns = np.repeat(np.arange(codes.n_columns), np.diff(codes.sparse.starts))
        some = np.bincount(columns[missing], minlength=codes.n_columns) > 0
        listed = np.where(missing, codes.levels[columns], codes.sparse.codes).astype(np.uint16)
        codes = replace(codes, sparse=SparseCodes(codes.sparse.starts, codes.sparse.rows, listed, codes.sparse.implicit))
    else:
        assert codes.dense is not None
        some = np.asarray(missing.any(axis=0))
        dtype = np.uint8 if codes.levels.max() < 256 else np.uint16
        codes = replace(codes, dense=np.where(missing, codes.levels.astype(dtype), codes.dense.astype(dtype)))
    return replace(codes, levels=codes.levels + some.astype(np.uint32), missing=some if mark else None)
