"""All criteria by name. A class that stands in one of the modules below is enrolled by existing."""

from functools import cache
from typing import Any

from labelsieve.criteria import labels, redundancy, relevance
from labelsieve.criteria.criterion import Criterion
from labelsieve.criteria.method import METHODS
from labelsieve.errors import InputError

CATALOGUE: dict[str, type[Criterion]] = {
    item.__name__.lower(): item
    for module in (relevance, redundancy, labels)
    for item in vars(module).values()
    if isinstance(item, type) and issubclass(item, Criterion) and item is not Criterion
}


def criterion_named(criterion: Any) -> Criterion:
    """A criterion from its name, its class or itself.

    >>> criterion_named("jmi").score
    sum_s(sum_y(I((f, s), y)))
    """
    if isinstance(criterion, Criterion):
        return criterion
    if isinstance(criterion, type) and issubclass(criterion, Criterion):
        return criterion()
    if isinstance(criterion, str) and criterion.lower() in CATALOGUE:
        return _default(criterion.lower())
    if isinstance(criterion, str) and criterion.lower() in METHODS:
        name = criterion.lower()
        raise InputError(f"{name!r} is no formula for a greedy search; use {METHODS[name].call}.")
    raise InputError(f"{criterion!r} is not a criterion; known are {', '.join(CATALOGUE)}, or a Criterion of your own.")


@cache
def _default(name: str) -> Criterion:
    """With default parameters; kept, so that its formula is planned once."""
    return CATALOGUE[name]()
