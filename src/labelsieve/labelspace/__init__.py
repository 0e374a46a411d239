from labelsieve.labelspace.given_or_learned import NETWORKS, find_parents
from labelsieve.labelspace.network import LabelNetwork
from labelsieve.labelspace.rule import NetworkRule
from labelsieve.labelspace.spaces import LABEL_SPACES, target_space
from labelsieve.labelspace.targets import encode_targets

__all__ = [
    "LABEL_SPACES",
    "NETWORKS",
    "LabelNetwork",
    "NetworkRule",
    "encode_targets",
    "find_parents",
    "target_space",
]
