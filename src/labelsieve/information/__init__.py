from labelsieve.information.codes import Codes
from labelsieve.information.joint import join
from labelsieve.information.kernel import kernel_mutual_information
from labelsieve.information.measures import (
    conditional_mutual_information,
    entropy,
    interaction_information,
    joint_entropy,
    joint_mutual_information,
    mutual_information,
)
from labelsieve.information.neighbours import neighbour_mutual_information

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
    "neighbour_mutual_information",
]
