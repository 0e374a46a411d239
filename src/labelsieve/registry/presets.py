"""Methods by name: published ones that are a criterion with a label space and a discretizer, and the selectors of all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import BaseEstimator, clone

from labelsieve.criteria import Criterion, Hybrid, JoinedMIM, LeastSquares
from labelsieve.discretize import MDL, Discretizer, EqualFrequency, EqualWidth, MeanStd
from labelsieve.errors import InputError
from labelsieve.labelspace import LabelSpace, NetworkRule, label_space_name
from labelsieve.labelspace.base import CountingInput, to_count
from labelsieve.registry.classes import (
    CRITERIA,
    METHODS,
    accepted,
    canonical,
    load_class,
    make_criterion,
    make_discretizer,
    make_label_space,
    no_such_name,
    parameter_names,
)
from labelsieve.resources import thread_context
from labelsieve.tables.problem import Problem
from labelsieve.tables.targets import TARGET_DISCRETIZER
from labelsieve.tables.weights import Estimator

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
# Our own methods, which are in METHODS with their facts.
_OWN = {
    "hybrid": Preset(
        Hybrid(), "cumulative", DEFAULT_DISCRETIZER, Hybrid.paper, None, TARGET_DISCRETIZER, estimator="miller-madow"
    ),
    "omp": Preset(LeastSquares(), "single", DEFAULT_DISCRETIZER, LeastSquares.paper, None, TARGET_DISCRETIZER),
}


@dataclass(frozen=True)
class ResolvedMethod:
    """Everything that decides which features are selected, as objects.

    Attributes
    ----------
    criterion : Criterion
        The criterion: a formula, :class:`~labelsieve.criteria.LeastSquares` or :class:`~labelsieve.criteria.Hybrid`.
    formula : Criterion or None
        The formula of the information: the criterion itself, or the one inside a hybrid; None for least squares alone.
    linear : LeastSquares or None
        The settings of the least-squares gain, where the criterion has one.
    space, discretizer, target_discretizer, estimator, parents
        The label space, the discretizers, the entropy estimator and the rule of the label network.
    """

    criterion: Criterion
    formula: Criterion | None
    linear: LeastSquares | None
    space: LabelSpace
    discretizer: Discretizer
    target_discretizer: Discretizer
    estimator: Estimator
    parents: NetworkRule | None

    def encode(self, problem: Problem, n_jobs: int | None = None) -> list[CountingInput]:
        """Codes of the features and of the variables of the label space, ready to be counted.

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
        return [to_count(each, encoded, problem.weights, self.estimator) for each in tables]


def resolve_method(
    criterion: Any,
    targets: Any = AUTO,
    discretizer: Any = AUTO,
    target_discretizer: Any = AUTO,
    missing: str | None = None,
    estimator: Any = AUTO,
) -> ResolvedMethod:
    """The objects that the parameters of a selector stand for; what is not ``"auto"`` overrides the published method's setting.

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
        formula, linear = make_criterion(made.information), made.linear or LeastSquares()
    return ResolvedMethod(
        made,
        formula,
        linear,
        make_label_space(preset.targets if _is_auto(targets) else targets),
        make_discretizer(preset.discretizer if _is_auto(discretizer) else discretizer, preset.discretizer, missing),
        make_target_discretizer(preset.target_discretizer if _is_auto(target_discretizer) else target_discretizer),
        preset.estimator if estimator == AUTO else estimator,
        preset.parents,
    )


def make_target_discretizer(discretizer: object = AUTO) -> Discretizer:
    """The discretizer of numeric targets, from an object or a name; ``"auto"`` is the default.

    >>> make_target_discretizer()
    EqualFrequency()
    """
    made = make_discretizer(TARGET_DISCRETIZER if _is_auto(discretizer) else discretizer)
    if made.uses_targets:
        raise InputError(f"target_discretizer: {made!r} cuts features by the targets; use one that looks at the values alone.")
    return made


def _is_auto(value: object) -> bool:
    return isinstance(value, str) and value == AUTO


def method_names() -> list[str]:
    """The names that ``labelsieve methods`` lists: criteria, published methods, and selectors that are no greedy search.

    >>> "jmi" in method_names(), "mlinfogain" in method_names(), "ela-chi" in method_names()
    (True, True, True)
    """
    return list(dict.fromkeys([*CRITERIA, *PRESETS, *METHODS]))


def method_name(given: str) -> str:
    """The name of a method that ``labelsieve methods`` lists; case does not matter, and aliases are resolved.

    >>> method_name("JMI"), method_name("mutual_info"), method_name("chi2")
    ('jmi', 'mim', 'chi-square')
    """
    name = canonical("criterion", given, _NAMES)
    if name not in _NAMES:
        raise no_such_name("criterion", given, _NAMES, more=", or a Criterion object")
    return name


_NAMES = dict.fromkeys(method_names())


def selector_class(name: str) -> Any:
    """The class that runs a method.

    >>> selector_class("ela-chi").__name__, selector_class("jmi").__name__
    ('ChiSquare', 'Sieve')
    """
    method = METHODS.get(method_name(name))
    return load_class("labelsieve.Sieve" if method is None else f"labelsieve.{method.selector}")


def method_of(selector: BaseEstimator) -> str:
    """The name of the method that a selector runs; of a selector that no method lists, its class name.

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
    """An unfitted selector by the name of its method, with other settings where they are given.

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
    if name in _OWN and not labelwise:  # settings of the criterion make an object of it
        own = type(_OWN[name].criterion)
        of_linear = [key for key in settings if key in parameter_names(LeastSquares)] if own is Hybrid else []
        if of_linear:
            settings["linear"] = LeastSquares(**{key: settings.pop(key) for key in of_linear})  # type: ignore[arg-type]
        extra = {key: settings.pop(key) for key in list(settings) if key in parameter_names(own)}
        kind = load_class("labelsieve.Sieve")
        return kind(own(**extra) if extra else name, **accepted(kind, settings, name))
    method = METHODS.get(name or "")
    if method is not None:
        kind = selector_class(str(name))
        if labelwise and (name in _OWN or not hasattr(kind, "transform_label")):
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
    """A copy of the discretizer that a selector would use; None if it has none.

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
