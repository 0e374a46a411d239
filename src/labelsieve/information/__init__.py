from labelsieve.counting.joint_codes import join
from labelsieve.information.kernel_estimator import kernel_mutual_information
from labelsieve.information.measures import (
    conditional_mutual_information,
    entropy,
    interaction_information,
    joint_entropy,
    joint_mutual_information,
    mutual_information,
)
from labelsieve.information.neighbor_estimator import neighbor_mutual_information
from labelsieve.tables.codes import Codes

__all__ = [
    "Codes",
    "conditional_mutual_information",
    "entropy",
    "interaction_information",
    "join",
    "joint_entropy",
    "joint_mutual_information",
    "kernel_mutual_information",
    "mutual_information",
    "neighbor_mutual_information",
]
