r"""Mutual information of continuous columns: by nearest neighbors, and by kernel densities.

:func:`neighbor_mutual_information` and :func:`kernel_mutual_information` estimate it for pairs of columns;
:class:`ClassDistances` for a growing set of columns together.
"""

import math
import numbers
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelsieve.errors import InputError, one_of, require_same_rows, whole_number
from labelsieve.information.discrete import Base, Real, unit_of
from labelsieve.tables.codes import Codes
from labelsieve.tables.frames import read_table
from labelsieve.tables.magnitude import moderate
from labelsieve.tables.targets import label_matrix
from labelsieve.tables.types import TableLike, TargetsLike

Whole = NDArray[np.intp]
ClassOrNumeric = Literal["class", "numeric"]
BLOCK_BYTES = 2**23  # of distances or kernel values at a time: they stay in the cache
ONE_HOT_BYTES = 2**26
MATRIX_BYTES = 2**28  # of the distances by the columns taken, which are kept if they fit: up to 5,792 rows
AS_NEAR = 1 + 1e-9  # scaled columns are rounded, so distances that tie differ in their last digits


def neighbor_mutual_information(
    X: TableLike,
    Y: TargetsLike,
    *,
    target_type: ClassOrNumeric = "class",
    n_neighbors: int = 3,
    base: Base = "nat",
) -> Real:
    r"""Mutual information of every continuous column of ``X`` with every column of ``Y``, by nearest neighbors.

    For classes (Ross 2014): :math:`d_i` is the distance from :math:`x_i` to the k-th neighbor of the same class, :math:`m_i`
    the number of rows within it, of :math:`N_{y_i}` rows of the class and :math:`N` in all,

    .. math:: I(x; y) = \psi(N) + \langle \psi(k_i) - \psi(N_{y_i}) - \psi(m_i) \rangle .

    For numbers (Kraskov, Stögbauer and Grassberger 2004, first estimator): :math:`\rho_i` is the distance to the k-th
    neighbor in both columns, the larger of the two, and :math:`n` are the rows strictly nearer than that in each,

    .. math:: I(x; y) = \psi(N) + \psi(k) - \langle \psi(n_x + 1) + \psi(n_y + 1) \rangle .

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_rows, d)
        Numbers.
    Y : array-like, frame or sparse matrix of shape (n_rows, q)
        Classes (whole numbers from 0), or numbers.
    target_type : {"class", "numeric"}, default="class"
        The type of the columns of ``Y``.
    n_neighbors : int, default=3
        The k of the formulas. Fewer neighbors have less bias and more variance.
    base : {"nat", "bit"}, default="nat"
        The unit of information.

    Returns
    -------
    ndarray of shape (d, q)
        May be slightly negative for independent columns.

    Notes
    -----
    Ties are counted, not broken by noise. For classes :math:`k_i` is the number of rows of the class within :math:`d_i`,
    which is k without ties; a class with fewer than k other rows takes those it has, and rows alone in their
    class are left out. For numbers, a row with k or more exact copies counts its copies, and those of each value. Without ties
    the first estimate is that of ``sklearn.feature_selection.mutual_info_classif``. Numbers are scaled to unit variance.

    Cost: for classes k n log n for each pair of columns, by sorting; for numbers a k-d tree each. No matrix of distances.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 200)
    >>> x = np.column_stack([y + rng.normal(size=400), rng.normal(size=400)])
    >>> neighbor_mutual_information(x, y).round(2)
    array([[0.07],
           [0.03]])
    """
    one_of(target_type, "target_type", ("class", "numeric"))
    unit, k = unit_of(base), whole_number(n_neighbors, "n_neighbors", 1, 2**31)
    features = read_columns(X)
    if target_type == "class":
        classes = read_classes(Y, features)
        columns = [classes.column(target) for target in range(classes.n_columns)]
        return np.array([[_near_classes(x, y, k) for y in columns] for x in features]) / unit
    others = [_unit_variance(y) for y in read_numbers(Y, features)]
    return np.array([[_near_numbers(_unit_variance(x), y, k) for y in others] for x in features]) / unit


def _near_classes(x: Real, y: NDArray[Any], k: int) -> float:
    _, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    kept = sizes[codes.reshape(-1)] > 1
    x, codes = x[kept], codes.reshape(-1)[kept]
    if not len(x):
        return 0.0
    everyone = _Counter(x)
    total = 0.0
    for one in np.unique(codes):
        mine = np.sort(x[codes == one])
        radius = _kth_distance(mine, min(k, len(mine) - 1))
        within_class = _Counter(mine).within(mine, radius) - 1
        within = everyone.within(mine, radius) - 1
        total += float((digamma(within_class) - digamma(within)).sum()) - len(mine) * float(digamma(len(mine)))
    return float(digamma(len(x))) + total / len(x)


def _near_numbers(x: Real, y: Real, k: int) -> float:
    n_rows = len(x)
    if n_rows < 2:
        return 0.0
    k = min(k, n_rows - 1)
    from scipy.spatial import cKDTree  # here: it would be a third of the time it takes to import the package

    points = np.column_stack([x, y])
    radius = cKDTree(points, balanced_tree=False).query(points, k=[k + 1], p=np.inf)[0][:, 0]
    copies = radius == 0
    near_x, near_y = (_Counter(column).within(column, radius, strictly=True) for column in (x, y))  # with the row itself
    near_k = np.full(n_rows, k)
    if copies.any():
        _, which, sizes = np.unique(points, axis=0, return_inverse=True, return_counts=True)
        near_k[copies] = sizes[which.reshape(-1)][copies] - 1
        for near, column in ((near_x, x), (near_y, y)):
            near[copies] = _Counter(column).within(column[copies], radius[copies]) - 1
    return float(digamma(n_rows) + (digamma(near_k) - digamma(near_x) - digamma(near_y)).mean())


def digamma(numbers: ArrayLike) -> Real:
    """Return the derivative of the logarithm of the gamma function."""
    from scipy.special import digamma

    return np.asarray(digamma(numbers), dtype=np.float64)


def _unit_variance(column: Real) -> Real:
    column = moderate(column)
    deviation = column.std()
    return column / deviation if column.max() > column.min() and deviation > 0 else np.zeros_like(column)


def _kth_distance(ordered: Real, k: int) -> Real:
    """Return the distance of each value to its k-th neighbor: the best window of k + 1 values that holds it."""
    n = len(ordered)
    best = np.full(n, np.inf)
    for below in range(k + 1):
        inside = slice(below, n - (k - below))
        low, high = ordered[: n - k], ordered[k:]
        reach = np.maximum(ordered[inside] - low, high - ordered[inside])
        best[inside] = np.minimum(best[inside], reach)
    return best


class _Counter:
    """Counts values within a distance, exactly in the arithmetic in which distances are differences."""

    def __init__(self, values: Real) -> None:
        self.values, counts = np.unique(values, return_counts=True)
        self.before = np.concatenate([[0], np.cumsum(counts)])

    def within(self, centers: Real, radius: Real, *, strictly: bool = False) -> Whole:
        """Count the values at most ``radius`` away from each center, or ``strictly`` less; the center itself counts."""
        first = self._edge(centers, radius, strictly, -1)
        last = self._edge(centers, radius, strictly, 1)
        counts: Whole = np.where(last >= first, self.before[last + 1] - self.before[first], 0)
        return counts

    def _edge(self, centers: Real, radius: Real, strictly: bool, side: int) -> Whole:
        """Find the outermost distinct value within the radius, to the left (-1) or to the right (1)."""
        at = np.searchsorted(self.values, centers + side * radius, side="left" if side < 0 else "right") - (side > 0)
        at = np.clip(at, 0, len(self.values) - 1)

        def inside(where: Whole) -> NDArray[np.bool_]:
            distance = side * (self.values[np.clip(where, 0, len(self.values) - 1)] - centers)
            near = distance < radius if strictly else distance <= radius
            return np.asarray(near & (where >= 0) & (where < len(self.values)))

        while (outward := inside(at + side)).any():
            at = at + side * outward
        while (inward := ~inside(at) & (side * (self.values[at] - centers) > 0)).any():
            at = at - side * inward
        return np.asarray(at, dtype=np.intp)


def kernel_mutual_information(
    X: TableLike,
    Y: TargetsLike,
    *,
    target_type: ClassOrNumeric = "class",
    bandwidth: float | Literal["reference"] = "reference",
    base: Base = "nat",
) -> Real:
    r"""Mutual information of every continuous column of ``X`` with every column of ``Y``, by kernel densities.

    .. math:: I(x; y) = \frac{1}{N} \sum_i \log \frac{\hat p(x_i, y_i)}{\hat p(x_i) \, \hat p(y_i)}, \qquad
              \hat p(x) = \frac{1}{N} \sum_j K_h(x - x_j)

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
    scaled = [_in_bandwidths(x, width) for x in features]
    if target_type == "class":
        return _dense_classes(scaled, read_classes(Y, features)) / unit
    others = [_in_bandwidths(y, width) for y in read_numbers(Y, features)]
    return np.array([[_dense_numbers(x, y) for y in others] for x in scaled]) / unit


def _bandwidth(bandwidth: object, n_rows: int, dimensions: int) -> float:
    if isinstance(bandwidth, str) and bandwidth == "reference":
        return float((4.0 / ((dimensions + 2.0) * n_rows)) ** (1.0 / (dimensions + 4.0)))
    if isinstance(bandwidth, bool) or not isinstance(bandwidth, numbers.Real) or not 0 < float(bandwidth) < math.inf:
        raise InputError(f"bandwidth must be 'reference' or a positive number of standard deviations, not {bandwidth!r}.")
    return float(bandwidth)


def _in_bandwidths(column: Real, width: float) -> Real | None:
    """Scale a column to units of the bandwidth; None if it is constant."""
    if column.max() == column.min():
        return None
    column = moderate(column)
    scaled: Real = column / (width * column.std(ddof=1))
    return scaled


def _kernel(rows: Real, column: Real) -> Real:
    """Return the kernel values of some rows with all, up to a factor."""
    kernel = rows[:, np.newaxis] - column
    np.square(kernel, out=kernel)
    kernel *= -0.5
    return np.exp(kernel, out=kernel)


def _blocks(n_rows: int) -> list[slice]:
    height = max(1, BLOCK_BYTES // (8 * n_rows))
    return [slice(start, min(n_rows, start + height)) for start in range(0, n_rows, height)]


def _dense_classes(features: list[Real | None], classes: Codes) -> Real:
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


def _dense_numbers(x: Real | None, y: Real | None) -> float:
    if x is None or y is None:
        return 0.0
    total = 0.0
    for block in _blocks(len(x)):
        of_x, of_y = _kernel(x[block], x), _kernel(y[block], y)
        joint = np.einsum("ij,ij->i", of_x, of_y)
        total += float(np.log(joint * len(x) / (of_x.sum(axis=1) * of_y.sum(axis=1))).sum())
    return total / len(x)


class ClassDistances:
    r"""Mutual information of a growing set of columns, and of the set with one more column, with the classes.

    The formula is that of :class:`labelsieve.PPTMI`: the difference of two Kozachenko-Leonenko entropies, as Gómez-Verdejo,
    Verleysen and Fleury (2009) and Doquire and Verleysen use it. Columns are on comparable scales. Every class has two rows at
    the least; one of fewer than k + 1 rows takes all :math:`k_y` neighbors it has, and :math:`\psi(k_y) - \psi(k)` is added for
    its rows.

    A row with k or more exact copies has :math:`\log e_i = -\infty`. For such rows both counts are taken within
    :math:`e_i^{(y)}`, as Ross (2014) does: :math:`\psi(m^{(y)}) - \psi(m)` for the rows :math:`m` of all and :math:`m^{(y)}` of
    the class that are as near, instead of :math:`D (\log e_i - \log e_i^{(y)})`. So columns of a few values are scored by
    counts, as they must be. Other ties change nothing: the k-th distance is the same for all that tie.

    Cost: :math:`3 N^2` steps for each column asked about: a difference squared, a sum, and a partial sort. The distances by the
    columns taken are kept when they fit in 256 MB and computed again, block by block, when they do not; then every column asked
    about in a step shares them, but a step costs :math:`N^2 |S|` more.

    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> distances = ClassDistances([rng.normal(size=200), y + 0.1 * rng.normal(size=200)], y, k=4)
    >>> distances.information([0, 1]).round(1)
    array([0.1, 0.7])
    """

    def __init__(self, columns: list[Real], classes: NDArray[np.integer], k: int) -> None:
        order = np.argsort(classes, kind="stable")  # so that a class is a range of rows
        sizes = np.bincount(classes)
        sizes = sizes[sizes > 0]
        if not len(sizes) or sizes.min() < 2:
            raise InputError("every class needs two rows at the least; drop classes of one row, which has no neighbor.")
        self._columns = [column[order] for column in columns]
        self._k, self._n_rows = min(k, len(order) - 1), len(order)
        ends = np.cumsum(sizes)
        self._classes = list(zip((ends - sizes).tolist(), ends.tolist(), strict=True))
        self._taken: list[int] = []
        keeps = 8 * self._n_rows**2 <= MATRIX_BYTES
        self._kept = np.zeros((self._n_rows, self._n_rows)) if keeps else None

    def take(self, column: int) -> None:
        """Add a column to the set."""
        self._taken.append(column)
        if self._kept is not None:
            for first, last, _ in self._blocks():
                self._kept[first:last] += _squares(self._columns[column], first, last)

    def information(self, candidates: list[int]) -> Real:
        """Return the information of the set with each of the candidates added, in nats."""
        totals = np.zeros(len(candidates))
        for first, last, same_class in self._blocks():
            near = self._near(first, last)
            for position, candidate in enumerate(candidates):
                totals[position] += self._local(near + _squares(self._columns[candidate], first, last), first, same_class)
        return totals / self._n_rows

    def _blocks(self) -> Iterator[tuple[int, int, slice]]:
        """Yield ranges of rows of one class, and the range of all rows of that class."""
        height = max(1, BLOCK_BYTES // (8 * self._n_rows))
        for start, stop in self._classes:
            for first in range(start, stop, height):
                yield first, min(stop, first + height), slice(start, stop)

    def _near(self, first: int, last: int) -> Real:
        """Return squared distances of some rows to all, by the columns taken."""
        if self._kept is not None:
            return self._kept[first:last]
        near = np.zeros((last - first, self._n_rows))
        for column in self._taken:
            near += _squares(self._columns[column], first, last)
        return near

    def _local(self, squares: Real, first: int, same_class: slice) -> float:
        """Add up the terms of the rows of a block; the rows of their class are the columns ``same_class``."""
        rows = np.arange(len(squares))
        squares[rows, first + rows] = np.inf  # no row is a neighbor of itself
        n_same = same_class.stop - same_class.start
        k_same = min(self._k, n_same - 1)
        everywhere = np.partition(squares, self._k - 1, axis=1)[:, self._k - 1]
        among_same = np.partition(squares[:, same_class], k_same - 1, axis=1)[:, k_same - 1]
        copies = everywhere == 0
        plain = ~copies
        constant = float(digamma(self._n_rows) - digamma(n_same))
        total = len(squares) * constant + float(digamma(k_same) - digamma(self._k)) * int(plain.sum())
        # Half the logarithm of a squared distance is that of the distance.
        total += 0.5 * (len(self._taken) + 1) * float((np.log(everywhere[plain]) - np.log(among_same[plain])).sum())
        if copies.any():
            as_near = squares[copies] <= AS_NEAR * among_same[copies, np.newaxis]
            total += float((digamma(as_near[:, same_class].sum(axis=1)) - digamma(as_near.sum(axis=1))).sum())
        return total


def _squares(column: Real, first: int, last: int) -> Real:
    """Return squared differences of some rows to all."""
    difference = column[first:last, np.newaxis] - column[np.newaxis, :]
    difference *= difference
    return difference


def read_columns(X: TargetsLike, what: str = "X") -> list[Real]:
    """Read the columns of a table as doubles, all finite."""
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
    """Read targets that are classes, and check that they have the rows of ``X``."""
    classes = Codes.from_values(label_matrix(Y), what="Y")
    require_same_rows(len(X[0]), classes.n_rows)
    return classes


def read_numbers(Y: TargetsLike, X: list[Real]) -> list[Real]:
    """Read targets that are numbers, and check that they have the rows of ``X``."""
    columns = read_columns(Y, "Y")
    require_same_rows(len(X[0]), len(columns[0]))
    return columns
