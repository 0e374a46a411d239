"""What labelsieve raises when it refuses, and the checks that many places share."""

from numbers import Integral
from typing import Any


class InputError(ValueError):
    """Data or parameters that cannot be used: the message names the place and says what to do."""


def whole_number(value: Any, name: str, low: int, high: int) -> int:
    """``value`` as an int between ``low`` and ``high``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
        raise InputError(f"{name} must be a whole number from {low:,} to {high:,}, not {value!r}.")
    return int(value)


def one_of(value: Any, name: str, choices: tuple[str, ...]) -> None:
    """Refuse what is not among ``choices``."""
    if value not in choices:
        raise InputError(f"{name} must be {' or '.join(map(repr, choices))}, not {value!r}.")
