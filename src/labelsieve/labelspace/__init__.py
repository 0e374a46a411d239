from labelsieve.information.targets import TargetTable, read_targets
from labelsieve.labelspace.compatibility import compatibility_table, refusal
from labelsieve.labelspace.copying import Copy, CopyWeight
from labelsieve.labelspace.given_or_learned import NETWORKS, find_parents
from labelsieve.labelspace.group import Group, GroupRand
from labelsieve.labelspace.group_auto import GroupAuto
from labelsieve.labelspace.joint import Joint
from labelsieve.labelspace.network import LabelNetwork
from labelsieve.labelspace.parents import check_parents
from labelsieve.labelspace.picking import Ignore, SelectMax, SelectMin, SelectRandom
from labelsieve.labelspace.pruned import Pruned
from labelsieve.labelspace.registry import LABEL_SPACES, name_of, space_named
from labelsieve.labelspace.rule import NetworkRule
from labelsieve.labelspace.single import Single
from labelsieve.labelspace.space import LabelSpace, Made, to_count

__all__ = [
    "LABEL_SPACES",
    "NETWORKS",
    "Copy",
    "CopyWeight",
    "Group",
    "GroupAuto",
    "GroupRand",
    "Ignore",
    "Joint",
    "LabelNetwork",
    "LabelSpace",
    "Made",
    "NetworkRule",
    "Pruned",
    "SelectMax",
    "SelectMin",
    "SelectRandom",
    "Single",
    "TargetTable",
    "check_parents",
    "compatibility_table",
    "find_parents",
    "name_of",
    "read_targets",
    "refusal",
    "space_named",
    "to_count",
]
