"""Mutual information of continuous columns by Gaussian kernel densities."""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError, one_of
from labelsieve.information.input import Base, Real, read_classes, read_columns, read_numbers, unit_of
from labelsieve.tables.codes import Codes
from labelsieve.tables.magnitude import moderate
from labelsieve.tables.types import TableLike, TargetsLike

BLOCK_BYTES = 2**23  # of kernel values at a time: they stay in the cache
ONE_HOT_BYTES = 2**26

ClassOrNumeric = Literal["class", "numeric"]


def kernel_mutual_information(
    X: TableLike,
    Y: TargetsLike,
    *,
    target_type: ClassOrNumeric = "class",
    bandwidth: float | Literal["reference"] = "reference",
    base: Base = "nat",
) -> Real:
    r"""Mutual information of every continuous column of ``X`` with every column of ``Y``, by kernel densities.

    .. math:: I(x; y) = \frac1N \sum_i \log \frac{\hat p(x_i, y_i)}{\hat p(x_i) \, \hat p(y_i)}, \qquad
              \hat p(x) = \frac1N \sum_j K_h(x - x_j)

    with a Gaussian :math:`K_h` (Sun and Kudo 2017, eq. 44 and 45). For classes, :math:`\hat p(x, y)` is the sum over the rows
    of class :math:`y`; for numbers, the kernel is a product. A row counts in its density, so a small bandwidth
    overestimates information and a large one blurs it. Repeated values need no special treatment.

    Parameters
    ----------
    X, Y, target_type, base
        As for :func:`neighbor_mutual_information`.
    bandwidth : float or "reference", default="reference"
        :math:`h`, in units of the standard deviation of each column. ``"reference"`` is optimal for a normal density:
        :math:`(4 / ((D + 2) N))^{1 / (D + 4)}`, D being 1 for classes and 2 for numbers.

    Returns
    -------
    ndarray of shape (d, q)
        0 for a constant column.

    Notes
    -----
    Cost: :math:`N^2` kernel values for each feature (and, for numbers, each pair of columns), in blocks: memory is a few
    megabytes and a one-hot table of the classes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 200)
    >>> x = np.column_stack([y + rng.normal(size=400), rng.normal(size=400)])
    >>> kernel_mutual_information(x, y).round(2)
    array([[0.11],
           [0.01]])
    """
    one_of(target_type, "target_type", ("class", "numeric"))
    unit, features = unit_of(base), read_columns(X)
    width = _bandwidth(bandwidth, len(features[0]), 1 if target_type == "class" else 2)
    scaled = [_scaled(x, width) for x in features]
    if target_type == "class":
        return _with_classes(scaled, read_classes(Y, features)) / unit
    others = [_scaled(y, width) for y in read_numbers(Y, features)]
    return np.array([[_with_numbers(x, y) for y in others] for x in scaled]) / unit


def _bandwidth(bandwidth: object, n_rows: int, dimensions: int) -> float:
    if isinstance(bandwidth, str) and bandwidth == "reference":
        return float((4.0 / ((dimensions + 2.0) * n_rows)) ** (1.0 / (dimensions + 4.0)))
    if isinstance(bandwidth, bool | str) or not np.isscalar(bandwidth) or not 0 < float(bandwidth) < math.inf:  # type: ignore[arg-type]
        raise InputError(f"bandwidth must be 'reference' or a positive number of standard deviations, not {bandwidth!r}.")
    return float(bandwidth)  # type: ignore[arg-type]


def _scaled(column: Real, width: float) -> Real | None:
    """The column in bandwidths; None if it is constant."""
    if column.max() == column.min():
        return None
    column = moderate(column)
    scaled: Real = column / (width * column.std(ddof=1))
    return scaled


def _kernel(rows: Real, column: Real) -> Real:
    """Kernel values of some rows with all, up to a factor."""
    kernel = rows[:, np.newaxis] - column
    np.square(kernel, out=kernel)
    kernel *= -0.5
    return np.exp(kernel, out=kernel)


def _blocks(n_rows: int) -> list[slice]:
    height = max(1, BLOCK_BYTES // (8 * n_rows))
    return [slice(start, min(n_rows, start + height)) for start in range(0, n_rows, height)]


def _with_classes(features: list[Real | None], classes: Codes) -> Real:
    n_rows = classes.n_rows
    result = np.zeros((len(features), classes.n_columns))
    at_a_time = max(1, ONE_HOT_BYTES // (8 * n_rows * int(classes.levels.max())))
    for start in range(0, classes.n_columns, at_a_time):
        group = range(start, min(classes.n_columns, start + at_a_time))
        codes = [classes.column(target).astype(np.intp) for target in group]
        starts = np.concatenate([[0], np.cumsum(classes.levels[list(group)].astype(np.intp))])
        one_hot = np.zeros((n_rows, int(starts[-1])))
        cells: NDArray[np.intp] = np.column_stack([column + first for column, first in zip(codes, starts[:-1], strict=True)])
        np.put_along_axis(one_hot, cells, 1.0, axis=1)
        share = one_hot.sum(axis=0)[cells] / n_rows
        for feature, column in enumerate(features):
            if column is None:
                continue
            for block in _blocks(n_rows):
                kernel = _kernel(column[block], column)
                of_class = np.take_along_axis(kernel @ one_hot, cells[block], axis=1)
                whole = kernel.sum(axis=1, keepdims=True)
                result[feature, list(group)] += np.log(of_class / (whole * share[block])).sum(axis=0)
    return result / n_rows


def _with_numbers(x: Real | None, y: Real | None) -> float:
    if x is None or y is None:
        return 0.0
    total = 0.0
    for block in _blocks(len(x)):
        of_x, of_y = _kernel(x[block], x), _kernel(y[block], y)
        joint = np.einsum("ij,ij->i", of_x, of_y)
        total += float(np.log(joint * len(x) / (of_x.sum(axis=1) * of_y.sum(axis=1))).sum())
    return total / len(x)
