"""Criteria by their formulas: relevance, less redundancy, for many labels, and joint or conditional relevance."""

from typing import Literal

from labelsieve.criteria.criterion import Criterion
from labelsieve.errors import one_of
from labelsieve.formula import (
    H,
    I,
    S,
    co,
    f,
    max_y,
    max_z,
    mean_pa,
    mean_s,
    mean_st,
    mean_y,
    mean_z,
    min_s,
    minimum,
    pa,
    pos,
    s,
    sqrt,
    sum_pa,
    sum_s,
    sum_y,
    sum_yz,
    sum_z,
    t,
    y,
    z,
)

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


class MRMR(Criterion):
    r"""Maximum relevance, minimum redundancy.

    .. math:: J(f) = \sum_y I(f; y) - \frac{q}{|S|} \sum_{s \in S} I(f; s)

    Never needs a triple table: one pass over pairs at each step.
    """

    paper = "Peng, Long and Ding 2005; Sun and Kudo 2017, table 1"
    score = sum_y(I(f, y) - mean_s(I(f, s)))


class NMIFS(Criterion):
    r"""Normalized mutual information feature selection: redundancy as a fraction of the smaller entropy.

    .. math:: J(f) = \sum_y \Big[ I(f; y) - \frac{1}{|S|} \sum_{s} \frac{I(f; s)}{\min(H(f), H(s))} \Big]
    """

    paper = "Estevez, Tesmer, Perez and Zurada 2009"
    score = sum_y(I(f, y) - mean_s(I(f, s) / minimum(H(f), H(s))))


class BetaGamma(Criterion):
    r"""The linear family of which MIFS, CIFE, CondRed and, with changing weights, MRMR and JMI are members.

    .. math:: J(f) = \sum_y \Big[ I(f; y) - \beta \sum_{s} I(f; s) + \gamma \sum_{s} I(f; s \mid y) \Big]
    """

    paper = "Brown, Pocock, Zhao and Lujan 2012"

    def __init__(self, beta: float = 1.0, gamma: float = 1.0) -> None:
        self.beta, self.gamma = beta, gamma
        score = I(f, y)
        if beta:
            score = score - beta * sum_s(I(f, s))
        if gamma:
            score = score + gamma * sum_s(I(f, s | y))
        self.score = sum_y(score)


class MIFS(BetaGamma):
    r"""Mutual information feature selection.

    .. math:: J(f) = \sum_y \Big[ I(f; y) - \beta \sum_{s} I(f; s) \Big]
    """

    paper = "Battiti 1994"

    def __init__(self, beta: float = 1.0) -> None:
        super().__init__(beta=beta, gamma=0.0)


class CIFE(BetaGamma):
    r"""Conditional infomax feature extraction.

    .. math:: J(f) = \sum_y \Big[ I(f; y) - \sum_{s} I(f; s) + \sum_{s} I(f; s \mid y) \Big]
    """

    paper = "Lin and Tang 2006"

    def __init__(self) -> None:
        super().__init__(beta=1.0, gamma=1.0)


class CondRed(BetaGamma):
    r"""Conditional redundancy.

    .. math:: J(f) = \sum_y \Big[ I(f; y) + \sum_{s} I(f; s \mid y) \Big]
    """

    paper = "Brown, Pocock, Zhao and Lujan 2012"

    def __init__(self) -> None:
        super().__init__(beta=0.0, gamma=1.0)


class ICAP(Criterion):
    r"""Interaction capping: redundancy counts, synergy does not.

    .. math:: J(f) = \sum_y \Big[ I(f; y) - \sum_{s} \max\big(0, I(f; s) - I(f; s \mid y)\big) \Big]
    """

    paper = "Jakulin 2005"
    score = sum_y(I(f, y) - sum_s(pos(I(f, s) - I(f, s | y))))


class AMI(Criterion):
    r"""Relevance minus redundancy, which counts once for any number of labels.

    .. math:: J(f) = \sum_y I(f; y) - \sum_{s} I(f; s)
    """

    paper = "Lee, Lim and Kim 2012"
    score = sum_y(I(f, y)) - sum_s(I(f, s))


class SCLS(Criterion):
    r"""Scalable criterion for large label sets: relevance times the fraction of the candidate's entropy that is not redundant.

    .. math:: J(f) = \sum_y I(f; y) \Big( 1 - \sum_{s} \frac{I(f; s)}{H(f)} \Big)
    """

    paper = "Lee and Kim 2017"
    score = sum_y(I(f, y)) * (1 - sum_s(I(f, s) / H(f)))


class StepComponents(Criterion):
    r"""Relevance, redundancy and complementarity, averaged over the selected features: to analyze a selection, not to make one.

    .. math:: J(f) = \sum_y I(f; y) - \frac{1}{|S|} \sum_s \sum_y \max\big(0, I(f; s) - I(f; s \mid y)\big)
              + \frac{1}{|S|} \sum_s \sum_y \max\big(0, I(f; s \mid y) - I(f; s)\big)

    The interaction of a candidate, a selected feature and a label is redundancy or complementarity by its sign: I(f; s) alone,
    counted once for every label, would grow with the number of labels and cancel out. It is not in the registry: with more
    than one target it is no published criterion.
    """

    listed = False
    paper = "Brown, Pocock, Zhao and Lujan 2012, section 4; Jakulin 2005"
    score = sum_y(I(f, y)) - sum_y(mean_s(pos(I(f, s) - I(f, s | y)))) + sum_y(mean_s(pos(I(f, s | y) - I(f, s))))


Reading = Literal["supplement", "pyit-mlfs"]
READINGS = ("supplement", "pyit-mlfs")

INTERACTION = sum_s(sum_y(co(f, s, y)))


class PMU(Criterion):
    r"""Pairwise multi-label utility.

    .. math:: J(f) = \sum_y I(f; y) - \sum_{y < z} I(f; y; z) - \sum_{s} \sum_y I(f; s; y)

    with co-information :math:`I(a;b;c) = I(a;b) - I(a;b|c)`; the label pairs count from the first step on.
    ``pairs="ordered"`` counts each pair both ways; ``pairs="ordered-and-equal"`` also a label with itself, as PyIT-MLFS does.
    """

    paper = "Lee and Kim 2013"

    def __init__(self, *, pairs: Literal["once", "ordered", "ordered-and-equal"] = "once") -> None:
        self.pairs = pairs
        among_labels = {
            "once": sum_yz(co(f, y, z)),
            "ordered": 2 * sum_yz(co(f, y, z)),
            "ordered-and-equal": 2 * sum_yz(co(f, y, z)) + RELEVANCE,  # I(f; y; y) = I(f; y)
        }
        if pairs not in among_labels:
            raise ValueError(f"pairs must be one of {', '.join(map(repr, among_labels))}, not {pairs!r}.")
        self.score = RELEVANCE - among_labels[pairs] - INTERACTION


class FIMF(Criterion):
    r"""Fast feature ranking: label pairs among the labels of largest entropy only.

    .. math:: J(f) = \sum_y I(f; y) - \sum_{y < z \in Q} I(f; y; z)

    :math:`Q` are the ``n_top`` labels of largest entropy; relevance is over all labels. A ranking.
    """

    paper = "Lee and Kim 2015"

    def __init__(self, n_top: int = 10) -> None:
        self.n_top = n_top
        self.score = RELEVANCE - sum_yz(co(f, y, z), top=n_top)


class D2F(Criterion):
    r"""PMU without the label pairs.

    .. math:: J(f) = \sum_y I(f; y) - \sum_{s} \sum_y I(f; s; y)
    """

    paper = "Lee and Kim 2015b"
    score = RELEVANCE - INTERACTION


class MDMR(Criterion):
    r"""Max-dependency and min-redundancy.

    .. math:: J(f) = \sum_y I(f; y) - \frac{1}{|S|} \sum_{s} \Big[ I(f; s) - \sum_y I(f; y \mid s) \Big]
    """

    paper = "Lin, Hu, Liu and Duan 2015"
    score = RELEVANCE - mean_s(I(f, s) - sum_y(I(f, y | s)))


class LRFS(Criterion):
    r"""Label redundancy: information about a label given another one.

    .. math:: J(f) = \sum_y \sum_{z \ne y} I(f; y \mid z) - \frac{1}{|S|} \sum_{s} I(f; s)
    """

    paper = "Zhang, Liu and Gao 2019"
    score = sum_y(sum_z(I(f, y | z))) - mean_s(I(f, s))


class LSMFS(Criterion):
    r"""Label supplementation: the gain of information about a label given another one.

    .. math:: J(f) = \sum_y I(f; y) + \sum_y \sum_{z \ne y} \max\big(0, I(f; y \mid z) - I(f; y)\big) - \sum_{s} I(f; s)

    ``reading="pyit-mlfs"`` takes the opposite difference, as that program does.
    """

    paper = "Zhang, Gao, Hu and Li 2021"

    def __init__(self, *, reading: Reading = "supplement") -> None:
        one_of(reading, "reading", READINGS)
        self.reading = reading
        more = I(f, y | z) - I(f, y) if reading == "supplement" else I(f, y) - I(f, y | z)
        self.score = RELEVANCE + sum_y(sum_z(pos(more))) - sum_s(I(f, s))


class MLSMFS(Criterion):
    r"""LSMFS with the label that supplements most instead of all labels.

    .. math:: J(f) = \sum_y I(f; y) + \sum_y \max_{z \ne y} \max\big(0, I(f; y \mid z) - I(f; y)\big) - \sum_{s} I(f; s)

    ``reading="pyit-mlfs"`` has :math:`\max_y \max_{z \ne y} I(f; y \mid z)` in the middle, as that program does.
    """

    paper = "Zhang, Gao, Hu and Li 2021"

    def __init__(self, *, reading: Reading = "supplement") -> None:
        one_of(reading, "reading", READINGS)
        self.reading = reading
        most = sum_y(max_z(pos(I(f, y | z) - I(f, y)))) if reading == "supplement" else max_y(max_z(I(f, y | z)))
        self.score = RELEVANCE + most - sum_s(I(f, s))


class MLFS(Criterion):
    r"""Multi-label feature selection over a label network.

    .. math:: J(f) = \sum_y \Big[ I(f; y) + \beta \sum_{p \in Pa_y} I(y; p \mid f) + \gamma \sum_{s} I(y; s \mid f) \Big]

    with :math:`\beta = 1/|Pa_y|` and :math:`\gamma = 1/|S|` by default. Without parents the middle term is 0. One
    label at a time (:class:`labelsieve.LabelwiseSieve`) this is the local form, eq. 43. ``first_step="relevance"`` takes the
    first feature by :math:`\sum_y I(f; y)` alone, as the authors' program does.
    """

    paper = "Sun and Kudo 2017, eq. 42 and 43"

    def __init__(
        self, *, beta: float | None = None, gamma: float | None = None, first_step: Literal["formula", "relevance"] = "formula"
    ) -> None:
        one_of(first_step, "first_step", ("formula", "relevance"))
        self.beta, self.gamma, self.first_step = beta, gamma, first_step
        self.first = RELEVANCE if first_step == "relevance" else None
        parents = mean_pa(I(y, pa | f)) if beta is None else beta * sum_pa(I(y, pa | f))
        selected = mean_s(I(y, s | f)) if gamma is None else gamma * sum_s(I(y, s | f))
        self.score = sum_y(I(f, y) + parents + selected)


class JMIM(Criterion):
    r"""Joint mutual information maximization: jointly with the selected feature that adds least.

    .. math:: J(f) = \sum_y \min_{s \in S} I(f s; y)

    As in CMIM, the minimum is taken for each label. Needs an accumulator for every feature and target.
    """

    paper = "Bennasar, Hicks and Setchi 2015, eq. 11"
    first = RELEVANCE
    score = sum_y(min_s(I((f, s), y)))


class NJMIM(Criterion):
    r"""JMIM with joint information as a fraction of the joint entropy.

    .. math:: J(f) = \sum_y \min_{s \in S} \frac{I(f s; y)}{H(f s y)}
    """

    paper = "Bennasar, Hicks and Setchi 2015, section 3.2"
    first = RELEVANCE
    score = sum_y(min_s(I((f, s), y) / H((f, s, y))))


class MRI(Criterion):
    r"""Maximal relevance and maximal independence: classification information that f and s do not share.

    .. math:: J(f) = \sum_y \Big[ I(f; y) + \sum_{s} \big( I(f; y \mid s) + I(s; y \mid f) \big) \Big]
    """

    paper = "Wang, Wei, Yang and Wang 2017"
    score = sum_y(I(f, y) + sum_s(I(f, y | s) + I(s, y | f)))


class DCSF(Criterion):
    r"""Dynamic change of selected features with the class.

    .. math:: J(f) = \sum_y \sum_{s} \big[ I(f; y \mid s) + I(s; y \mid f) - I(f; s) \big]
    """

    paper = "Gao, Hu and Zhang 2018"
    first = RELEVANCE
    score = sum_y(sum_s(I(f, y | s) + I(s, y | f) - I(f, s)))


class CFR(Criterion):
    r"""Composition of feature relevancy: conditional relevance minus what f, s and the label share.

    .. math:: J(f) = \sum_y \sum_{s} \big[ I(f; y \mid s) - I(f; y; s) \big]
    """

    paper = "Gao, Hu, Zhang and He 2018"
    first = RELEVANCE
    score = sum_y(sum_s(I(f, y | s) - co(f, y, s)))


class RelaxMRMR(Criterion):
    r"""Relaxed mRMR: the third order of redundancy, of the candidate and pairs of selected features.

    .. math:: J(f) = \sum_y \Big[ I(f; y) - \frac{1}{|S|} \sum_{s} I(f; s) + \frac{1}{|S|} \sum_{s} I(f; s \mid y)
              - \frac{1}{|S| (|S| - 1)} \sum_{s} \sum_{t \ne s} I(f; s \mid t) \Big]

    A step costs tables of all candidates with each pair of the newest and an older selected feature.
    """

    paper = "Vinh, Zhou, Chan and Bailey 2016"
    score = sum_y(I(f, y) - mean_s(I(f, s)) + mean_s(I(f, s | y)) - mean_st(I(f, s | t)))


class TCRFS(Criterion):
    r"""Three types of conditional relevance: given another label, given a selected feature, and of that feature given f.

    .. math:: J(f) = \frac{1}{q (q - 1)} \sum_y \sum_{z \ne y} I(f; y \mid z)
              + \frac{1}{q |S|} \sum_y \sum_{s} \big[ I(f; y \mid s) + I(s; y \mid f) \big]
              - \frac{1}{|S|} \sum_{s} \Big[ I(f; s) - \frac{1}{q} \sum_y I(f; s \mid y) \Big]

    The formula is that of a public program, which selects the first feature by the first term. A single target has no other
    one: its first term is 0.
    """

    paper = "Gao, Wang, Li, Zhang and Hu 2021"
    score = mean_y(mean_z(I(f, y | z))) + mean_s(mean_y(I(f, y | s) + I(s, y | f))) - mean_s(I(f, s) - mean_y(I(f, s | y)))
