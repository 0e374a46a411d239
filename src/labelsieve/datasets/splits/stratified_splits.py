"""Splits in which every label has the fraction that it has in all rows: folds, and repeated random splits."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from labelsieve.datasets.splits.assignment import assign, whole_targets
from labelsieve.datasets.splits.base_splitter import MOST, Seed, Split, Splitter, checked_seed, generator, part_size, parts
from labelsieve.datasets.splits.stratification_columns import read_units
from labelsieve.errors import InputError, whole_number
from labelsieve.table_types import TableLike, TargetsLike


class IterativeStratifiedKFold(Splitter):
    """Folds that keep the fraction of every label, or of every pair of labels, by iterative stratification.

    First order: Sechidis, Tsoumakas and Vlahavas, "On the stratification of multi-label data" (ECML PKDD 2011). Second
    order: Szymański and Kajdanowicz, "A network perspective on stratification of multi-label data" (PMLR 74, 2017), the same
    procedure over the pairs of labels that occur together, and over single labels, so that rows with one label count too.

    Every row is tested exactly once. Rows without labels even out the sizes of the folds. A label with fewer rows than folds
    is missing from some of them, as it must be.

    Cost: first order, about 20 µs per row plus the number of labels squared; delicious (16,105 rows, 983 labels) takes under
    half a second. Second order, with m labels in a row, m (m + 1) / 2 entries per row in time and memory, and a scan of all
    pairs for every one that is taken: 3 s there (3 million pairs in rows, 174 thousand different).

    Parameters
    ----------
    n_splits : int, default=10
        Number of folds.
    order : {1, 2}, default=1
        Stratify by labels, or by labels and pairs.
    shuffle : bool, default=True
        Visit the rows in random order, or as they come. Ties between folds are drawn either way.
    random_state : int, Generator, RandomState or None, default=None
        A number gives the same folds in every call of ``split``.
    exact_sizes : bool, default=True
        Fold sizes that differ by at most one row, or by less than one group. False is the rule of the papers, by which sizes
        vary by a few rows.

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
        order: int = 1,
        shuffle: bool = True,
        random_state: Seed = None,
        exact_sizes: bool = True,
    ) -> None:
        self.n_splits = whole_number(n_splits, "n_splits", 2, MOST)
        self.order = whole_number(order, "order", 1, 2)
        self.shuffle = bool(shuffle)
        self.random_state = checked_seed(random_state)
        self.exact_sizes = bool(exact_sizes)

    def split(self, X: TableLike, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> Iterator[Split]:
        """Training and test rows of every fold.

        ``y`` is binary, dense or sparse, or of categories; rows with the same value in ``groups`` stay together, and the
        label counts of whole groups are stratified.
        """
        units = read_units(X, y, groups, self.order)
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
            exact=self.exact_sizes,
        )
        if np.unique(fold).size < self.n_splits:
            remedy = "n_splits" if self.exact_sizes else "n_splits, or exact_sizes=True"
            raise InputError(
                f"A fold of {self.n_splits} stays empty, for some {units.name} weigh too much; pass a smaller {remedy}."
            )
        for number in range(self.n_splits):
            yield parts((fold == number)[units.of_row])


class IterativeStratifiedShuffleSplit(Splitter):
    """Repeated random splits into training and test rows that keep the fraction of every label.

    With its defaults, thirty stratified halves: :class:`HalfSplits` for labels that are too rare for random splits. The
    procedure is that of :class:`IterativeStratifiedKFold` with two parts of given sizes (Sechidis, Tsoumakas and Vlahavas
    2011 allow any), done anew for every repetition.

    Cost: that of :class:`IterativeStratifiedKFold`, per repetition; pairs are listed once.

    Parameters
    ----------
    n_splits : int, default=30
        Number of splits.
    test_size : float or int, default=0.5
        Share of the rows to test on, rounded down, or their number. All others are training rows.
    order : {1, 2}, default=1
        Stratify by labels, or by labels and pairs.
    random_state : int, Generator, RandomState or None, default=None
        A number gives the same splits in every call of ``split``.
    exact_sizes : bool, default=True
        Test parts of exactly this size, or larger by less than one group. False is the rule of the papers, by which sizes vary
        by a few rows.

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
        order: int = 1,
        random_state: Seed = None,
        exact_sizes: bool = True,
    ) -> None:
        self.n_splits = whole_number(n_splits, "n_splits", 1, MOST)
        part_size(test_size, "test_size", MOST)
        self.test_size = test_size
        self.order = whole_number(order, "order", 1, 2)
        self.random_state = checked_seed(random_state)
        self.exact_sizes = bool(exact_sizes)

    def split(self, X: TableLike, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> Iterator[Split]:
        """Training and test rows of every repetition; ``y`` and ``groups`` as for :class:`IterativeStratifiedKFold`."""
        units = read_units(X, y, groups, self.order)
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
            part = assign(units.column_counts, units.sizes, targets, targets / n, rng, exact=self.exact_sizes)
            test = (part == 1)[units.of_row]
            if not 0 < np.count_nonzero(test) < n:
                raise InputError(
                    f"One side of the split stays empty, for the {units.name} are too large; pass another test_size."
                )
            yield parts(test)
