"""Parameters of estimators: a default, its type and what else is allowed, declared once in the fields of a dataclass."""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, field, fields, is_dataclass
from functools import cache
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from labelsieve.counting.inherited_docs import InheritedDocs
from labelsieve.errors import InputError, did_you_mean

Constraints = dict[str, list[Any]]
REQUIRED = MISSING

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
AT_LEAST_TWO = Interval(Integral, 2, None, closed="left")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
BETWEEN_0_AND_1 = Interval(Real, 0, 1, closed="neither")
PREDICTOR = HasMethods(["fit", "predict"])

_ALLOWED = "allowed"
_OF_TYPES: dict[Any, Any] = {bool: "boolean", int: Integral, float: Real, NoneType: None}


def parameter(default: object, *allowed: object) -> Any:
    """A field whose type does not say all about its values: ``allowed`` are constraints of scikit-learn.

    None is also allowed where the type has it, or as the default. A parameter without default has ``REQUIRED``. A subclass
    that changes the default, and no more, repeats the type alone.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Neighbors(CheckedParameters):
    ...     k: int | None = parameter(10, AT_LEAST_ONE)
    ...     ties: Literal["first"] = "first"
    >>> {name: list(map(str, allowed)) for name, allowed in Neighbors._parameter_constraints.items()}
    {'k': ['an int in the range [1, inf)', 'None'], 'ties': ["a str among {'first'}"]}
    """
    return field(default=default, metadata={_ALLOWED: allowed})


class _ConstraintsOfFields:
    def __get__(self, instance: object, kind: type) -> Constraints:
        return _constraints(kind)


@cache
def _constraints(kind: type) -> Constraints:
    found = {}
    for each in fields(kind) if is_dataclass(kind) else ():
        of_type = list(_of_type(each.type))
        declared = _declared(kind, each.name)
        if declared is not None:
            optional = (None in of_type or each.default is None) and None not in declared
            found[each.name] = [*declared, *([None] if optional else [])]
        elif Any not in of_type:
            found[each.name] = of_type
    return found


def _declared(kind: type, name: str) -> tuple[Any, ...] | None:
    """The constraints of the nearest class that declares some."""
    for base in kind.__mro__:
        declared = vars(base).get("__dataclass_fields__", {}).get(name)
        if declared is not None and _ALLOWED in declared.metadata:
            allowed: tuple[Any, ...] = declared.metadata[_ALLOWED]
            return allowed
    return None


def _of_type(annotation: object) -> Iterator[Any]:
    """Constraints that a type stands for; ``Any`` for those that stand for none."""
    members, origin = get_args(annotation), get_origin(annotation)
    if origin in (Union, UnionType):
        if np.random.RandomState in members:
            yield "random_state"
        else:
            for member in members:
                yield from _of_type(member)
    elif origin is Literal:
        yield StrOptions(set(members))
    elif origin is not None:
        yield origin
    else:
        yield _OF_TYPES.get(annotation, annotation) if isinstance(annotation, type) else Any


class CheckedParameters(InheritedDocs):
    """An estimator with the constraints of its fields; a wrong word is refused with a suggestion of the right one."""

    _parameter_constraints: ClassVar[Any] = _ConstraintsOfFields()

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Those that scikit-learn finds, cached: the names are needed at every fit."""
        names: list[str] = super()._get_param_names()  # type: ignore[misc]
        return names

    def _validate_params(self) -> None:
        check_choices(self._parameter_constraints, self.get_params(deep=False), type(self).__name__)  # type: ignore[attr-defined]
        super()._validate_params()  # type: ignore[misc]


def check_choices(constraints: Mapping[str, Any], values: Mapping[str, Any], caller: str) -> None:
    """Refuse a word that is not among the words of its parameter, where nothing but those words is allowed for text."""
    for name, value in values.items():
        allowed = constraints.get(name, ())
        if not isinstance(value, str) or not isinstance(allowed, list) or str in allowed:
            continue
        words = [word for rule in allowed if isinstance(rule, StrOptions) for word in sorted(rule.options)]
        if words and value not in words:
            known, suggestion = ", ".join(map(repr, words)), did_you_mean(value, words)
            raise InputError(f"The {name!r} parameter of {caller} must be one of {known}, not {value!r}.{suggestion}")
