"""One class variable over the labels, in which a row counts once for each of its labels."""

from typing import ClassVar

import numpy as np

from labelsieve.counting.codes import MAX_LEVELS
from labelsieve.counting.targets import TargetTable
from labelsieve.errors import InputError
from labelsieve.labelspace.base_space import EncodedTargets, LabelSpace, Makes, Weights, one_column
from labelsieve.labelspace.label_lists import LabelRows, label_rows


class Copy(LabelSpace):
    """One variable whose classes are the labels; a row counts once for each label that it has.

    Pereira et al. (2015), section 2. A row without labels is left out. Rows are not copied: what is counted is a list that
    names each row as often as it has labels, four bytes each.

    >>> from labelsieve.labelspace import read_targets
    >>> made = Copy().make(read_targets([[0, 1], [1, 1], [0, 0]]))
    >>> made.row_index, made.codes.column(0), made.n_left_out
    (array([0, 1, 1], dtype=uint32), array([1, 0, 1], dtype=uint16), 1)
    """

    name = "copy"

    makes: ClassVar[Makes] = "variable"

    def make(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """The class variable, by entry."""
        labels = some_labels(targets, type(self).__name__)
        left_out = int(np.count_nonzero(labels.sizes == 0))
        return EncodedTargets(one_column(labels.labels, labels.n_labels), row_index=labels.rows, n_left_out=left_out)


class CopyWeight(Copy):
    r"""As :class:`Copy`, where each copy weighs :math:`1 / |Y_i|`, so that every row with labels weighs the same.

    Known as entropy-based label assignment, ELA (Chen et al. 2007; ELA-CHI in Sechidis et al. 2019). Weights are integers of 40
    bits, so sums of them stay exact; counting is by rows, not bits.

    >>> from labelsieve.labelspace import read_targets
    >>> CopyWeight().make(read_targets([[0, 1], [1, 1], [0, 0]])).share
    array([1. , 0.5, 1. ])
    """

    name = "copy-weight"

    def make(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """The class variable, by entry, and what each row weighs."""
        made = super().make(targets, weights)
        assert made.row_index is not None
        times = np.bincount(made.row_index, minlength=targets.n_rows)
        return EncodedTargets(
            made.codes, row_index=made.row_index, share=1.0 / np.maximum(1, times), n_left_out=made.n_left_out
        )


def some_labels(targets: TargetTable, space: str) -> LabelRows:
    """The labels, of which there must be some."""
    labels = label_rows(targets, space)
    if labels.n_labels > MAX_LEVELS:
        raise InputError(f"{space}: {labels.n_labels:,} labels; one variable can have {MAX_LEVELS:,} classes.")
    if not len(labels.rows):
        raise InputError(f"{space}: no row has a label, so there is nothing to tell apart.")
    return labels
