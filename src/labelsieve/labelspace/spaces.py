"""Label spaces: what a criterion takes for its targets."""

from labelsieve.errors import one_of
from labelsieve.information import Codes, join

LABEL_SPACES = ("single", "joint")


def target_space(Y: Codes, targets: str) -> Codes:
    """The targets of a label space.

    ``"single"`` keeps every target by itself, and scores are added over them (Sechidis, Nikolaou and Brown 2014, eq. 4, 7, 8).
    ``"joint"`` makes them one variable whose levels are the distinct label rows (eq. 3, 5, 6).

    >>> target_space(Codes.from_values([[0, 1], [1, 1], [0, 1]]), "joint").levels
    array([2], dtype=uint32)
    """
    one_of(targets, "targets", LABEL_SPACES)
    return Y if targets == "single" else join(Y)
