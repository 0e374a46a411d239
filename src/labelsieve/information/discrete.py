r"""Entropies and information of discrete columns, all pairs at once.

Plug-in estimates from counts, or Miller and Madow's correction of them, in nats or bits. Every measure is a sum of a few
joint entropies (:func:`sum_of_entropies`), which come from the counting core in exact integer arithmetic: results are the same
bits for any number of threads, any order of the rows, dense or sparse input. James-Stein shrinkage is slower and counts table
by table.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends import Backend, Column, CountingOptions, NativeBackend, make_backend
from labelsieve.counting.backends.known_targets import known_tables_suffice
from labelsieve.counting.backends.protocol import Sums
from labelsieve.counting.fixed_point import ESTIMATORS, FixedPoint
from labelsieve.counting.joint_codes import joint_variable
from labelsieve.counting.whole_tables import MissingLevels, Terms, table_information
from labelsieve.errors import InputError, one_of, require_same_rows
from labelsieve.tables.codes import Codes, constant_column, with_missing_cells
from labelsieve.tables.targets import label_matrix
from labelsieve.tables.types import TableLike, TargetsLike, WeightsLike
from labelsieve.tables.weights import Estimator, quantized_weights, read_weights, weigh

Real = NDArray[np.float64]
Base = Literal["nat", "bit"]
SHARED: Terms = ((1, "x"), (1, "y"), (-1, "xy"))
CONDITIONAL: Terms = ((1, "xz"), (1, "yz"), (-1, "xyz"), (-1, "z"))


def entropy(
    X: TableLike | Codes,
    *,
    base: Base = "nat",
    estimator: Estimator = "plugin",
    sample_weight: WeightsLike = None,
    n_jobs: int | None = None,
) -> Real:
    r"""Entropy of every column of ``X``.

    .. math:: H(x) = -\sum_a p(a) \log p(a)

    Parameters
    ----------
    X : array-like, frame, sparse matrix or Codes of shape (n_rows, d)
        Codes: whole numbers from 0. Bin continuous columns first (:func:`labelsieve.discretize.equal_width`).
    base : {"nat", "bit"}, default="nat"
        The unit of information.
    estimator : {"plugin", "miller-madow", "shrinkage"}, default="plugin"
        Miller and Madow add :math:`(m - 1) / 2N` for :math:`m` levels that occur. Shrinkage moves the joint table of a term
        towards a uniform one (James and Stein; Hausser and Strimmer 2009), for few rows and many cells; it takes ``n_rows``
        steps for every pair of columns. See docs/choose/entropy_estimators.md.
    sample_weight : array-like of shape (n_rows,), default=None
        Frequency weight of each row. Whole numbers are exact; others are rounded to a fixed-point number.
    n_jobs : int, default=None
        Number of threads; None is one, -1 is all.

    Returns
    -------
    ndarray of shape (d,)

    Notes
    -----
    Cost: one pass over the rows.

    Examples
    --------
    >>> entropy([[0, 0], [1, 0]], base="bit")
    array([1., 0.])
    """
    return sum_of_entropies({"X": X}, ((1, "x"),), base, estimator, sample_weight, n_jobs)


def joint_entropy(
    X: TableLike | Codes,
    Y: TargetsLike | Codes,
    *,
    base: Base = "nat",
    estimator: Estimator = "plugin",
    sample_weight: WeightsLike = None,
    n_jobs: int | None = None,
) -> Real:
    """Joint entropy of every column of ``X`` with every column of ``Y``.

    Parameters and cost are those of :func:`mutual_information`.
    For the joint entropy of all columns of one table: ``entropy(join(X))``.

    >>> joint_entropy([[0], [0], [1], [1]], [[0], [1], [0], [1]], base="bit")
    array([[2.]])
    """
    return sum_of_entropies({"X": X, "Y": Y}, ((1, "xy"),), base, estimator, sample_weight, n_jobs)


def mutual_information(
    X: TableLike | Codes,
    Y: TargetsLike | Codes | None = None,
    *,
    base: Base = "nat",
    estimator: Estimator = "plugin",
    sample_weight: WeightsLike = None,
    n_jobs: int | None = None,
) -> Real:
    r"""Mutual information of every column of ``X`` with every column of ``Y``.

    .. math:: I(x; y) = H(x) + H(y) - H(x, y)

    Parameters
    ----------
    X, Y : array-like, frame, sparse matrix or Codes of shape (n_rows, d) and (n_rows, q)
        Codes: whole numbers from 0. ``Y`` may also be label sets. Without ``Y``, the columns of ``X`` with each other.
    base, estimator, sample_weight, n_jobs
        As for :func:`entropy`.

    Returns
    -------
    ndarray of shape (d, q)

    Notes
    -----
    Cost: for each block of 512 one-hot columns of ``X`` and each column of ``Y``, one vector addition per row outside that
    column's most frequent value; then one look-up per cell. Real weights cost about three times as much.

    Examples
    --------
    >>> mutual_information([[0], [0], [1], [1]], [[0], [0], [1], [1]], base="bit")
    array([[1.]])
    """
    if Y is None:
        X = Y = Codes.from_values(X)
    options: dict[str, Any] = {"base": base, "estimator": estimator, "n_jobs": n_jobs}
    if isinstance(X, Codes) and X.has_missing:
        return _of_known_rows(X, Codes.from_values(label_matrix(Y), what="Y"), sample_weight, options)
    return sum_of_entropies({"X": X, "Y": Y}, SHARED, sample_weight=sample_weight, **options)


def _of_known_rows(X: Codes, Y: Codes, sample_weight: WeightsLike, options: dict[str, Any]) -> Real:
    """Compute the mutual information of every column of ``X`` in the rows in which it is known."""
    assert X.missing is not None
    information = np.zeros((X.n_columns, Y.n_columns))
    for j in range(X.n_columns):
        column = X.column(j)
        rows = column < X.levels[j] - X.missing[j]
        if rows.any():
            weight = None if sample_weight is None else np.asarray(sample_weight)[rows]
            known = Codes.from_values(column[rows][:, np.newaxis])
            information[j] = sum_of_entropies({"X": known, "Y": Y.take_rows(rows)}, SHARED, sample_weight=weight, **options)[0]
    return information


def conditional_mutual_information(
    X: TableLike | Codes,
    Y: TargetsLike | Codes,
    Z: TableLike | Codes,
    *,
    base: Base = "nat",
    estimator: Estimator = "plugin",
    sample_weight: WeightsLike = None,
    n_jobs: int | None = None,
) -> Real:
    r"""Mutual information of columns of ``X`` and ``Y`` given all columns of ``Z`` jointly.

    .. math:: I(x; y \mid Z) = H(x, Z) + H(y, Z) - H(x, y, Z) - H(Z)

    ``Z`` counts as one variable whose levels are its distinct rows. Other parameters, shape and cost as for
    :func:`mutual_information`, with one list of rows for every level of ``Z``.

    Examples
    --------
    A sum modulo two is uninformative alone and synergistic with the other term:

    >>> x, z = [[0], [0], [1], [1]], [[0], [1], [0], [1]]
    >>> conditional_mutual_information(x, [[0], [1], [1], [0]], z, base="bit")
    array([[1.]])
    """
    return sum_of_entropies({"X": X, "Y": Y, "Z": Z}, CONDITIONAL, base, estimator, sample_weight, n_jobs)


def joint_mutual_information(
    X: TableLike | Codes,
    Y: TargetsLike | Codes,
    Z: TableLike | Codes,
    *,
    base: Base = "nat",
    estimator: Estimator = "plugin",
    sample_weight: WeightsLike = None,
    n_jobs: int | None = None,
) -> Real:
    r"""Information about columns of ``Y`` in a column of ``X`` together with all columns of ``Z``.

    .. math:: I((x, Z); y) = H(x, Z) + H(y) - H(x, y, Z)

    Parameters, shape and cost as for :func:`conditional_mutual_information`.

    >>> x, z = [[0], [0], [1], [1]], [[0], [1], [0], [1]]
    >>> joint_mutual_information(x, [[0], [1], [1], [0]], z, base="bit")
    array([[1.]])
    """
    terms = ((1, "xz"), (1, "y"), (-1, "xyz"))
    return sum_of_entropies({"X": X, "Y": Y, "Z": Z}, terms, base, estimator, sample_weight, n_jobs)


def interaction_information(
    X: TableLike | Codes,
    Y: TargetsLike | Codes,
    Z: TableLike | Codes,
    *,
    base: Base = "nat",
    estimator: Estimator = "plugin",
    sample_weight: WeightsLike = None,
    n_jobs: int | None = None,
) -> Real:
    r"""Co-information of columns of ``X`` and ``Y`` with all columns of ``Z`` together.

    .. math:: I(x; y; Z) = I(x; y) - I(x; y \mid Z)

    Positive for redundancy, negative for synergy. (Some authors call the quantity with the opposite sign interaction
    information.) Parameters, shape and cost as for :func:`conditional_mutual_information`.

    >>> x, z = [[0], [0], [1], [1]], [[0], [1], [0], [1]]
    >>> interaction_information(x, [[0], [1], [1], [0]], z, base="bit")
    array([[-1.]])
    """
    terms = (*SHARED, *((-sign, names) for sign, names in CONDITIONAL))
    return sum_of_entropies({"X": X, "Y": Y, "Z": Z}, terms, base, estimator, sample_weight, n_jobs, signed=True)


def unit_of(base: Base) -> float:
    """Return the number of nats in a unit of information."""
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
    """Compute a measure, a sum of joint entropies, for every column of the first table with every column of the second.

    ``terms`` has signs and the variables of each entropy, of "x", "y" and "z" (all columns of the third table as one variable).
    Shrinkage takes each entropy of a sum from one table: see :func:`shrunk_information`.
    """
    unit = unit_of(base)
    one_of(estimator, "estimator", (*ESTIMATORS, "shrinkage"))
    tables = _tables(named)
    if estimator == "shrinkage":
        return shrunk_information(tables, terms, sample_weight) / unit
    rows, weights = (None, None) if sample_weight is None else weigh(sample_weight, tables[0].n_rows, estimator)
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
    """Sort terms by the sizes of their tables, the largest first; signs become whole numbers."""
    return sorted(((int(sign), names) for sign, names in terms), key=lambda term: ("y" in term[1], len(term[1])), reverse=True)


def _sums(backend: Backend, wanted: set[str], Z: Codes | None) -> dict[str, Sums | int]:
    """Return the sums over the cells of the wanted tables: features down, targets across."""
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


def shrunk_information(tables: Sequence[Codes], terms: Terms, sample_weight: WeightsLike = None) -> Real:
    """Compute sums of entropies of shrunk tables, in nats, for every column of the first table with every one of the second.

    ``terms`` has signs and the variables of each entropy, of "x", "y" and "z": ``((1, "x"), (1, "y"), (-1, "xy"))`` is mutual
    information. All columns of a third table are one variable. Rows in which a column of the second table is missing are left
    out for this column. Without a second table the shape is ``(d,)``.

    Cost: counts as for the other estimators, and a logarithm for each cell of a table and of its margins. Tables of a column of
    ``X`` with more than 33 levels, or of other variables with more than 64, are counted with numpy
    (:class:`~labelsieve.counting.whole_tables.JointTables`).
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
    fixed = FixedPoint.for_data(X.n_rows, quantized)
    backend = NativeBackend(X, Y, fixed, weights=quantized)
    result = table_information(backend, terms, given, shape, fixed, missing=missing)
    return result if len(tables) > 1 else result[:, 0]
