"""Stop when scores become small."""

from typing import Literal

import numpy as np

from labelsieve.errors import number, one_of
from labelsieve.formula import I, Plan, f, min_s, s, sum_y, y
from labelsieve.stopping.base_rule import Floats, SelectionPath, StoppingRule

# The scale of a criterion's scores may change with every pick (that of JMI grows), so rules that compare scores along a
# selection path can use the added information instead, for every criterion.
ADDED = Plan(sum_y(min_s(I(f, y | s))), sum_y(I(f, y)), name="added information")


class ScoreThreshold(StoppingRule):
    r"""Keep features until the first whose score is not above a threshold.

    Assumes that the scores of all steps have the same scale. They do for criteria that are an information term or a mean of
    such terms (MIM, CMI, CMIM, MRMR, MDMR). JMI and DISR are sums over the selected features, so their scores grow: use
    ``of="added"``.

    Parameters
    ----------
    threshold : float, default=0.0
        In nats; or, if ``relative``, a fraction of the first score.
    relative : bool, default=False
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

    def __init__(
        self,
        threshold: float = 0.0,
        *,
        relative: bool = False,
        of: Literal["score", "added"] = "score",
        max_features: int | None = None,
    ) -> None:
        self.threshold = threshold
        self.relative = relative
        self.of = of
        self.max_features = max_features

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
        if of == "added":
            ADDED.require_memory(path.workspace.X, path.workspace.Y)
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
