"""The label powerset without its rare rows."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import MAX_LEVELS
from labelsieve.counting.joint_codes import joint_variable
from labelsieve.counting.targets import BINS, Kind, TargetTable
from labelsieve.errors import InputError, whole_number
from labelsieve.labelspace.base_space import EncodedTargets, LabelSpace, Makes, Weights, one_column
from labelsieve.labelspace.label_lists import label_rows


class Pruned(LabelSpace):
    r"""The joint variable of the targets, without label rows that are seen fewer than ``min_count`` times.

    Pruned problem transformation (Read 2008), used by Doquire and Verleysen and in Sechidis, Nikolaou and Brown (2014),
    section 5. The papers do not print a threshold; three is ours.

    Parameters
    ----------
    min_count : int
        The fewest rows (or the least sum of their sample weights) that keep a label row.
    split : bool
        What becomes of the rows with a rare label row. False drops them. True splits their labels into frequent label rows,
        in the manner of PPT-n: the largest one that fits inside (among equals the most frequent, then the one with the lowest
        labels), then the largest that fits inside the rest, and so on; such a row counts once for each part, and is dropped
        only if nothing fits. Needs 0/1 targets.
    n_bins, kind
        See :class:`Single`.

    Notes
    -----
    Cost: one pass over the rows for each target; splitting, rare distinct rows times frequent ones times targets.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> Y = read_targets([[0, 1]] * 2 + [[1, 0]] * 2 + [[1, 1]])
    >>> Pruned(min_count=2).make(Y).n_left_out
    1
    >>> Pruned(min_count=2, split=True).make(Y).row_index
    array([0, 1, 2, 3, 4, 4], dtype=uint32)
    """

    name = "pruned"

    makes: ClassVar[Makes] = "variable"

    def __init__(self, *, min_count: int = 3, split: bool = False, n_bins: int = BINS, kind: Kind = "auto") -> None:
        self.min_count = min_count
        self.split = split
        self.n_bins = n_bins
        self.kind = kind

    def make(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """The joint variable of the rows that stay."""
        least = whole_number(self.min_count, "min_count", 1, 2**31)
        joint, n_levels = joint_variable(targets.codes(self.n_bins))
        frequent = np.bincount(joint, weights=weights, minlength=n_levels) >= least
        number = np.cumsum(frequent) - 1
        n_classes = int(np.count_nonzero(frequent))
        if n_classes > MAX_LEVELS:
            raise InputError(f"{n_classes:,} label rows are frequent; at most {MAX_LEVELS:,} can be. Use a larger min_count.")
        if not self.split:
            rows = frequent[joint]
            return EncodedTargets(
                one_column(number[joint[rows]], n_classes), rows=rows, n_left_out=int(np.count_nonzero(~rows))
            )
        parts = _parts(targets, joint, frequent, weights)
        n_parts = np.array([len(some) for some in parts])
        row_index = np.repeat(np.arange(targets.n_rows, dtype=np.uint32), n_parts[joint])
        starts = np.concatenate([[0], np.cumsum(n_parts)])
        flat = np.array([number[part] for some in parts for part in some], dtype=np.int64)
        within = np.arange(len(row_index)) - np.repeat(np.cumsum(n_parts[joint]) - n_parts[joint], n_parts[joint])
        classes = flat[starts[joint[row_index]] + within]
        left_out = int(np.count_nonzero(n_parts[joint] == 0))
        return EncodedTargets(one_column(classes, n_classes), row_index=row_index, n_left_out=left_out)


def _parts(targets: TargetTable, joint: NDArray[np.uint32], frequent: NDArray[np.bool_], weights: Weights) -> list[list[int]]:
    """For every distinct label row, the frequent ones that it counts as."""
    labels = label_rows(targets, "Pruned(split=True)")
    _, first = np.unique(joint, return_index=True)
    members = np.zeros((len(first), targets.n_columns), dtype=np.float32)
    place = np.full(targets.n_rows, -1)
    place[first] = np.arange(len(first))
    shown = place[labels.rows] >= 0
    members[place[labels.rows[shown]], labels.labels[shown]] = 1
    sizes, counts = members.sum(axis=1), np.bincount(joint, weights=weights)
    usable = np.flatnonzero(frequent & (sizes > 0))
    # Sorted by size, then count, then labels: what is found first fits best. Bytes of 0s and 1s compare like lists of labels.
    order = np.lexsort((*(-members[usable].T[::-1]), -counts[usable], -sizes[usable]))
    usable = usable[order]
    parts: list[list[int]] = []
    for level in range(len(first)):
        if frequent[level]:
            parts.append([level])
            continue
        rest, found = members[level].copy(), []
        fits = usable[members[usable] @ (1 - rest) == 0]
        while len(fits):
            found.append(int(fits[0]))
            rest -= members[fits[0]]
            fits = fits[members[fits] @ (1 - rest) == 0]
        parts.append(found)
    return parts
