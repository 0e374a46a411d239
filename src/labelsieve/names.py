"""Lookup of public names, with a suggestion where a name is misspelled."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from labelsieve.errors import InputError

T = TypeVar("T")


def unknown_name(what: str, name: object, known: Iterable[str], *, more: str = "") -> InputError:
    """The error for a name that is not in ``known``; it suggests the closest one.

    >>> unknown_name("stopping rule", "permutatoin", ["knee", "permutation"])
    InputError("'permutatoin' is not a stopping rule. Did you mean 'permutation'? Known: knee, permutation.")
    """
    names = list(known)
    close = difflib.get_close_matches(str(name).lower(), names, n=1)
    suggestion = f" Did you mean {close[0]!r}?" if close else ""
    article = "an" if what[0] in "aeiou" else "a"
    return InputError(f"{name!r} is not {article} {what}.{suggestion} Known: {', '.join(names)}{more}.")


def resolve(value: Any, known: Mapping[str, type[T]], kind: type[T], what: str) -> T:
    """``value`` itself if it is a ``kind``, otherwise the class of that name with default parameters."""
    if isinstance(value, kind):
        return value
    if isinstance(value, str) and value.lower() in known:
        return known[value.lower()]()
    raise unknown_name(what, value, known, more=f", or a {kind.__name__} object")
