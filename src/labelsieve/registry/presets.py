"""Published methods that are a criterion with a label space and a discretizer."""

from dataclasses import dataclass
from typing import Any

from labelsieve.criteria import Criterion, JoinedMIM
from labelsieve.discretize import MDL, Discretizer, EqualWidth, MeanStd
from labelsieve.labelspace import LabelSpace, NetworkRule
from labelsieve.names import unknown_name
from labelsieve.registry.classes import CRITERIA, make_criterion, make_discretizer, make_label_space
from labelsieve.registry.published_methods import METHODS

AUTO = "auto"  # the setting of the published method


@dataclass(frozen=True)
class Preset:
    """A published method: a criterion with the label space, the discretizer and the parents of its paper."""

    criterion: str | Criterion
    targets: str
    discretizer: Discretizer | str
    paper: str
    parents: NetworkRule | None = None


# Information gain as in Weka, which encodes cuts among the positions between distinct values ("better encoding").
PRESETS: dict[str, Preset] = {
    "mlinfogain": Preset("mim", "single", EqualWidth(10, closed="right"), "Pereira et al. 2015, eq. 2"),
    "br-infogain": Preset(JoinedMIM(), "single", MDL("single", boundaries="values"), "Pereira et al. 2015, BR + IG"),
    "lp-infogain": Preset("mim", "joint", MDL("joint", boundaries="values"), "Pereira et al. 2015, LP + IG"),
    "copy-infogain": Preset("mim", "copy", MDL("copy", boundaries="values"), "Pereira et al. 2015, Copy + IG"),
    "ela-infogain": Preset("mim", "copy-weight", MDL("copy", boundaries="values"), "Chen et al. 2007, with information gain"),
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


@dataclass(frozen=True)
class ResolvedMethod:
    """Everything that decides which features are selected, as objects."""

    criterion: Criterion
    space: LabelSpace
    discretizer: Discretizer
    parents: NetworkRule | None = None


def resolve_method(criterion: Any, targets: Any = AUTO, discretizer: Any = AUTO) -> ResolvedMethod:
    """The objects that the parameters of a selector stand for; what is not ``"auto"`` overrides the published method's setting.

    A criterion without a preset has single targets and five equal-width bins.

    >>> resolve_method("group-jmi-rand").space, resolve_method("mlinfogain").discretizer
    (GroupRand(), EqualWidth(closed='right', n_bins=10))
    >>> resolve_method("mlinfogain", targets="joint").space
    Joint()
    """
    preset = PRESETS.get(criterion.lower()) if isinstance(criterion, str) else None
    if preset is None:
        if isinstance(criterion, str) and criterion.lower() not in (*CRITERIA, *METHODS):
            raise unknown_name("criterion", criterion, method_names(), more=", or a Criterion object")
        preset = Preset(criterion, "single", "equal-width", "")
    return ResolvedMethod(
        make_criterion(preset.criterion),
        make_label_space(preset.targets if _is_auto(targets) else targets),
        make_discretizer(preset.discretizer if _is_auto(discretizer) else discretizer),
        preset.parents,
    )


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == AUTO


def method_names() -> list[str]:
    """The names that ``labelsieve methods`` lists: criteria, published methods, and selectors that are no greedy search.

    >>> "jmi" in method_names(), "mlinfogain" in method_names(), "ela-chi" in method_names()
    (True, True, True)
    """
    return list(dict.fromkeys([*CRITERIA, *PRESETS, *METHODS]))
