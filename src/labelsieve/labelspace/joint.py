"""All targets as one variable: the label powerset."""

from typing import ClassVar

from labelsieve.counting.targets import BINS, Kind, TargetTable
from labelsieve.information import join
from labelsieve.labelspace.base_space import EncodedTargets, LabelSpace, Makes, Weights


class Joint(LabelSpace):
    r"""One variable whose levels are the distinct label rows: the label powerset.

    .. math:: I(X; Y_1 Y_2 \dots Y_q)

    Sechidis, Nikolaou and Brown (2014), eq. 3, 5 and 6 (Y: none). Real targets are cut into bins of equal width first.
    Cost: one pass over the rows for each target.

    Parameters
    ----------
    n_bins, kind
        See :class:`Single`.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> Joint().make(read_targets([[0, 1], [1, 1], [0, 1]])).codes.levels
    array([2], dtype=uint32)
    """

    name = "joint"

    makes: ClassVar[Makes] = "variable"

    def __init__(self, *, n_bins: int = BINS, kind: Kind = "auto") -> None:
        self.n_bins = n_bins
        self.kind = kind

    def make(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """The joint variable."""
        return EncodedTargets(join(targets.codes(self.n_bins)))
