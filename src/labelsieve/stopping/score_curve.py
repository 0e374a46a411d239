"""Rules on the curve of scores: stop when scores become small, or at the knee."""

from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np

from labelsieve.errors import InputError, number, one_of
from labelsieve.formula import I, Plan, f, min_s, s, sum_y, y
from labelsieve.search import CombinedGain
from labelsieve.stopping.base_rule import MAX_CURVE_LENGTH, Floats, SelectionPath, StoppingRule

# The scale of a criterion's scores may change with every step (that of JMI grows), so rules that compare scores along a
# selection path can use the added information instead, for every criterion.
ADDED = Plan(sum_y(min_s(I(f, y | s))), sum_y(I(f, y)), name="added information")


@dataclass(eq=False, repr=False)
class ScoreThreshold(StoppingRule):
    r"""Keep features until the first whose score is not above a threshold.

    Assumes that the scores of all steps have the same scale. They do for criteria that are an information term or a mean of
    such terms (MIM, CMI, CMIM, MRMR, MDMR). JMI and DISR are sums over the selected features, so their scores grow: use
    ``of="added"``.

    Parameters
    ----------
    threshold : float, default=0.0
        The score that a feature has to exceed, in nats.
    relative : bool, default=False
        Whether ``threshold`` is a fraction of the first score.
    of : {"score", "added"}, default="score"
        The score of the criterion, or the added information :math:`\sum_l \min_j I(X_k; Y_l \mid X_j)` over the features
        :math:`X_j` selected before: the information that no single one of them has. The plug-in estimate for an uninformative
        feature is near :math:`(r_k - 1)(c - 1) / 2N`, not 0.
    max_features : int, default=None
        The largest number of features; None: all.

    Attributes
    ----------
    curve_ : ndarray
        The values compared with the threshold, for each feature after the forced ones; the last one failed, if any did.
    reason_ : str
        Why it stopped.

    Notes
    -----
    Forced features are always kept; the first score is that of the first feature after them. Cost: the search, one step
    further than kept; for ``"added"`` twice.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_xor_pairs=0)
    >>> sieve = Sieve("cmim", n_features_to_select=ScoreThreshold(0.1)).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in sieve.selected_]
    ['relevant', 'relevant', 'relevant', 'relevant']
    """

    name = "threshold"

    threshold: float = 0.0
    _: KW_ONLY
    relative: bool = False
    of: Literal["score", "added"] = "score"
    max_features: int | None = None

    def decide(self, path: SelectionPath) -> int:
        """The number of features before the first one that is not above the threshold."""
        first, threshold = path.n_forced, number(self.threshold, "threshold")
        curve, n_evaluated = Curve(path, self.of), first

        def passes(kept: int) -> bool:
            nonlocal n_evaluated
            n_evaluated = kept + 1
            values = curve.first(n_evaluated)
            value, limit = values[kept], threshold * values[first] if self.relative else threshold
            if value > limit:
                return True
            self.reason_ = f"The next feature has {value:.4g}, which is not above {limit:.4g}."
            return False

        kept = self._extend_while(passes, path)
        self.curve_ = curve.first(n_evaluated)[first:]
        return kept


class Curve:
    r"""The scores, or the added information, of the selected features in the order of selection.

    The k-th feature adds :math:`\sum_l \min_{j < k} I(X_k; Y_l \mid X_j)`, the first :math:`\sum_l I(X_1; Y_l)`, in nats:
    the information that no single feature selected before it has. Cost: one panel of all features and targets for each step.
    """

    def __init__(self, path: SelectionPath, of: str) -> None:
        one_of(of, "of", ("score", "added"))
        self._search, self._scorer = path.search, None
        if of == "score" and isinstance(gain := getattr(path.search, "gain", None), CombinedGain):
            raise InputError(
                f"Scores of {gain.name} are relative to the best candidate of every step and do not decrease; use of='added', "
                "GTest, CrossValidated or a fixed number."
            )
        if of == "added":
            ADDED.require_memory(path.workspace.X, path.workspace.Y.n_columns)
            self._scorer = ADDED.bind(path.workspace, targets=path.targets)
        self._added: list[float] = []

    def first(self, n_selected: int) -> Floats:
        """Values of the first ``n_selected`` features, which must be selected already."""
        if self._scorer is None:
            return np.array(self._search.scores[:n_selected])
        for feature in self._search.selected[len(self._added) : n_selected]:
            if self._added:
                self._scorer.select(self._search.selected[len(self._added) - 1])
            self._added.append(float(self._scorer.scores()[feature]))
        return np.array(self._added[:n_selected])


@dataclass(eq=False, repr=False)
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

    of: Literal["added", "score"] = "added"
    _: KW_ONLY
    max_features: int | None = None

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
