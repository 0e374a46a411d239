"""Label spaces encode targets as the variables that a criterion is computed for.

In come a ``TargetTable`` and sample weights, out go ``EncodedTargets``: codes, and the rows that they belong to. Start with
``base``, which also has the plain ones; ``network_rule`` learns which labels depend on which.
"""

from labelsieve.labelspace.base import (
    Cumulative,
    EncodedTargets,
    Joint,
    LabelSpace,
    Pruned,
    Single,
    compatibility_table,
    label_space_name,
    refusal,
    to_count,
    weights_of_variables,
)
from labelsieve.labelspace.fewer_labels import Clusters, Frequent, Sampled
from labelsieve.labelspace.group import Group, GroupAuto, GroupRand
from labelsieve.labelspace.label_network import LabelNetwork, check_parents
from labelsieve.labelspace.network_rule import NETWORKS, NetworkRule, find_parents
from labelsieve.labelspace.transformations import Copy, CopyWeight, Ignore, SelectMax, SelectMin, SelectRandom
from labelsieve.tables.targets import TargetTable, known_classes, read_targets, target_names

__all__ = [
    "NETWORKS",
    "Clusters",
    "Copy",
    "CopyWeight",
    "Cumulative",
    "EncodedTargets",
    "Frequent",
    "Group",
    "GroupAuto",
    "GroupRand",
    "Ignore",
    "Joint",
    "LabelNetwork",
    "LabelSpace",
    "NetworkRule",
    "Pruned",
    "Sampled",
    "SelectMax",
    "SelectMin",
    "SelectRandom",
    "Single",
    "TargetTable",
    "check_parents",
    "compatibility_table",
    "find_parents",
    "known_classes",
    "label_space_name",
    "read_targets",
    "refusal",
    "target_names",
    "to_count",
    "weights_of_variables",
]
