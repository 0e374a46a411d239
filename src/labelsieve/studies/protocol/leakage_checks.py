"""Checks against data leakage: everything that would pass test rows to a selection is refused before a study runs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from labelsieve.errors import InputError
from labelsieve.labelspace import LabelNetwork


def refuse_fitted(estimator: BaseEstimator, where: str) -> None:
    """Refuse a fitted estimator, or one with a fitted component: a discretizer, a step, a label network.

    >>> from labelsieve import Sieve
    >>> refuse_fitted(Sieve().fit([[0], [1]], [[0], [1]]), "method 'mine'")
    Traceback (most recent call last):
    labelsieve.errors.InputError: method 'mine' is already fitted (it has criterion_) and may have seen the test rows. ...
    """
    for name, component in {"": estimator, **estimator.get_params(deep=True)}.items():
        location = f"{where}, {name}" if name else where
        if isinstance(component, LabelNetwork):
            raise InputError(
                f"{location}: a learned network may have seen the test rows. Pass a rule, such as parents='kcc', "
                "which learns one from the training rows of every split."
            )
        names = vars(component) if _is_estimator(component) else ()
        learned = [name for name in names if name.endswith("_") and not name.startswith("_")]
        if learned:
            raise InputError(
                f"{location} is already fitted (it has {min(learned)}) and may have seen the test rows. Pass it unfitted: "
                "it is fitted on the training rows of every split."
            )


def refuse_rows(value: object, name: str) -> None:
    """Refuse every setting except the training rows.

    >>> refuse_rows("train", "select_on")
    """
    if value != "train":
        raise InputError(
            f"{name} = {value!r} would pass test rows to the selection, and every result would be too optimistic. "
            "Selection and discretization use the training rows of each split: leave it out, or pass 'train'."
        )


def refuse_overlap(train: NDArray[Any], test: NDArray[Any], n_rows: int, where: str) -> None:
    """Refuse a split whose parts overlap, are empty, or have row numbers out of range.

    >>> refuse_overlap(np.array([0, 1]), np.array([1, 2]), 3, "split 0 of songs")
    Traceback (most recent call last):
    labelsieve.errors.InputError: split 0 of songs: row 1 is a training row and a test row. ...
    """
    if not len(train) or not len(test):
        raise InputError(f"{where}: {len(train)} training rows and {len(test)} test rows; both need at least one.")
    both = np.intersect1d(train, test)
    if len(both):
        raise InputError(f"{where}: row {int(both[0])} is a training row and a test row. Use a splitter that separates them.")
    if min(train.min(), test.min()) < 0 or max(train.max(), test.max()) >= n_rows:
        raise InputError(f"{where}: it has rows outside 0 to {n_rows - 1}; is the splitter for another data set?")


def _is_estimator(component: object) -> bool:
    return hasattr(component, "get_params") and not isinstance(component, type)
