"""What a selector needs of a discretiser."""

from typing import Any

from sklearn.base import BaseEstimator

from labelsieve.errors import InputError
from labelsieve.information import Codes


class Discretizer(BaseEstimator):  # type: ignore[misc]
    """Turns a table of numbers into codes. Its parameters are scikit-learn parameters, so a search can tune them."""

    def encode(self, X: Any) -> Codes:
        """Codes of ``X``."""
        raise NotImplementedError


class AsGiven(Discretizer):
    """Values that are codes already.

    >>> AsGiven().encode([[0], [2]]).levels
    array([3], dtype=uint32)
    """

    def encode(self, X: Any) -> Codes:
        """Codes of ``X``."""
        return Codes.from_values(X)


def discretizer_named(discretizer: Any) -> Discretizer:
    """A discretiser from its name or itself; None takes the values as codes."""
    from labelsieve.discretize.equal_width import EqualWidth

    if discretizer is None:
        return AsGiven()
    if isinstance(discretizer, Discretizer):
        return discretizer
    if discretizer == "equal-width":
        return EqualWidth()
    raise InputError(f"discretizer must be 'equal-width', None (values are codes) or a Discretizer, not {discretizer!r}.")
