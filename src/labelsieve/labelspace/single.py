"""Each target as a separate variable: binary relevance."""

from typing import ClassVar

from labelsieve.counting.targets import BINS, Kind, TargetTable
from labelsieve.labelspace.base_space import EncodedTargets, LabelSpace, Produces, Weights


class Single(LabelSpace):
    r"""Each target as a separate variable; scores are summed over the targets.

    .. math:: \sum_l I(X; Y_l)

    Sechidis, Nikolaou and Brown (2014), eq. 4, 7 and 8 (Y: full); known as binary relevance. Numeric targets are cut into bins
    of equal width, like features.

    Parameters
    ----------
    n_bins : int, default=5
        Bins of a numeric target.
    kind : {"auto", "classes", "numbers"}, default="auto"
        Which targets are numeric: those with fractions, none (then fractions are refused), or all.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> Single(n_bins=2).encode(read_targets([[0, 0.1], [1, 0.2], [1, 9.5]])).codes.levels
    array([2, 2], dtype=uint32)
    """

    name = "single"

    produces: ClassVar[Produces] = "targets"

    def __init__(self, *, n_bins: int = BINS, kind: Kind = "auto") -> None:
        self.n_bins = n_bins
        self.kind = kind

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """The targets as codes."""
        return EncodedTargets(targets.codes(self.n_bins))
