"""Stop where the curve of the scores bends."""

from typing import Literal

import numpy as np

from labelsieve.errors import InputError
from labelsieve.stopping.added_information import Curve
from labelsieve.stopping.base_rule import MOST_LOOKED_AT, Numbers, SelectionPath, StoppingRule


class Knee(StoppingRule):
    r"""Keep the features before the knee of the falling curve of what each added.

    The knee is the pick farthest below the straight line from the first pick to the last, both axes scaled to 0..1 (Satopää
    et al. 2011, without smoothing):

    .. math:: \arg\max_i \; \left(1 - \frac{i - 1}{K - 1}\right) - \frac{s_i - s_K}{s_1 - s_K}

    Assumes that there is one: a few features that tell much, then many that tell alike. It is a figure's rule and promises no
    error rate; where it lies depends on how far one looks.

    Parameters
    ----------
    of : {"added", "score"}
        What the curve is of: :math:`\sum_l \min_j I(X_k; Y_l \mid X_j)`, or the scores of the criterion (see
        :class:`ScoreThreshold`).
    max_features : int, optional
        How far to look; by default all features, 100 at the most. The answer depends on it.

    Attributes
    ----------
    curve_ : ndarray
        :math:`s_1, s_2, \dots` of all that was looked at, but for forced features.
    reason_ : str

    Notes
    -----
    A curve of fewer than three points has no knee, nor has one of added information that does not fall: all are kept. Scores
    that do not fall are refused: they are of a criterion for which the rule makes no sense. Cost: the search
    up to ``max_features``, for ``"added"`` twice.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_xor_pairs=0)
    >>> sieve = Sieve("cmim", n_features_to_select=Knee()).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in sieve.selected_]
    ['relevant', 'relevant', 'relevant', 'relevant']
    """

    name = "knee"

    def __init__(self, of: Literal["added", "score"] = "added", *, max_features: int | None = None) -> None:
        self.of = of
        self.max_features = max_features

    def decide(self, evidence: SelectionPath) -> int:
        """As many as come before the knee."""
        first, most = evidence.n_forced, self._most(evidence, evidence.n_forced + MOST_LOOKED_AT)
        evidence.search.extend(most)
        self.curve_ = Curve(evidence, self.of).first(most)[first:]
        if len(self.curve_) < 3:
            self.reason_ = f"{len(self.curve_)} points have no knee."
            return most
        if not self.curve_[0] > self.curve_[-1]:
            if self.of == "added":  # the data have nothing to tell, or too few rows to tell it
                self.reason_ = "The curve does not fall, so it has no knee."
                return most
            raise InputError(
                f"Knee: the curve rises from {self.curve_[0]:.4g} to {self.curve_[-1]:.4g}, so it has no knee; use of='added' "
                "or a criterion whose scores fall (those of JMI and DISR add up over what is chosen)."
            )
        kept = knee(self.curve_)
        self.reason_ = f"The curve bends at {self.curve_[kept]:.4g}, its pick {kept + 1}."
        return first + kept


def knee(curve: Numbers) -> int:
    """How many points come before the one farthest below the line from the first to the last.

    >>> knee(np.array([1.0, 0.9, 0.8, 0.1, 0.05, 0.0]))
    3
    """
    line = np.linspace(1.0, 0.0, len(curve))
    below = line - (curve - curve[-1]) / (curve[0] - curve[-1])
    return max(1, int(below.argmax()))
