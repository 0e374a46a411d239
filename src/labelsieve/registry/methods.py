"""Every public name, the class or published method that it stands for, and resolving parameters to objects."""

import inspect
import tomllib
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from importlib.resources import files
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, TypeVar

from sklearn.base import BaseEstimator, clone

from labelsieve import criteria, discretize, labelspace, stopping
from labelsieve.criteria import Criterion, Hybrid, JoinedMIM, LeastSquares
from labelsieve.discretize import MDL, AsGiven, ByColumn, Discretizer, EqualFrequency, EqualWidth, Levels, MeanStd
from labelsieve.errors import InputError, unknown_name
from labelsieve.labelspace import LabelSpace, NetworkRule, label_space_name
from labelsieve.labelspace.base import CountingInput, to_count
from labelsieve.resources import thread_context
from labelsieve.stopping import StoppingRule
from labelsieve.tables.problem import Problem
from labelsieve.tables.targets import TARGET_DISCRETIZER
from labelsieve.tables.weights import Estimator

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
    """Return the registered name that is meant; one that is not known is returned as it was typed.

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
    """Return the error for a name that is neither registered nor an alias, with the closest name."""
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
    comparable : bool
        Whether a score rates its feature alone; otherwise it is a rank, or compares the candidates of one step.
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
    comparable: bool = True
    needs_numbers: bool = False
    no_ranking: str = ""

    @property
    def call(self) -> str:
        """The Python call that makes the selector of the method.

        >>> METHODS["ela-chi"].call
        "labelsieve.selectors.ChiSquare(targets='copy-weight')"
        """
        return f"labelsieve.{self.selector}({', '.join(f'{name}={value!r}' for name, value in self.settings.items())})"


_FILE = files("labelsieve.registry").joinpath("methods.toml")


def _read(facts: dict[str, Any]) -> Method:
    """Make a method from its facts; a discretizer is its class with its parameters, ``{ EqualFrequency = { n_bins = 2 } }``."""
    settings = dict(facts.get("settings", {}))
    if isinstance(settings.get("discretizer"), dict):
        ((kind, parameters),) = settings["discretizer"].items()
        settings["discretizer"] = getattr(discretize, kind)(**parameters)
    return Method(**{**facts, "settings": settings})


#: Methods that are not criteria, by name.
METHODS: dict[str, Method] = {name: _read(facts) for name, facts in tomllib.loads(_FILE.read_text("utf-8")).items()}


def methods_of(selector: str) -> set[str]:
    """Return the names of the methods that a selector class runs.

    >>> sorted(methods_of("QuadraticSieve"))
    ['mlqpfs', 'qpfs']
    """
    return {name for name, method in METHODS.items() if method.selector == selector}


T = TypeVar("T")
ALL = "all"  # the number of features of a complete ranking


def _discover(package: ModuleType, base: type[T], modules: str) -> dict[str, type[T]]:
    """Find the classes of a package that have a ``name``; those of ``modules`` come first, in this order."""
    classes: dict[str, type[T]] = {}
    for module in dict.fromkeys([*modules.split(), *(info.name for info in iter_modules(package.__path__))]):
        home = f"{package.__name__}.{module}"
        for item in vars(import_module(home)).values():
            if isinstance(item, type) and issubclass(item, base) and item.__module__ == home and "name" in vars(item):
                classes[str(item.name)] = item  # type: ignore[attr-defined]
    return classes


#: Criteria by name.
CRITERIA: dict[str, type[Criterion]] = {
    name: criterion for name, criterion in _discover(criteria, Criterion, "formulas").items() if criterion.listed
}
#: Label spaces by name.
LABEL_SPACES: dict[str, type[LabelSpace]] = _discover(labelspace, LabelSpace, "base transformations group")
#: Discretizers by name.
DISCRETIZERS: dict[str, type[Discretizer]] = _discover(discretize, Discretizer, "base")
#: Stopping rules by name.
STOPPING_RULES: dict[str, type[StoppingRule]] = _discover(stopping, StoppingRule, "curves significance")


_SCORED = CRITERIA.keys() | METHODS.keys()


def make_criterion(criterion: object) -> Criterion:
    """Make a criterion from its name or class; an object is returned as it is.

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
    """Make the criterion of a name with default parameters; cached, so that its formula is planned once."""
    return CRITERIA[name]()


def make_label_space(targets: object) -> LabelSpace:
    """Make a label space from its name; an object is returned as it is.

    >>> make_label_space("pruned")
    Pruned()
    """
    if isinstance(targets, str) and targets in LABEL_SPACES:
        return LABEL_SPACES[targets]()
    return _resolve(targets, LABEL_SPACES, LabelSpace, "label space")


def make_discretizer(discretizer: object, rest: object = "equal-frequency", missing: str | None = None) -> Discretizer:
    """Make a discretizer from its name; an object is returned as it is. None: the values are codes.

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
        made = AsGiven()
        if isinstance(discretizer, str) and discretizer in DISCRETIZERS:
            made = DISCRETIZERS[discretizer]()
        elif discretizer is not None:
            made = _resolve(discretizer, DISCRETIZERS, Discretizer, "discretizer")
    if missing is None or getattr(made, "missing", None) == missing:
        return made
    changed: Discretizer = clone(made).set_params(missing=missing)
    return changed


def make_stopping_rule(name: str, **parameters: object) -> StoppingRule:
    """Make a stopping rule from its name and parameters.

    >>> make_stopping_rule("permutation", alpha=0.01)
    PermutationTest(alpha=0.01)
    """
    known = canonical("stopping rule", str(name), STOPPING_RULES)
    if known not in STOPPING_RULES:
        raise no_such_name("stopping rule", name, STOPPING_RULES)
    return STOPPING_RULES[known](**accepted(STOPPING_RULES[known], parameters, known))


def make_count(count: object) -> Any:
    """Read the number of features to select: a number, a rule or None as they are; "all", or the name of a stopping rule.

    ``"auto"`` is the rule by the explained share, :class:`labelsieve.stopping.CrossValidated`.

    >>> make_count("all"), make_count("auto"), make_count(5)
    (None, CrossValidated(), 5)
    """
    if not isinstance(count, str):
        return count
    if count.strip().lower() == "auto":
        return make_stopping_rule("cross-validation")
    if count.strip().lower() == ALL:
        return None
    known = canonical("stopping rule", count, STOPPING_RULES)
    if known not in STOPPING_RULES:
        words = ["auto", ALL, *STOPPING_RULES]
        raise no_such_name(
            "number of features", count, words, more=", or a number, a fraction below 1, or a rule with its settings"
        )
    return make_stopping_rule(known)


def _resolve(value: object, known: dict[str, type[T]], kind: type[T], what: str) -> T:
    """Make an object from its name or an alias; an object is returned as it is."""
    if isinstance(value, kind):
        return value
    name = canonical(what, value, known) if isinstance(value, str) else None
    if name is None or name not in known:
        raise no_such_name(what, value, known, more=f", or a {kind.__name__} object")
    return known[name]()


def load_class(path: str) -> Any:
    """Import the class at a dotted path.

    >>> load_class("labelsieve.Sieve").__name__
    'Sieve'
    """
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def parameter_names(kind: type[object]) -> list[str]:
    """Return the names of the parameters of a class."""
    return list(inspect.signature(kind).parameters) if kind.__init__ is not object.__init__ else []


def accepted(kind: type, settings: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the settings if the class has all of them as parameters; else raise an error that lists its parameters."""
    parameters = parameter_names(kind)
    for key in settings:
        if key not in parameters:
            raise InputError(
                f"{name} takes no {key}; {kind.__name__} has {', '.join(name for name in parameters if name != 'criterion')}."
            )
    return settings


AUTO = "auto"  # the setting of the published method

# Of a criterion without a preset. Settings compared: benchmarks/default_settings.py.
DEFAULT_CRITERION = "hybrid"
DEFAULT_FORMULA = "cmim"  # of selectors that need a formula
DEFAULT_DISCRETIZER = "equal-frequency"


@dataclass(frozen=True)
class Preset:
    """A published method: an entry of ``PRESETS``.

    Attributes
    ----------
    criterion, targets, discretizer, target_discretizer, parents, estimator
        Parameters of :class:`labelsieve.Sieve`, as in the paper.
    paper : str
        The paper.
    """

    criterion: str | Criterion
    targets: str
    discretizer: Discretizer | str
    paper: str
    parents: NetworkRule | None = None
    target_discretizer: str = "equal-width"  # of numeric targets
    estimator: Estimator = "plugin"


# Information gain as in Weka, which encodes cuts among the positions between distinct values ("better encoding").
#: Published methods that combine a criterion, a label space and a discretizer, by name.
PRESETS: dict[str, Preset] = {
    "mlinfogain": Preset("mim", "single", EqualWidth(10, closed="right"), "Pereira et al. 2015, eq. 2"),
    "br-infogain": Preset(JoinedMIM(), "single", MDL("single", boundaries="values"), "Pereira et al. 2015, BR + IG"),
    "lp-infogain": Preset("mim", "joint", MDL("joint", boundaries="values"), "Pereira et al. 2015, LP + IG"),
    "copy-infogain": Preset("mim", "copy", MDL("copy", boundaries="values"), "Pereira et al. 2015, Copy + IG"),
    "ela-infogain": Preset("mim", "copy-weight", MDL("copy", boundaries="values"), "Chen et al. 2007, with information gain"),
    "gmm": Preset(JoinedMIM("geometric", scale="none"), "single", EqualFrequency(), "Gonzalez-Lopez, Ventura and Cano 2020"),
    "mlfs": Preset("mlfs", "single", MeanStd(), "Sun and Kudo 2017, eq. 42, 43; kCC parents, k = 0.8 q", NetworkRule("kcc")),
    "group-jmi": Preset("jmi", "group", EqualWidth(5), "Sechidis et al. 2019, eq. 3"),
    "group-jmi-rand": Preset("jmi", "group-rand", EqualWidth(5), "Sechidis et al. 2019, section 3.4"),
    "single-jmi": Preset("jmi", "single", EqualWidth(5), "Sechidis, Nikolaou and Brown 2014, eq. 8"),
    "joint-jmi": Preset("jmi", "joint", EqualWidth(5), "Sechidis, Nikolaou and Brown 2014, eq. 6"),
    "single-mim": Preset("mim", "single", EqualWidth(5), "Sechidis, Nikolaou and Brown 2014, eq. 7"),
    "joint-mim": Preset("mim", "joint", EqualWidth(5), "Sechidis, Nikolaou and Brown 2014, eq. 5"),
    "single-cmi": Preset("cmi", "single", EqualWidth(5), "Sechidis, Nikolaou and Brown 2014, eq. 4"),
    "joint-cmi": Preset("cmi", "joint", EqualWidth(5), "Sechidis, Nikolaou and Brown 2014, eq. 3"),
}
_LEAST_SQUARES = LeastSquares()
# Our own methods, which are in METHODS with their facts.
_OWN = {
    "hybrid": Preset(
        Hybrid(), "cumulative", DEFAULT_DISCRETIZER, Hybrid.paper, None, TARGET_DISCRETIZER, estimator="miller-madow"
    ),
    "omp": Preset(_LEAST_SQUARES, "single", DEFAULT_DISCRETIZER, LeastSquares.paper, None, TARGET_DISCRETIZER),
}


@dataclass(frozen=True)
class ResolvedMethod:
    """Everything that decides which features are selected, as objects.

    Attributes
    ----------
    name : str
        What the user asked for, as error messages show it: the quoted name of a method, or the criterion as it prints.
    criterion : Criterion
        The criterion: a formula, :class:`~labelsieve.criteria.LeastSquares` or :class:`~labelsieve.criteria.Hybrid`.
    formula : Criterion or None
        The formula of the information: the criterion itself, or the one inside a hybrid; None for least squares alone.
    linear : LeastSquares or None
        The settings of the least-squares gain, where the criterion has one.
    space, discretizer, target_discretizer, estimator, parents
        The label space, the discretizers, the entropy estimator and the rule of the label network.
    """

    name: str
    criterion: Criterion
    formula: Criterion | None
    linear: LeastSquares | None
    space: LabelSpace
    discretizer: Discretizer
    target_discretizer: Discretizer
    estimator: Estimator
    parents: NetworkRule | None

    def encode(self, problem: Problem, n_jobs: int | None = None) -> list[CountingInput]:
        """Encode the features and the variables of the label space, ready to be counted.

        There is one table of codes for all targets, or one for each target where the discretizer cuts for each.
        """
        targets = problem.binned_targets(self.target_discretizer)
        if self.space.produces not in ("targets", "indicators", "some targets"):
            targets.require_known(label_space_name(self.space))
        with thread_context(n_jobs):
            encoded = self.space.encode(targets, problem.weights)
            codes = problem.codes(self.discretizer, targets.codes)
        if problem.n_left_out:
            encoded = replace(encoded, n_left_out=encoded.n_left_out + problem.n_left_out)
        tables = codes if isinstance(codes, list) else [codes]
        ready: list[CountingInput] = []
        for each in tables:
            ready.append(to_count(each, encoded, problem.weights, self.estimator))
        return ready


def resolve_method(
    criterion: Any,
    targets: Any = AUTO,
    discretizer: Any = AUTO,
    target_discretizer: Any = AUTO,
    missing: str | None = None,
    estimator: Any = AUTO,
) -> ResolvedMethod:
    """Make the objects that the parameters of a selector name; what is not ``"auto"`` overrides the published setting.

    A criterion without a preset has single targets and five bins of equal frequency.

    >>> resolve_method("group-jmi-rand").space, resolve_method("mlinfogain").discretizer
    (GroupRand(), EqualWidth(closed='right', n_bins=10))
    >>> resolve_method("mlinfogain", targets="joint").space
    Joint()
    """
    if isinstance(criterion, str):
        name = method_name(criterion)
        preset = PRESETS.get(name) or _OWN.get(name)
    else:  # the settings of a hybrid are those of the method of that name, whatever its parameters are
        name = criterion
        preset = _OWN["hybrid"] if isinstance(criterion, Hybrid) else None
    if preset is None:
        preset = Preset(name, "single", DEFAULT_DISCRETIZER, "", target_discretizer=TARGET_DISCRETIZER)
    made = make_criterion(preset.criterion if isinstance(criterion, str) else criterion)
    formula: Criterion | None = made
    linear = made if isinstance(made, LeastSquares) else None
    if isinstance(made, LeastSquares):
        formula = None
    elif isinstance(made, Hybrid):
        formula, linear = make_criterion(made.information), made.linear or _LEAST_SQUARES
    is_auto: list[bool] = []
    for given in (targets, discretizer, target_discretizer):
        is_auto.append(isinstance(given, str) and given == AUTO)
    return ResolvedMethod(
        repr(name) if isinstance(criterion, str) else repr(made.name if made.listed else made),
        made,
        formula,
        linear,
        make_label_space(preset.targets if is_auto[0] else targets),
        make_discretizer(preset.discretizer if is_auto[1] else discretizer, preset.discretizer, missing),
        make_target_discretizer(preset.target_discretizer if is_auto[2] else target_discretizer),
        preset.estimator if estimator == AUTO else estimator,
        preset.parents,
    )


def make_target_discretizer(discretizer: object = AUTO) -> Discretizer:
    """Make the discretizer of numeric targets, from an object or a name; ``"auto"`` is the default.

    >>> make_target_discretizer()
    EqualFrequency()
    """
    made = make_discretizer(TARGET_DISCRETIZER if isinstance(discretizer, str) and discretizer == AUTO else discretizer)
    if made.uses_targets:
        raise InputError(f"target_discretizer: {made!r} cuts features by the targets; use one that looks at the values alone.")
    return made


def method_names() -> list[str]:
    """List the names that ``labelsieve methods`` shows: criteria, published methods, and selectors that are no greedy search.

    >>> "jmi" in method_names(), "mlinfogain" in method_names(), "ela-chi" in method_names()
    (True, True, True)
    """
    return list(dict.fromkeys([*CRITERIA, *PRESETS, *METHODS]))


def method_name(given: str) -> str:
    """Return the name of a method that ``labelsieve methods`` lists; case does not matter, and aliases are resolved.

    >>> method_name("JMI"), method_name("mutual_info"), method_name("chi2")
    ('jmi', 'mim', 'chi-square')
    """
    if given in _NAMES:
        return given
    name = canonical("criterion", given, _NAMES)
    if name not in _NAMES:
        raise no_such_name("criterion", given, _NAMES, more=", or a Criterion object")
    return name


_NAMES = dict.fromkeys(method_names())


def selector_class(name: str) -> Any:
    """Return the selector class that runs a method.

    >>> selector_class("ela-chi").__name__, selector_class("jmi").__name__
    ('ChiSquare', 'Sieve')
    """
    method = METHODS.get(method_name(name))
    return load_class("labelsieve.Sieve" if method is None else f"labelsieve.{method.selector}")


def method_of(selector: BaseEstimator) -> str:
    """Return the name of the method that a selector runs, or its class name if no method lists it.

    >>> method_of(make_selector("lp-relieff", n_neighbors=3)), method_of(make_selector("cmim", with_relevance=True))
    ('lp-relieff', 'cmim')
    """
    settings = selector.get_params(deep=False)
    for name, method in METHODS.items():
        if method.selector.rpartition(".")[2] == type(selector).__name__ and method.settings.items() <= settings.items():
            return name
    criterion = getattr(selector, "criterion", None)
    if isinstance(criterion, str):
        return canonical("criterion", criterion, _NAMES)
    if criterion is not None:
        return str(getattr(criterion, "name", None) or type(criterion).__name__)
    return type(selector).__name__


def make_selector(criterion: object, *, labelwise: bool = False, **settings: object) -> Any:
    """Make an unfitted selector by the name of its method, with other settings where they are given.

    Parameters
    ----------
    criterion : str or Criterion
        A name of :func:`method_names`, or a custom criterion.
    labelwise : bool, default=False
        Select features for every target separately (:class:`~labelsieve.LabelwiseSieve`), not for all targets together.
    **settings
        Parameters of the selector, or, where it has none of that name, of the criterion.

    Examples
    --------
    >>> make_selector("relieff", n_neighbors=20)
    ReliefF(n_neighbors=20)
    >>> make_selector("cmim", with_relevance=True, n_features_to_select=3).criterion.with_relevance
    True
    """
    name = method_name(criterion) if isinstance(criterion, str) else None
    if name in _OWN:  # settings of the criterion make an object of it
        own = type(_OWN[name].criterion)
        of_linear = [key for key in settings if key in parameter_names(LeastSquares)] if own is Hybrid else []
        if of_linear:
            settings["linear"] = LeastSquares(**{key: settings.pop(key) for key in of_linear})  # type: ignore[arg-type]
        extra = {key: settings.pop(key) for key in list(settings) if key in parameter_names(own)}
        kind = load_class("labelsieve.LabelwiseSieve" if labelwise else "labelsieve.Sieve")
        return kind(own(**extra) if extra else name, **accepted(kind, settings, name))
    method = METHODS.get(name or "")
    if method is not None:
        kind = selector_class(str(name))
        if labelwise and not hasattr(kind, "transform_label"):
            raise InputError(
                f"{name}: it ranks features for all labels together; take a criterion or llsf for lists of labels."
            )
        if not labelwise and method.no_ranking:
            raise InputError(f"{name}: {method.no_ranking}")
        return kind(**{**method.settings, **accepted(kind, settings, str(name))})
    kind = load_class("labelsieve.LabelwiseSieve" if labelwise else "labelsieve.Sieve")
    if name is not None and name not in PRESETS:
        extra = {key: settings.pop(key) for key in list(settings) if key in parameter_names(CRITERIA[name])}
        criterion = CRITERIA[name](**extra) if extra else name
    return kind(criterion, **accepted(kind, settings, criterion.name if isinstance(criterion, Criterion) else str(name)))


def discretizer_of(selector: BaseEstimator) -> Discretizer | None:
    """Return a copy of the discretizer that a selector would use; None if it has none.

    >>> from labelsieve import Sieve
    >>> discretizer_of(Sieve("mlfs"))
    MeanStd()
    """
    settings = selector.get_params(deep=False)
    if "discretizer" not in settings:
        return None
    rule = settings["discretizer"]
    if isinstance(rule, str) and rule == AUTO:
        criterion = settings.get("criterion")
        named = isinstance(criterion, str) and criterion.lower() in (*CRITERIA, *PRESETS)
        rule = resolve_method(criterion if named else "mim").discretizer
    copy: Discretizer = clone(make_discretizer(rule))
    return copy


def declare_nominal(selector: BaseEstimator, columns: Sequence[int], n_columns: int) -> None:
    """Make a selector keep the levels of these columns, which the table does not show: one of numbers, or a sparse matrix.

    >>> from labelsieve import Sieve
    >>> sieve = Sieve("mlfs")
    >>> declare_nominal(sieve, [2], 5)
    >>> sieve
    Sieve(criterion='mlfs', discretizer=MeanStd(nominal=[2]))
    """
    if not columns:
        return
    nominal = "all" if len(columns) == n_columns else list(columns)
    rule = discretizer_of(selector)
    if rule is not None and "nominal" in rule.get_params(deep=False):
        selector.set_params(discretizer=rule.set_params(nominal=nominal))
