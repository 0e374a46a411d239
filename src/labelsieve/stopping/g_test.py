"""Stop when the next feature adds no information that chance could not."""

from typing import Literal

import numpy as np

from labelsieve.counting.codes import Codes
from labelsieve.counting.joint_codes import joint_variable
from labelsieve.errors import not_negative, one_of, share
from labelsieve.stopping.base_rule import SelectionPath, StoppingRule
from labelsieve.stopping.g_statistic import Column, g_statistic

REMEDY = "use PermutationTest, CrossValidated or a fixed number."


class GTest(StoppingRule):
    r"""Keep features as long as the information that they add is significant.

    For the feature :math:`X_k` that the criterion likes best and every target, :math:`G = 2N \, I(X_k; Y_l \mid Z)` is
    chi-square with :math:`(r_k - 1)(c_l - 1) \prod_{j \in Z} r_j` degrees of freedom if the feature tells nothing about the
    target beside :math:`Z`; values that do not occur in a stratum are not counted. The feature passes if some target has

    .. math:: p \cdot q \cdot m \le \alpha

    for :math:`q` targets and :math:`m` candidates, of which it is the best. That many were looked at, so whatever the criterion
    picks first among candidates that all tell nothing passes with probability :math:`\alpha` at the most; so does the whole
    selection going on beyond the last feature that matters.

    Assumes independent rows, and enough of them in every cell for the chi-square distribution. With labels of 0.5 to 2 % of the
    rows and five bins it kept less in simulations than the level allows, so it overlooks what :class:`PermutationTest` may
    find. The codes are taken as given: supervised bins (MDL) have seen the targets, and then p-values are too small.

    Parameters
    ----------
    alpha : float
        The level.
    given : {"each", "all"}
        What :math:`Z` is. ``"all"`` chosen features as one variable: the strata multiply, so a few features are the most that
        data allow. ``"each"`` chosen feature by itself, the largest p counting: the feature must add to every one of them,
        which is defined however many there are, but does not see what two of them tell together.
    correction : {"bonferroni", "sidak"}
        :math:`q m p`, which holds however candidates depend on each other (Holm's first step is the same), or
        :math:`1 - (1 - p)^{qm}`, the distribution of the smallest of independent p-values.
    min_rows : float
        Rows for each cell (stratum, value of the feature, value of the target), on average, below which a test is not made and
        the selection stops.
    max_features : int, optional
        The most features.

    Attributes
    ----------
    p_values_ : ndarray
        Corrected, of every feature kept; NaN for forced ones.
    p_value_left_out_ : float or None
        Of the feature at which it stopped; None if there was none or no test could be made.
    reason_ : str

    Notes
    -----
    Refused for weighted rows and label spaces that count rows several times. Forced features are part of :math:`Z`. Cost: for
    each pick one pass over the rows for every target, and with ``"each"`` for every target and chosen feature.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_xor_pairs=0)
    >>> sieve = Sieve("cmim", n_features_to_select=GTest()).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in sieve.selected_][:4]
    ['relevant', 'relevant', 'relevant', 'relevant']
    >>> bool((sieve.stopping_.p_values_ <= 0.05).all())
    True
    """

    name = "g-test"

    def __init__(
        self,
        alpha: float = 0.05,
        *,
        given: Literal["each", "all"] = "each",
        correction: Literal["bonferroni", "sidak"] = "bonferroni",
        min_rows: float = 5.0,
        max_features: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.given = given
        self.correction = correction
        self.min_rows = min_rows
        self.max_features = max_features

    def decide(self, evidence: SelectionPath) -> int:
        """As many as are significant, one after the other."""
        alpha = share(self.alpha, "alpha")
        one_of(self.given, "given", ("each", "all"))
        one_of(self.correction, "correction", ("bonferroni", "sidak"))
        not_negative(self.min_rows, "min_rows")
        evidence.require_plain_rows("GTest", REMEDY)
        p_values = [np.nan] * evidence.n_forced

        def passes(kept: int) -> bool:
            p = self._p_value(evidence, kept)
            p_values.append(p)
            if p <= alpha:
                return True
            self.reason_ = f"The next feature has p = {p:.3g}."
            if np.isnan(p):
                self.reason_ = f"The next test would have fewer than {self.min_rows:g} rows for each cell."
            return False

        kept = self._walk(evidence, self._most(evidence), passes)
        self.p_values_ = np.array(p_values[:kept])
        left_out = p_values[kept] if len(p_values) > kept else np.nan
        self.p_value_left_out_ = None if np.isnan(left_out) else float(left_out)
        return kept

    def _p_value(self, evidence: SelectionPath, kept: int) -> float:
        """Corrected, of the feature that came after ``kept`` others."""
        X, Y = evidence.workspace.X, evidence.workspace.Y
        chosen = evidence.search.selected[:kept]
        feature = X.column(evidence.search.selected[kept])
        strata = self._strata(X, chosen)
        smallest, tested = np.inf, False
        for target in evidence.places:
            labels = Y.column(target)
            tests = [g_statistic(feature, labels, one) for one in strata]
            if all(test.cells * self.min_rows <= len(feature) for test in tests):
                smallest, tested = min(smallest, max(test.p_value for test in tests)), True
        if not tested:
            return float("nan")
        return corrected(smallest, len(evidence.places) * int(evidence.candidates(kept).sum()), self.correction)

    def _strata(self, X: Codes, chosen: list[int]) -> list[Column | None]:
        if not chosen:
            return [None]
        columns = [X.column(feature) for feature in chosen]
        if self.given == "each":
            return list(columns)
        together = Codes(X.n_rows, X.levels[chosen], dense=np.column_stack(columns))
        return [joint_variable(together)[0]]


def corrected(p: float, n_tests: int, correction: str) -> float:
    """A p-value that is the smallest of ``n_tests``.

    >>> corrected(0.01, 3, "bonferroni"), round(corrected(0.01, 3, "sidak"), 6)
    (0.03, 0.029701)
    """
    if correction == "bonferroni" or p >= 1:
        return min(1.0, n_tests * p)
    return float(-np.expm1(n_tests * np.log1p(-p)))
