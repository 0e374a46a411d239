"""One class variable over the labels, in which a row counts with one of its labels or not at all."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.targets import TargetTable
from labelsieve.errors import InputError
from labelsieve.labelspace.base_space import EncodedTargets, LabelSpace, Makes, Weights, one_column
from labelsieve.labelspace.copy_transformation import some_labels
from labelsieve.labelspace.label_lists import LabelRows
from labelsieve.labelspace.random_generator import generator


class OneLabel(LabelSpace):
    """Base of the spaces that keep one label of a row: ``pick`` gives places in the list of all labels."""

    makes: ClassVar[Makes] = "variable"

    def pick(self, labels: LabelRows, weights: Weights) -> NDArray[np.int64]:
        """Where the picked labels stand, in order of their rows, each row once at the most."""
        raise NotImplementedError

    def make(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """The class variable of the rows that have one."""
        labels = some_labels(targets, type(self).__name__)
        picked = self.pick(labels, weights)
        rows = np.zeros(targets.n_rows, dtype=bool)
        rows[labels.rows[picked]] = True
        if not len(picked):
            raise InputError(f"{type(self).__name__}: no row has exactly one label, so none is left; use another label space.")
        codes = one_column(labels.labels[picked], labels.n_labels)
        return EncodedTargets(codes, rows=rows, n_left_out=targets.n_rows - len(picked))


class SelectMax(OneLabel):
    """Of each row's labels, the one that is most frequent in the data; among equals the first.

    Pereira et al. (2015), section 2. Mulan's program is not quite that: its search for the largest count starts from label 0
    whether the row has it or not, so a row none of whose labels is more frequent than label 0 is given label 0.

    >>> from labelsieve.labelspace import read_targets
    >>> SelectMax().make(read_targets([[0, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 0]])).codes.column(0)
    array([2, 2, 2], dtype=uint16)
    """

    name = "select-max"

    def pick(self, labels: LabelRows, weights: Weights) -> NDArray[np.int64]:
        """The places of the most frequent labels."""
        return _first_by(labels, -labels.counts(weights))


class SelectMin(OneLabel):
    """Of each row's labels, the one that is rarest in the data; among equals the first.

    Pereira et al. (2015), section 2. Mulan's search starts from label 0 here too: see :class:`SelectMax`.

    >>> from labelsieve.labelspace import read_targets
    >>> SelectMin().make(read_targets([[0, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 0]])).codes.column(0)
    array([1, 0, 1], dtype=uint16)
    """

    name = "select-min"

    def pick(self, labels: LabelRows, weights: Weights) -> NDArray[np.int64]:
        """The places of the rarest labels."""
        return _first_by(labels, labels.counts(weights))


class SelectRandom(OneLabel):
    """Of each row's labels, a random one. Pereira et al. (2015), section 2.

    Parameters
    ----------
    random_state : int, RandomState or None
        The seed. It is 0 unless told, so that a selection can be repeated; None draws another one each time.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> SelectRandom(random_state=1).make(read_targets([[0, 1, 1], [1, 0, 1], [0, 0, 0]])).n_left_out
    1
    """

    name = "select-random"

    def __init__(self, *, random_state: Any = 0) -> None:
        self.random_state = random_state

    def pick(self, labels: LabelRows, weights: Weights) -> NDArray[np.int64]:
        """The places of random labels."""
        sizes, starts = labels.sizes, labels.starts
        draws = (generator(self.random_state).random(labels.n_rows) * sizes).astype(np.int64)
        picked: NDArray[np.int64] = (starts + draws)[sizes > 0]
        return picked


class Ignore(OneLabel):
    """Only the rows that have exactly one label. Pereira et al. (2015), section 2.

    >>> from labelsieve.labelspace import read_targets
    >>> Ignore().make(read_targets([[0, 1, 1], [1, 0, 0], [0, 0, 1], [0, 0, 0]])).codes.column(0)
    array([0, 2], dtype=uint16)
    """

    name = "ignore"

    def pick(self, labels: LabelRows, weights: Weights) -> NDArray[np.int64]:
        """The places of the only labels."""
        picked: NDArray[np.int64] = labels.starts[labels.sizes == 1]
        return picked


def _first_by(labels: LabelRows, key: NDArray[np.float64]) -> NDArray[np.int64]:
    """For every row with labels, the place of the one with the least key; among equals the first."""
    order = np.lexsort((labels.labels, key[labels.labels], labels.rows))
    sizes, starts = labels.sizes, labels.starts
    picked: NDArray[np.int64] = order[starts[sizes > 0]]
    return picked
