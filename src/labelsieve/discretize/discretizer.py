"""What a selector needs of a discretizer, and the simplest one."""

from typing import Any, ClassVar, TypeVar, overload

from sklearn.base import BaseEstimator

from labelsieve.counting.codes import Codes
from labelsieve.errors import InputError

Table = TypeVar("Table")


class Discretizer(BaseEstimator):  # type: ignore[misc]
    """Turns a table of numbers into codes. Its parameters are scikit-learn parameters, so a search can tune them."""

    name: ClassVar[str]

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


@overload
def one_table(codes: Codes | list[Codes], who: str) -> Codes: ...
@overload
def one_table(codes: list[Table], who: str) -> Table: ...
def one_table(codes: Any, who: str) -> Any:
    """Codes that serve all targets; those that are made for each target by itself are refused.

    >>> one_table(AsGiven().encode([[0], [1]]), "Sieve").n_columns
    1
    """
    if not isinstance(codes, list):
        return codes
    if len(codes) == 1:
        return codes[0]
    raise InputError(
        f"{who} needs one set of codes for all targets, and the discretizer makes one for each of {len(codes)}; "
        'use MDL(targets="joint") or "copy", or LabelwiseSieve.'
    )


def allows_missing(discretizer: Any) -> bool:
    """True when missing values (NaN) have a level of their own.

    >>> allows_missing(AsGiven())
    False
    """
    return getattr(discretizer, "missing", None) == "level"
