"""What would let test rows into a selection, refused before anything runs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError
from labelsieve.labelspace import LabelNetwork


def refuse_fitted(estimator: Any, where: str) -> None:
    """Refuse an estimator that has seen data, or holds a part that has: a discretizer, a step, a network of labels.

    >>> from labelsieve import Sieve
    >>> refuse_fitted(Sieve().fit([[0], [1]], [[0], [1]]), "method 'mine'")
    Traceback (most recent call last):
    labelsieve.errors.InputError: method 'mine' is fitted already (it has criterion_) and may have seen the test rows. ...
    """
    for name, part in {"": estimator, **estimator.get_params(deep=True)}.items():
        place = f"{where}, {name}" if name else where
        if isinstance(part, LabelNetwork):
            raise InputError(
                f"{place}: a network that is learned already may have seen the test rows. Give a rule, such as parents='kcc', "
                "which learns it from the training rows of every split."
            )
        learned = [key for key in vars(part) if key.endswith("_") and not key.startswith("_")] if _is_estimator(part) else []
        if learned:
            raise InputError(
                f"{place} is fitted already (it has {min(learned)}) and may have seen the test rows. Give it unfitted: "
                "it is fitted on the training rows of every split."
            )


def refuse_rows(value: Any, name: str) -> None:
    """Refuse anything but the training rows.

    >>> refuse_rows("train", "select_on")
    """
    if value != "train":
        raise InputError(
            f"{name} = {value!r} would show the test rows to the selection, and every result would look better than it is. "
            "Selection and discretization use the training rows of each split: leave it out, or say 'train'."
        )


def refuse_overlap(train: NDArray[Any], test: NDArray[Any], n_rows: int, where: str) -> None:
    """Refuse a split whose parts share rows, are empty, or name rows that there are not.

    >>> refuse_overlap(np.array([0, 1]), np.array([1, 2]), 3, "split 0 of songs")
    Traceback (most recent call last):
    labelsieve.errors.InputError: split 0 of songs: row 1 is a training row and a test row. ...
    """
    if not len(train) or not len(test):
        raise InputError(f"{where}: {len(train)} training rows and {len(test)} test rows; both need at least one.")
    both = np.intersect1d(train, test)
    if len(both):
        raise InputError(f"{where}: row {int(both[0])} is a training row and a test row. Use a splitter that keeps them apart.")
    if min(train.min(), test.min()) < 0 or max(train.max(), test.max()) >= n_rows:
        raise InputError(f"{where}: it names rows outside 0 to {n_rows - 1}; is the splitter for another data set?")


def _is_estimator(part: Any) -> bool:
    return hasattr(part, "get_params") and not isinstance(part, type)
