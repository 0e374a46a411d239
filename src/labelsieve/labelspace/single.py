"""Every target by itself: binary relevance."""

from typing import ClassVar

from labelsieve.counting.targets import BINS, Kind, TargetTable
from labelsieve.labelspace.base_space import EncodedTargets, LabelSpace, Makes, Weights


class Single(LabelSpace):
    r"""Every target by itself; scores are added over them.

    .. math:: \sum_l I(X; Y_l)

    Sechidis, Nikolaou and Brown (2014), eq. 4, 7 and 8 (Y: full); known as binary relevance. Real targets are cut into bins of
    equal width, like features.

    Parameters
    ----------
    n_bins : int
        Of a real target.
    kind : {"auto", "classes", "numbers"}
        Which targets are real: those with fractions, none (then they are refused), or all.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> Single(n_bins=2).make(read_targets([[0, 0.1], [1, 0.2], [1, 9.5]])).codes.levels
    array([2, 2], dtype=uint32)
    """

    name = "single"

    makes: ClassVar[Makes] = "targets"

    def __init__(self, *, n_bins: int = BINS, kind: Kind = "auto") -> None:
        self.n_bins = n_bins
        self.kind = kind

    def make(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """The targets as codes."""
        return EncodedTargets(targets.codes(self.n_bins))
