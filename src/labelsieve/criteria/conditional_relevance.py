"""Criteria of joint and conditional relevance: what a candidate tells together with, or given, a selected feature."""

from labelsieve.criteria.criterion import Criterion
from labelsieve.criteria.relevance import RELEVANCE
from labelsieve.formula import H, I, co, f, mean_s, mean_st, mean_y, mean_z, min_s, s, sum_s, sum_y, t, y, z


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
