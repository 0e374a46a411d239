"""Checked input of the measures: tables of codes with weights and arithmetic, or columns of numbers."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends import Backend, CountingOptions, make_backend
from labelsieve.counting.codes import Codes
from labelsieve.counting.fixed_point import ESTIMATORS, FixedPoint
from labelsieve.counting.joint_codes import constant_column
from labelsieve.counting.number_table import read_table
from labelsieve.counting.row_weights import Estimator, weigh
from labelsieve.counting.shrinkage import Terms, shrunk_information
from labelsieve.errors import InputError, one_of

Base = Literal["nat", "bit"]
Real = NDArray[np.float64]


@dataclass(frozen=True)
class MeasureInput:
    """Rows, weights and arithmetic that the terms of one measure share."""

    tables: tuple[Codes, ...]
    options: CountingOptions
    fixed: FixedPoint
    unit: float

    def backend(self, X: Codes, Y: Codes | None = None) -> Backend:
        return make_backend(X, constant_column(X.n_rows) if Y is None else Y, self.fixed, self.options)

    def result(self, fixed: NDArray[np.int64]) -> Real:
        information = self.fixed.information(fixed) / self.unit
        # A plug-in estimate is never negative; the last bit of the fixed point may be.
        return np.maximum(information, 0.0) if self.fixed.estimator == "plugin" else information


def prepare(named: dict[str, Any], base: Base, estimator: Estimator, sample_weight: Any, n_jobs: int | None) -> MeasureInput:
    """Check and read the arguments of a measure; rows without weight are left out."""
    one_of(base, "base", ("nat", "bit"))
    one_of(estimator, "estimator", (*ESTIMATORS, "shrinkage"))
    assert estimator != "shrinkage"
    tables = _tables(named)
    rows, weights = weigh(sample_weight, tables[0].n_rows, estimator)
    if rows is not None:
        tables = [table.take_rows(rows) for table in tables]
    fixed = FixedPoint.for_data(tables[0].n_rows, weights, estimator=estimator)
    options = CountingOptions(weights=weights, estimator=estimator, n_jobs=n_jobs)
    return MeasureInput(tuple(tables), options, fixed, math.log(2) if base == "bit" else 1.0)


def _tables(named: dict[str, Any]) -> list[Codes]:
    tables = [Codes.from_values(X, what=what) for what, X in named.items()]
    n_rows = tables[0].n_rows
    for what, table in zip(named, tables, strict=True):
        if table.n_rows != n_rows:
            first = next(iter(named))
            raise InputError(f"{first} has {n_rows} rows and {what} has {table.n_rows}; they must be the same rows.")
    return tables


CONDITIONAL: Terms = ((1, "xz"), (1, "yz"), (-1, "xyz"), (-1, "z"))


def shrunk(named: dict[str, Any], terms: Terms, base: Base, sample_weight: Any) -> Real:
    """Sums of entropies, each from one shrunk table: see :func:`shrunk_information`."""
    one_of(base, "base", ("nat", "bit"))
    return shrunk_information(_tables(named), terms, sample_weight) / (math.log(2) if base == "bit" else 1.0)


def read_columns(X: Any, what: str = "X") -> list[Real]:
    """The columns of a table as doubles, all finite."""
    table = read_table(X, what=what)
    columns = []
    for j in range(table.shape[1]):
        values = table.sparse[:, [j]].toarray().ravel() if table.dense is None else table.dense[:, j]
        column = np.ascontiguousarray(values, dtype=np.float64)
        bad = ~np.isfinite(column)
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(f"{what}, row {row}, {table.name(j)}: {column[row]} is not finite; fill it or drop the row.")
        columns.append(column)
    return columns


def same_rows(X: list[Real], n_rows: int) -> None:
    """Raise InputError for tables of different length."""
    if len(X[0]) != n_rows:
        raise InputError(f"X has {len(X[0])} rows and Y has {n_rows}; they must be the same rows.")
