"""How rows are parted into training and test rows: words such as ``30x50%``, or a splitter."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from labelsieve.datasets.splits import HalfSplits, IterativeStratifiedKFold, IterativeStratifiedShuffleSplit
from labelsieve.errors import InputError
from labelsieve.fingerprint import array_print
from labelsieve.studies.leaks import refuse_overlap

Rows = NDArray[np.intp]
WORDS = "'30x50%' (thirty times half of the rows to train on), '10-fold', or either with 'stratified ' before it"
_SHARES = re.compile(r"(stratified )?(\d{1,5})\s*x\s*(\d{1,2}(?:\.\d+)?)\s*%")
_FOLDS = re.compile(r"(stratified )?(\d{1,4})-fold")


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows; ``print`` is their hash."""

    number: int
    train: Rows
    test: Rows

    @property
    def print(self) -> str:
        """The hash of the rows."""
        return array_print(self.train, self.test)


@dataclass(frozen=True, eq=False)
class SplitRule:
    """Splits by words, or by a splitter of scikit-learn's kind (``words`` is None then)."""

    words: str | None
    splitter: Any

    def splits(self, X: Any, Y: Any, name: str) -> list[Split]:
        """All splits of a data set, none of which shows a test row to the training."""
        found = []
        for number, (train, test) in enumerate(self.splitter.split(X, Y)):
            rows = np.asarray(train, dtype=np.intp), np.asarray(test, dtype=np.intp)
            refuse_overlap(*rows, X.shape[0], f"split {number} of {name}")
            found.append(Split(number, *rows))
        return found


def read_splits(given: Any, seed: int) -> SplitRule:
    """A rule from words or from a splitter that gives the same splits every time.

    >>> read_splits("30x50%", 0).splitter.n_repeats
    30
    """
    if isinstance(given, SplitRule):
        return given
    if hasattr(given, "split") and not isinstance(given, str):
        if getattr(given, "random_state", 0) is None and getattr(given, "shuffle", True):
            raise InputError(f"splits: {given!r} draws other rows every time, and no run could go on; give it a random_state.")
        return SplitRule(None, given)
    text = given.strip().lower() if isinstance(given, str) else ""
    if (found := _SHARES.fullmatch(text)) and int(found[2]) and 0 < float(found[3]) < 100:
        times, share = int(found[2]), float(found[3]) / 100
        if found[1]:
            return SplitRule(text, IterativeStratifiedShuffleSplit(times, test_size=1 - share, random_state=seed))
        return SplitRule(text, HalfSplits(times, share, random_state=seed))
    if (found := _FOLDS.fullmatch(text)) and int(found[2]) >= 2:
        own = IterativeStratifiedKFold if found[1] else KFold
        return SplitRule(text, own(int(found[2]), shuffle=True, random_state=seed))
    raise InputError(f"splits: {given!r} is none of {WORDS}, and no splitter.")
