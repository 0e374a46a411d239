"""Criteria, label spaces, discretizers and stopping rules by name.

A class with a ``name`` in a module of its package is listed because it exists.
"""

import inspect
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, TypeVar

from sklearn.base import clone

from labelsieve import criteria, discretize, labelspace, stopping
from labelsieve.criteria import Criterion
from labelsieve.discretize import AsGiven, ByColumn, Discretizer, Levels
from labelsieve.errors import InputError
from labelsieve.labelspace import LabelSpace
from labelsieve.registry.aliases import canonical, no_such_name
from labelsieve.registry.published_methods import METHODS
from labelsieve.stopping import StoppingRule

T = TypeVar("T")
ALL = "all"  # the number of features of a complete ranking


def _discover(package: ModuleType, base: type[T], modules: str) -> dict[str, type[T]]:
    """Classes of a package with a ``name``; those of ``modules`` first, in this order, then all others."""
    classes: dict[str, type[T]] = {}
    for module in dict.fromkeys([*modules.split(), *(info.name for info in iter_modules(package.__path__))]):
        home = f"{package.__name__}.{module}"
        for item in vars(import_module(home)).values():
            if isinstance(item, type) and issubclass(item, base) and item.__module__ == home and "name" in vars(item):
                classes[str(item.name)] = item  # type: ignore[attr-defined]
    return classes


#: Criteria by name.
CRITERIA: dict[str, type[Criterion]] = {
    name: criterion
    for name, criterion in _discover(criteria, Criterion, "relevance relevance_redundancy multilabel").items()
    if criterion.listed
}
#: Label spaces by name.
LABEL_SPACES: dict[str, type[LabelSpace]] = _discover(labelspace, LabelSpace, "single_and_joint label_transformations group")
#: Discretizers by name.
DISCRETIZERS: dict[str, type[Discretizer]] = _discover(discretize, Discretizer, "unsupervised_bins")
#: Stopping rules by name.
STOPPING_RULES: dict[str, type[StoppingRule]] = _discover(stopping, StoppingRule, "score_curve g_test permutation")


_SCORED = CRITERIA.keys() | METHODS.keys()


def make_criterion(criterion: object) -> Criterion:
    """A criterion from its name or class; an object is returned as it is.

    >>> make_criterion("jmi").score
    sum_s(sum_y(I((f, s), y)))
    """
    if isinstance(criterion, Criterion):
        return criterion
    if isinstance(criterion, type) and issubclass(criterion, Criterion):
        return criterion()
    name = canonical("criterion", criterion, _SCORED) if isinstance(criterion, str) else None
    if name in CRITERIA:
        return _default_criterion(str(name))
    if name in METHODS:
        raise InputError(f"{name!r} is no formula for a greedy search; use {METHODS[str(name)].call}.")
    raise no_such_name("criterion", criterion, [*CRITERIA, *METHODS], more=", or a Criterion object")


@cache
def _default_criterion(name: str) -> Criterion:
    """With default parameters; cached, so that its formula is planned once."""
    return CRITERIA[name]()


def make_label_space(targets: object) -> LabelSpace:
    """A label space from its name; an object is returned as it is.

    >>> make_label_space("pruned")
    Pruned()
    """
    return _resolve(targets, LABEL_SPACES, LabelSpace, "label space")


def make_discretizer(discretizer: object, rest: object = "equal-frequency", missing: str | None = None) -> Discretizer:
    """A discretizer from its name; an object is returned as it is. None: the values are codes.

    A dictionary has discretizers by column, see :class:`labelsieve.discretize.ByColumn`; all other columns have ``rest``.
    ``missing`` is the treatment of missing values, if it is not that of the discretizer.

    >>> make_discretizer("mean-std", missing="error")
    MeanStd(missing='error')
    >>> make_discretizer({"age": "mdl", "zip": "levels"})
    ByColumn(columns={'age': MDL(), 'zip': Levels()}, rest=EqualFrequency())
    """
    made: Discretizer
    if isinstance(discretizer, Mapping):
        rules = {key: Levels() if rule == "levels" else make_discretizer(rule) for key, rule in discretizer.items()}
        made = ByColumn(rules, make_discretizer(rest))
    else:
        made = AsGiven() if discretizer is None else _resolve(discretizer, DISCRETIZERS, Discretizer, "discretizer")
    if missing is None or getattr(made, "missing", None) == missing:
        return made
    changed: Discretizer = clone(made).set_params(missing=missing)
    return changed


def make_stopping_rule(name: str, **parameters: object) -> StoppingRule:
    """A stopping rule from its name and parameters.

    >>> make_stopping_rule("permutation", alpha=0.01)
    PermutationTest(alpha=0.01)
    """
    known = canonical("stopping rule", str(name), STOPPING_RULES)
    if known not in STOPPING_RULES:
        raise no_such_name("stopping rule", name, STOPPING_RULES)
    return STOPPING_RULES[known](**accepted(STOPPING_RULES[known], parameters, known))


def make_count(count: object) -> Any:
    """The number of features to select: a number, a rule or None as they are; "all", or a stopping rule by its name.

    >>> make_count("all"), make_count("cv"), make_count(5)
    (None, CrossValidated(), 5)
    """
    if not isinstance(count, str):
        return count
    if count.strip().lower() == ALL:
        return None
    known = canonical("stopping rule", count, STOPPING_RULES)
    if known not in STOPPING_RULES:
        words = [ALL, *STOPPING_RULES]
        raise no_such_name(
            "number of features", count, words, more=", or a number, a fraction below 1 or a StoppingRule object"
        )
    return make_stopping_rule(known)


def _resolve(value: object, known: dict[str, type[T]], kind: type[T], what: str) -> T:
    """An object from its name, an alias or itself."""
    if isinstance(value, kind):
        return value
    name = canonical(what, value, known) if isinstance(value, str) else None
    if name is None or name not in known:
        raise no_such_name(what, value, known, more=f", or a {kind.__name__} object")
    return known[name]()


def load_class(path: str) -> Any:
    """The class at a dotted path.

    >>> load_class("labelsieve.Sieve").__name__
    'Sieve'
    """
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def parameter_names(kind: type[object]) -> list[str]:
    """Parameters of a class."""
    return list(inspect.signature(kind).parameters) if kind.__init__ is not object.__init__ else []


def accepted(kind: type, settings: dict[str, Any], name: str) -> dict[str, Any]:
    """The settings, if the selector has them all."""
    parameters = parameter_names(kind)
    for key in settings:
        if key not in parameters:
            raise InputError(
                f"{name} takes no {key}; {kind.__name__} has {', '.join(name for name in parameters if name != 'criterion')}."
            )
    return settings
