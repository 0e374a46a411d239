"""Published methods by name: a criterion with the label space and the discretiser of its paper."""

from dataclasses import dataclass
from typing import Any

from labelsieve.criteria import CATALOGUE, METHODS, Criterion, JoinedMIM, criterion_named
from labelsieve.discretize import MDL, Discretizer, EqualWidth, MeanStd
from labelsieve.discretize.named import discretizer_named
from labelsieve.errors import InputError
from labelsieve.labelspace import LabelSpace, NetworkRule, space_named

AUTO = "auto"  # as the method says


@dataclass(frozen=True)
class Preset:
    """What a paper uses: names or objects, as a selector takes them."""

    criterion: Any
    targets: Any
    discretizer: Any
    paper: str
    parents: Any = None


# Information gain as in Weka, which encodes cuts among the places between distinct values there ("better encoding").
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
class Recipe:
    """All that decides which features are chosen, made out of parameters."""

    criterion: Criterion
    space: LabelSpace
    discretizer: Discretizer
    parents: Any = None


def recipe(criterion: Any, targets: Any = AUTO, discretizer: Any = AUTO) -> Recipe:
    """The recipe of a criterion or a published method; what is not ``"auto"`` overrides the method's own.

    A criterion by itself comes with single targets and five bins of equal width.

    >>> recipe("group-jmi-rand").space, recipe("mlinfogain").discretizer
    (GroupRand(), EqualWidth(closed='right', n_bins=10))
    >>> recipe("mlinfogain", targets="joint").space
    Joint()
    """
    preset = PRESETS.get(criterion.lower()) if isinstance(criterion, str) else None
    if preset is None:
        if isinstance(criterion, str) and criterion.lower() not in CATALOGUE and criterion.lower() not in METHODS:
            known = ", ".join(dict.fromkeys([*CATALOGUE, *PRESETS, *METHODS]))
            raise InputError(f"{criterion!r} is not a criterion; known are {known}, or a Criterion of your own.")
        preset = Preset(criterion, "single", "equal-width", "")
    return Recipe(
        criterion_named(preset.criterion),
        space_named(preset.targets if _is_auto(targets) else targets),
        discretizer_named(preset.discretizer if _is_auto(discretizer) else discretizer),
        preset.parents,
    )


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == AUTO
