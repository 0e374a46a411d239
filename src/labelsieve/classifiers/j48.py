"""C4.5 decision trees as Weka's J48 grows and prunes them, for one label (a column of classes).

:class:`J48` comes first. :class:`Grower` grows a tree, and :class:`Pruner` replaces subtrees by leaves or by their largest
branch; both work on :class:`Node`. The search for a split, :func:`best_cuts` and ``Grower._nominal_splits``, handles all
columns of a node at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import ndtri, xlogy
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from labelsieve.errors import InputError
from labelsieve.parameters import AT_LEAST_ONE, CheckedParameters, Interval, checked_fit, parameter
from labelsieve.tables.frames import validate_data
from labelsieve.tables.types import TableLike, TargetsLike, WeightsLike, is_sparse
from labelsieve.tables.weights import positive_weights

# Weka's constants. Where two numbers are within TOLERANCE of each other, they count as equal.
TOLERANCE = 1e-6
SAME_VALUE = 1e-5  # numeric values that differ by less are never separated
NEAR_AVERAGE = 1e-3  # a gain that is lower than the average by less still competes
NEAR_ERRORS = 1e-3  # a subtree that saves fewer training errors is collapsed
NEAR_ESTIMATE = 0.1  # a simpler tree may have so many more estimated errors
MOST_REQUIRED = 25.0  # rows that a side of a numeric cut never needs more of
MANY_VALUES = 0.3  # a nominal column with more values than this share of the rows is no measure for the average gain
CELLS = 2**20  # values that the search handles at a time

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(eq=False, repr=False)
class J48(CheckedParameters, ClassifierMixin, BaseEstimator):
    r"""A C4.5 decision tree with the rules and constants of Weka's J48.

    A node is split on the column with the best gain ratio among those whose information gain is at least average. The gain of a
    numeric cut is reduced by the bits that choose it, :math:`\log_2(\text{cuts}) / N`. A row with a missing value (NaN) goes
    to all branches, with weights in proportion to their rows. The tree is then pruned from below: a subtree is replaced by a
    leaf, or by its largest branch (subtree raising), where the estimated errors do not increase. The estimate is the upper
    limit of a confidence interval for the error rate of each leaf.

    Parameters
    ----------
    pruned : bool, default=True
        Whether to prune. Subtrees without fewer training errors than a leaf are collapsed in any case.
    confidence : float, default=0.25
        Confidence of the estimated errors, at most 0.5; lower values prune more.
    min_rows : int, default=2
        At least two branches of a split have so many rows each. Numeric cuts need more in large nodes: a tenth of the rows
        divided by the number of classes, up to 25.
    nominal : sequence of int, default=()
        Nominal columns: a split on them has one branch for each value. The others are numeric. A study sets them from the data.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    tree_ : Node
        The root of the tree.
    n_leaves_, n_nodes_ : int
        Number of leaves, and of all nodes.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Cost: columns are sorted once; after that a level of the tree takes a few passes over the values of all columns, about
    0.1 microseconds for each value. Sparse tables are made dense. Row weights count as numbers of equal rows. A nominal value
    that the training rows of a node do not have is predicted by the classes of that node.

    Trees are those of Weka 3.9 except where rounding decides between splits that are equal to about 1e-6.

    References
    ----------
    J. R. Quinlan (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann; J. R. Quinlan (1996). Improved use of continuous
    attributes in C4.5. Journal of Artificial Intelligence Research 4.

    Examples
    --------
    >>> X = [[1.0, 0], [2.0, 1], [3.0, 0], [4.0, 1], [5.0, 0], [6.0, 1]]
    >>> tree = J48().fit(X, ["low", "low", "low", "high", "high", "high"])
    >>> print(tree.text())
    x0 <= 3: low (3.0)
    x0 > 3: high (3.0)
    >>> tree.predict([[2.5, 1], [4.5, 1]])
    array(['low', 'high'], dtype='<U4')
    """

    pruned: bool = True
    confidence: float = parameter(0.25, Interval(Real, 0, 0.5, closed="right"))
    min_rows: int = parameter(2, AT_LEAST_ONE)
    _: KW_ONLY
    nominal: Sequence[int] = parameter((), "array-like")

    @checked_fit
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Grow the tree, and prune it."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(y)
        values, weights = _dense(X), np.ones(X.shape[0])
        if sample_weight is not None:
            counted, positive = positive_weights(sample_weight, len(values))
            if counted is not None:
                values, y = values[counted], y[counted]
            weights = np.ones(len(values)) if positive is None else np.asarray(positive, dtype=np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        data = TrainingRows(values, codes, len(self.classes_), self._nominal_columns(values))
        everything = Part(np.arange(len(values)), weights)
        self.tree_ = Grower(data, everything, self.min_rows).grow(everything)
        collapse(self.tree_)
        if self.pruned:
            Pruner(data, self.confidence).prune(self.tree_)
        nodes = list(self.tree_.nodes())
        for node in nodes:
            node.part = None
        self.n_nodes_, self.n_leaves_ = len(nodes), sum(node.is_leaf for node in nodes)
        return self

    def _nominal_columns(self, X: Floats) -> NDArray[np.intp]:
        """Return the nominal columns in ascending order."""
        columns = np.unique(np.asarray(self.nominal, dtype=np.intp))
        if len(columns) and not 0 <= columns[0] <= columns[-1] < X.shape[1]:
            raise InputError(f"nominal={list(self.nominal)}: X has the columns 0 to {X.shape[1] - 1}.")
        return columns

    def predict_proba(self, X: TableLike) -> Floats:
        """Return the probability of every class: its share in the leaf, or in several leaves if a value is missing."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan")
        probabilities = np.zeros((X.shape[0], len(self.classes_)))
        add_probabilities(self.tree_, _dense(X), Part(np.arange(X.shape[0]), np.ones(X.shape[0])), probabilities)
        return probabilities

    def predict(self, X: TableLike) -> NDArray[Any]:
        """Return the most probable class; the first of those that tie."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def text(self, feature_names: Sequence[str] | None = None) -> str:
        """Return the tree as text: a line for each branch, and for a leaf its class and (rows/rows of other classes)."""
        check_is_fitted(self)
        given = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names
        names = [f"x{column}" for column in range(self.n_features_in_)] if given is None else list(given)
        return "\n".join(self._lines(self.tree_, names, 0)) if self.tree_.children else self._leaf(self.tree_, 0).strip(": ")

    def _lines(self, node: "Node", names: Sequence[str], depth: int) -> Iterator[str]:
        for child, condition in zip(node.children, node.conditions(names[node.column]), strict=True):
            line = "|   " * depth + condition
            if child.is_leaf:
                yield line + self._leaf(child, int(node.counts.argmax()))
            else:
                yield line
                yield from self._lines(child, names, depth + 1)

    def _leaf(self, leaf: "Node", otherwise: int) -> str:
        """Return the text of a leaf; one without rows has the class of the node above."""
        total = leaf.counts.sum()
        best = int(leaf.counts.argmax()) if total > 0 else otherwise
        errors = total - leaf.counts[best] if total > 0 else 0.0
        shown = f"{_decimals(total)}/{_decimals(errors)}" if errors > TOLERANCE else _decimals(total)
        return f": {self.classes_[best]} ({shown})"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


class Part(NamedTuple):
    """Rows by number, with their weights; a row with missing values is in several parts, with a share of its weight in each."""

    rows: Rows
    weights: Floats


@dataclass(eq=False)
class Node:
    """A leaf, or a split with a child for each branch."""

    counts: Floats  # weights of the training rows by class
    column: int = -1  # of the split; -1 in a leaf
    cut: float | None = None  # of a numeric split: rows up to this value go to the first branch, the others to the second
    values: Floats | None = None  # of a nominal split: the value of each branch
    # of every branch, by which the weight of a row is divided whose value is missing
    shares: Floats = field(default_factory=lambda: np.empty(0))
    children: list["Node"] = field(default_factory=list)
    part: Part | None = None  # the training rows, until the tree is finished
    errors: float = 0.0  # of the subtree: training errors when it is collapsed, estimated ones when it is pruned

    @property
    def is_leaf(self) -> bool:
        """Whether the node has no branches."""
        return not self.children

    @property
    def n_branches(self) -> int:
        """Number of branches of the split."""
        return 2 if self.values is None else len(self.values)

    def nodes(self) -> Iterator["Node"]:
        """Yield the node and all nodes below it."""
        yield self
        for child in self.children:
            yield from child.nodes()

    def become_leaf(self) -> None:
        """Turn this node into a leaf: remove its split and all nodes below it."""
        self.column, self.cut, self.values, self.shares, self.children = -1, None, None, np.empty(0), []

    def become(self, other: "Node") -> None:
        """Take over the split and the children of another node, but not its rows."""
        self.column, self.cut, self.values = other.column, other.cut, other.values
        self.shares, self.children = other.shares, other.children

    def conditions(self, name: str) -> list[str]:
        """Return the condition of each branch as text."""
        if self.values is None:
            return [f"{name} {sign} {_decimals(self.cut or 0.0, 6, 0)}" for sign in ("<=", ">")]
        return [f"{name} = {_decimals(value, 6, 0)}" for value in self.values]

    def branches(self, values: Floats) -> NDArray[np.intp]:
        """Return the branch of every value; -1 for missing values, and ``n_branches`` for nominal values without a branch."""
        if self.values is None:
            assert self.cut is not None
            found: NDArray[np.intp] = (values > self.cut).astype(np.intp)
        else:
            found = np.minimum(np.searchsorted(self.values, values), len(self.values) - 1)
            found[self.values[found] != values] = len(self.values)
        found[np.isnan(values)] = -1
        return found

    def divide(self, X: Floats, part: Part) -> list[Part]:
        """Return the rows of each branch; those with a missing value are in every branch that has a share."""
        branches = self.branches(X[part.rows, self.column])
        missing = branches == -1
        some = bool(missing.any())
        parts = []
        for branch in range(self.n_branches):
            inside = branches == branch
            weights = part.weights
            if some and self.shares[branch] > 0:
                weights = np.where(missing, weights * self.shares[branch], weights)
                inside |= missing
            parts.append(Part(part.rows[inside], weights[inside]))
        return parts

    def set_shares(self, X: Floats, part: Part) -> None:
        """Compute the shares of the branches from other rows."""
        branches = self.branches(X[part.rows, self.column])
        known = branches >= 0
        totals = np.bincount(branches[known], part.weights[known], minlength=self.n_branches)[: self.n_branches]
        self.shares = totals / totals.sum() if totals.sum() > 0 else np.full(self.n_branches, 1 / self.n_branches)


@dataclass(eq=False)
class TrainingRows:
    """The training rows: values, class codes, number of classes, and nominal columns."""

    X: Floats
    y: NDArray[np.intp]
    n_classes: int
    nominal: NDArray[np.intp]

    def counts(self, part: Part) -> Floats:
        """Return the weights of rows by class."""
        return np.bincount(self.y[part.rows], part.weights, minlength=self.n_classes).astype(np.float64)


def levels_of(X: Floats) -> list[Floats]:
    """Return the distinct values of each column, without missing ones.

    >>> [levels.tolist() for levels in levels_of(np.array([[0.0, 3], [1, 2], [0, 3]]))]
    [[0.0, 1.0], [2.0, 3.0]]
    """
    binary = ((X == 0) | (X == 1)).all(axis=0)
    low, high = (X.min(axis=0), X.max(axis=0)) if len(X) else (np.empty(0), np.empty(0))
    return [
        np.unique([low[column], high[column]] if binary[column] else values[~np.isnan(values)])
        for column, values in enumerate(X.T)
    ]


class Splits(NamedTuple):
    """The best split of each column: gain and gain ratio (0 where there is none), whether it is valid, and its cut."""

    columns: NDArray[np.intp]
    gains: Floats
    ratios: Floats
    valid: NDArray[np.bool_]
    cuts: Floats


class Grower:
    """Grows a tree from training rows.

    Numeric columns are sorted once. A child's rows stay in the order of every column, because they are picked from the sorted
    rows of its parent.
    """

    def __init__(self, data: TrainingRows, everything: Part, min_rows: int) -> None:
        self._data, self._min_rows = data, float(min_rows)
        n, d = data.X.shape
        self._numeric = np.setdiff1d(np.arange(d), data.nominal)
        self._values = np.ascontiguousarray(data.X[:, self._numeric].T)
        self._order = np.argsort(self._values, axis=1, kind="stable").astype(np.int32)  # missing values are last
        self._weights = np.zeros(n)  # of the rows of the node that is being split; others are left over from before
        self._kept = np.zeros(n, dtype=bool)
        self._levels = levels_of(data.X[:, data.nominal])
        sizes = np.array([len(levels) for levels in self._levels], dtype=np.intp)
        self._starts = np.concatenate([[0], np.cumsum(sizes + 1)]).astype(np.intp)  # one more level: missing
        self._set_levels()
        few = sizes < MANY_VALUES * everything.weights.sum() - TOLERANCE
        self._typical = np.ones(d, dtype=bool)  # columns whose gains make up the average
        if len(self._numeric) or few.any():
            self._typical[data.nominal] = few

    def _set_levels(self) -> None:
        """Store the levels of the nominal columns as a sparse matrix, without the most frequent one of each column.

        Levels are numbered over all columns. The counts of the most frequent ones follow from those of the others, which are
        few where columns are words or other rare events.
        """
        n = len(self._data.X)
        X = self._data.X[:, self._data.nominal]
        two = np.array([known.tolist() == [0, 1] for known in self._levels], dtype=bool) & ~np.isnan(X).any(axis=0)
        self._usual = self._starts[:-1] + (two & (X.sum(axis=0) > n / 2))  # of the columns of zeros and ones
        found, columns = np.nonzero(X[:, two] != (self._usual - self._starts[:-1])[two])
        columns = np.flatnonzero(two)[columns]
        rows, levels = [found], [2 * self._starts[columns] + 1 - self._usual[columns]]
        for column in np.flatnonzero(~two):
            values, known = X[:, column], self._levels[column]
            codes = np.where(np.isnan(values), len(known), np.searchsorted(known, values))
            usual = int(np.bincount(codes).argmax())
            self._usual[column] = self._starts[column] + usual
            rows.append(np.flatnonzero(codes != usual))
            levels.append(self._starts[column] + codes[rows[-1]])
        positions = np.concatenate(rows), np.concatenate(levels)
        ones = np.ones(len(positions[0]), dtype=np.int8)
        self._unusual = sp.csr_array((ones, positions), shape=(n, int(self._starts[-1])))

    def grow(self, part: Part, order: NDArray[np.int32] | None = None) -> Node:
        """Return the unpruned tree of a part of the rows; ``order`` has these rows sorted by each numeric column."""
        order = self._order if order is None else order
        node = Node(self._data.counts(part), part=part)
        if not self._split(node, part, order):
            return node
        for child in node.divide(self._data.X, part):
            self._kept[child.rows] = True
            below = order[self._kept[order]].reshape(len(order), len(child.rows))
            self._kept[child.rows] = False
            node.children.append(self.grow(child, below))
        return node

    def _split(self, node: Node, part: Part, order: NDArray[np.int32]) -> bool:
        """Find the split of a node, and say whether there is one."""
        total = node.counts.sum()
        if total < 2 * self._min_rows - TOLERANCE or total - node.counts.max() < TOLERANCE:
            return False
        self._weights[part.rows] = part.weights
        found = [self._nominal_splits(part, total), *self._numeric_splits(order, total)]
        columns, gains, ratios, valid, cuts = map(np.concatenate, zip(*found, strict=True))
        counted = valid & self._typical[columns]
        if not counted.any():
            return False
        competing = np.flatnonzero(valid & (gains >= gains[counted].mean() - NEAR_AVERAGE))
        best, ratio = -1, 0.0
        for index in competing[np.argsort(columns[competing])]:
            if ratios[index] > ratio + TOLERANCE:
                best, ratio = int(index), float(ratios[index])
        if best < 0:
            return False
        node.column = int(columns[best])
        if np.isnan(cuts[best]):
            node.values = self._levels[int(np.searchsorted(self._data.nominal, node.column))]
        else:
            node.cut = self._actual_value(node.column, float(cuts[best]))
        node.set_shares(self._data.X, part)
        return True

    def _actual_value(self, column: int, cut: float) -> float:
        """Return the largest value of a column, over all training rows, that is not above a cut."""
        row = int(np.searchsorted(self._numeric, column))
        values = self._values[row]
        return float(values[self._order[row, np.searchsorted(values[self._order[row]], cut, side="right") - 1]])

    def _numeric_splits(self, order: NDArray[np.int32], total: float) -> Iterator[Splits]:
        """Yield the best cuts of the numeric columns, as many columns at a time as fit in a block."""
        width = max(1, CELLS // max(1, order.shape[1]))
        for first in range(0, len(order), width):
            rows = order[first : first + width]
            values = np.take_along_axis(self._values[first : first + width], rows, axis=1)
            block = best_cuts(values, self._data.y[rows], self._weights[rows], total, self._data.n_classes, self._min_rows)
            yield block._replace(columns=self._numeric[first : first + width])

    def _nominal_splits(self, part: Part, total: float) -> Splits:
        """Return the splits of the nominal columns, with a branch for each value."""
        columns = self._data.nominal
        none = np.zeros(len(columns))
        splits = Splits(columns, none, none.copy(), np.zeros(len(columns), dtype=bool), np.full(len(columns), np.nan))
        if not len(columns):
            return splits
        found = self._unusual[part.rows]
        lengths = np.diff(found.indptr)
        present, classes = np.unique(self._data.y[part.rows], return_inverse=True)
        n_classes = len(present)
        cells = found.indices.astype(np.intp) * n_classes + np.repeat(classes, lengths)
        sums = np.bincount(cells, np.repeat(part.weights, lengths), minlength=self._starts[-1] * n_classes)
        counts = sums.astype(np.float64).reshape(-1, n_classes)
        others = np.add.reduceat(counts, self._starts[:-1], axis=0)
        whole = np.bincount(classes, part.weights)
        counts[self._usual] = np.maximum(whole - others, 0.0)
        counts[self._starts[1:] - 1] = 0  # missing values
        known = np.add.reduceat(counts, self._starts[:-1], axis=0)
        n_known, sizes = known.sum(axis=1), counts.sum(axis=1)
        before = bits(n_known) - bits(known).sum(axis=1)
        after = np.add.reduceat(bits(sizes) - bits(counts).sum(axis=1), self._starts[:-1])
        splits.gains[:] = (before - after) / total
        unknown = np.maximum(total - n_known, 0.0)  # rounding may leave less than nothing
        information = bits(total) - np.add.reduceat(bits(sizes), self._starts[:-1]) - bits(unknown)
        splits.ratios[:] = ratios_of(splits.gains, information / total)
        large = np.add.reduceat((sizes >= self._min_rows - TOLERANCE).astype(np.intp), self._starts[:-1])
        splits.valid[:] = large >= 2
        return splits


def best_cuts(
    values: Floats, classes: NDArray[np.intp], weights: Floats, total: float, n_classes: int, min_rows: float
) -> Splits:
    """Return the cut with the largest information gain in each of several sorted columns.

    The tables have a row for each column: the rows of a node in ascending order of that column, missing values last. ``total``
    is the weight of all rows, and each side of a cut has a weight of ``min_rows`` at least.
    """
    known = ~np.isnan(values)
    weights = np.where(known, weights, 0.0)
    left = np.cumsum(weights, axis=1)
    n_known = left[:, -1:].copy()
    required = 0.1 * n_known / n_classes
    required = np.where(required <= min_rows + TOLERANCE, min_rows, np.minimum(required, MOST_REQUIRED))
    left = left[:, :-1]
    right = n_known - left
    apart = np.zeros(left.shape, dtype=bool)
    np.less(values[:, :-1] + SAME_VALUE, values[:, 1:], out=apart, where=known[:, 1:])
    apart &= (left >= required - TOLERANCE) & (right >= required - TOLERANCE)
    n_cuts = apart.sum(axis=1)
    by_class, class_totals = class_bits(classes, weights)
    before = bits(n_known[:, 0]) - class_totals
    after = bits(left) + bits(np.maximum(right, 0.0)) - by_class[:, :-1]
    gains = np.where(apart, (before[:, np.newaxis] - after) / total, 0.0)
    columns = np.arange(len(values))
    positions = first_best(gains)
    best = gains[columns, positions] if gains.shape[1] else np.zeros(len(values))
    found = (n_cuts > 0) & (best > TOLERANCE)
    gain = np.where(found, best - np.log2(np.maximum(n_cuts, 1)) / total, 0.0)
    valid = found & (gain > TOLERANCE)
    low, high = (left[columns, positions], right[columns, positions]) if gains.shape[1] else (np.zeros(len(values)),) * 2
    unknown = np.maximum(total - n_known[:, 0], 0.0)  # rounding may leave less than nothing
    information = bits(total) - bits(low) - bits(np.maximum(high, 0.0)) - bits(unknown)
    cuts = np.zeros(len(values))
    rows = np.flatnonzero(valid)
    lower, upper = values[rows, positions[rows]], values[rows, np.minimum(positions[rows] + 1, values.shape[1] - 1)]
    middle = lower + (upper - lower) / 2
    cuts[rows] = np.where(middle >= upper, lower, middle)
    return Splits(columns, gain, ratios_of(gain, information / total), valid, cuts)


def class_bits(classes: NDArray[np.intp], weights: Floats) -> tuple[Floats, Floats]:
    r"""Return :math:`\sum_c l_c \log l_c + r_c \log r_c` for a cut after each row, and :math:`\sum_c n_c \log n_c`.

    :math:`l_c` and :math:`r_c` are the weights of class c before and after the cut. A row changes the counts of its own class
    only, so the sum is accumulated from these changes: the cost does not depend on the number of classes.
    """
    order = np.argsort(classes, axis=1, kind="stable")
    sizes = np.bincount(classes[0])
    sizes = sizes[sizes > 0]  # numbers of rows by class, the same in every column
    sorted_weights = np.take_along_axis(weights, order, axis=1)
    sums = np.cumsum(sorted_weights, axis=1)
    ends = np.cumsum(sizes) - 1
    at_ends = sums[:, ends]
    before_class = np.concatenate([np.zeros((len(sums), 1)), at_ends[:, :-1]], axis=1)
    totals = at_ends - before_class
    left = sums - np.repeat(before_class, sizes, axis=1)
    right = np.maximum(np.repeat(totals, sizes, axis=1) - left, 0.0)
    changes = bits(left) + bits(right)
    # The first row of a class changes the sum from that with the whole class on the right.
    changes[:, 1:] -= changes[:, :-1].copy()
    firsts = np.concatenate([[0], ends[:-1] + 1])
    changes[:, firsts] = (bits(left[:, firsts]) + bits(right[:, firsts])) - bits(totals)
    whole = bits(totals).sum(axis=1)
    in_order = np.empty_like(changes)
    np.put_along_axis(in_order, order, changes, axis=1)
    return whole[:, np.newaxis] + np.cumsum(in_order, axis=1), whole


def first_best(gains: Floats) -> NDArray[np.intp]:
    """Return for each column the position that a scan keeps which takes a gain only if it is better by the tolerance.

    That is the largest gain, unless others before it are equal to it within the tolerance.
    """
    if not gains.shape[1]:
        return np.zeros(len(gains), dtype=np.intp)
    positions: NDArray[np.intp] = gains.argmax(axis=1)
    largest = gains[np.arange(len(gains)), positions]
    near = np.count_nonzero(gains >= (largest - TOLERANCE)[:, np.newaxis], axis=1)
    for column in np.flatnonzero((near > 1) & (largest > TOLERANCE)):
        row = gains[column, : positions[column] + 1]
        records = np.flatnonzero(row[1:] > np.maximum.accumulate(row)[:-1]) + 1
        best, kept = 0.0, 0
        for position in [0, *records.tolist()]:
            if row[position] > best + TOLERANCE:
                best, kept = float(row[position]), position
        positions[column] = kept
    return positions


def bits(x: Any) -> Any:
    """Return x log2(x), the term of an entropy in bits; 0 where x is 0."""
    return xlogy(x, x) / np.log(2)


def ratios_of(gains: Floats, information: Floats) -> Floats:
    """Return gain ratios; 0 where a split has no information of its own."""
    return np.divide(gains, information, out=np.zeros(len(gains)), where=information > TOLERANCE)


def incorrect(counts: Floats) -> float:
    """Return the weight of the rows that are not of the most frequent class."""
    return float(counts.sum() - counts.max())


def collapse(node: Node) -> None:
    """Replace subtrees by leaves that have no more training errors."""
    _count_errors(node)
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.children and node.errors >= incorrect(node.counts) - NEAR_ERRORS:
            node.become_leaf()
        waiting += node.children


def _count_errors(node: Node) -> None:
    """Count the training errors of every subtree."""
    for child in node.children:
        _count_errors(child)
    node.errors = sum(child.errors for child in node.children) if node.children else incorrect(node.counts)


class Pruner:
    """Prunes a tree by estimated errors."""

    def __init__(self, data: TrainingRows, confidence: float) -> None:
        self._data, self._confidence = data, confidence
        self._missing = bool(np.isnan(data.X).any())

    def prune(self, node: Node) -> None:
        """Replace the node by a leaf or by its largest branch where that has no more estimated errors."""
        node.errors = as_leaf = self._errors(node.counts)
        if node.is_leaf:
            return
        for child in node.children:
            self.prune(child)
        as_tree = sum(child.errors for child in node.children)
        position = node.n_branches - 1 - int(np.argmax(node.shares[::-1]))  # the last of equal ones
        much = NEAR_ESTIMATE + TOLERANCE
        as_branch = self._errors_of_branch(node, position, as_leaf if as_leaf <= as_tree + much else as_tree + much)
        if as_leaf <= min(as_tree, as_branch) + much:
            node.become_leaf()
        elif as_branch <= as_tree + much:
            assert node.part is not None
            node.become(node.children[position])
            self._refill(node, node.part)
            self.prune(node)
        else:
            node.errors = as_tree

    def _errors_of_branch(self, node: Node, position: int, most: float) -> float:
        """Return the estimated errors of a branch if it had all rows of the node, or a number above ``most``."""
        assert node.part is not None
        branch = node.children[position]
        if self._missing:
            return self._errors_with(branch, node.part)
        others = node.branches(self._data.X[node.part.rows, node.column]) != position
        return self._errors_with_more(branch, Part(node.part.rows[others], node.part.weights[others]), most)

    def _errors(self, counts: Floats) -> float:
        """Return the estimated errors of a leaf."""
        total, wrong = float(counts.sum()), incorrect(counts)
        return 0.0 if total < TOLERANCE else wrong + more_errors(total, wrong, self._confidence)

    def _errors_with(self, node: Node, part: Part) -> float:
        """Return the estimated errors of a subtree if it had these rows."""
        if node.is_leaf:
            return self._errors(self._data.counts(part))
        own = node.shares
        node.set_shares(self._data.X, part)
        parts = node.divide(self._data.X, part)
        node.shares = own
        return sum(self._errors_with(child, below) for child, below in zip(node.children, parts, strict=True))

    def _errors_with_more(self, node: Node, part: Part, most: float) -> float:
        """Return the estimated errors of a subtree if it had these rows as well; no value may be missing.

        Equal to :meth:`_errors_with` of all rows, and faster: most leaves get none of the rows and keep their errors. Rows only
        add to the errors of a leaf, so the search ends as soon as they are above ``most``.
        """
        errors, waiting = node.errors, [(node, part)]
        while waiting and errors <= most:
            below, inside = waiting.pop()
            if below.is_leaf:
                errors += self._errors(below.counts + self._data.counts(inside)) - below.errors
            else:
                parts = below.divide(self._data.X, inside)
                waiting += [pair for pair in zip(below.children, parts, strict=True) if len(pair[1].rows)]
        return errors

    def _refill(self, node: Node, part: Part) -> None:
        """Send other training rows down a subtree."""
        node.part, node.counts = part, self._data.counts(part)
        if not node.is_leaf:
            node.set_shares(self._data.X, part)
            for child, below in zip(node.children, node.divide(self._data.X, part), strict=True):
                self._refill(child, below)


def more_errors(total: float, wrong: float, confidence: float) -> float:
    r"""Return the errors that a leaf is expected to make in addition to those on its training rows.

    The upper limit of the error rate for :math:`e` errors in :math:`N` rows is that of the normal approximation, with
    :math:`f = (e + 1/2) / N` and the normal quantile :math:`z` of the confidence. Without errors it is exact,
    :math:`1 - c^{1/N}`, and between none and one error it is interpolated.

    >>> round(more_errors(6, 0, 0.25), 3), round(more_errors(9, 0, 0.25), 3), round(more_errors(16, 1, 0.25), 3)
    (1.238, 1.285, 1.476)
    """
    if wrong < 1:
        none = total * (1 - confidence ** (1 / total))
        return float(none) if wrong == 0 else float(none) + wrong * (more_errors(total, 1.0, confidence) - float(none))
    if wrong + 0.5 >= total:
        return max(total - wrong, 0.0)
    z = float(ndtri(1 - confidence))
    rate = (wrong + 0.5) / total
    spread = z * np.sqrt(rate / total - rate**2 / total + z**2 / (4 * total**2))
    limit = (rate + z**2 / (2 * total) + spread) / (1 + z**2 / total)
    return float(limit * total - wrong)


def add_probabilities(node: Node, X: Floats, part: Part, probabilities: Floats) -> None:
    """Add the class shares of the leaves that rows reach, times their weights."""
    if not len(part.rows):
        return
    if node.is_leaf:
        shares = node.counts / node.counts.sum()
        probabilities[part.rows] += part.weights[:, np.newaxis] * shares
        return
    unseen = node.branches(X[part.rows, node.column]) == node.n_branches
    below = [Part(part.rows[unseen], part.weights[unseen])]
    here = Node(node.counts)
    for child, inside in zip(node.children, node.divide(X, part), strict=True):
        if child.counts.sum() > 0:
            add_probabilities(child, X, inside, probabilities)
        else:
            below.append(inside)  # no training row has this value here
    for inside in below:
        add_probabilities(here, X, inside, probabilities)


def _dense(X: Any) -> Floats:
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)


def _decimals(value: float, most: int = 2, least: int = 1) -> str:
    """Return a number with at most so many decimals, without trailing zeros beyond ``least``.

    >>> _decimals(3.0), _decimals(2.456), _decimals(0.5, 6, 0), _decimals(2.0, 6, 0)
    ('3.0', '2.46', '0.5', '2')
    """
    whole, _, fraction = f"{value:.{most}f}".partition(".")
    fraction = fraction.rstrip("0").ljust(least, "0")
    text = f"{whole}.{fraction}" if fraction else whole
    return "0" if text == "-0" else text
