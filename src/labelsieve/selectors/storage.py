"""Fitted selectors as JSON files: the selection, and the fitted attributes."""

import inspect
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from labelsieve.discretize import AsGiven
from labelsieve.errors import InputError
from labelsieve.labelspace import LabelNetwork, NetworkRule
from labelsieve.registry import CRITERIA, DISCRETIZERS, LABEL_SPACES, STOPPING_RULES
from labelsieve.selectors.selection import Selection
from labelsieve.stopping import StoppingRule

FORMAT = "labelsieve selection"
VERSION = 2


class JsonStorage:
    """Saving fitted selectors and loading them again."""

    def to_json(self, path: str | os.PathLike[str], selection: Selection | None = None) -> None:
        """Write the fitted selector to ``path``: all of it or, if something fails, nothing.

        ``selection`` is stored in place of ``self.selection()``: one made with the data has their fingerprints.
        """
        check_is_fitted(self)
        result: Selection = self.selection() if selection is None else selection  # type: ignore[attr-defined]
        fitted = {name: _plain(value) for name, value in vars(self).items() if name.endswith("_") and not name.startswith("_")}
        document = {"format": FORMAT, "version": VERSION, "selection": result.to_dict(), "fitted": fitted}
        target = Path(path)
        text = json.dumps(document, indent=1)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        temporary = Path(name)
        try:
            os.close(handle)
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Self:
        """Read a fitted selector: it transforms as the one that was saved."""
        document = _read_document(path)
        try:
            selection = Selection.from_dict(document["selection"])
            if selection.selector == cls.__name__:
                selector = cls(**{name: _revive(value) for name, value in selection.settings.items()})
                for name, value in document["fitted"].items():
                    setattr(selector, name, _revive(value))
                _check(selector, selection)
        except (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError) as error:
            raise InputError(f"{path}: a damaged selection ({error}).") from None
        if selection.selector != cls.__name__:
            raise InputError(f"{path}: holds a {selection.selector}; read it with that class's from_json.")
        return selector

    def _settings(self) -> dict[str, Any]:
        """The parameters as plain values."""
        return {name: _plain(value) for name, value in self.get_params(deep=False).items()}  # type: ignore[attr-defined]


def read_selection(path: str | os.PathLike[str]) -> Selection:
    """The :class:`Selection` in a file that ``to_json`` of any selector wrote."""
    document = _read_document(path)
    try:
        return Selection.from_dict(document["selection"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"{path}: a damaged selection ({error}).") from None


def _read_document(path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not JSON ({error}); save selections with to_json.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f"{path}: not a saved selection; save one with to_json.")
    if document.get("version") != VERSION:
        raise InputError(f"{path}: version {document.get('version')} of the format; this release reads version {VERSION}.")
    return document


def _plain(value: Any) -> Any:
    """A value as JSON; what has no JSON form is kept as text, for the record."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":  # JSON has no NaN; numpy reads null as one
            return {"array": np.where(np.isnan(value), np.array(None), value).tolist(), "dtype": value.dtype.name}
        return {"array": value.tolist(), "dtype": "str" if value.dtype.kind in "OU" else value.dtype.name}
    if isinstance(value, dict):
        return {"dict": {str(key): _plain(item) for key, item in value.items()}}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if type(value).__name__ in _STORABLE and type(value) is _STORABLE[type(value).__name__]:
        parameters = {name: _plain(getattr(value, name)) for name in inspect.signature(type(value)).parameters}
        plain = {"object": type(value).__name__, "parameters": parameters}
        if isinstance(value, StoppingRule):  # with its results
            plain["fitted"] = {name: _plain(item) for name, item in vars(value).items() if name.endswith("_")}
        return plain
    return {"text": repr(value)}


_REGISTRIES = CRITERIA, DISCRETIZERS, LABEL_SPACES, STOPPING_RULES
_STORABLE: dict[str, type] = {item.__name__: item for item in (AsGiven, LabelNetwork, NetworkRule)}
_STORABLE |= {item.__name__: item for registry in _REGISTRIES for item in registry.values()}


def _revive(value: Any) -> Any:
    if isinstance(value, list):
        return [_revive(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return np.array(value["array"], dtype=object if value["dtype"] == "str" else value["dtype"])
    if "object" in value:
        revived = _STORABLE[value["object"]](**{key: _revive(item) for key, item in value["parameters"].items()})
        for name, item in value.get("fitted", {}).items():
            setattr(revived, name, _revive(item))
        return revived
    if "dict" in value:
        return {key: _revive(item) for key, item in value["dict"].items()}
    return value["text"]


def _check(selector: Any, selection: Selection) -> None:
    n_features = int(selector.n_features_in_)
    if selector.support_.shape != (n_features,) or selector.support_.dtype != bool:
        raise ValueError("support_ does not fit n_features_in_")
    selected = np.unique(selector.selected_[selector.selected_ >= 0])  # lists of targets end with -1 where they are shorter
    if selector.scores_.shape != selector.selected_.shape or not np.array_equal(selected, np.flatnonzero(selector.support_)):
        raise ValueError("selected_, scores_ and support_ do not belong together")
    if selection.n_features != n_features or selection.columns != selected.tolist():
        raise ValueError("the selection and the fitted attributes do not belong together")
