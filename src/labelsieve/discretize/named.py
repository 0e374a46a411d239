"""The discretisers by name: the one list that selectors, storage and documentation read."""

from typing import Any, TypeVar, overload

from labelsieve.discretize.bins import Bins
from labelsieve.discretize.discretizer import AsGiven, Discretizer
from labelsieve.discretize.equal_frequency import EqualFrequency
from labelsieve.discretize.equal_width import EqualWidth
from labelsieve.discretize.k_means import KMeansBins
from labelsieve.discretize.mdl import MDL
from labelsieve.discretize.mean_std import MeanStd
from labelsieve.errors import InputError
from labelsieve.information import Codes

Table = TypeVar("Table")

DISCRETIZERS: dict[str, type[Bins]] = {
    "equal-width": EqualWidth,
    "equal-frequency": EqualFrequency,
    "k-means": KMeansBins,
    "mean-std": MeanStd,
    "mdl": MDL,
}


def discretizer_named(discretizer: Any) -> Discretizer:
    """A discretiser from its name or itself; None takes the values as codes.

    >>> discretizer_named("mean-std")
    MeanStd()
    """
    if discretizer is None:
        return AsGiven()
    if isinstance(discretizer, Discretizer):
        return discretizer
    if isinstance(discretizer, str) and discretizer in DISCRETIZERS:
        return DISCRETIZERS[discretizer]()
    names = ", ".join(map(repr, DISCRETIZERS))
    raise InputError(f"discretizer must be {names}, None (values are codes) or a Discretizer, not {discretizer!r}.")


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

    >>> allows_missing(EqualWidth(missing="level")), allows_missing("equal-width")
    (True, False)
    """
    return getattr(discretizer, "missing", None) == "level"
