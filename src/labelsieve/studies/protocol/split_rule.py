"""Rules that split rows into training and test rows: words such as ``30x50%``, or a splitter."""

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import KFold

from labelsieve.datasets.splits import HalfSplits, IterativeStratifiedKFold, IterativeStratifiedShuffleSplit
from labelsieve.errors import InputError
from labelsieve.fingerprint import array_print, seed_of
from labelsieve.studies.protocol.leakage_checks import refuse_overlap
from labelsieve.table_types import Matrix, TableLike, TargetsLike

Rows = NDArray[np.intp]
WORDS = "'30x50%' (thirty random halves of the rows for training), '10-fold', or either with 'stratified ' before it"
_SHARES = re.compile(r"(stratified )?(\d{1,5})\s*x\s*(\d{1,2}(?:\.\d+)?)\s*%")
_FOLDS = re.compile(r"(stratified )?(\d{1,4})-fold")


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows."""

    number: int
    train: Rows
    test: Rows

    @property
    def fingerprint(self) -> str:
        """Hash of the rows."""
        return array_print(self.train, self.test)


@dataclass(frozen=True, eq=False)
class SplitRule:
    """Splits by words, or by a splitter of scikit-learn's kind (``words`` is None then).

    ``max_rows`` limits the rows of every split, training and test rows in the same proportion.
    """

    words: str | None
    splitter: Any
    max_rows: int | None = None
    seed: int = 0

    @property
    def count(self) -> int | None:
        """Number of splits; None for a splitter, whose number may depend on the data."""
        return None if self.words is None else int(self.splitter.get_n_splits())

    def splits(self, X: Matrix, Y: TargetsLike, name: str) -> list[Split]:
        """Return all splits of a data set, with disjoint training and test rows."""
        splits = []
        try:
            pairs = list(self.splitter.split(X, Y))
        except InputError as error:
            raise InputError(f"data set {name!r}, splits: {error}") from None
        except Exception as error:
            raise InputError(
                f"data set {name!r}, splits: {self.splitter!r} cannot split its rows: {str(error).rstrip('.')}. "
                "For a splitter with groups or classes pass pairs of rows: splits=list(splitter.split(X, y, groups))."
            ) from error
        for number, pair in enumerate(pairs):
            rows = _rows_of(pair, X.shape[0], where := f"split {number} of {name}")
            refuse_overlap(*rows, X.shape[0], where)
            splits.append(Split(number, *self._drawn(rows, name, number)))
        if not splits:
            raise InputError(f"data set {name!r}, splits: there are none ({self.splitter!r}).")
        return splits

    def _drawn(self, rows: tuple[Rows, Rows], name: str, number: int) -> tuple[Rows, Rows]:
        """Draw ``max_rows`` of the rows; the seed depends on the data set and the split."""
        n_rows = sum(map(len, rows))
        if self.max_rows is None or n_rows <= self.max_rows:
            return rows
        draw = np.random.default_rng(seed_of(self.seed, name, number, "rows"))
        train, test = rows
        n_train = min(max(1, round(self.max_rows * len(train) / n_rows)), self.max_rows - 1)
        few = draw.permutation(train)[:n_train], draw.permutation(test)[: self.max_rows - n_train]
        return np.sort(few[0]), np.sort(few[1])


@dataclass(frozen=True)
class GivenSplits:
    """Pairs of training and test rows as a splitter."""

    pairs: list[Any]

    def split(self, X: TableLike, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> list[Any]:
        """Return the same pairs for any data."""
        return self.pairs

    def __repr__(self) -> str:
        return f"{len(self.pairs)} given pairs of training and test rows"


def _rows_of(pair: object, n_rows: int, where: str) -> tuple[Rows, Rows]:
    """Return row numbers of a pair from a splitter: row numbers, or boolean masks."""
    parts = [np.asarray(part) for part in pair] if isinstance(pair, tuple | list) else []
    if len(parts) != 2 or any(part.ndim != 1 or part.dtype.kind not in "iub" for part in parts):
        raise InputError(f"{where}: a split is a pair of training and test rows, each a list of row numbers.")
    if any(part.dtype.kind == "b" and len(part) != n_rows for part in parts):
        raise InputError(f"{where}: a boolean mask of rows must have {n_rows} values, one for each row.")
    train, test = (np.flatnonzero(part) if part.dtype.kind == "b" else part.astype(np.intp) for part in parts)
    return train, test


def read_splits(given: object, seed: int, max_rows: int | None = None) -> SplitRule:
    """Make a rule from words, from a splitter with a fixed seed, or from pairs of training and test rows.

    >>> read_splits("30x50%", 0).splitter.n_repeats
    30
    >>> len(read_splits([([0, 1], [2, 3])], 0).splits(np.eye(4), np.eye(4), "songs"))
    1
    """
    rule = given if isinstance(given, SplitRule) else _rule(given, seed)
    return replace(rule, max_rows=max_rows, seed=seed)


def _rule(given: object, seed: int) -> SplitRule:
    if isinstance(given, list | tuple) and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in given):
        return SplitRule(None, GivenSplits(list(given)))
    if hasattr(given, "split") and not isinstance(given, str):
        if getattr(given, "random_state", 0) is None and getattr(given, "shuffle", True):
            raise InputError(f"splits: {given!r} draws other rows in every run, which prevents resuming; set its random_state.")
        return SplitRule(None, given)
    text = given.strip().lower() if isinstance(given, str) else ""
    if (match := _SHARES.fullmatch(text)) and int(match[2]) and 0 < float(match[3]) < 100:
        times, share = int(match[2]), float(match[3]) / 100
        if match[1]:
            return SplitRule(text, IterativeStratifiedShuffleSplit(times, test_size=1 - share, random_state=seed))
        return SplitRule(text, HalfSplits(times, share, random_state=seed))
    if (match := _FOLDS.fullmatch(text)) and int(match[2]) >= 2:
        splitter = IterativeStratifiedKFold if match[1] else KFold
        return SplitRule(text, splitter(int(match[2]), shuffle=True, random_state=seed))
    raise InputError(f"splits: {given!r} is none of {WORDS}; nor is it a splitter or a list of pairs of rows.")
