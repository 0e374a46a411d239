"""Information gain, label by label, joined into one ranking."""

from labelsieve.criteria.criterion import Criterion
from labelsieve.criteria.relevance import RELEVANCE


class JoinedMIM(Criterion):
    r"""Information about each label by itself, then the labels joined: :func:`labelsieve.search.join_labels`.

    .. math:: J(f) = \max_y \frac{I(f; y)}{\sqrt{\sum_g I(g; y)^2}}

    Binary relevance with information gain, as in Mulan. Unlike :class:`MIM` it does not add the labels up, and every label may
    have bins of its own (``MDL(targets="single")``). ``join`` and ``scale`` are those of ``join_labels``. A ranking.
    """

    name = "joined-mim"
    listed = False
    paper = "Pereira et al. 2015, BR + IG"
    score = RELEVANCE  # of each label by itself

    def __init__(self, join: str = "max", *, scale: str = "length") -> None:
        self.join = join
        self.scale = scale

    def __repr__(self) -> str:
        return f"JoinedMIM({self.join!r}, scale={self.scale!r})"
