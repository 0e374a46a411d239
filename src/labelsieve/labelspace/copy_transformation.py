"""Copy transformations: one class variable over the labels, with a copy of the row for each of its labels."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from labelsieve.counting.codes import MAX_LEVELS
from labelsieve.counting.targets import TargetTable
from labelsieve.errors import InputError
from labelsieve.labelspace.base_space import EncodedTargets, LabelSpace, Produces, Weights, one_column
from labelsieve.labelspace.labelsets import Labelsets, read_labelsets


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
        """The class variable, for every label of every row."""
        labels = nonempty_labelsets(targets, type(self).__name__)
        left_out = int(np.count_nonzero(labels.sizes == 0))
        return EncodedTargets(one_column(labels.labels, labels.n_labels), row_index=labels.rows, n_left_out=left_out)


class CopyWeight(Copy):
    r"""Entropy-based label assignment (ELA): :class:`Copy` with a weight of :math:`1 / |Y_i|` for each copy.

    Every row with labels has the same total weight. Chen et al. (2007); ELA-CHI in Sechidis et al. (2019). Weights are
    quantized to 40 bits, so their sums are exact; weighted rows are counted one by one, not in bit blocks.

    >>> from labelsieve.labelspace import read_targets
    >>> CopyWeight().encode(read_targets([[0, 1], [1, 1], [0, 0]])).share
    array([1. , 0.5, 1. ])
    """

    name = "copy-weight"

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """The class variable, for every label of every row, and the weights of the rows."""
        encoded = super().encode(targets, weights)
        assert encoded.row_index is not None
        times = np.bincount(encoded.row_index, minlength=targets.n_rows)
        return replace(encoded, share=1.0 / np.maximum(1, times))


def nonempty_labelsets(targets: TargetTable, space: str) -> Labelsets:
    """The labelsets; refuses targets without any label."""
    labels = read_labelsets(targets, space)
    if labels.n_labels > MAX_LEVELS:
        raise InputError(f"{space}: {labels.n_labels:,} labels; one variable can have {MAX_LEVELS:,} classes.")
    if not len(labels.rows):
        raise InputError(f"{space}: no row has a label, so there are no classes.")
    return labels
