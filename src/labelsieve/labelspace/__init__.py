from labelsieve.labelspace.parents import check_parents
from labelsieve.labelspace.spaces import LABEL_SPACES, target_space
from labelsieve.labelspace.targets import encode_targets

__all__ = ["LABEL_SPACES", "check_parents", "encode_targets", "target_space"]
