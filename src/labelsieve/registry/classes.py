"""Classes of the library by their public names, found in the packages, and the papers behind them."""

import inspect
import tomllib
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.resources import files
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, TypeVar

from sklearn.base import clone

from labelsieve import criteria, discretize, labelspace, stopping
from labelsieve.criteria import Criterion
from labelsieve.discretize import AsGiven, ByColumn, Discretizer, Levels
from labelsieve.errors import InputError, unknown_name
from labelsieve.labelspace import LabelSpace
from labelsieve.stopping import StoppingRule

#: Aliases and the names that they stand for, by kind of name. Case, and "_" or a blank in place of "-", never matter.
ALIASES: dict[str, dict[str, str]] = {
    "criterion": {
        "mutual-info": "mim",
        "mutual-info-classif": "mim",
        "mutual-info-regression": "mim",
        "mutual-information": "mim",
        "information-gain": "mim",
        "infogain": "mim",
        "chi2": "chi-square",
        "anova": "mean-f",
        "f-classif": "mean-f",
        "f-regression": "mean-f",
        "f-score": "mean-f",
        "fscore": "mean-f",
        "lasso": "l1",
        "forward-least-squares": "omp",
        "orthogonal-matching-pursuit": "omp",
        "l1-logistic": "l1",
        "extratrees": "extra-trees",
        "recursive-feature-elimination": "rfe",
        "informed": "manifold-mifs",
        "mfsmcdm": "mfs-mcdm",
        "mifs-manifold": "manifold-mifs",
        "relief": "relieff",
        "rrelief": "rrelieff",
    },
    "label space": {
        "powerset": "joint",
        "label-powerset": "joint",
        "lp": "joint",
        "binary-relevance": "single",
        "br": "single",
        "ppt": "pruned",
        "pruned-powerset": "pruned",
        "ela": "copy-weight",
    },
    "discretizer": {
        "quantile": "equal-frequency",
        "uniform": "equal-width",
        "kmeans": "k-means",
        "fayyad-irani": "mdl",
        "mdlp": "mdl",
    },
    "stopping rule": {
        "cv": "cross-validation",
        "cross-validated": "cross-validation",
        "permutation-test": "permutation",
        "gtest": "g-test",
        "elbow": "knee",
    },
    "classifier": {
        "binary-relevance": "br",
        "br-knn": "brknn",
        "classifier-chain": "cc",
        "et": "trees",
        "extra-trees": "trees",
        "label-powerset": "lp",
        "logistic-regression": "logistic",
        "logreg": "logistic",
        "lr": "logistic",
        "ml-knn": "mlknn",
        "powerset": "lp",
        "random-forest": "forest",
        "rf": "forest",
    },
}


def canonical(kind: str, name: str, known: Container[str]) -> str:
    """The registered name that is meant; one that is not known is returned as it was typed.

    >>> canonical("discretizer", "Quantile", ["equal-frequency"]), canonical("discretizer", "equal_width", ["equal-width"])
    ('equal-frequency', 'equal-width')
    """
    typed = name.lower()
    if typed in known:
        return typed
    plain = typed.strip().replace("_", "-").replace(" ", "-")
    plain = ALIASES.get(kind, {}).get(plain, plain)
    return plain if plain in known else name


def no_such_name(kind: str, name: object, known: Iterable[str], *, more: str = "") -> InputError:
    """The error for a name that is neither registered nor an alias, with the closest name."""
    aliases = ALIASES.get("stopping rule" if kind == "number of features" else kind)
    return unknown_name(kind, name, known, more=more, aliases=aliases)


@dataclass(frozen=True)
class Method:
    """Facts about a method, and the selector that runs it.

    Attributes
    ----------
    summary, formula, paper, cost : str
        One line each.
    selector : str
        The selector class, from the root of the package.
    settings : mapping
        The parameters of the selector that define the method.
    reading : str
        What the paper leaves open, and our interpretation of it.
    scores : str
        The unit of the scores.
    needs_numbers : bool
        Whether the method computes with the values of the features: columns of text are refused then.
    no_ranking : str
        Why the method does not rank the features for all labels together, and the remedy; empty if it does.
    """

    summary: str
    formula: str
    paper: str
    cost: str
    selector: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    reading: str = ""
    scores: str = "scores"
    needs_numbers: bool = False
    no_ranking: str = ""

    @property
    def call(self) -> str:
        """The call in Python.

        >>> METHODS["ela-chi"].call
        "labelsieve.selectors.ChiSquare(targets='copy-weight')"
        """
        return f"labelsieve.{self.selector}({', '.join(f'{name}={value!r}' for name, value in self.settings.items())})"


_FILE = files("labelsieve.registry").joinpath("methods.toml")


def _read(facts: dict[str, Any]) -> Method:
    """A method from its facts; a discretizer is its class with its parameters, ``{ EqualFrequency = { n_bins = 2 } }``."""
    settings = dict(facts.get("settings", {}))
    if isinstance(settings.get("discretizer"), dict):
        ((kind, parameters),) = settings["discretizer"].items()
        settings["discretizer"] = getattr(discretize, kind)(**parameters)
    return Method(**{**facts, "settings": settings})


#: Methods that are not criteria, by name.
METHODS: dict[str, Method] = {name: _read(facts) for name, facts in tomllib.loads(_FILE.read_text("utf-8")).items()}


def methods_of(selector: str) -> set[str]:
    """Names of the methods that a selector class runs.

    >>> sorted(methods_of("QuadraticSieve"))
    ['mlqpfs', 'qpfs']
    """
    return {name for name, method in METHODS.items() if method.selector == selector}


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
LABEL_SPACES: dict[str, type[LabelSpace]] = _discover(labelspace, LabelSpace, "spaces transformations group")
#: Discretizers by name.
DISCRETIZERS: dict[str, type[Discretizer]] = _discover(discretize, Discretizer, "unsupervised_bins")
#: Stopping rules by name.
STOPPING_RULES: dict[str, type[StoppingRule]] = _discover(stopping, StoppingRule, "curves significance")


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
