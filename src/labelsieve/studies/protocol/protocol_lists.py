"""Lists in the notation of a protocol: numbers of features, and names."""

import re
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Any

from labelsieve.errors import InputError, is_whole
from labelsieve.registry import METHODS

MAX_NUMBERS = 1_000_000  # in a span: more features than any data set of the catalog has
_SPAN = re.compile(r"(\d{1,9})\.\.(\d{1,9})(?:\.\.(\d{1,9}))?")
_NUMBER = re.compile(r"\d{1,9}|\d{1,3}(?:\.\d+)?%")
MAX_SHOWN = 80  # characters of a refused value in an error


def read_sizes(given: object) -> list[int | float]:
    """Read numbers of features from ``"1..50"``, ``"5..50..5"``, ``"1,5,10"``, ``"10%,20%"``, a number, or a sequence.

    >>> read_sizes("1..3,10"), read_sizes([0.1, 5]), read_sizes("10%")
    ([1, 2, 3, 10], [0.1, 5], [0.1])
    """
    if isinstance(given, str):
        asked: Iterable[Any] = given.split(",")
    else:
        asked = given if isinstance(given, Iterable) else [given]
    sizes = dict.fromkeys(size for entry in asked for size in _sizes(entry))
    if not sizes or min(sizes) <= 0:
        raise InputError(f"n_features: {given!r} has no number of features; use '1..50' or '5,10,20'.")
    return list(sizes)


def _sizes(entry: object) -> Iterator[int | float]:
    value: Any = entry.strip() if isinstance(entry, str) else entry
    if isinstance(value, str) and (span := _SPAN.fullmatch(value)):
        first, last, step = int(span[1]), int(span[2]), int(span[3] or 1)
        if not step or first > last:
            raise InputError(f"n_features: {entry!r} has no number of features; a span increases, as in '1..50' or '5..50..5'.")
        if (last - first) // step >= MAX_NUMBERS:
            raise InputError(f"n_features: {entry!r} has more than {MAX_NUMBERS:,} numbers; use steps, as in '1..5000..10'.")
        yield from range(first, last + 1, step)
        return
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value[:-1]) / 100 if value.endswith("%") else int(value)
    if not (is_whole(value) or isinstance(value, float)) or not value > 0 or not isfinite(value):
        raise InputError(f"n_features: {entry!r} is not a number of features; use '1..50', '5,10,20', or shares such as '10%'.")
    if isinstance(value, float) and value > 1:
        raise InputError(f"n_features: {entry!r} is more than all features; a fraction is at most 1, and a number is whole.")
    yield float(value) if isinstance(value, float) else int(value)


def several(given: object, what: str, fewest: int = 1) -> list[Any]:
    """Return the entries of a list, of which there must be some."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        text = repr(given)
        raise InputError(f"{what} must be a list, not {text if len(text) <= MAX_SHOWN else f'a {type(given).__name__}'}.")
    entries = list(given)
    if len(entries) < fewest:
        raise InputError(f"{what}: the list is empty; at least one is needed.")
    return entries


def names_of(given: object, what: str, fewest: int = 1) -> list[str]:
    """Return the entries of a list of names."""
    names = several(given, what, fewest)
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"{what}: {name!r} is not a name.")
    return names


def is_baseline(name: str) -> bool:
    """Whether a method is a baseline, which no data can change."""
    return name in METHODS and METHODS[name].selector == "BaselineSieve"
