from labelsieve.labelspace.network import LabelNetwork
from labelsieve.labelspace.parents import check_parents
from labelsieve.labelspace.rule import NetworkRule
from labelsieve.labelspace.spaces import LABEL_SPACES, target_space
from labelsieve.labelspace.targets import encode_targets

__all__ = ["LABEL_SPACES", "LabelNetwork", "NetworkRule", "check_parents", "encode_targets", "target_space"]
