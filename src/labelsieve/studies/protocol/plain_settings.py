"""Settings as plain values: what files hold and what can be compared with a later run."""

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from labelsieve.errors import InputError


def as_plain(value: Any, otherwise: Callable[[Any], Any] | None = None) -> Any:
    """Texts, numbers, truth values and None, with lists and tables of them; NumPy's numbers and paths become such.

    What has no such form is refused, or is what ``otherwise`` makes of it.

    >>> from pathlib import Path
    >>> as_plain({"k": np.int64(7), "path": Path("songs.csv"), "pot": (0.2, 0.8)})
    {'k': 7, 'path': 'songs.csv', 'pot': [0.2, 0.8]}
    """
    if isinstance(value, Mapping):
        return {str(key): as_plain(one, otherwise) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(one, otherwise) for one in value]
    if isinstance(value, np.ndarray | np.generic):
        return as_plain(value.tolist(), otherwise)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if otherwise is None:
        raise InputError(f"{value!r} has no form in a file; give plain settings instead.")
    return otherwise(value)


def plain_or_none(settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Settings as plain values; None where an object is among them.

    >>> plain_or_none({"k": 7}), plain_or_none({"criterion": object()})
    ({'k': 7}, None)
    """
    try:
        found: dict[str, Any] = as_plain(settings)
    except InputError:
        return None
    return found
