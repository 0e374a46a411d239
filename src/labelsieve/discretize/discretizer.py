"""What a selector needs of a discretiser, and the simplest one."""

from typing import Any

from sklearn.base import BaseEstimator

from labelsieve.information import Codes


class Discretizer(BaseEstimator):  # type: ignore[misc]
    """Turns a table of numbers into codes. Its parameters are scikit-learn parameters, so a search can tune them."""

    def encode(self, X: Any, y: Any = None, sample_weight: Any = None) -> Codes | list[Codes]:
        """Codes of ``X``, learned and made in one go; or a list of them, one for each target. The object stays as it was."""
        raise NotImplementedError


class AsGiven(Discretizer):
    """Values that are codes already.

    >>> AsGiven().encode([[0], [2]]).levels
    array([3], dtype=uint32)
    """

    def encode(self, X: Any, y: Any = None, sample_weight: Any = None) -> Codes:
        """Codes of ``X``."""
        return Codes.from_values(X)
