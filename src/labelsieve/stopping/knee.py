"""Stop at the knee of the curve of scores."""

from typing import Literal

import numpy as np

from labelsieve.errors import InputError
from labelsieve.stopping.base_rule import MAX_CURVE_LENGTH, Floats, SelectionPath, StoppingRule
from labelsieve.stopping.threshold import Curve


class Knee(StoppingRule):
    r"""Keep the features before the knee of the decreasing curve of added information.

    The knee is the point farthest below the straight line from the first point to the last, both axes scaled to 0..1 (Satopää
    et al. 2011, without smoothing):

    .. math:: \arg\max_i \; \left(1 - \frac{i - 1}{K - 1}\right) - \frac{s_i - s_K}{s_1 - s_K}

    Assumes that there is one: a few informative features, then many of about equal, small values. It is a rule of thumb
    without an error rate, and the position of the knee depends on the length of the curve.

    Parameters
    ----------
    of : {"added", "score"}, default="added"
        The values of the curve: the added information :math:`\sum_l \min_j I(X_k; Y_l \mid X_j)`, or the scores of the
        criterion (see :class:`ScoreThreshold`).
    max_features : int, default=None
        Length of the curve; None: all features, 100 at most. The result depends on it.

    Attributes
    ----------
    curve_ : ndarray
        :math:`s_1, s_2, \dots` of the evaluated features, without forced ones.
    reason_ : str
        Why it stopped.

    Notes
    -----
    A curve of fewer than three points has no knee, nor has a curve of added information that does not decrease: all features
    are kept. Scores that do not decrease are refused, because the rule is not defined for such a criterion. Cost: the search up
    to ``max_features``, for ``"added"`` twice.

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

    def decide(self, path: SelectionPath) -> int:
        """The number of features before the knee."""
        first, most = path.n_forced, self._max_features(path, path.n_forced + MAX_CURVE_LENGTH)
        path.search.extend(most)
        self.curve_ = Curve(path, self.of).first(most)[first:]
        if len(self.curve_) < 3:
            self.reason_ = f"{len(self.curve_)} points have no knee."
            return most
        if not self.curve_[0] > self.curve_[-1]:
            if self.of == "added":  # the features are uninformative, or there are too few rows
                self.reason_ = "The curve does not decrease, so it has no knee."
                return most
            raise InputError(
                f"Knee: the curve rises from {self.curve_[0]:.4g} to {self.curve_[-1]:.4g}, so it has no knee; use of='added' "
                "or a criterion whose scores decrease (those of JMI and DISR are sums over the selected features)."
            )
        kept = knee(self.curve_)
        self.reason_ = f"The curve has its knee at {self.curve_[kept]:.4g}, feature {kept + 1}."
        return first + kept


def knee(curve: Floats) -> int:
    """Number of points before the one farthest below the line from the first point to the last.

    >>> knee(np.array([1.0, 0.9, 0.8, 0.1, 0.05, 0.0]))
    3
    """
    line = np.linspace(1.0, 0.0, len(curve))
    below = line - (curve - curve[-1]) / (curve[0] - curve[-1])
    return max(1, int(below.argmax()))
