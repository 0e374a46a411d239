from labelsieve.counting.targets import TargetTable, read_targets
from labelsieve.labelspace.base_space import EncodedTargets, LabelSpace, label_space_name, to_count
from labelsieve.labelspace.compatibility import compatibility_table, refusal
from labelsieve.labelspace.copy_transformation import Copy, CopyWeight
from labelsieve.labelspace.group import Group, GroupRand
from labelsieve.labelspace.group_auto import GroupAuto
from labelsieve.labelspace.joint import Joint, Pruned
from labelsieve.labelspace.label_network import LabelNetwork, check_parents
from labelsieve.labelspace.network_rule import NETWORKS, NetworkRule, find_parents
from labelsieve.labelspace.select_transformation import Ignore, SelectMax, SelectMin, SelectRandom
from labelsieve.labelspace.single import Single

__all__ = [
    "NETWORKS",
    "Copy",
    "CopyWeight",
    "EncodedTargets",
    "Group",
    "GroupAuto",
    "GroupRand",
    "Ignore",
    "Joint",
    "LabelNetwork",
    "LabelSpace",
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
    "label_space_name",
    "read_targets",
    "refusal",
    "to_count",
]
