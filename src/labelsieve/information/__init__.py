"""Information measures of columns: codes or numbers come in, arrays of nats or bits go out.

``discrete`` has entropies and information of codes, counted by the core; ``continuous`` estimates information of numbers.
"""

from labelsieve.counting.joint_codes import join
from labelsieve.information.continuous import kernel_mutual_information, neighbor_mutual_information
from labelsieve.information.discrete import (
    conditional_mutual_information,
    entropy,
    interaction_information,
    joint_entropy,
    joint_mutual_information,
    mutual_information,
)
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
