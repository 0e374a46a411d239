"""Select transformations: one class variable over the labels, with at most one label of each row."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.targets import TargetTable
from labelsieve.errors import InputError
from labelsieve.labelspace.base_space import (
    EncodedTargets,
    LabelSpace,
    Produces,
    RandomState,
    Weights,
    one_column,
    random_generator,
)
from labelsieve.labelspace.copy_transformation import nonempty_labelsets
from labelsieve.labelspace.labelsets import Labelsets


class OneLabel(LabelSpace):
    """Base of the spaces that keep one label of a row: ``pick`` returns indices into the list of all labels."""

    produces: ClassVar[Produces] = "variable"

    def pick(self, labels: Labelsets, weights: Weights) -> NDArray[np.int64]:
        """Indices of the picked labels, in order of their rows, at most one for each row."""
        raise NotImplementedError

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """The class variable of the rows with a picked label."""
        labels = nonempty_labelsets(targets, type(self).__name__)
        picked = self.pick(labels, weights)
        rows = np.zeros(targets.n_rows, dtype=bool)
        rows[labels.rows[picked]] = True
        if not len(picked):
            raise InputError(f"{type(self).__name__}: no row has exactly one label, so none is left; use another label space.")
        codes = one_column(labels.labels[picked], labels.n_labels)
        return EncodedTargets(codes, rows=rows, n_left_out=targets.n_rows - len(picked))


class SelectMax(OneLabel):
    """The most frequent label of each row; ties go to the first label.

    Pereira et al. (2015), section 2. Mulan differs: its search for the largest count starts from label 0 whether the row has it
    or not, so a row without a label more frequent than label 0 gets label 0.

    >>> from labelsieve.labelspace import read_targets
    >>> SelectMax().encode(read_targets([[0, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 0]])).codes.column(0)
    array([2, 2, 2], dtype=uint16)
    """

    name = "select-max"

    def pick(self, labels: Labelsets, weights: Weights) -> NDArray[np.int64]:
        """Indices of the most frequent labels."""
        return _first_by(labels, -labels.counts(weights))


class SelectMin(OneLabel):
    """The rarest label of each row; ties go to the first label.

    Pereira et al. (2015), section 2. Mulan's search starts from label 0 here too: see :class:`SelectMax`.

    >>> from labelsieve.labelspace import read_targets
    >>> SelectMin().encode(read_targets([[0, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 0]])).codes.column(0)
    array([1, 0, 1], dtype=uint16)
    """

    name = "select-min"

    def pick(self, labels: Labelsets, weights: Weights) -> NDArray[np.int64]:
        """Indices of the rarest labels."""
        return _first_by(labels, labels.counts(weights))


class SelectRandom(OneLabel):
    """A random label of each row. Pereira et al. (2015), section 2.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=0
        The seed; None draws other labels each time.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> SelectRandom(random_state=1).encode(read_targets([[0, 1, 1], [1, 0, 1], [0, 0, 0]])).n_left_out
    1
    """

    name = "select-random"

    def __init__(self, *, random_state: RandomState = 0) -> None:
        self.random_state = random_state

    def pick(self, labels: Labelsets, weights: Weights) -> NDArray[np.int64]:
        """Indices of random labels."""
        sizes, starts = labels.sizes, labels.starts
        draws = (random_generator(self.random_state).random(labels.n_rows) * sizes).astype(np.int64)
        picked: NDArray[np.int64] = (starts + draws)[sizes > 0]
        return picked


class Ignore(OneLabel):
    """The rows with exactly one label. Pereira et al. (2015), section 2.

    >>> from labelsieve.labelspace import read_targets
    >>> Ignore().encode(read_targets([[0, 1, 1], [1, 0, 0], [0, 0, 1], [0, 0, 0]])).codes.column(0)
    array([0, 2], dtype=uint16)
    """

    name = "ignore"

    def pick(self, labels: Labelsets, weights: Weights) -> NDArray[np.int64]:
        """Indices of the only labels."""
        picked: NDArray[np.int64] = labels.starts[labels.sizes == 1]
        return picked


def _first_by(labels: Labelsets, key: NDArray[np.float64]) -> NDArray[np.int64]:
    """For every row with labels, the index of the label with the smallest key; ties go to the first label."""
    order = np.lexsort((labels.labels, key[labels.labels], labels.rows))
    sizes, starts = labels.sizes, labels.starts
    picked: NDArray[np.int64] = order[starts[sizes > 0]]
    return picked
