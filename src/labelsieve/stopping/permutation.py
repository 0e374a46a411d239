"""Stop when shuffled targets score as well."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from labelsieve.counting.codes import Codes, SparseCodes
from labelsieve.counting.joint_codes import joint_variable
from labelsieve.errors import share, whole_number
from labelsieve.stopping.base_rule import Rows, SelectionPath, StoppingRule

REMEDY = "use CrossValidated, Knee, ScoreThreshold or a fixed number."


class PermutationTest(StoppingRule):
    r"""Keep features as long as the best one scores better than the best one for shuffled targets.

    Rows of the targets, whole ones, are shuffled among the rows that agree in all features chosen so far. That keeps how
    targets depend on each other, on what is chosen, and features on features; it breaks what the other features tell beside it.
    With :math:`B` shuffles and the largest score among all candidates,

    .. math:: p = \frac{1 + \#\{b : \max_k J^{(b)}_k \ge J\}}{1 + B} .

    The maximum is what makes up for having taken the best of many. If nothing that is left tells more about the targets, the
    shuffled data are as likely as those seen, so the next feature passes with probability :math:`\alpha` at the most, for any
    criterion, however few rows, however rare the labels; for the first pick exactly so, later given that the features chosen
    are those that matter.

    Assumes that rows are exchangeable: no time, no groups of related rows. The codes are taken as given: supervised bins (MDL)
    have seen the targets, and then p-values are too small. Fewer and fewer rows agree in all chosen features; when hardly any
    do, nothing is left to shuffle and the selection stops, so many features with many levels each are out of reach.

    Parameters
    ----------
    alpha : float
        The level.
    n_permutations : int
        :math:`B`; p-values are multiples of :math:`1 / (B + 1)`. A feature that fails is found out earlier (Besag and Clifford
        1991: after :math:`h = \lfloor \alpha (B + 1) \rfloor` shuffles at least as good in :math:`l`, :math:`p = h / l`).
    random_state : int, RandomState or None
        Same number, same shuffles.
    max_features : int, optional
        The most features.

    Attributes
    ----------
    p_values_ : ndarray
        Of every feature kept; NaN for forced ones.
    p_value_left_out_ : float or None
        Of the feature at which it stopped; None if there was none.
    reason_ : str

    Notes
    -----
    Refused for weighted rows and label spaces that count rows several times. Forced features are shuffled within, not tested.
    Cost: for every feature :math:`B` times packing the features and scoring anew with all that is chosen, so for :math:`K`
    features up to :math:`B K^2 / 2` panels.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_rows=400, n_relevant=2, n_noisy_copies=0, n_xor_pairs=0, n_irrelevant=5)
    >>> sieve = Sieve("jmi", n_features_to_select=PermutationTest(n_permutations=99)).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in sieve.selected_]
    ['relevant', 'relevant']
    >>> sieve.stopping_.p_values_
    array([0.01, 0.01])
    """

    name = "permutation"

    def __init__(
        self,
        alpha: float = 0.05,
        *,
        n_permutations: int = 199,
        random_state: Any = 0,
        max_features: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.n_permutations = n_permutations
        self.random_state = random_state
        self.max_features = max_features

    def decide(self, evidence: SelectionPath) -> int:
        """As many as are significant, one after the other."""
        alpha = share(self.alpha, "alpha")
        whole_number(self.n_permutations, "n_permutations", 1, 2**31)
        evidence.require_plain_rows("PermutationTest", REMEDY)
        random = check_random_state(self.random_state)
        p_values = [np.nan] * evidence.n_forced

        def passes(kept: int) -> bool:
            p_values.append(self._p_value(evidence, kept, alpha, random))
            self.reason_ = self.reason_ if p_values[-1] <= alpha else f"The next feature has p = {p_values[-1]:.3g}."
            return p_values[-1] <= alpha

        kept = self._walk(evidence, self._most(evidence), passes)
        self.p_values_ = np.array(p_values[:kept])
        left_out = p_values[kept] if len(p_values) > kept else np.nan
        self.p_value_left_out_ = None if np.isnan(left_out) else float(left_out)
        return kept

    def _p_value(self, evidence: SelectionPath, kept: int, alpha: float, random: np.random.RandomState) -> float:
        """Of the feature that came after ``kept`` others."""
        search, workspace = evidence.search, evidence.workspace
        chosen, observed = search.selected[:kept], search.scores[kept]
        columns = [workspace.X.column(feature) for feature in chosen]
        strata = np.zeros(workspace.X.n_rows, dtype=np.uint32)
        if chosen:
            together = Codes(len(strata), workspace.X.levels[chosen], dense=np.column_stack(columns))
            strata, n_strata = joint_variable(together)
            if n_strata == len(strata):
                return 1.0
        closed = np.where(evidence.candidates(kept), 0.0, -np.inf)
        # Rounded before it is cut off: 0.05 * 200 is a little more or less than ten.
        enough = max(1, int(np.floor(round(alpha * (self.n_permutations + 1), 9))))
        as_good = 0
        for done in range(1, self.n_permutations + 1):
            shuffled = workspace.with_targets(permuted_rows(workspace.Y, permutation_within(strata, random)))
            scorer = search.plan.bind(shuffled, targets=evidence.targets, parents=evidence.parents)
            for feature in chosen:
                scorer.select(feature)
            as_good += bool((scorer.scores() + closed).max() >= observed)
            if as_good == enough and enough / done > alpha:
                return enough / done
        return (1 + as_good) / (1 + self.n_permutations)


def permutation_within(strata: NDArray[np.integer], random: np.random.RandomState) -> Rows:
    """A random order of the rows in which every row is replaced by one of its stratum.

    >>> permutation_within(np.array([0, 1, 2]), np.random.RandomState(0))
    array([0, 1, 2])
    """
    places = np.argsort(strata, kind="stable")
    order = np.empty(len(strata), dtype=np.intp)
    order[places] = np.lexsort((random.random_sample(len(strata)), strata))
    return order


def permuted_rows(codes: Codes, order: Rows) -> Codes:
    """Row ``order[i]`` in place of row ``i``."""
    if codes.dense is not None:
        return Codes(codes.n_rows, codes.levels, codes.names, dense=codes.dense[order])
    assert codes.sparse is not None
    parts = codes.sparse
    place = np.empty(len(order), dtype=np.uint32)
    place[order] = np.arange(len(order), dtype=np.uint32)
    rows, columns = place[parts.rows], np.repeat(np.arange(codes.n_columns), np.diff(parts.starts))
    by_column = np.lexsort((rows, columns))
    sparse = SparseCodes(parts.starts, rows[by_column], parts.codes[by_column], parts.implicit)
    return Codes(codes.n_rows, codes.levels, codes.names, sparse=sparse)
