"""Label spaces for targets of any kind: single targets, the joint variable, also without rare labelsets, and indicators."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.joint_codes import join, joint_variable
from labelsieve.errors import InputError, whole_number
from labelsieve.labelspace.base import EncodedTargets, LabelSpace, Produces, Weights, label_space_name, one_column
from labelsieve.labelspace.transformations import read_labelsets
from labelsieve.tables.codes import MAX_LEVELS, Codes
from labelsieve.tables.targets import TargetTable


class Single(LabelSpace):
    r"""Each target as a separate variable; scores are summed over the targets.

    .. math:: \sum_l I(X; Y_l)

    Sechidis, Nikolaou and Brown (2014), eq. 4, 7 and 8 (targets assumed independent); known as binary relevance. Numeric
    targets are cut into bins by the selector's ``target_discretizer``. Unknown cells are left out, target by target.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> Single().encode(read_targets([[0, 0.1], [1, 0.2], [1, 9.5]])).codes.levels
    array([2, 3], dtype=uint32)
    """

    name = "single"

    produces: ClassVar[Produces] = "targets"

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """Return the codes of the targets."""
        return EncodedTargets(targets.codes)


class Joint(LabelSpace):
    r"""One variable whose levels are the distinct labelsets: the label powerset.

    .. math:: I(X; Y_1 Y_2 \dots Y_q)

    Sechidis, Nikolaou and Brown (2014), eq. 3, 5 and 6 (no assumption about the targets). Numeric targets are cut into bins
    first, as for :class:`Single`. Cost: one pass over the rows for each target.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> Joint().encode(read_targets([[0, 1], [1, 1], [0, 1]])).codes.levels
    array([2], dtype=uint32)
    """

    name = "joint"

    produces: ClassVar[Produces] = "variable"

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """Encode the joint variable."""
        return EncodedTargets(join(targets.require_known(label_space_name(self)).codes))


@dataclass(eq=False, repr=False)
class Pruned(Joint):
    r"""The joint variable of the targets, without labelsets that occur fewer than ``min_count`` times.

    Pruned problem transformation (Read 2008), used by Doquire and Verleysen and in Sechidis, Nikolaou and Brown (2014),
    section 5. The papers print no threshold; the default of three is our own setting.

    Parameters
    ----------
    min_count : int, default=3
        The smallest number of rows (or sum of their sample weights) of a labelset that is kept.
    split : bool or "smallest", default=False
        False drops the rows with a rare labelset. True splits a rare labelset into frequent ones, as PPT-n does: the largest
        frequent subset (ties: the most frequent, then the one with the lowest labels), then the largest frequent subset of the
        remaining labels, and so on; the row counts once for each subset, and is dropped only if there is none. ``"smallest"``
        takes the smallest frequent subsets first (ties: the one with the highest labels), as Mulan's program does. Needs 0/1
        targets.

    Notes
    -----
    Cost: one pass over the rows for each target; splitting, rare labelsets times frequent ones times targets.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> Y = read_targets([[0, 1]] * 2 + [[1, 0]] * 2 + [[1, 1]])
    >>> Pruned(min_count=2).encode(Y).n_left_out
    1
    >>> Pruned(min_count=2, split=True).encode(Y).row_index
    array([0, 1, 2, 3, 4, 4], dtype=uint32)
    """

    name = "pruned"

    _: KW_ONLY
    min_count: int = 3
    split: bool | Literal["smallest"] = False

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """Encode the joint variable of the rows that are kept."""
        least = whole_number(self.min_count, "min_count", 1, 2**31)
        joint, n_levels = joint_variable(targets.require_known(label_space_name(self)).codes)
        frequent = np.bincount(joint, weights=weights, minlength=n_levels) >= least
        number = np.cumsum(frequent) - 1
        n_classes = int(np.count_nonzero(frequent))
        if n_classes > MAX_LEVELS:
            raise InputError(f"{n_classes:,} labelsets are frequent; at most {MAX_LEVELS:,} can be. Use a larger min_count.")
        if not self.split:
            rows = frequent[joint]
            return EncodedTargets(
                one_column(number[joint[rows]], n_classes), rows=rows, n_left_out=int(np.count_nonzero(~rows))
            )
        if self.split not in (True, "smallest"):
            raise InputError(f'split must be True, False or "smallest", not {self.split!r}.')
        subsets = _subsets(targets, joint, frequent, weights, smallest=self.split == "smallest")
        n_subsets = np.array([len(of_labelset) for of_labelset in subsets])
        row_index = np.repeat(np.arange(targets.n_rows, dtype=np.uint32), n_subsets[joint])
        starts = np.concatenate([[0], np.cumsum(n_subsets)])
        flat = np.array([number[subset] for of_labelset in subsets for subset in of_labelset], dtype=np.int64)
        within = np.arange(len(row_index)) - np.repeat(np.cumsum(n_subsets[joint]) - n_subsets[joint], n_subsets[joint])
        classes = flat[starts[joint[row_index]] + within]
        left_out = int(np.count_nonzero(n_subsets[joint] == 0))
        return EncodedTargets(one_column(classes, n_classes), row_index=row_index, n_left_out=left_out)


class Cumulative(LabelSpace):
    r"""Each target as a separate variable, numeric targets as indicators of the cut points between their bins.

    .. math:: \sum_l I(X; Y_l) + \sum_m \sum_t I(X; [Y_m > c_{mt}])

    Bins as one variable have no order: a feature that separates the lowest fifth from the highest has the same information as
    one that separates two neighboring fifths. Sums over indicators weigh a difference by the number of cut points that it
    crosses (Frank and Hall 2001, for ordinal classes). Bins are those of the selector's ``target_discretizer``; without
    numeric targets the space is :class:`Single`. Unknown cells are left out, target by target.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> Cumulative().encode(read_targets([[0, 0.1], [1, 0.2], [1, 9.5]])).codes.to_dense().tolist()
    [[0, 0, 0], [1, 1, 0], [1, 1, 1]]
    """

    name = "cumulative"

    produces: ClassVar[Produces] = "indicators"

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """Encode classes as they are and numeric targets as indicators, in the order of the targets."""
        codes = targets.codes
        if not targets.is_numeric.any():
            return EncodedTargets(codes)
        columns: list[NDArray[np.uint8] | NDArray[np.uint16]] = []
        levels, missing, target_of = [], [], []
        for column in range(codes.n_columns):
            values = codes.column(column)
            unknown = codes.missing is not None and bool(codes.missing[column])
            if not targets.is_numeric[column]:
                columns.append(values)
                levels.append(int(codes.levels[column]))
                missing.append(unknown)
                target_of.append(column)
                continue
            n_bins = int(codes.levels[column]) - unknown
            for cut in range(1, max(2, n_bins)):
                indicator = (values >= cut).astype(np.uint8)
                if unknown:
                    indicator[values == n_bins] = 2
                columns.append(indicator)
                levels.append(3 if unknown else 2)
                missing.append(unknown)
                target_of.append(column)
        dense = np.asfortranarray(np.column_stack(columns))
        marked = np.array(missing)
        variables = Codes(
            codes.n_rows, np.array(levels, dtype=np.uint32), dense=dense, missing=marked if marked.any() else None
        )
        return EncodedTargets(variables, target_of=np.array(target_of, dtype=np.intp))


def _subsets(
    targets: TargetTable, joint: NDArray[np.uint32], frequent: NDArray[np.bool_], weights: Weights, *, smallest: bool
) -> list[list[int]]:
    """Find, for every distinct labelset, the frequent labelsets that replace it."""
    labels = read_labelsets(targets, "Pruned(split=True)")
    _, first = np.unique(joint, return_index=True)
    members = np.zeros((len(first), targets.n_columns), dtype=bool)
    index = np.full(targets.n_rows, -1)
    index[first] = np.arange(len(first))
    is_first = index[labels.rows] >= 0
    members[index[labels.rows[is_first]], labels.labels[is_first]] = True
    sizes, counts = members.sum(axis=1), np.bincount(joint, weights=weights)
    usable = np.flatnonzero(frequent & (sizes > 0))
    # Sorted by size, then count, then labels: the first that fits is the best. Bytes of 0s and 1s compare like lists of labels.
    by_labels = members[usable].T[::-1]
    order = np.lexsort((*by_labels, sizes[usable]) if smallest else (*~by_labels, -counts[usable], -sizes[usable]))
    usable = usable[order]
    subsets: list[list[int]] = []
    for level in range(len(first)):
        if frequent[level]:
            subsets.append([level])
            continue
        rest, found = members[level].copy(), []
        fits = usable[~(members[usable] & ~rest).any(axis=1)]
        while len(fits):
            found.append(int(fits[0]))
            rest &= ~members[fits[0]]
            fits = fits[~(members[fits] & ~rest).any(axis=1)]
        subsets.append(found)
    return subsets
