"""The column of codes that a condition stands for."""

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.protocol import Column, Condition, Feature, JointFeatures, Target
from labelsieve.counting.codes import Codes
from labelsieve.counting.joint_codes import refine


class ConditionColumns:
    """Columns to condition on, one code for each row of ``Y``, for backends whose codes are in this process."""

    def __init__(self, X: Codes, Y: Codes, row_index: NDArray[np.uint32] | None) -> None:
        self._X, self._Y, self._row_index = X, Y, row_index
        self._joint = np.zeros(X.n_rows, dtype=np.uint32)
        self._n_joint, self._joined = 1, ()  # type: tuple[int, tuple[int, ...]]

    def column(self, given: Condition) -> tuple[NDArray[np.integer], int]:
        """The codes of the condition and its number of levels."""
        match given:
            case Column(codes=codes, n_levels=n_levels):
                return codes, n_levels
            case Target(index=index):
                return self._Y.column(index), int(self._Y.levels[index])
            case Feature(index=index):
                return self._by_target_row(self._X.column(index)), int(self._X.levels[index])
            case JointFeatures(indices=indices):
                self._refine(indices)
                return self._by_target_row(self._joint), self._n_joint

    def _refine(self, indices: tuple[int, ...]) -> None:
        """One pass over the rows for each feature that the last joint did not have."""
        known = len(self._joined)
        if indices[:known] != self._joined:
            self._joint, self._n_joint, known = np.zeros(self._X.n_rows, dtype=np.uint32), 1, 0
        for index in indices[known:]:
            self._n_joint = refine(self._joint, self._n_joint, self._X, index)
        self._joined = indices

    def _by_target_row(self, column: NDArray[np.integer]) -> NDArray[np.integer]:
        return column if self._row_index is None else column[self._row_index]
