"""Criteria of relevance minus redundancy, added over the targets: redundancy counts once for each target."""

from labelsieve.criteria.criterion import Criterion
from labelsieve.formula import H, I, f, mean_s, minimum, pos, s, sum_s, sum_y, y


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
