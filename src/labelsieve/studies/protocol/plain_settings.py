"""Settings as plain values, which can be written to files and compared with a later run."""

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from labelsieve.errors import InputError


def as_plain(value: Any, otherwise: Callable[[Any], Any] | None = None) -> Any:
    """Convert settings to strings, numbers, booleans and None, with lists and tables of them.

    NumPy's numbers and paths are converted. Any other object is refused, or passed to ``otherwise``.

    >>> from pathlib import Path
    >>> as_plain({"k": np.int64(7), "path": Path("songs.csv"), "pot": (0.2, 0.8)})
    {'k': 7, 'path': 'songs.csv', 'pot': [0.2, 0.8]}
    """
    if isinstance(value, Mapping):
        return {str(key): as_plain(entry, otherwise) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(entry, otherwise) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return as_plain(value.tolist(), otherwise)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if otherwise is None:
        raise InputError(f"{value!r} cannot be written to a file; pass plain settings instead.")
    return otherwise(value)


def plain_or_none(settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return settings as plain values; None if they contain an object.

    >>> plain_or_none({"k": 7}), plain_or_none({"criterion": object()})
    ({'k': 7}, None)
    """
    try:
        plain: dict[str, Any] = as_plain(settings)
    except InputError:
        return None
    return plain
