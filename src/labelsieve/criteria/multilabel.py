"""Criteria that were published for many labels: with pairs of labels, label networks, or interactions summed over labels."""

from typing import Literal

from labelsieve.criteria.criterion import Criterion
from labelsieve.criteria.relevance import RELEVANCE
from labelsieve.errors import one_of
from labelsieve.formula import I, co, f, max_y, max_z, mean_pa, mean_s, pa, pos, s, sum_pa, sum_s, sum_y, sum_yz, sum_z, y, z

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
