"""Problem transformations of binary labels to one class variable: a row counts for each of its labels, or for one of them."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError
from labelsieve.labelspace.base import (
    EncodedTargets,
    Labelsets,
    LabelSpace,
    Produces,
    RandomState,
    Weights,
    one_column,
    random_generator,
    read_labelsets,
)
from labelsieve.tables.codes import MAX_LEVELS
from labelsieve.tables.targets import TargetTable


def nonempty_labelsets(targets: TargetTable, space: str, *, one_variable: bool = True) -> Labelsets:
    """Read labelsets; targets without any label, and more labels than one variable can have classes, are refused."""
    labels = read_labelsets(targets, space)
    if one_variable and labels.n_labels > MAX_LEVELS:
        raise InputError(f"{space}: {labels.n_labels:,} labels; one variable can have {MAX_LEVELS:,} classes.")
    if not len(labels.rows):
        raise InputError(f"{space}: no row has a label, so there are no classes.")
    return labels


class Copy(LabelSpace):
    """Copy transformation: one variable whose classes are the labels; a row counts once for each of its labels.

    Pereira et al. (2015), section 2. Rows without labels are dropped. Rows are not copied in memory: a row index with
    repetition is counted, four bytes for each label of each row.

    >>> from labelsieve.labelspace import read_targets
    >>> encoded = Copy().encode(read_targets([[0, 1], [1, 1], [0, 0]]))
    >>> encoded.row_index, encoded.codes.column(0), encoded.n_left_out
    (array([0, 1, 1], dtype=uint32), array([1, 0, 1], dtype=uint16), 1)
    """

    name = "copy"

    produces: ClassVar[Produces] = "variable"

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """Encode the class variable, with a row for every label of every row."""
        labels = nonempty_labelsets(targets, type(self).__name__)
        left_out = int(np.count_nonzero(labels.sizes == 0))
        return EncodedTargets(one_column(labels.labels, labels.n_labels), row_index=labels.rows, n_left_out=left_out)


class CopyWeight(Copy):
    r"""Entropy-based label assignment (ELA): :class:`Copy` with a weight of :math:`1 / |Y_i|` for each copy.

    Every row with labels has the same total weight. Chen et al. (2007); ELA-CHI in Sechidis et al. (2019). Weights are
    quantized to 40 bits, so their sums are exact.

    >>> from labelsieve.labelspace import read_targets
    >>> CopyWeight().encode(read_targets([[0, 1], [1, 1], [0, 0]])).share
    array([1. , 0.5, 1. ])
    """

    name = "copy-weight"

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """Encode the class variable, with a row for every label of every row, and the weights of the rows."""
        encoded = super().encode(targets, weights)
        assert encoded.row_index is not None
        times = np.bincount(encoded.row_index, minlength=targets.n_rows)
        return replace(encoded, share=1.0 / np.maximum(1, times))


class OneLabel(LabelSpace):
    """Base of the spaces that keep one label of a row: a subclass chooses which."""

    produces: ClassVar[Produces] = "variable"

    def choose(self, labels: Labelsets, weights: Weights) -> NDArray[np.int64]:
        """Return the chosen labels as indices into ``labels.labels``, in order of their rows, at most one for each row."""
        raise NotImplementedError

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """Encode the class variable of the rows with a chosen label."""
        labels = nonempty_labelsets(targets, type(self).__name__)
        chosen = self.choose(labels, weights)
        rows = np.zeros(targets.n_rows, dtype=bool)
        rows[labels.rows[chosen]] = True
        if not len(chosen):
            raise InputError(f"{type(self).__name__}: no row has exactly one label, so none is left; use another label space.")
        codes = one_column(labels.labels[chosen], labels.n_labels)
        return EncodedTargets(codes, rows=rows, n_left_out=targets.n_rows - len(chosen))


class SelectMax(OneLabel):
    """The most frequent label of each row; ties go to the first label.

    Pereira et al. (2015), section 2. Mulan differs: its search for the largest count starts from label 0 whether the row has it
    or not, so a row without a label more frequent than label 0 gets label 0.

    >>> from labelsieve.labelspace import read_targets
    >>> SelectMax().encode(read_targets([[0, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 0]])).codes.column(0)
    array([2, 2, 2], dtype=uint16)
    """

    name = "select-max"

    def choose(self, labels: Labelsets, weights: Weights) -> NDArray[np.int64]:
        """Choose the most frequent labels."""
        return _first_by(labels, -labels.counts(weights))


class SelectMin(OneLabel):
    """The rarest label of each row; ties go to the first label.

    Pereira et al. (2015), section 2. Mulan's search starts from label 0 here too: see :class:`SelectMax`.

    >>> from labelsieve.labelspace import read_targets
    >>> SelectMin().encode(read_targets([[0, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 0]])).codes.column(0)
    array([1, 0, 1], dtype=uint16)
    """

    name = "select-min"

    def choose(self, labels: Labelsets, weights: Weights) -> NDArray[np.int64]:
        """Choose the rarest labels."""
        return _first_by(labels, labels.counts(weights))


@dataclass(eq=False, repr=False)
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

    _: KW_ONLY
    random_state: RandomState = 0

    def choose(self, labels: Labelsets, weights: Weights) -> NDArray[np.int64]:
        """Choose random labels."""
        sizes, starts = labels.sizes, labels.starts
        draws = (random_generator(self.random_state).random(labels.n_rows) * sizes).astype(np.int64)
        chosen: NDArray[np.int64] = (starts + draws)[sizes > 0]
        return chosen


class Ignore(OneLabel):
    """The rows with exactly one label. Pereira et al. (2015), section 2.

    >>> from labelsieve.labelspace import read_targets
    >>> Ignore().encode(read_targets([[0, 1, 1], [1, 0, 0], [0, 0, 1], [0, 0, 0]])).codes.column(0)
    array([0, 2], dtype=uint16)
    """

    name = "ignore"

    def choose(self, labels: Labelsets, weights: Weights) -> NDArray[np.int64]:
        """Choose the labels of rows that have no other."""
        chosen: NDArray[np.int64] = labels.starts[labels.sizes == 1]
        return chosen


def _first_by(labels: Labelsets, key: NDArray[np.float64]) -> NDArray[np.int64]:
    """Find, for every row with labels, the index of the label with the smallest key; ties go to the first label."""
    order = np.lexsort((labels.labels, key[labels.labels], labels.rows))
    sizes, starts = labels.sizes, labels.starts
    chosen: NDArray[np.int64] = order[starts[sizes > 0]]
    return chosen
