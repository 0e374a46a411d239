"""Values of a fitted selector in the forms that JSON has, and back: arrays, tables and objects of the library."""

import inspect
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelsieve.discretize import AsGiven
from labelsieve.errors import InputError
from labelsieve.labelspace import LabelNetwork, NetworkRule
from labelsieve.registry import CRITERIA, DISCRETIZERS, LABEL_SPACES, STOPPING_RULES
from labelsieve.selectors.json_document import check_kind
from labelsieve.stopping import StoppingRule
from labelsieve.tables.sparse import check_sparse
from labelsieve.tables.types import is_sparse

_REGISTRIES = CRITERIA, DISCRETIZERS, LABEL_SPACES, STOPPING_RULES
_STORABLE: dict[str, type] = {item.__name__: item for item in (AsGiven, LabelNetwork, NetworkRule)}
_STORABLE |= {item.__name__: item for registry in _REGISTRIES for item in registry.values()}
_DTYPE = re.compile(r"bool|str|u?int(8|16|32|64)|float(16|32|64)")
_FITTED_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*_")
_ENTRIES: Mapping[str, tuple[type, ...]] = {"b": (bool,), "i": (int,), "u": (int,), "f": (int, float, type(None)), "O": (str,)}
_CSR = ("data", "indices", "indptr")
_KINDS: Mapping[str, Any] = {"int": int, "float": float, "bool": bool, "str": str}


def plain(value: object) -> Any:
    """A value as JSON; what has no JSON form is kept as text, for the record."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":  # JSON has no NaN; numpy reads null as one
            return {"array": np.where(np.isnan(value), np.array(None), value).tolist(), "dtype": value.dtype.name}
        return {"array": value.tolist(), "dtype": "str" if value.dtype.kind in "OU" else value.dtype.name}
    if is_sparse(value):
        rows = value.tocsr()
        return {"sparse": list(rows.shape), **{name: plain(getattr(rows, name)) for name in _CSR}}
    if isinstance(value, dict):
        return {"dict": {str(key): plain(item) for key, item in value.items()}}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if type(value).__name__ in _STORABLE and type(value) is _STORABLE[type(value).__name__]:
        parameters = {name: plain(getattr(value, name)) for name in inspect.signature(type(value)).parameters}
        stored = {"object": type(value).__name__, "parameters": parameters}
        if isinstance(value, StoppingRule):  # with its results
            stored["fitted"] = {name: plain(item) for name, item in vars(value).items() if name.endswith("_")}
        return stored
    return {"text": repr(value)}


def revive(value: object, place: str) -> Any:
    """The value that :func:`plain` wrote; ``place`` is its path of keys, for the message where it is damaged."""
    if isinstance(value, list):
        return [revive(item, f"{place}[{index}]") for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    keys = set(value)
    if keys == {"array", "dtype"}:
        return _array(value["array"], value["dtype"], place)
    if keys == {"sparse", *_CSR}:
        return _sparse(value, place)
    if keys in ({"object", "parameters"}, {"object", "parameters", "fitted"}):
        return _object(value, place)
    if keys == {"dict"}:
        check_kind(value["dict"], dict[str, Any], place)
        return {key: revive(item, f"{place}.{key}") for key, item in value["dict"].items()}
    if keys == {"text"}:
        check_kind(value["text"], str, place)
        return value["text"]
    raise InputError(f"{place} is a table with the keys {', '.join(sorted(keys)) or 'none'}, which no stored value has")


def set_fitted(target: Any, stored: Any, place: str) -> None:
    """Set fitted attributes, whose names end with an underscore and are not those of methods or properties."""
    check_kind(stored, dict[str, Any], place)
    for name, value in stored.items():
        if not _FITTED_NAME.fullmatch(name) or hasattr(type(target), name):
            raise InputError(f"{place}.{name} is not a fitted attribute of {type(target).__name__}")
        setattr(target, name, revive(value, f"{place}.{name}"))


def _array(entries: Any, dtype: Any, place: str) -> Any:
    """An array whose entries have the type that the file says: no text becomes a number."""
    check_kind(entries, list[Any], place)
    check_kind(dtype, str, f"{place}.dtype")
    if not _DTYPE.fullmatch(dtype):
        raise InputError(f"{place}.dtype is {dtype[:40]!r}, which is not the type of an array of numbers, booleans or text")
    kind = np.dtype(object if dtype == "str" else dtype)
    level = entries
    while any(isinstance(entry, list) for entry in level):
        if not all(isinstance(entry, list) and len(entry) == len(level[0]) for entry in level):
            raise InputError(f"{place} has rows of different lengths")
        level = [item for entry in level for item in entry]
    for entry in level:
        if type(entry) not in _ENTRIES[kind.kind]:
            raise InputError(f"{place} has {str(entry)[:40]!r} in an array of {dtype}")
    try:
        return np.array(entries, dtype=kind)
    except (OverflowError, ValueError) as error:
        raise InputError(f"{place}: {error}") from None


def _sparse(stored: Mapping[str, Any], place: str) -> Any:
    """A sparse array in compressed rows, whose pointers and indices lead nowhere else."""
    check_kind(shape := stored["sparse"], list[int], place)
    arrays = {name: revive(stored[name], f"{place}.{name}") for name in _CSR}
    for name, array in arrays.items():
        kinds = "biuf" if name == "data" else "iu"
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in kinds:
            raise InputError(f"{place}.{name} is not an array of its type")
    if len(shape) != 2 or not all(0 <= size < 2**31 for size in shape) or len(arrays["indptr"]) != shape[0] + 1:
        raise InputError(f"{place} has a shape that its rows do not fit")
    try:
        matrix = sp.csr_array(tuple(arrays[name] for name in _CSR), shape=tuple(shape))
    except ValueError as error:
        raise InputError(f"{place}: {error}") from None
    check_sparse(matrix, place)
    return matrix


def _object(stored: Mapping[str, Any], place: str) -> Any:
    name = stored["object"]
    if not isinstance(name, str) or name not in _STORABLE:
        raise InputError(f"{place} is an object of the unknown class {str(name)[:60]!r}")
    kind, given = _STORABLE[name], stored["parameters"]
    check_kind(given, dict[str, Any], f"{place}.parameters")
    known = inspect.signature(kind).parameters
    parameters = {}
    for key, item in given.items():
        where = f"{place}.parameters.{key}"
        if key not in known:
            raise InputError(f"{where} is not a parameter of {name}")
        annotation = known[key].annotation  # others than those of plain values are checked by the object
        check_kind(
            item, _KINDS.get(annotation if isinstance(annotation, str) else getattr(annotation, "__name__", ""), Any), where
        )
        parameters[key] = revive(item, where)
    try:
        revived = kind(**parameters)
    except Exception as error:  # a constructor may use a damaged parameter in any way before it refuses it
        raise InputError(f"{place} is not a {name} ({type(error).__name__}: {error})") from None
    if "fitted" in stored:
        set_fitted(revived, stored["fitted"], f"{place}.fitted")
    return revived
