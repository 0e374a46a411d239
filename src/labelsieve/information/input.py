"""Arguments of the information measures: codes, weights, estimators and shrinkage."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends import Backend, Column, CountingOptions, make_backend
from labelsieve.counting.backends.known_targets import known_tables_suffice
from labelsieve.counting.backends.native import NativeBackend
from labelsieve.counting.backends.protocol import Sums, Terms
from labelsieve.counting.fixed_point import ESTIMATORS, FixedPoint
from labelsieve.counting.joint_codes import constant_column, joint_variable
from labelsieve.counting.workspace import MissingLevels, table_information
from labelsieve.errors import InputError, one_of, require_same_rows
from labelsieve.tables.codes import Codes, with_missing_cells
from labelsieve.tables.frames import read_table
from labelsieve.tables.label_sets import label_matrix
from labelsieve.tables.types import TargetsLike, WeightsLike
from labelsieve.tables.weights import Estimator, quantized_weights, read_weights, weigh

Real = NDArray[np.float64]


def shrunk_information(tables: Sequence[Codes], terms: Terms, sample_weight: WeightsLike = None) -> Real:
    """Sums of entropies of shrunk tables, in nats, for every column of the first table with every column of the second.

    ``terms`` has signs and the variables of each entropy, of "x", "y" and "z": ``((1, "x"), (1, "y"), (-1, "xy"))`` is mutual
    information. All columns of a third table are one variable. Rows in which a column of the second table is missing are left
    out for this column. Without a second table the shape is ``(d,)``.

    Cost: counts as for the other estimators, and a logarithm for each cell of a table and of its margins. Tables of a column of
    ``X`` with more than 33 levels, or of other variables with more than 64, are counted with numpy
    (:class:`~labelsieve.counting.backends.joint_tables.JointTables`).
    """
    weights = read_weights(sample_weight, tables[0].n_rows)
    if weights is not None and not weights.all():
        rows = weights > 0
        tables, weights = [table.take_rows(rows) for table in tables], weights[rows]
    X = tables[0]
    Y = tables[1] if len(tables) > 1 else constant_column(X.n_rows)
    given = Column(*joint_variable(tables[2])) if len(tables) > 2 else None
    shape = X.n_columns, Y.n_columns
    missing = None
    if Y.missing is not None:
        missing = MissingLevels(np.zeros(X.n_columns, dtype=bool), Y.missing, given=False)
    quantized = quantized_weights(weights, "shrinkage")
    backend = NativeBackend(X, Y, FixedPoint.for_data(X.n_rows, quantized), weights=quantized)
    result = table_information(backend, terms, given, shape, missing=missing)
    return result if len(tables) > 1 else result[:, 0]


Base = Literal["nat", "bit"]


def unit_of(base: Base) -> float:
    """Nats of a unit of information."""
    one_of(base, "base", ("nat", "bit"))
    return math.log(2) if base == "bit" else 1.0


def sum_of_entropies(
    named: Mapping[str, TargetsLike | Codes],
    terms: Terms,
    base: Base,
    estimator: Estimator,
    sample_weight: WeightsLike,
    n_jobs: int | None,
    *,
    signed: bool = False,
) -> Real:
    """A sum of joint entropies, which a measure is, for every column of the first table with every column of the second.

    ``terms`` has signs and the variables of each entropy, of "x", "y" and "z" (all columns of the third table as one variable).
    Shrinkage takes each entropy of a sum from one table: see :func:`shrunk_information`.
    """
    unit = unit_of(base)
    one_of(estimator, "estimator", (*ESTIMATORS, "shrinkage"))
    tables = _tables(named)
    if estimator == "shrinkage":
        return shrunk_information(tables, terms, sample_weight) / unit
    rows, weights = weigh(sample_weight, tables[0].n_rows, estimator)
    if rows is not None:
        tables = [table.take_rows(rows) for table in tables]
    X, *others = tables
    if others and others[0].has_missing:
        of_tables = [(-sign, names) for sign, names in terms]
        if not known_tables_suffice([(sum(sign for sign, _ in terms), ""), *of_tables]):
            raise InputError("Y has missing cells, which this measure cannot leave out; fill them or drop their rows.")
    fixed = FixedPoint.for_data(X.n_rows, weights, estimator=estimator)
    options = CountingOptions(weights=weights, estimator=estimator, n_jobs=n_jobs)
    backend = make_backend(X, others[0] if others else constant_column(X.n_rows), fixed, options)
    sums = _sums(backend, {names for _, names in terms}, others[1] if len(others) > 1 else None)
    # The largest table is changed in place: fresh memory for every term costs as much as counting sparse columns.
    (sign, largest), *smaller = _largest_first(tuple(terms))
    total: Sums = np.asarray(sums[largest] if sign < 0 else np.negative(sums[largest]))
    constant = fixed.top * (sign + sum(sign for sign, _ in smaller))
    for sign, names in smaller:
        total += constant - sign * sums[names]
        constant = 0
    if constant:
        total += constant
    information = fixed.information(total if others else total[:, 0])
    if unit != 1.0:
        information /= unit
    # A plug-in estimate is never negative unless it is ``signed``; the last bit of the fixed point may be.
    return np.maximum(information, 0.0, out=information) if estimator == "plugin" and not signed else information


@cache
def _largest_first(terms: Terms) -> list[tuple[int, str]]:
    """The terms with whole signs, those with the largest tables first."""
    return sorted(((int(sign), names) for sign, names in terms), key=lambda term: ("y" in term[1], len(term[1])), reverse=True)


def _sums(backend: Backend, wanted: set[str], Z: Codes | None) -> dict[str, Sums | int]:
    """Sums over the cells of the tables that are wanted: features down, targets across."""
    sums: dict[str, Sums | int] = {}
    if wanted & {"x", "y"}:
        x, y = backend.singles()
        sums |= {"x": x[:, np.newaxis], "y": y}
    if "xy" in wanted:
        sums["xy"] = backend.pairs()
    if Z is not None:
        given = Column(*joint_variable(Z))
        panel = backend.panel(given)
        sums |= {"xz": panel.pair[:, np.newaxis], "xyz": panel.triple}
        if "yz" in wanted:
            sums |= {"yz": backend.given_targets(given), "z": backend.given_single(given)}
    return sums


def _tables(named: Mapping[str, TargetsLike | Codes]) -> list[Codes]:
    tables = [Codes.from_values(label_matrix(X) if what == "Y" else X, what=what) for what, X in named.items()]
    n_rows = tables[0].n_rows
    for position, (what, table) in enumerate(zip(named, tables, strict=True)):
        if table.has_missing and position != 1:
            raise InputError(f"{what} has missing cells, which this measure cannot leave out; fill them or drop their rows.")
        require_same_rows(n_rows, table.n_rows, what, next(iter(named)))
    return [with_missing_cells(table) for table in tables]


def read_columns(X: TargetsLike, what: str = "X") -> list[Real]:
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


def read_classes(Y: TargetsLike, X: list[Real]) -> Codes:
    """Targets that are classes, with the rows of ``X``."""
    classes = Codes.from_values(label_matrix(Y), what="Y")
    require_same_rows(len(X[0]), classes.n_rows)
    return classes


def read_numbers(Y: TargetsLike, X: list[Real]) -> list[Real]:
    """Targets that are numbers, with the rows of ``X``."""
    numbers = read_columns(Y, "Y")
    require_same_rows(len(X[0]), len(numbers[0]))
    return numbers
