"""Stop when scores become small."""

from typing import Literal

from labelsieve.errors import number
from labelsieve.stopping.added_information import Curve
from labelsieve.stopping.base_rule import SelectionPath, StoppingRule


class ScoreThreshold(StoppingRule):
    r"""Keep features until the first whose score is not above a threshold.

    Assumes that scores of different picks mean the same. They do for criteria that are an information or a mean of them (MIM,
    CMI, CMIM, MRMR, MDMR). JMI and DISR add up over what is chosen, so their scores grow: use ``of="added"``.

    Parameters
    ----------
    threshold : float
        In nats; or, if ``relative``, a share of the first score.
    relative : bool
    of : {"score", "added"}
        The score of the criterion, or :math:`\sum_l \min_j I(X_k; Y_l \mid X_j)` over the features :math:`X_j` chosen before:
        what the feature tells that none of them tells by itself. Plug-in estimates of nothing are near
        :math:`(r_k - 1)(c - 1) / 2N`, not 0.
    max_features : int, optional
        The most features.

    Attributes
    ----------
    curve_ : ndarray
        What was compared with the threshold, for each feature after the forced ones; the last is the one left out, if any.
    reason_ : str

    Notes
    -----
    Forced features are kept whatever they score; the first score is that of the first free one. Cost: the search, one pick
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

    def decide(self, evidence: SelectionPath) -> int:
        """As many as are above the threshold."""
        first, threshold = evidence.n_forced, number(self.threshold, "threshold")
        curve, looked = Curve(evidence, self.of), first

        def passes(kept: int) -> bool:
            nonlocal looked
            looked = kept + 1
            values = curve.first(looked)
            value, limit = values[kept], threshold * values[first] if self.relative else threshold
            if value > limit:
                return True
            self.reason_ = f"The next feature has {value:.4g}, which is not above {limit:.4g}."
            return False

        kept = self._walk(evidence, self._most(evidence), passes)
        self.curve_ = curve.first(looked)[first:]
        return kept
