"""Named methods and classifiers of a study: from a name, a table of settings, or an object."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from sklearn.base import BaseEstimator, clone

from labelsieve.errors import InputError, unknown_name
from labelsieve.fingerprint import class_print
from labelsieve.registry import (
    CRITERIA,
    DISCRETIZERS,
    LABEL_SPACES,
    for_label_sets,
    make_classifier,
    make_selector,
    resolve_method,
)
from labelsieve.selectors.labelwise import LabelwiseSieve
from labelsieve.selectors.sieve import Sieve
from labelsieve.studies.protocol.leakage_checks import refuse_fitted
from labelsieve.studies.protocol.protocol_lists import read_sizes
from labelsieve.studies.protocol.toml_file import plain_or_none

_COMPONENTS: dict[str, tuple[str, Mapping[str, type]]] = {
    "criterion": ("criterion", CRITERIA),
    "targets": ("label space", LABEL_SPACES),
    "discretizer": ("discretizer", DISCRETIZERS),
}


@dataclass(frozen=True, eq=False)
class NamedEstimator:
    """An unfitted estimator and its name in the results; ``settings`` is None for an estimator given as an object.

    ``sizes`` are the numbers of features that a classifier is evaluated with; None: those of the study.
    """

    name: str
    estimator: BaseEstimator
    settings: Mapping[str, Any] | None = None
    sizes: tuple[int | float, ...] | None = None

    @cached_property
    def identity(self) -> str:
        """Text that is equal for estimators with equal results."""
        if self.settings is not None:
            return json.dumps(self.settings, sort_keys=True)
        import joblib

        kind, parameters = type(self.estimator), self.estimator.get_params(deep=True)
        formula = getattr(parameters.get("criterion"), "plan", None)
        code = class_print(self.estimator, *parameters.values())
        try:
            return (
                f"{kind.__module__}.{kind.__qualname__} {joblib.hash(parameters)} {formula and formula.score} {code}".rstrip()
            )
        except Exception as error:
            why = error.args[0] if error.args else error
            raise InputError(
                f"{self.name}: its parameters cannot be compared with those of a later run ({why}). "
                "Define functions at the top of a module."
            ) from None


def read_method(given: object) -> NamedEstimator:
    """Make a selector from a name, a table of settings, or a pair of name and selector.

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
    for component in _COMPONENTS:
        if isinstance(settings.get(component), Mapping):
            settings[component] = _component(settings[component], component, f"method {name!r}, {component}")
    if "n_features_to_select" in settings:
        raise InputError(f"method {name!r}: n_features_to_select is not a setting of a method; set n_features of the study.")
    selector = _make(make_selector, settings, f"method {name!r}")
    if isinstance(selector, Sieve):
        resolve_method(selector.criterion, selector.targets, selector.discretizer)  # refuses unknown names
    return _named(name, selector, plain, "method")


def read_classifier(given: object, *, numeric: bool = False) -> NamedEstimator:
    """Make a learner from a name, a table of settings, or a pair of name and estimator; ``numeric``: for numeric targets.

    >>> read_classifier({"name": "seven", "classifier": "mlknn", "k": 7}).estimator
    MLkNN(k=7)
    >>> read_classifier({"name": "rakel", "k": 2, "base": "tree"}).estimator
    RAkEL(base=DecisionTreeClassifier(), k=2)
    >>> read_classifier({"name": "ridge", "classifier": "sklearn.linear_model.RidgeClassifier", "alpha": 2.0}).estimator
    RidgeClassifier(alpha=2.0)
    """
    if isinstance(given, NamedEstimator):
        return given
    if isinstance(given, tuple):
        named = _object(given, "classifier", ("fit", "predict"))
        return replace(named, estimator=for_label_sets(named.estimator, numeric=numeric))
    settings = _settings(given, "classifier")
    name = settings.pop("name")
    sizes = tuple(read_sizes(settings.pop("n_features"))) if "n_features" in settings else None
    plain = plain_or_none(settings)
    kind = settings.pop("classifier", name)
    made = _make(partial(make_classifier, kind, numeric=numeric), settings, f"classifier {name!r}")
    return replace(_named(name, made, plain, "classifier"), sizes=sizes)


def _named(name: str, estimator: BaseEstimator, plain: Mapping[str, Any] | None, kind: str) -> NamedEstimator:
    """Name an estimator; settings that contain an object (``plain`` is None) are checked like an object."""
    if plain is None:
        refuse_fitted(estimator, f"{kind} {name!r}")
    return NamedEstimator(name, estimator, plain)


def _settings(given: object, kind: str) -> dict[str, Any]:
    settings = {"name": given} if isinstance(given, str) else dict(given) if isinstance(given, Mapping) else {}
    if not isinstance(settings.get("name"), str) or not settings["name"].strip():
        raise InputError(f"a {kind} is a name, a table of settings with a name, or a pair (name, {kind}), not {given!r}.")
    return settings


def _object(given: tuple[Any, ...], kind: str, needed: tuple[str, ...]) -> NamedEstimator:
    pair = f"a {kind} given as an object is a pair (name, {kind})"
    methods = (*needed, "get_params")
    if len(given) != 2 or not isinstance(given[0], str) or not all(hasattr(given[1], method) for method in methods):
        raise InputError(f"{pair}, not {given!r}.")
    name, estimator = given
    if isinstance(estimator, type):
        raise InputError(f"{pair}, and {estimator.__name__} is a class; pass {estimator.__name__}().")
    if isinstance(estimator, LabelwiseSieve):
        raise InputError(f"{kind} {name!r}: LabelwiseSieve ranks for every label, and a study compares single rankings.")
    refuse_fitted(estimator, f"{kind} {name!r}")
    return NamedEstimator(name, clone(estimator))


def _component(settings: Mapping[str, Any], component: str, where: str) -> Any:
    values, (kind, known) = dict(settings), _COMPONENTS[component]
    name = str(values.pop("name", "")).lower()
    if name not in known:
        raise InputError(f"{where}: {unknown_name(kind, name, known)}")
    return _make(known[name], {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}, where)


def _make(factory: Callable[..., Any], settings: Mapping[str, Any], where: str) -> Any:
    try:
        estimator = factory(**settings)
        if hasattr(estimator, "_parameter_constraints"):
            estimator._validate_params()
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: {str(error).rstrip('.')}.") from None
    return estimator
