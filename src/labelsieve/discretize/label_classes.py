"""The labels that rows have, for the rules that look at copies of rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes
from labelsieve.errors import InputError


def positive_labels(targets: Codes) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
    """The labels of every row, row after row: row ``r`` has those from ``starts[r]`` to ``starts[r + 1]``.

    >>> positive_labels(Codes.from_values([[1, 1], [0, 0], [0, 1]]))
    (array([0, 2, 2, 3]), array([0, 1, 1], dtype=uint16))
    """
    if targets.levels.max() > 2:
        target = int(np.argmax(targets.levels))
        raise InputError(
            f'targets="copy" is for labels that a row has or has not; target {target} has {targets.levels[target]} classes: '
            'use targets="joint" or "single".'
        )
    parts = targets.sparse
    rows: NDArray[Any]
    labels: NDArray[Any]
    if parts is None or parts.implicit.any():
        rows, labels = np.nonzero(targets.to_dense())
    else:
        labels = np.repeat(np.arange(targets.n_columns), np.diff(parts.starts))
        listed = parts.codes > 0
        order = np.argsort(parts.rows[listed], kind="stable")
        rows, labels = parts.rows[listed][order], labels[listed][order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=targets.n_rows))])
    return starts.astype(np.int64), labels.astype(np.uint16)
