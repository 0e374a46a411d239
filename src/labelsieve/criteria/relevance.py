"""Criteria of relevance: what a candidate tells about the targets, alone or together with the selected features."""

from typing import Literal

from labelsieve.criteria.criterion import Criterion
from labelsieve.formula import H, I, S, f, min_s, minimum, pos, s, sqrt, sum_s, sum_y, y

RELEVANCE = sum_y(I(f, y))


class MIM(Criterion):
    r"""Mutual information maximization: relevance alone.

    .. math:: J(f) = \sum_y I(f; y)

    Over single labels, in bits, this is MLInfoGain (Pereira et al. 2015, eq. 2). A ranking: nothing is counted
    after the first step.
    """

    paper = "Lewis 1992; Sechidis, Nikolaou and Brown 2014, eq. 5 and 7"
    score = RELEVANCE


class JMI(Criterion):
    r"""Joint mutual information.

    .. math:: J(f) = \sum_{s \in S} \sum_y I(f s; y)

    One triple table for every candidate and target at each step. ``normalized=True`` divides every information, also that of
    the first step, by the root of the entropies, :math:`I(fs; y) / \sqrt{H(fs) H(y)}`: not in the equations of Sechidis et al.
    (2019), but in the program that their tables come from. It selects more redundant features.
    """

    paper = "Yang and Moody 1999; Sechidis, Nikolaou and Brown 2014, eq. 6 and 8"
    first = RELEVANCE
    score = sum_s(sum_y(I((f, s), y)))

    def __init__(self, *, normalized: bool = False) -> None:
        self.normalized = normalized
        if normalized:
            self.first = sum_y(I(f, y) / sqrt(H(f) * H(y)))
            self.score = sum_s(sum_y(I((f, s), y) / sqrt(H((f, s)) * H(y))))


class CMI(Criterion):
    r"""Conditional mutual information, given all selected features.

    .. math:: J(f) = \sum_y I(f; y \mid S)

    The joint variable of the selected features is one code per row, refined at each step; singleton groups cost nothing.
    """

    paper = "Sechidis, Nikolaou and Brown 2014, eq. 2 to 4"
    score = sum_y(I(f, y | S))


class CMIM(Criterion):
    r"""Conditional mutual information maximization: given the selected feature that is most redundant with the candidate.

    .. math:: J(f) = \sum_y \min_{s \in S} I(f; y \mid s)

    ``with_relevance=True`` puts :math:`I(f; y)` into the minimum, as the FEAST toolbox does. Needs an accumulator for every
    feature and target.
    """

    paper = "Fleuret 2004"
    first = RELEVANCE
    score = sum_y(min_s(I(f, y | s)))

    def __init__(self, *, with_relevance: bool = False) -> None:
        self.with_relevance = with_relevance
        if with_relevance:
            self.score = sum_y(minimum(I(f, y), min_s(I(f, y | s))))


class CMIMPositive(Criterion):
    r"""CMIM with the positive part of every minimum, for estimators that correct bias.

    .. math:: J(f) = \sum_y \max\left(0, \min_{s \in S} I(f; y \mid s)\right)

    Corrected estimates may be negative, and those of labels about which the feature has no information would be subtracted
    from those of the others. The same as ``"cmim"`` with the plug-in estimator, which is never negative.
    """

    name = "cmim-positive"
    paper = "Fleuret 2004, positive parts; docs/choose/hybrid.md"
    first = sum_y(pos(I(f, y)))
    score = sum_y(pos(min_s(I(f, y | s))))


class DISR(Criterion):
    r"""Double input symmetrical relevance: joint information as a fraction of the joint entropy.

    .. math:: J(f) = \sum_y \sum_{s \in S} \frac{I(f s; y)}{H(f s y)}
    """

    paper = "Meyer and Bontempi 2006"
    first = RELEVANCE
    score = sum_y(sum_s(I((f, s), y) / H((f, s, y))))


class ENM(Criterion):
    r"""Euclidean norm maximization: the length of the vector of relevances.

    .. math:: J(f) = \sqrt{\sum_y I(f; y)^2}

    A ranking, in favor of features that have much information about a few labels.
    """

    paper = "Gonzalez-Lopez, Ventura and Cano 2020"
    score = 4 * sqrt(sum_y(I(f, y) * I(f, y) / 16))


class JoinedMIM(Criterion):
    r"""Mutual information with each label separately, scaled per label and then joined: by default the largest is taken.

    .. math:: J(f) = \max_y \frac{I(f; y)}{\sqrt{\sum_g I(g; y)^2}}

    Binary relevance with information gain, as in Mulan. Unlike ``"mim"`` it does not add the labels up, and every label may
    have separate bins (``MDL(targets="single")``). A ranking.

    Parameters
    ----------
    join : {"max", "mean", "min", "sum", "geometric"}, default="max"
        How the scores of the labels are joined; ``"geometric"`` is the geometric mean (Gonzalez-Lopez et al. 2020).
    scale : {"none", "length", "largest"}, default="length"
        Divisor of the scores of each label: none, their Euclidean length (the root in the formula), or the largest of them.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]], [[0, 0], [0, 1], [1, 1], [1, 1]]
    >>> Sieve(JoinedMIM("mean"), discretizer=None, n_features_to_select=1).fit(X, Y).selected_
    array([0])
    """

    name = "joined-mim"
    listed = False
    paper = "Pereira et al. 2015, BR + IG"
    score = RELEVANCE  # of each label separately

    def __init__(
        self,
        join: Literal["max", "mean", "min", "sum", "geometric"] = "max",
        *,
        scale: Literal["none", "length", "largest"] = "length",
    ) -> None:
        self.join = join
        self.scale = scale

    def __repr__(self) -> str:
        return f"JoinedMIM({self.join!r}, scale={self.scale!r})"
