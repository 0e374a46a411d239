"""Lists in a protocol, and the names in them."""

from collections.abc import Iterable, Mapping
from typing import Any

from labelsieve.errors import InputError
from labelsieve.registry import METHODS

MAX_SHOWN = 80  # characters of a refused value in an error


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
