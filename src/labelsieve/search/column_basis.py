"""Columns of a feature in a linear model: its values, cut or ranked, or an indicator of each of its levels."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.magnitude import column_exponents
from labelsieve.counting.number_table import NumberTable

Real = NDArray[np.float64]
Basis = Literal["linear", "clipped", "ranks", "quadratic-ranks"]
CLIP = 2.5  # standard deviations
CONSTANT = 1e-13  # a standard deviation below this fraction of the largest value is rounding
MOST_LEVELS, FEW_ROWS = 20, 10  # a nominal column of more levels has those of fewer rows pooled


def n_per_feature(basis: Basis) -> int:
    """Columns of a numeric feature."""
    return 2 if basis == "quadratic-ranks" else 1


def _standardize(values: Real, shares: Real) -> None:
    """Give columns mean 0 and variance 1 in weighted rows, in place; missing cells become 0, and all of a constant column."""
    weights, missing = shares[:, np.newaxis], np.isnan(values)
    known: Any = 1.0
    if missing.any():
        values[missing] = 0.0
        weights = np.where(missing, 0.0, weights)
        known = np.maximum(weights.sum(axis=0), np.finfo(float).tiny)
    exponents = column_exponents(values)
    if exponents.any():
        np.ldexp(values, -exponents, out=values)
    largest = np.abs(values).max(axis=0, initial=0.0)
    values -= (weights * values).sum(axis=0) / known
    values[missing] = 0.0
    scale = np.sqrt((weights * values * values).sum(axis=0))
    varies = scale > CONSTANT * largest
    values *= np.divide(1.0, scale, out=np.zeros(len(scale)), where=varies)


def write_basis(values: Real, basis: Basis, shares: Real) -> None:
    """Replace columns by those of a basis, standardized, in place; those of squares follow each of ranks."""
    if basis == "quadratic-ranks":
        for column in values[:, ::2].T:
            column[:] = _ranks(column, shares)
        _standardize(values[:, ::2], shares)
        values[:, 1::2] = values[:, ::2] ** 2
        _standardize(values[:, 1::2], shares)
        return
    if basis == "ranks":
        for column in values.T:
            column[:] = _ranks(column, shares)
    _standardize(values, shares)
    if basis == "clipped":
        _standardize(np.clip(values, -CLIP, CLIP, out=values), shares)


def basis_columns(values: NDArray[Any], basis: Basis, shares: Real) -> Real:
    """The standardized columns of a numeric feature."""
    columns = np.empty((len(values), n_per_feature(basis)), order="F")
    columns[:, 0] = values
    write_basis(columns, basis, shares)
    return columns.T


def _ranks(values: NDArray[Any], shares: Real) -> Real:
    """Mean ranks in weighted rows, as fractions of all known rows; NaN where a cell is missing."""
    ranks = np.full(len(values), np.nan)
    known = ~np.isnan(values)
    _, index = np.unique(values[known], return_inverse=True)
    weights = np.bincount(index, shares[known])
    ranks[known] = (np.cumsum(weights) - weights / 2)[index]
    return ranks


def sparse_basis(
    table: NumberTable, feature: int, basis: Basis, shares: Real, total: float
) -> Iterator[tuple[NDArray[Any], Real]]:
    """The columns of a feature as stored rows and values; what is not stored is 0."""
    if feature in table.nominal:
        yield from _level_columns(table.column(feature), shares, total)
        return
    if table.dense is not None:
        for column in basis_columns(table.dense[:, feature], basis, shares):
            yield np.arange(len(column)), column
        return
    listed = slice(table.sparse.indptr[feature], table.sparse.indptr[feature + 1])
    rows = table.sparse.indices[listed]
    for column in basis_columns(table.column(feature), basis, shares):
        zero = _value_of_zero(column, rows)
        yield rows, column[rows] - zero  # moved so that what is not stored stays 0; centered again where it is multiplied


def _value_of_zero(column: Real, rows: NDArray[Any]) -> float:
    """What a column has in the rows that are not listed."""
    others = np.ones(len(column), dtype=bool)
    others[rows] = False
    return float(column[np.argmax(others)]) if others.any() else 0.0


def _level_columns(values: NDArray[Any], shares: Real, total: float) -> Iterator[tuple[NDArray[Any], Real]]:
    """A 0/1 column for each level but the most frequent one; missing cells are a level."""
    levels, index = np.unique(values, return_inverse=True)  # NaN is one value, the last
    counts = np.bincount(index, shares) * total
    if len(levels) > MOST_LEVELS:
        pooled = counts < FEW_ROWS
        index = np.where(pooled, 0, np.cumsum(~pooled))[index]
        counts = np.bincount(index, shares, int(index.max()) + 1) * total
    order = np.argsort(index, kind="stable")
    rows_of = np.split(order, np.cumsum(np.bincount(index, minlength=len(counts)))[:-1])
    for level, rows in enumerate(rows_of):
        if level != int(counts.argmax()) and len(rows):
            yield rows, np.ones(len(rows))
