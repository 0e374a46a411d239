"""Lookup of public names, with a suggestion where a name is misspelled."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, TypeVar

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


def resolve(value: Any, known: Mapping[str, type[T]], kind: type[T], what: str) -> T:
    """``value`` itself if it is a ``kind``, otherwise the class of that name with default parameters."""
    if isinstance(value, kind):
        return value
    if isinstance(value, str) and value.lower() in known:
        return known[value.lower()]()
    raise unknown_name(what, value, known, more=f", or a {kind.__name__} object")


class NamedChoices:
    """An estimator whose parameters with a fixed set of words are refused with a suggestion, before scikit-learn's checks."""

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Those that scikit-learn finds, cached: the names are needed at every fit."""
        names: list[str] = super()._get_param_names()  # type: ignore[misc]
        return names

    def _validate_params(self) -> None:
        constraints: Mapping[str, Any] = getattr(self, "_parameter_constraints", {})
        check_choices(constraints, self.get_params(deep=False), type(self).__name__)  # type: ignore[attr-defined]
        super()._validate_params()  # type: ignore[misc]


def check_choices(constraints: Mapping[str, Any], values: Mapping[str, Any], caller: str) -> None:
    """Refuse a word that is not among the words of its parameter, where nothing but those words is allowed for text."""
    from sklearn.utils._param_validation import StrOptions

    for name, value in values.items():
        allowed = constraints.get(name, ())
        if not isinstance(value, str) or not isinstance(allowed, list) or str in allowed:
            continue
        words = [word for rule in allowed if isinstance(rule, StrOptions) for word in sorted(rule.options)]
        if words and value not in words:
            known, suggestion = ", ".join(map(repr, words)), did_you_mean(value, words)
            raise InputError(f"The {name!r} parameter of {caller} must be one of {known}, not {value!r}.{suggestion}")
