"""Splits of the rows of multi-label data into training and test rows, for whatever takes a splitter of scikit-learn.

:class:`HalfSplits` are random; the others keep the share of every label by iterative stratification, for which they read labels
and groups. :func:`assign` is the algorithm.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator

from labelsieve.errors import InputError, is_whole, whole_number
from labelsieve.tables.frames import check_sparse
from labelsieve.tables.types import TableLike, TargetsLike, is_sparse

__all__ = ["HalfSplits", "IterativeStratifiedKFold", "IterativeStratifiedShuffleSplit"]

Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]
Seed = int | np.random.Generator | np.random.RandomState | None
MOST = 2**31 - 1  # splits or rows; far beyond what anyone runs, and it fits every integer type
NONE_LEFT = np.iinfo(np.uint32).max


class Splitter(BaseCrossValidator):
    """A splitter of scikit-learn whose rows come in ascending order, in training and in test rows."""

    n_splits: int

    def get_n_splits(self, X: TableLike | None = None, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> int:
        """Return the number of splits; the arguments are ignored."""
        return self.n_splits

    def split(self, X: TableLike, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> Iterator[Split]:
        """Yield pairs of training and test rows."""
        raise NotImplementedError


class HalfSplits(Splitter):
    """Repeated random splits into halves, or parts of other sizes: one part to select and train on, the other to test.

    Thirty repetitions of 50/50 are what Sechidis, Nikolaou and Brown (2014) and Sechidis et al. (2019) report means over.
    Labels are ignored; :class:`IterativeStratifiedShuffleSplit` keeps their shares.
    For plain folds scikit-learn's ``KFold(shuffle=True)`` serves as it is, also with many labels.

    Cost: one permutation of the rows per repetition.

    Parameters
    ----------
    n_repeats : int, default=30
        Number of splits.
    train_size : float or int, default=0.5
        Share of the rows to train on, rounded down, or their number. All others are test rows.
    random_state : int, Generator, RandomState or None, default=None
        A number gives the same halves in every call of ``split``.

    Examples
    --------
    >>> halves = HalfSplits(n_repeats=2, random_state=0)
    >>> for train, test in halves.split([[0], [1], [2], [3], [4]]):
    ...     len(train), len(test)
    (2, 3)
    (2, 3)
    """

    def __init__(self, n_repeats: int = 30, train_size: float = 0.5, random_state: Seed = None) -> None:
        self.n_repeats = whole_number(n_repeats, "n_repeats", 1, MOST)
        self.train_size = train_size
        self.random_state = checked_seed(random_state)
        part_size(train_size, "train_size", MOST)

    def get_n_splits(self, X: TableLike | None = None, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> int:
        """Return the number of repetitions; the arguments are ignored."""
        return self.n_repeats

    def split(self, X: TableLike, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> Iterator[Split]:
        """Yield training and test rows of every repetition; ``groups`` is ignored."""
        n = row_count(X, y)
        taken = part_size(self.train_size, "train_size", n)
        if not 0 < taken < n:
            raise InputError(
                f"train_size={self.train_size!r} of {n:,} rows leaves {taken:,} to train and {n - taken:,} to test on; "
                "both need at least one: pass more rows or another train_size."
            )
        rng = generator(self.random_state)
        for _ in range(self.n_repeats):
            test = np.ones(n, dtype=bool)
            test[rng.permutation(n)[:taken]] = False
            yield parts(test)


class IterativeStratifiedKFold(Splitter):
    """Folds that keep the fraction of every label, by iterative stratification.

    Sechidis, Tsoumakas and Vlahavas, "On the stratification of multi-label data" (ECML PKDD 2011).

    Every row is tested exactly once. Fold sizes differ by at most one row, or by less than one group; the paper lets them vary
    by a few rows. Rows without labels even out the sizes of the folds. A label with fewer rows than folds
    is missing from some of them, as it must be.

    Cost: about 20 µs per row plus the number of labels squared; delicious (16,105 rows, 983 labels) takes under half a second.

    Parameters
    ----------
    n_splits : int, default=10
        Number of folds.
    shuffle : bool, default=True
        Visit the rows in random order, or as they come. Ties between folds are drawn either way.
    random_state : int, Generator, RandomState or None, default=None
        A number gives the same folds in every call of ``split``.

    Examples
    --------
    >>> Y = np.array([[1, 0], [1, 0], [1, 1], [1, 1], [0, 0], [0, 0]])
    >>> for train, test in IterativeStratifiedKFold(n_splits=2, random_state=0).split(Y, Y):
    ...     Y[test].sum(axis=0)
    array([2, 1])
    array([2, 1])
    """

    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True}

    def __init__(
        self,
        n_splits: int = 10,
        shuffle: bool = True,
        random_state: Seed = None,
    ) -> None:
        self.n_splits = whole_number(n_splits, "n_splits", 2, MOST)
        self.shuffle = bool(shuffle)
        self.random_state = checked_seed(random_state)

    def split(self, X: TableLike, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> Iterator[Split]:
        """Yield training and test rows of every fold.

        ``y`` is binary, dense or sparse, or of categories; rows with the same value in ``groups`` stay together, and the
        label counts of whole groups are stratified.
        """
        units = read_units(X, y, groups)
        if units.count < self.n_splits:
            raise InputError(
                f"n_splits={self.n_splits} folds of {units.count:,} {units.name}: every fold needs at least one. "
                "Pass a smaller n_splits."
            )
        rng = generator(self.random_state)
        fold = assign(
            units.column_counts,
            units.sizes,
            whole_targets(units.n_rows, self.n_splits, rng),
            np.full(self.n_splits, 1 / self.n_splits),
            rng,
            shuffle=self.shuffle,
        )
        if np.unique(fold).size < self.n_splits:
            raise InputError(
                f"A fold of {self.n_splits} stays empty, for some {units.name} weigh too much; pass a smaller n_splits."
            )
        for number in range(self.n_splits):
            yield parts((fold == number)[units.of_row])


class IterativeStratifiedShuffleSplit(Splitter):
    """Repeated random splits into training and test rows that keep the fraction of every label.

    With its defaults, thirty stratified halves: :class:`HalfSplits` for labels that are too rare for random splits. The
    procedure is that of :class:`IterativeStratifiedKFold` with two parts of given sizes (Sechidis, Tsoumakas and Vlahavas
    2011 allow any), done anew for every repetition. Test parts have exactly the size asked for, or are larger by less than one
    group.

    Cost: that of :class:`IterativeStratifiedKFold`, per repetition.

    Parameters
    ----------
    n_splits : int, default=30
        Number of splits.
    test_size : float or int, default=0.5
        Share of the rows to test on, rounded down, or their number. All others are training rows.
    random_state : int, Generator, RandomState or None, default=None
        A number gives the same splits in every call of ``split``.

    Examples
    --------
    >>> Y = np.array([[1, 0], [1, 0], [1, 1], [1, 1], [0, 0], [0, 0]])
    >>> for train, test in IterativeStratifiedShuffleSplit(n_splits=2, random_state=0).split(Y, Y):
    ...     Y[train].sum(axis=0), Y[test].sum(axis=0)
    (array([2, 1]), array([2, 1]))
    (array([2, 1]), array([2, 1]))
    """

    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True}

    def __init__(
        self,
        n_splits: int = 30,
        test_size: float = 0.5,
        random_state: Seed = None,
    ) -> None:
        self.n_splits = whole_number(n_splits, "n_splits", 1, MOST)
        part_size(test_size, "test_size", MOST)
        self.test_size = test_size
        self.random_state = checked_seed(random_state)

    def split(self, X: TableLike, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> Iterator[Split]:
        """Yield training and test rows of every repetition; ``y`` and ``groups`` as for :class:`IterativeStratifiedKFold`."""
        units = read_units(X, y, groups)
        n = units.n_rows
        tested = part_size(self.test_size, "test_size", n)
        if units.count < 2 or not 0 < tested < n:
            raise InputError(
                f"test_size={self.test_size!r} of {n:,} rows in {units.count:,} {units.name} leaves nothing to train or to "
                "test on; pass more rows or another test_size."
            )
        targets = np.array([n - tested, tested], dtype=np.int64)
        rng = generator(self.random_state)
        for _ in range(self.n_splits):
            part = assign(units.column_counts, units.sizes, targets, targets / n, rng)
            test = (part == 1)[units.of_row]
            if not 0 < np.count_nonzero(test) < n:
                raise InputError(
                    f"One side of the split stays empty, for the {units.name} are too large; pass another test_size."
                )
            yield parts(test)


def row_count(X: TableLike, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> int:
    """Return the number of rows of ``X``, or of ``y`` where ``X`` is None; refuse lengths that differ."""
    lengths = {name: _length(value, name) for name, value in (("X", X), ("y", y), ("groups", groups)) if value is not None}
    if not lengths:
        raise InputError("X and y are both None: pass the data whose rows shall be split.")
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {count:,}" for name, count in lengths.items())
        raise InputError(f"The numbers of rows differ: {found}. Pass X, y and groups of the same rows.")
    return next(iter(lengths.values()))


def _length(value: Any, name: str) -> int:
    shape = getattr(value, "shape", None)
    if shape:
        return int(shape[0])
    try:
        return len(value)
    except TypeError:
        raise InputError(f"{name} has no rows: expected an array, a table or a list, not {type(value).__name__}.") from None


def checked_seed(random_state: Seed) -> Seed:
    """Refuse a ``random_state`` of which no generator can be made; return any other as it is."""
    if random_state is not None and not isinstance(random_state, np.random.Generator | np.random.RandomState):
        return whole_number(random_state, "random_state", 0, 2**63 - 1)
    return random_state


def generator(random_state: Seed) -> np.random.Generator:
    """Make a generator: always the same of a number, a different one every time of a generator or None."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(MOST))
    return np.random.default_rng(random_state)


def part_size(size: object, name: str, n: int) -> int:
    """Convert ``size`` to a number of rows: a fraction of ``n`` where it is between 0 and 1, rounded down, else a count."""
    if is_whole(size):
        return whole_number(size, name, 1, max(n - 1, 1))
    if isinstance(size, float | np.floating) and 0 < float(size) < 1:
        # The tiny addition keeps 0.7 * 10 at seven rows.
        return int(np.floor(float(size) * n + 1e-9))
    raise InputError(f"{name} must be a fraction between 0 and 1 or a whole number of rows, not {size!r}.")


def parts(test: NDArray[np.bool_]) -> Split:
    """Convert a mask of the test rows to training and test rows."""
    return np.flatnonzero(~test), np.flatnonzero(test)


@dataclass(frozen=True, eq=False)
class Units:
    """What is assigned to parts, rows or groups: column counts and number of rows of every unit, and the unit of every row."""

    column_counts: sparse.csr_array
    sizes: NDArray[np.int64]
    of_row: NDArray[np.intp]
    name: str

    @property
    def count(self) -> int:
        return int(self.sizes.size)

    @property
    def n_rows(self) -> int:
        return int(self.of_row.size)


def read_units(X: TableLike, y: TargetsLike | None, groups: ArrayLike | None) -> Units:
    """Read the rows, or groups where there are any, with their labels."""
    labels = label_matrix(y)
    n = row_count(X, labels, groups)
    if groups is None:
        return Units(labels, np.ones(n, dtype=np.int64), np.arange(n), "rows")
    of_row = _group_numbers(groups)
    sizes = np.bincount(of_row).astype(np.int64)
    member = sparse.csr_array((np.ones(n, dtype=np.int32), (of_row, np.arange(n))), shape=(sizes.size, n))
    return Units(sparse.csr_array(member @ labels), sizes, of_row, "groups")


def _group_numbers(groups: ArrayLike) -> NDArray[np.intp]:
    names = np.asarray(groups)
    if names.ndim != 1:
        raise InputError(f"groups must have one dimension, the group of every row, not {names.ndim}.")
    if names.dtype.kind == "f" and bool(np.isnan(names).any()):
        row = int(np.argmax(np.isnan(names)))
        raise InputError(f"groups, row {row}: missing value. Give rows without a group one of their own each.")
    try:
        return np.unique(names, return_inverse=True)[1].astype(np.intp)
    except TypeError:
        raise InputError(
            "groups mixes types that have no common order (a missing value, perhaps); make all of it text."
        ) from None


def label_matrix(y: TargetsLike | None) -> sparse.csr_array:
    """Convert ``y`` to a sparse 0/1 matrix of rows by labels.

    Columns of zeros and ones are labels as they are. Any other column of whole numbers, truth values or text, and a
    one-dimensional ``y``, becomes one column per value. A sparse ``y`` is never made dense and must be of zeros and ones.
    """
    if y is None:
        raise InputError("Stratified splits need the labels: pass y.")
    check_sparse(y, "y")
    if is_sparse(y) and y.ndim == 2:
        return _sparse_labels(y)
    table = np.asarray(y.toarray() if is_sparse(y) else y)
    if table.ndim not in (1, 2):
        raise InputError(f"y must have one or two dimensions, not {table.ndim}.")
    if table.ndim == 2 and table.dtype.kind in "biuf" and bool(np.isin(table, (0, 1)).all()):
        return sparse.csr_array(table.astype(np.int32))
    columns = [table] if table.ndim == 1 else list(table.T)
    blocks = [_one_hot(column, number) for number, column in enumerate(columns)]
    if not blocks:
        return sparse.csr_array((table.shape[0], 0), dtype=np.int32)
    return sparse.csr_array(sparse.hstack(blocks, format="csr"))


def _sparse_labels(y: TargetsLike) -> sparse.csr_array:
    labels = sparse.csr_array(y, copy=True)
    labels.sum_duplicates()
    labels.eliminate_zeros()
    wrong = np.flatnonzero(labels.data != 1)
    if wrong.size:
        row = int(np.searchsorted(labels.indptr, wrong[0], side="right")) - 1
        raise InputError(
            f"y, row {row}, column {labels.indices[wrong[0]]}: {labels.data[wrong[0]]!s} is neither 0 nor 1. A sparse y must "
            "be binary; pass categories as a dense array."
        )
    return labels.astype(np.int32)


def _one_hot(column: NDArray[Any], number: int) -> sparse.csr_array:
    """Encode a column by one column per value; one of 0 and 1 stays as it is."""
    missing = [row for row, value in enumerate(column.tolist()) if _is_missing(value)]
    if missing:
        raise InputError(
            f"y, row {missing[0]}, column {number}: missing value. Drop such rows or give them a class of their own."
        )
    if column.dtype.kind == "O" and all(isinstance(value, Real) for value in column):
        column = column.astype(float)
    broken = ~np.isfinite(column) | (column != np.floor(column)) if column.dtype.kind == "f" else np.zeros(0, dtype=bool)
    if broken.any():
        row = int(np.argmax(broken))
        raise InputError(
            f"y, row {row}, column {number}: {column[row]!s} is not a whole number, so y is neither binary nor categorical. "
            "Discretize it, or use KFold or HalfSplits, which do not look at y."
        )
    try:
        values, codes = np.unique(column, return_inverse=True)
    except TypeError:
        raise InputError(f"y, column {number} mixes types that have no common order; make all of it text or numbers.") from None
    if values.tolist() in ([0], [0, 1], [1]):
        return sparse.csr_array(column.astype(np.int32)[:, None])
    ones = np.ones(codes.size, dtype=np.int32)
    return sparse.csr_array((ones, (np.arange(codes.size), codes.ravel())), shape=(codes.size, values.size))


def _is_missing(value: object) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA refuses to be true or false
        return True


def whole_targets(total: int, parts: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Divide ``total`` rows into equal parts; which parts get one row more is drawn.

    >>> sorted(whole_targets(11, 3, np.random.default_rng(0)).tolist())
    [3, 4, 4]
    """
    targets = np.full(parts, total // parts, dtype=np.int64)
    targets[rng.permutation(parts)[: total % parts]] += 1
    return targets


def assign(
    column_counts: sparse.csr_array,
    sizes: NDArray[np.int64],
    targets: NDArray[np.int64],
    shares: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    shuffle: bool = True,
) -> NDArray[np.intp]:
    """Assign every unit to a part, so that every part gets its fraction of every column of ``column_counts``.

    The algorithm of Sechidis, Tsoumakas and Vlahavas (2011). Again and again, the column with the fewest rows left
    is taken, and each of its units goes to the part that lacks most of that column; among equals to the part that lacks most
    rows, then to a random one. Units without any of them come last and fill the parts up.

    A unit is a row or a group of rows: ``column_counts`` holds how many of its rows have the column, ``sizes`` how many rows it
    has. Among the units of a column those with most rows of it come first, for they are the hardest to place. ``targets``
    are the rows wanted per part and sum to all rows, ``shares`` the fractions of every column. A part that has its rows is
    closed; the paper does not do that, and its parts come out a few rows larger or smaller.

    Cost: for n units, p parts and c columns, n p plus p per entry of the counts, and a scan of the c remaining counts for
    every column taken, of which there are at most min(n, c).

    >>> labels = sparse.csr_array(np.array([[1, 0], [1, 0], [0, 1], [0, 1]]))
    >>> part = assign(labels, np.ones(4, int), np.array([2, 2]), np.array([0.5, 0.5]), np.random.default_rng(0))
    >>> sorted(part[:2].tolist()), sorted(part[2:].tolist())
    ([0, 1], [0, 1])
    """
    units = column_counts.shape[0]
    visit = rng.permutation(units) if shuffle else np.arange(units)
    rank = np.empty(units, dtype=np.int64)
    rank[visit] = np.arange(units)

    wanted = np.asarray(column_counts.sum(axis=0), dtype=np.int64).ravel()
    column_counts, wanted = column_counts[:, wanted > 0], wanted[wanted > 0]
    by_column = column_counts.tocsc()
    amounts = column_counts.data.astype(np.uint32)
    # The rows left of every column, less one: a column that is used up wraps to the largest number and is never the minimum.
    spare = (wanted - 1).astype(np.uint32)
    # Whole counts, a row per column: parts of equal shares that took equally much tie exactly.
    taken = np.zeros((wanted.size, targets.size), dtype=np.int32)
    capacity = targets.astype(np.int64)
    part = np.full(units, -1, dtype=np.intp)

    def place(unit: int, wish: NDArray[np.float64] | None) -> None:
        best = _most_wanting(wish, capacity, rng)
        span = slice(column_counts.indptr[unit], column_counts.indptr[unit + 1])
        columns = column_counts.indices[span]
        part[unit] = best
        capacity[best] -= sizes[unit]
        taken[columns, best] += column_counts.data[span]
        spare[columns] -= amounts[span]

    while spare.size and (fewest := spare.min()) < NONE_LEFT:
        column = int(rng.choice(np.flatnonzero(spare == fewest)))
        span = slice(by_column.indptr[column], by_column.indptr[column + 1])
        here, counts = by_column.indices[span], by_column.data[span]
        open_ = part[here] < 0
        here, counts = here[open_], counts[open_]
        for unit in here[np.lexsort((rank[here], -counts))].tolist():
            place(unit, wanted[column] * shares - taken[column])
    rest = visit[part[visit] < 0]
    for unit in rest[np.argsort(-sizes[rest], kind="stable")].tolist():
        place(unit, None)
    return part


def _most_wanting(wish: NDArray[np.float64] | None, capacity: NDArray[np.int64], rng: np.random.Generator) -> int:
    """Choose the open part that lacks most of the column; among equals the one that lacks most rows, then a random one."""
    parts = np.flatnonzero(capacity > 0)
    if wish is not None:
        wishes = wish[parts]
        parts = parts[wishes == wishes.max()]
    if parts.size > 1:
        free = capacity[parts]
        parts = parts[free == free.max()]
    return int(parts[0] if parts.size == 1 else parts[rng.integers(parts.size)])
