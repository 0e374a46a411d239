"""Mutual information of continuous columns by nearest neighbors."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelsieve.errors import one_of, whole_number
from labelsieve.information.input import Base, Real, read_classes, read_columns, read_numbers, unit_of
from labelsieve.tables.magnitude import moderate
from labelsieve.tables.types import TableLike, TargetsLike

Whole = NDArray[np.intp]


def neighbor_mutual_information(
    X: TableLike,
    Y: TargetsLike,
    *,
    target_type: Literal["class", "numeric"] = "class",
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
        return np.array([[_with_classes(x, y, k) for y in columns] for x in features]) / unit
    others = [_scaled(y) for y in read_numbers(Y, features)]
    return np.array([[_with_numbers(_scaled(x), y, k) for y in others] for x in features]) / unit


def _with_classes(x: Real, y: NDArray[Any], k: int) -> float:
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


def _with_numbers(x: Real, y: Real, k: int) -> float:
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
    """The derivative of log gamma."""
    from scipy.special import digamma

    return np.asarray(digamma(numbers), dtype=np.float64)


def _scaled(column: Real) -> Real:
    column = moderate(column)
    deviation = column.std()
    return column / deviation if column.max() > column.min() and deviation > 0 else np.zeros_like(column)


def _kth_distance(ordered: Real, k: int) -> Real:
    """Distance of each value to its k-th neighbor: the best window of k + 1 values that holds it."""
    n = len(ordered)
    best = np.full(n, np.inf)
    for below in range(k + 1):
        inside = slice(below, n - (k - below))
        low, high = ordered[: n - k], ordered[k:]
        reach = np.maximum(ordered[inside] - low, high - ordered[inside])
        best[inside] = np.minimum(best[inside], reach)
    return best


class _Counter:
    """How many of some values lie within a distance; exact in the arithmetic in which distances are differences."""

    def __init__(self, values: Real) -> None:
        self.values, counts = np.unique(values, return_counts=True)
        self.before = np.concatenate([[0], np.cumsum(counts)])

    def within(self, centers: Real, radius: Real, *, strictly: bool = False) -> Whole:
        """Values at most ``radius`` away from each center, or less; the center itself counts."""
        first = self._edge(centers, radius, strictly, -1)
        last = self._edge(centers, radius, strictly, 1)
        counts: Whole = np.where(last >= first, self.before[last + 1] - self.before[first], 0)
        return counts

    def _edge(self, centers: Real, radius: Real, strictly: bool, side: int) -> Whole:
        """The outermost distinct value within the radius, to the left (-1) or to the right (1)."""
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
