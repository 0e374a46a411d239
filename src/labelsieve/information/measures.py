r"""Entropies and information of discrete columns, all pairs at once.

Plug-in estimates from counts, or Miller and Madow's correction of them, in nats or bits. Every measure is a sum of a few
joint entropies, which come from the counting core in exact integer arithmetic: results are the same bits for any number
of threads, any order of the rows, dense or sparse input. James-Stein shrinkage is slower and counts table by table
(:mod:`labelsieve.information.input`).
"""

from typing import Any

import numpy as np

from labelsieve.counting.backends.protocol import Terms
from labelsieve.information.input import Base, Real, sum_of_entropies
from labelsieve.tables.codes import Codes
from labelsieve.tables.label_sets import label_matrix
from labelsieve.tables.types import TableLike, TargetsLike, WeightsLike
from labelsieve.tables.weights import Estimator

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
        steps for every pair of columns. See docs/entropy_estimators.md.
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
    """Mutual information of every column of ``X`` in the rows in which it is known."""
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
