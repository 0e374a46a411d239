"""Numeric targets as indicators of thresholds, which keep the order of their values."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes
from labelsieve.counting.target_table import TargetTable
from labelsieve.labelspace.base_space import EncodedTargets, LabelSpace, Produces, Weights


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
        """The classes, and the indicators of numeric targets in the order of the targets."""
        codes = targets.codes
        if not targets.is_numeric.any():
            return EncodedTargets(codes)
        columns: list[NDArray[np.uint8] | NDArray[np.uint16]] = []
        levels, missing = [], []
        for column in range(codes.n_columns):
            values = codes.column(column)
            unknown = codes.missing is not None and bool(codes.missing[column])
            if not targets.is_numeric[column]:
                columns.append(values)
                levels.append(int(codes.levels[column]))
                missing.append(unknown)
                continue
            n_bins = int(codes.levels[column]) - unknown
            for cut in range(1, max(2, n_bins)):
                indicator = (values >= cut).astype(np.uint8)
                if unknown:
                    indicator[values == n_bins] = 2
                columns.append(indicator)
                levels.append(3 if unknown else 2)
                missing.append(unknown)
        dense = np.asfortranarray(np.column_stack(columns))
        marked = np.array(missing)
        return EncodedTargets(
            Codes(codes.n_rows, np.array(levels, dtype=np.uint32), dense=dense, missing=marked if marked.any() else None)
        )
