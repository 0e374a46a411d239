"""Methods and classifiers under the names that results carry: from a name, from a table of plain settings, or as objects."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from sklearn.base import clone

from labelsieve.errors import InputError
from labelsieve.fingerprint import class_print
from labelsieve.registry import (
    CLASSIFIERS,
    CRITERIA,
    DISCRETIZERS,
    LABEL_SPACES,
    make_classifier,
    make_selector,
    resolve_method,
)
from labelsieve.selectors.labelwise import LabelwiseSieve
from labelsieve.selectors.sieve import Sieve
from labelsieve.studies.protocol.leak_checks import refuse_fitted
from labelsieve.studies.protocol.plain_settings import plain_or_none

_PARTS: dict[str, Mapping[str, type]] = {"criterion": CRITERIA, "targets": LABEL_SPACES, "discretizer": DISCRETIZERS}


@dataclass(frozen=True, eq=False)
class NamedEstimator:
    """An unfitted estimator and its name; ``settings`` are what it was made of, None where it came as an object."""

    name: str
    estimator: Any
    settings: Mapping[str, Any] | None = None

    @cached_property
    def identity(self) -> str:
        """What the result depends on, as text to compare."""
        if self.settings is not None:
            return json.dumps(self.settings, sort_keys=True)
        import joblib

        own, parameters = type(self.estimator), self.estimator.get_params(deep=True)
        formula = getattr(parameters.get("criterion"), "plan", None)
        code = class_print(self.estimator, *parameters.values())
        try:
            return f"{own.__module__}.{own.__qualname__} {joblib.hash(parameters)} {formula and formula.score} {code}".rstrip()
        except Exception as error:
            why = error.args[0] if error.args else error
            raise InputError(
                f"{self.name}: its parameters cannot be compared with those of a later run ({why}). "
                "Functions need a name at the top of a module."
            ) from None


def read_method(given: Any) -> NamedEstimator:
    """A selector from a name, a table of settings, or a pair of name and selector.

    >>> read_method("mlqpfs").estimator, read_method("ela-chi").estimator
    (QuadraticSieve(), ChiSquare(targets='copy-weight'))
    >>> read_method({"name": "mine", "criterion": {"name": "jmi", "normalized": True}, "targets": "joint"}).name
    'mine'
    """
    if isinstance(given, NamedEstimator):
        return given
    if isinstance(given, tuple):
        return _object(given, "method", ("fit",))
    settings = _settings(given, "method")
    name = settings.pop("name")
    plain = plain_or_none(settings)
    settings.setdefault("criterion", name)
    for part, known in _PARTS.items():
        if isinstance(settings.get(part), Mapping):
            settings[part] = _part(settings[part], known, f"method {name!r}, {part}")
    if "n_features_to_select" in settings:
        raise InputError(f"method {name!r}: n_features_to_select is not a setting of a method; say n_features of the study.")
    made = _make(make_selector, settings, f"method {name!r}")
    if isinstance(made, Sieve):
        resolve_method(made.criterion, made.targets, made.discretizer)  # refuses names that nobody knows
    return _named(name, made, plain, "method")


def read_classifier(given: Any) -> NamedEstimator:
    """A classifier from a name, a table of settings, or a pair of name and classifier.

    >>> read_classifier({"name": "seven", "classifier": "mlknn", "k": 7}).estimator
    MLkNN(k=7)
    >>> read_classifier({"name": "rakel", "k": 2, "base": "tree"}).estimator
    RAkEL(base=DecisionTreeClassifier(), k=2)
    """
    if isinstance(given, NamedEstimator):
        return given
    if isinstance(given, tuple):
        return _object(given, "classifier", ("fit", "predict"))
    settings = _settings(given, "classifier")
    name = settings.pop("name")
    plain = plain_or_none(settings)
    kind = settings.pop("classifier", name)
    if not isinstance(kind, str) or kind not in CLASSIFIERS:
        raise InputError(f"classifier {kind!r} is not known; there are {', '.join(CLASSIFIERS)}, or a pair (name, classifier).")
    return _named(name, _make(partial(make_classifier, kind), settings, f"classifier {name!r}"), plain, "classifier")


def _named(name: str, made: Any, plain: Mapping[str, Any] | None, what: str) -> NamedEstimator:
    """From a table of settings; one with objects in it is as if all of it had come as an object."""
    if plain is None:
        refuse_fitted(made, f"{what} {name!r}")
    return NamedEstimator(name, made, plain)


def _settings(given: Any, what: str) -> dict[str, Any]:
    settings = {"name": given} if isinstance(given, str) else dict(given) if isinstance(given, Mapping) else {}
    if not isinstance(settings.get("name"), str) or not settings["name"].strip():
        raise InputError(f"a {what} is a name, a table of settings with a name, or a pair (name, {what}), not {given!r}.")
    return settings


def _object(given: tuple[Any, ...], what: str, needed: tuple[str, ...]) -> NamedEstimator:
    if len(given) != 2 or not isinstance(given[0], str) or not all(hasattr(given[1], one) for one in (*needed, "get_params")):
        raise InputError(f"a {what} given as an object is a pair (name, {what}), not {given!r}.")
    if isinstance(given[1], type):
        own = given[1].__name__
        raise InputError(f"a {what} given as an object is a pair (name, {what}), and {own} is a class; say {own}().")
    if isinstance(given[1], LabelwiseSieve):
        raise InputError(
            f"{what} {given[0]!r}: LabelwiseSieve has a list for every label, and a study compares single rankings."
        )
    refuse_fitted(given[1], f"{what} {given[0]!r}")
    return NamedEstimator(given[0], clone(given[1]))


def _part(settings: Mapping[str, Any], known: Mapping[str, type], where: str) -> Any:
    values = dict(settings)
    name = str(values.pop("name", "")).lower()
    if name not in known:
        raise InputError(f"{where}: {name!r} is not known; there are {', '.join(known)}.")
    return _make(known[name], {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}, where)


def _make(own: Callable[..., Any], settings: Mapping[str, Any], where: str) -> Any:
    try:
        made = own(**settings)
        if hasattr(made, "_parameter_constraints"):
            made._validate_params()
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: {str(error).rstrip('.')}.") from None
    return made
