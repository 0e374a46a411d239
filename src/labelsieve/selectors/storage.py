"""Fitted selectors as JSON files: the selection, and the fitted attributes."""

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from stat import S_IMODE
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.validation import check_is_fitted

from labelsieve.errors import InputError, is_whole
from labelsieve.selectors.json_document import check_fields, check_kind, read_json
from labelsieve.selectors.selection import SelectedFeature, Selection, StabilitySummary, StoppingDecision
from labelsieve.selectors.stored_values import plain, revive, set_fitted

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
        fitted = {name: plain(value) for name, value in vars(self).items() if name.endswith("_") and not name.startswith("_")}
        document = {"format": FORMAT, "version": VERSION, "selection": result.to_dict(), "fitted": fitted}
        target = Path(path)
        text = json.dumps(document, indent=1)
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        try:
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # the mode that the umask leaves
            if target.exists():
                temporary.chmod(S_IMODE(target.stat().st_mode))
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Self:
        """Read a fitted selector: it transforms as the one that was saved."""
        document = _read_document(path)
        with _named(path):
            selection = _selection(document)
        if selection.selector != cls.__name__:
            raise InputError(f"{path}: holds a {selection.selector}; read it with that class's from_json.")
        with _named(path):
            selector = cls(**_settings(cls, selection.settings))
            set_fitted(selector, document.get("fitted"), "fitted")
            _check(selector, selection)
        return selector

    def _settings(self) -> dict[str, Any]:
        """The parameters as plain values."""
        return {name: plain(value) for name, value in self.get_params(deep=False).items()}  # type: ignore[attr-defined]


def read_selection(path: str | os.PathLike[str]) -> Selection:
    """The :class:`Selection` in a file that ``to_json`` of any selector wrote."""
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
    """The selection of a document, with every entry checked."""
    stored: Any = document.get("selection")
    check_fields(stored, Selection, "selection", without=("stopping", "stability", "selected"))
    for name in ("stopping", "selected"):
        check_kind(stored.get(name), list[dict[str, Any]], f"selection.{name}")
    for index, feature in enumerate(stored["selected"]):
        check_fields(feature, SelectedFeature, f"selection.selected[{index}]")
    for index, decision in enumerate(stored["stopping"]):
        check_fields(decision, StoppingDecision, f"selection.stopping[{index}]")
    if stored.get("stability") is not None:
        check_fields(stored["stability"], StabilitySummary, "selection.stability")
    try:
        return Selection.from_dict(stored)
    except KeyError as error:
        raise InputError(f"selection has no {error}") from None
    except TypeError as error:
        raise InputError(f"selection: {error}") from None


def _settings(kind: Any, stored: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a selector, checked against its constraints; text for the record has none."""
    known = signature(kind).parameters
    unknown = [name for name in stored if name not in known]
    if unknown:
        raise InputError(f"selection.settings.{unknown[0]} is not a parameter of {kind.__name__}")
    settings = {name: revive(value, f"selection.settings.{name}") for name, value in stored.items()}
    constraints = getattr(kind, "_parameter_constraints", {})
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


def _check(selector: BaseEstimator, selection: Selection) -> None:
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


def _check_shapes(selector: BaseEstimator, n_features: int, lists: list[list[int]]) -> None:
    """Refuse arrays of features and of steps that have other lengths."""
    shapes: dict[str, tuple[int, ...]] = {"feature_scores_": (n_features,), "relevance_": (n_features,)}
    if hasattr(selector, "label_ranking") and selector.selected_.ndim == 2:
        shapes["label_support_"] = (len(lists), n_features)
    for name, shape in shapes.items():
        if hasattr(selector, name) and np.shape(getattr(selector, name)) != shape:
            raise InputError(f"fitted.{name} does not fit the number of features or labels")
    components = getattr(selector, "score_components_", {})
    if not isinstance(components, dict) or any(np.shape(values) != selector.scores_.shape for values in components.values()):
        raise InputError("fitted.score_components_ does not fit fitted.scores_")
