"""The label spaces by name."""

from typing import Any

from labelsieve.errors import InputError
from labelsieve.labelspace.copying import Copy, CopyWeight
from labelsieve.labelspace.group import Group, GroupRand
from labelsieve.labelspace.group_auto import GroupAuto
from labelsieve.labelspace.joint import Joint
from labelsieve.labelspace.picking import Ignore, SelectMax, SelectMin, SelectRandom
from labelsieve.labelspace.pruned import Pruned
from labelsieve.labelspace.single import Single
from labelsieve.labelspace.space import LabelSpace

LABEL_SPACES: dict[str, type[LabelSpace]] = {
    "single": Single,
    "joint": Joint,
    "pruned": Pruned,
    "copy": Copy,
    "copy-weight": CopyWeight,
    "select-max": SelectMax,
    "select-min": SelectMin,
    "select-random": SelectRandom,
    "ignore": Ignore,
    "group": Group,
    "group-rand": GroupRand,
    "group-auto": GroupAuto,
}


def space_named(targets: Any) -> LabelSpace:
    """A label space from its name (with default settings) or itself.

    >>> space_named("pruned")
    Pruned()
    """
    if isinstance(targets, LabelSpace):
        return targets
    if isinstance(targets, str) and targets in LABEL_SPACES:
        return LABEL_SPACES[targets]()
    raise InputError(f"{targets!r} is not a label space; known are {', '.join(LABEL_SPACES)}, or a LabelSpace of your own.")


def name_of(space: LabelSpace) -> str:
    """How users call it.

    >>> name_of(Copy())
    'copy'
    """
    return next((name for name, known in LABEL_SPACES.items() if known is type(space)), type(space).__name__)
