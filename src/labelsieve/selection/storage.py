"""Fitted selectors as JSON files: the selection, the parameters, and the fitted attributes."""

import inspect
import json
import os
import re
import secrets
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import scipy.sparse as sp

from labelsieve.criteria import Hybrid, LeastSquares
from labelsieve.discretize import AsGiven
from labelsieve.errors import InputError, is_whole
from labelsieve.labelspace import LabelNetwork, NetworkRule
from labelsieve.parameters import validate_parameter_constraints
from labelsieve.registry import CRITERIA, DISCRETIZERS, LABEL_SPACES, STOPPING_RULES
from labelsieve.selection.selection import ExplainedSummary, SelectedFeature, Selection, StabilitySummary, StoppingDecision
from labelsieve.stopping import StoppingRule
from labelsieve.tables.frames import check_sparse
from labelsieve.tables.types import is_sparse

FORMAT = "labelsieve selection"
VERSION = 3
MAX_DEPTH = 40  # of lists and tables in each other; what the library writes has less than ten
Selector = TypeVar("Selector")


def write_selector(selector: Any, selection: Selection, path: str | os.PathLike[str]) -> None:
    """Write a fitted selector and its selection to a file: all of it or, if something fails, nothing."""
    state = selector.__getstate__()  # what was left for later is evaluated
    fitted = {name: plain(value) for name, value in state.items() if name.endswith("_") and not name.startswith("_")}
    document = {"format": FORMAT, "version": VERSION, "selection": selection.to_dict(), "fitted": fitted}
    write_file(path, json.dumps(document, indent=1).encode())


def write_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that a reader sees the old file or the whole new one, never a part, also if the run is interrupted.

    The content is written under another name in the same folder first. The file that a link points to is replaced, and the new
    file has the permissions of the old one.
    """
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        opened = draft.open("xb")  # the usual permissions, which a temporary file of the system would not have
    except OSError as error:  # the user knows the name of the file, not that of the draft
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    try:
        with opened as raw:
            if target.exists():
                draft.chmod(S_IMODE(target.stat().st_mode))
            raw.write(content)
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def read_selector(kind: type[Selector], path: str | os.PathLike[str]) -> Selector:
    """Read a fitted selector of a class from a file that :func:`write_selector` wrote."""
    document = _read_document(path)
    with _named(path):
        selection = _selection(document)
    if selection.selector != kind.__name__:
        raise InputError(f"{path}: holds a {selection.selector}; read it with that class's from_json.")
    with _named(path):
        selector = kind(**_settings(kind, selection.settings))
        set_fitted(selector, document.get("fitted"), "fitted")
        _check(selector, selection)
    return selector


def settings_of(selector: Any) -> dict[str, Any]:
    """Return the parameters of a selector as plain values, which JSON can hold."""
    return {name: plain(value) for name, value in selector.get_params(deep=False).items()}


def read_selection(path: str | os.PathLike[str]) -> Selection:
    """Read the :class:`Selection` in a file that ``to_json`` of any selector wrote."""
    document = _read_document(path)
    with _named(path):
        return _selection(document)


@contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the file's name to an error, which has the path of keys."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: a damaged selection ({error}).") from None


def _read_document(path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        document = read_json(Path(path).read_bytes())
    except InputError as error:
        raise InputError(f"{path}: {error}; save selections with to_json.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f"{path}: not a saved selection; save one with to_json.")
    if document.get("version") != VERSION:
        raise InputError(f"{path}: version {document.get('version')} of the format; this release reads version {VERSION}.")
    return document


def _selection(document: Mapping[str, Any]) -> Selection:
    """Read the selection of a document, and check every entry."""
    stored: Any = document.get("selection")
    check_fields(stored, Selection, "selection", without=("stopping", "stability", "explained", "selected"))
    for name in ("stopping", "selected"):
        check_kind(stored.get(name), list[dict[str, Any]], f"selection.{name}")
    for index, feature in enumerate(stored["selected"]):
        check_fields(feature, SelectedFeature, f"selection.selected[{index}]")
    for index, decision in enumerate(stored["stopping"]):
        check_fields(decision, StoppingDecision, f"selection.stopping[{index}]")
    if stored.get("stability") is not None:
        check_fields(stored["stability"], StabilitySummary, "selection.stability")
    if stored.get("explained") is not None:
        check_fields(stored["explained"], ExplainedSummary, "selection.explained")
    try:
        return Selection.from_dict(stored)
    except KeyError as error:
        raise InputError(f"selection has no {error}") from None
    except TypeError as error:
        raise InputError(f"selection: {error}") from None


def _settings(kind: Any, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Read the parameters of a selector, and check them against its constraints, except text that is kept for the record."""
    known = inspect.signature(kind).parameters
    unknown = [name for name in stored if name not in known]
    if unknown:
        raise InputError(f"selection.settings.{unknown[0]} is not a parameter of {kind.__name__}")
    settings = {name: revive(value, f"selection.settings.{name}") for name, value in stored.items()}
    constraints = kind._parameter_constraints
    checked = [name for name in settings if name in constraints and not _is_record(stored[name])]
    try:
        validate_parameter_constraints(
            {name: constraints[name] for name in checked}, {name: settings[name] for name in checked}, kind.__name__
        )
    except ValueError as error:
        raise InputError(f"selection.settings: {error}") from None
    return settings


def _is_record(value: object) -> bool:
    """Whether a stored value is the text of something that has no JSON form, or has such text inside."""
    if isinstance(value, dict):
        return "text" in value or any(map(_is_record, value.values()))
    return isinstance(value, list) and any(map(_is_record, value))


def _check(selector: Any, selection: Selection) -> None:
    """Refuse fitted attributes that do not belong together."""
    for name, kinds in {"support_": "b", "selected_": "iu", "scores_": "f"}.items():
        if not isinstance(value := getattr(selector, name, None), np.ndarray) or value.dtype.kind not in kinds:
            raise InputError(f"fitted.{name} is missing, or not an array of its type")
    n_features: Any = getattr(selector, "n_features_in_", None)
    selected = selector.selected_
    if not is_whole(n_features) or n_features < 0 or selector.support_.shape != (n_features,):
        raise InputError("fitted.support_ does not fit fitted.n_features_in_")
    columns = np.unique(selected[selected >= 0])  # lists of targets end with -1 where they are shorter
    if selector.scores_.shape != selected.shape or not np.array_equal(columns, np.flatnonzero(selector.support_)):
        raise InputError("fitted.selected_, scores_ and support_ do not belong together")
    if np.isnan(selector.scores_[selected >= 0]).any():
        raise InputError("fitted.scores_ has a selected feature without a score")
    lists = [row[row >= 0].tolist() for row in np.atleast_2d(selected)] if selected.ndim <= 2 else [[0, 0]]
    if any(len(set(row)) < len(row) for row in lists) or (selected.ndim == 1 and (selected < 0).any()):
        raise InputError("fitted.selected_ has a feature twice, or a negative column")
    in_order = [column for row in lists for column in row]
    stored = [feature.column for feature in selection.selected]
    if selected.ndim == 1 and selection.labelwise:  # selections by label, and their union by the size of coefficients
        stored, in_order = sorted(set(stored)), columns.tolist()
    if selection.n_features != n_features or stored != in_order:
        raise InputError("selection.selected and fitted.selected_ do not belong together")
    names = getattr(selector, "feature_names_in_", None)
    if names is not None and (not isinstance(names, np.ndarray) or names.shape != (n_features,)):
        raise InputError("fitted.feature_names_in_ does not fit fitted.n_features_in_")
    _check_shapes(selector, n_features, lists)
    try:
        again = _selection({"selection": json.loads(json.dumps(selector.selection().to_dict()))})
    except (AttributeError, TypeError, ValueError, LookupError) as error:
        raise InputError(f"fitted has attributes that make no selection: {error}") from None
    if again.columns != selection.columns:
        raise InputError("fitted has attributes that make another selection")


def _check_shapes(selector: Any, n_features: int, lists: list[list[int]]) -> None:
    """Refuse arrays of features and of steps that have other lengths."""
    shapes: dict[str, tuple[int, ...]] = {"feature_scores_": (n_features,), "relevance_": (n_features,)}
    if selector.selected_.ndim == 2:
        shapes["label_support_"] = (len(lists), n_features)
    for name, shape in shapes.items():
        if getattr(selector, name, None) is not None and np.shape(getattr(selector, name)) != shape:
            raise InputError(f"fitted.{name} does not fit the number of features or labels")
    components = getattr(selector, "score_components_", None) or {}
    if not isinstance(components, dict) or any(np.shape(values) != selector.scores_.shape for values in components.values()):
        raise InputError("fitted.score_components_ does not fit fitted.scores_")


_REGISTRIES = CRITERIA, DISCRETIZERS, LABEL_SPACES, STOPPING_RULES
_STORABLE: dict[str, type] = {item.__name__: item for item in (AsGiven, Hybrid, LabelNetwork, LeastSquares, NetworkRule)}
_STORABLE |= {item.__name__: item for registry in _REGISTRIES for item in registry.values()}
_DTYPE = re.compile(r"bool|str|u?int(8|16|32|64)|float(16|32|64)")
_FITTED_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*_")
_ENTRIES: Mapping[str, tuple[type, ...]] = {"b": (bool,), "i": (int,), "u": (int,), "f": (int, float, type(None)), "O": (str,)}
_CSR = ("data", "indices", "indptr")
_KINDS: Mapping[str, Any] = {"int": int, "float": float, "bool": bool, "str": str}


def plain(value: object) -> Any:
    """Convert a value to what JSON can hold; anything else is kept as text, for the record."""
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
            # The explained share is part of the selection.
            results = {name: item for name, item in vars(value).items() if name.endswith("_") and name != "explained_"}
            stored["fitted"] = {name: plain(item) for name, item in results.items()}
        return stored
    return {"text": repr(value)}


def revive(value: object, place: str) -> Any:
    """Make the value again that :func:`plain` wrote; ``place`` is its path of keys, which errors name."""
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
        if (
            not _FITTED_NAME.fullmatch(name)
            or callable(getattr(type(target), name, None))
            or isinstance(getattr(type(target), name, None), property)
        ):
            raise InputError(f"{place}.{name} is not a fitted attribute of {type(target).__name__}")
        setattr(target, name, revive(value, f"{place}.{name}"))


def _array(entries: Any, dtype: Any, place: str) -> Any:
    """Read an array, and check that its entries have the type that the file declares: no text becomes a number."""
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
    """Read a sparse array in compressed rows, and check that its pointers and indices stay inside of it."""
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
