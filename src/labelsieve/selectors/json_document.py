"""JSON from files that may be damaged: nesting is bounded, and values are checked against annotations of types."""

import json
import types
from collections.abc import Mapping
from typing import Any, Union, get_args, get_origin, get_type_hints

from labelsieve.errors import InputError

MAX_DEPTH = 40  # of lists and tables in each other; what the library writes has less than ten


def read_json(text: str | bytes) -> Any:
    """Parse JSON; an ``InputError`` says what is wrong, without the name of the file.

    >>> read_json('{"k": [1, 2]}')
    {'k': [1, 2]}
    >>> read_json("[" * 100 + "]" * 100)
    Traceback (most recent call last):
    labelsieve.errors.InputError: lists and tables are nested more than 40 deep
    """
    try:
        document = json.loads(text)
    except RecursionError:
        raise InputError(f"lists and tables are nested more than {MAX_DEPTH} deep") from None
    except ValueError as error:  # not JSON, not UTF-8, or a number of thousands of digits
        raise InputError(f"not JSON ({error})") from None
    level = [document]
    for _ in range(MAX_DEPTH):
        inside = [value for value in level if isinstance(value, list | dict)]
        level = [entry for value in inside for entry in (value.values() if isinstance(value, dict) else value)]
        if not level:
            return document
    raise InputError(f"lists and tables are nested more than {MAX_DEPTH} deep")


def check_kind(value: object, kind: object, place: str) -> None:
    """Refuse a JSON value that does not have the type of an annotation; ``place`` is its path of keys, for the message.

    Supports ``str``, ``int``, ``float``, ``bool``, ``None``, ``Any``, unions, ``dict``, ``list``, and ``tuple``, which is a
    list in JSON. Other annotations are not checked.

    >>> check_kind({"tempo": 0.5}, dict[str, float], "selection.components")
    >>> check_kind("3", int | None, "selection.n_rows")
    Traceback (most recent call last):
    labelsieve.errors.InputError: selection.n_rows is '3', and a whole number or nothing is needed
    """
    if not _is_kind(value, kind):
        text = repr(value)
        shown = text if len(text) <= 60 else f"a {type(value).__name__}"
        raise InputError(f"{place} is {shown}, and {_words(kind)} is needed")
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is dict and isinstance(value, dict):
        for key, entry in value.items():
            check_kind(entry, arguments[1], f"{place}.{key}")
    elif origin in (list, tuple) and isinstance(value, list):
        fixed = origin is tuple and Ellipsis not in arguments
        if fixed and len(value) != len(arguments):
            raise InputError(f"{place} has {len(value)} entries, and {len(arguments)} are needed")
        for index, entry in enumerate(value):
            check_kind(entry, arguments[index if fixed else 0], f"{place}[{index}]")
    elif origin in (Union, types.UnionType):
        inner = [argument for argument in arguments if argument is not type(None) and _is_kind(value, argument)]
        if inner and value is not None:
            check_kind(value, inner[0], place)


def check_fields(document: Any, kind: type, place: str, *, without: tuple[str, ...] = ()) -> None:
    """Refuse a table whose entries do not have the types of the fields of a dataclass; fields may be missing.

    Fields ``without`` are not checked.
    """
    check_kind(document, dict[str, Any], place)
    for name, annotation in get_type_hints(kind).items():
        if name in document and name not in without:
            check_kind(document[name], annotation, f"{place}.{name}")


_WORDS: Mapping[Any, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "nothing",
    dict: "a table",
    list: "a list",
    tuple: "a list",
}


def _words(kind: object) -> str:
    arguments = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    return " or ".join(_WORDS[get_origin(argument) or argument] for argument in arguments)


def _is_kind(value: object, kind: Any) -> bool:
    origin = get_origin(kind) or kind
    if origin in (Union, types.UnionType):
        return any(_is_kind(value, argument) for argument in get_args(kind))
    if origin not in _WORDS:
        return True
    if isinstance(value, bool):
        return origin is bool
    if origin is float:
        return isinstance(value, int | float)
    return isinstance(value, list) if origin is tuple else isinstance(value, origin)
