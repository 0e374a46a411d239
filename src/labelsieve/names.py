"""Lookup of public names, with a suggestion where a name is misspelled."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from labelsieve.errors import InputError, did_you_mean

T = TypeVar("T")


def unknown_name(
    what: str, name: object, known: Iterable[str], *, more: str = "", aliases: Mapping[str, str] | None = None
) -> InputError:
    """The error for a name that is not in ``known``; it suggests the closest one, also where an alias is the closest.

    >>> unknown_name("stopping rule", "permutatoin", ["knee", "permutation"])
    InputError("'permutatoin' is not a stopping rule. Did you mean 'permutation'? Known: knee, permutation.")
    """
    names = list(known)
    article = "an" if what[0] in "aeiou" else "a"
    suggestion = did_you_mean(name, names, aliases)
    return InputError(f"{name!r} is not {article} {what}.{suggestion} Known: {', '.join(names)}{more}.")


def resolve(value: object, known: Mapping[str, type[T]], kind: type[T], what: str) -> T:
    """``value`` itself if it is a ``kind``, otherwise the class of that name with default parameters."""
    if isinstance(value, kind):
        return value
    if isinstance(value, str) and value.lower() in known:
        return known[value.lower()]()
    raise unknown_name(what, value, known, more=f", or a {kind.__name__} object")
