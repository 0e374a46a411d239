"""Parameters of estimators: declared in the fields of a dataclass with what is allowed, and described once for subclasses."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, field, fields, is_dataclass
from functools import cache
from itertools import pairwise
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

# The only module that imports private names of scikit-learn: the others take them from here.
from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods as HasMethods
from sklearn.utils._param_validation import Interval as Interval
from sklearn.utils._param_validation import Options as Options
from sklearn.utils._param_validation import StrOptions as StrOptions
from sklearn.utils._param_validation import make_constraint
from sklearn.utils._param_validation import validate_parameter_constraints as validate_parameter_constraints

from labelsieve.errors import InputError, did_you_mean

__all__ = [
    "AT_LEAST_ONE",
    "AT_LEAST_TWO",
    "BETWEEN_0_AND_1",
    "NOT_NEGATIVE",
    "POSITIVE",
    "PREDICTOR",
    "REQUIRED",
    "CheckedParameters",
    "HasMethods",
    "InheritedDocs",
    "Interval",
    "StrOptions",
    "check_choices",
    "checked_fit",
    "parameter",
    "validate_parameter_constraints",
]

Constraints = dict[str, list[Any]]
REQUIRED = MISSING

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
AT_LEAST_TWO = Interval(Integral, 2, None, closed="left")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
BETWEEN_0_AND_1 = Interval(Real, 0, 1, closed="neither")
PREDICTOR = HasMethods(["fit", "predict"])

Fit = TypeVar("Fit", bound=Callable[..., Any])

_ALLOWED = "allowed"
_OF_TYPES: dict[Any, Any] = {bool: "boolean", int: Integral, float: Real, NoneType: None}
SECTIONS = ("Parameters", "Attributes")


def checked_fit(fit: Fit) -> Fit:
    """Decorate the ``fit`` of an estimator: its parameters are checked before it runs."""
    checked: Fit = _fit_context(prefer_skip_nested_validation=True)(fit)
    return checked


def checked_meta_fit(fit: Fit) -> Fit:
    """Decorate the ``fit`` of an estimator that fits estimators of the user, whose parameters are checked, too."""
    checked: Fit = _fit_context(prefer_skip_nested_validation=False)(fit)
    return checked


def take_rows(table: Any, rows: NDArray[np.intp]) -> Any:
    """Take rows of an array, a list, a sparse matrix or a frame of any library; the result is of the same kind."""
    return _safe_indexing(table, rows)


def take_columns(table: Any, columns: NDArray[np.intp]) -> Any:
    """Take columns of an array, a sparse matrix or a frame by their numbers; the result is of the same kind."""
    return _safe_indexing(table, columns, axis=1)


def parameter(default: object, *allowed: object) -> Any:
    """Declare a field of a dataclass whose type does not say all about its values: ``allowed`` are scikit-learn constraints.

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


@cache
def _rules(kind: Any) -> dict[str, tuple[object, list[Any]]]:
    """Return the default and the constraints of every constrained parameter; made once for a class, not at every fit."""
    parameters = inspect.signature(kind).parameters
    return {
        name: (parameters[name].default, [make_constraint(rule) for rule in allowed])
        for name, allowed in kind._parameter_constraints.items()
        if name in parameters and allowed != "no_validation"
    }


def _declared(kind: type, name: str) -> tuple[Any, ...] | None:
    """Return the constraints of the nearest class that declares some."""
    for base in kind.__mro__:
        declared = vars(base).get("__dataclass_fields__", {}).get(name)
        if declared is not None and _ALLOWED in declared.metadata:
            allowed: tuple[Any, ...] = declared.metadata[_ALLOWED]
            return allowed
    return None


def _of_type(annotation: object) -> Iterator[Any]:
    """Return the constraints that a type annotation implies; ``Any`` if it implies none."""
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


class InheritedDocs:
    """Completes the docstrings of its subclasses.

    A subclass describes only what is new in it, or has another default or meaning. What its base classes describe is appended
    to its sections Parameters, for the fields that it has, and Attributes.

    >>> class Base(InheritedDocs):
    ...     '''A base class.
    ...
    ...     Parameters
    ...     ----------
    ...     k, tol : float, default=1
    ...         Some number.
    ...     '''
    >>> class Nearest(Base):
    ...     '''A subclass.'''
    ...     tol: float
    >>> Nearest.__doc__.splitlines()[-2:]
    ['tol : float, default=1', '    Some number.']
    """

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if cls.__doc__:
            cls.__doc__ = _completed(cls)


def _completed(kind: type) -> str:
    text, sections = _split(kind.__doc__ or "")
    types = {name: found for base in reversed(kind.__mro__) for name, found in inspect.get_annotations(base).items()}
    fields = {name for name, found in types.items() if get_origin(found) is not ClassVar}
    for heading in SECTIONS:
        known = {name for entry in _entries(sections.get(heading, [])) for name in _names(entry)}
        for base in kind.__mro__[1:]:
            if not issubclass(base, InheritedDocs) or base is InheritedDocs:
                continue
            for entry in _entries(_split(base.__doc__ or "")[1].get(heading, [])):
                new = [name for name in _names(entry) if name not in known and (heading != SECTIONS[0] or name in fields)]
                if new:
                    known.update(new)
                    _, colon, rest = entry[0].partition(" : ")
                    sections.setdefault(heading, []).extend([", ".join(new) + colon + rest, *entry[1:]])
    order = [*SECTIONS, *(heading for heading in sections if heading not in SECTIONS)]
    written = [[heading, "-" * len(heading), *sections[heading]] for heading in order if heading in sections]
    return "\n\n".join("\n".join(lines) for lines in [text, *written])


def _split(doc: str) -> tuple[list[str], dict[str, list[str]]]:
    """Split a docstring into the lines before its first section, and those of every section by its heading."""
    lines = inspect.cleandoc(doc).splitlines()
    starts = [row for row, line in enumerate(lines[1:]) if re.fullmatch("-{3,}", line)]
    sections = {lines[start]: _stripped(lines[start + 2 : end]) for start, end in pairwise([*starts, len(lines)])}
    return _stripped(lines[: starts[0]] if starts else lines), sections


def _stripped(lines: list[str]) -> list[str]:
    return "\n".join(lines).strip("\n").split("\n")


def _entries(lines: list[str]) -> Iterator[list[str]]:
    """Return the entries of a section: a line with names and type, and the indented lines of the description."""
    starts = [row for row, line in enumerate(lines) if line and not line.startswith(" ")]
    for start, end in pairwise([*starts, len(lines)]):
        yield lines[start:end]


def _names(entry: list[str]) -> list[str]:
    return entry[0].partition(" : ")[0].split(", ")


class CheckedParameters(InheritedDocs):
    """An estimator with the constraints of its fields; a wrong word is refused with a suggestion of the right one."""

    _parameter_constraints: ClassVar[Any] = _ConstraintsOfFields()

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Return the names that scikit-learn finds; they are cached, because every fit needs them."""
        names: list[str] = super()._get_param_names()  # type: ignore[misc]
        return names

    def _validate_params(self) -> None:
        """Check parameters as scikit-learn does, but only those that differ from their defaults, which are valid."""
        kind: type = type(self)
        refused = {}
        for name, (default, rules) in _rules(kind).items():
            value = vars(self)[name]
            if value is default:
                continue
            for rule in rules:
                if rule.is_satisfied_by(value):
                    break
            else:
                refused[name] = value
        if refused:
            check_choices(self._parameter_constraints, refused, type(self).__name__)
            validate_parameter_constraints(self._parameter_constraints, refused, caller_name=type(self).__name__)


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
