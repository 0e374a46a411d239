"""What a feature tells beside each of those chosen before it, in three parts."""

from labelsieve.criteria.criterion import Criterion
from labelsieve.formula import I, f, mean_s, s, sum_y, y


class StepComponents(Criterion):
    r"""Relevance, redundancy and complementarity, averaged over what is chosen; to look at selections, not to make them.

    .. math:: J(f) = \sum_y \Big[ I(f; y) - \frac{1}{|S|} \sum_{s} I(f; s) + \frac{1}{|S|} \sum_{s} I(f; s \mid y) \Big]

    It is no member of the catalog: with more than one target it is nobody's criterion.
    """

    listed = False
    paper = "Brown, Pocock, Zhao and Lujan 2012, section 4"
    score = sum_y(I(f, y) - mean_s(I(f, s)) + mean_s(I(f, s | y)))
