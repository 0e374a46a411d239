"""Stop when the best score is not significant under permutations of the targets."""

from dataclasses import KW_ONLY, dataclass

import numpy as np
from sklearn.utils import check_random_state

from labelsieve.counting.codes import Codes
from labelsieve.counting.joint_codes import joint_variable
from labelsieve.counting.row_permutations import permutation_within, permuted_rows
from labelsieve.errors import InputError, share, whole_number
from labelsieve.formula.scorer import Scorer
from labelsieve.labelspace.base_space import RandomState
from labelsieve.stopping.base_rule import SelectionPath, StoppingRule

REMEDY = "use CrossValidated, Knee, ScoreThreshold or a fixed number."


@dataclass(eq=False, repr=False)
class PermutationTest(StoppingRule):
    r"""Keep features as long as the best score is larger than the best score for permuted targets.

    Whole labelsets are permuted among the rows that agree in all selected features. That preserves the dependence among the
    targets, among the features, and between the targets and the selected features; it removes the information that the other
    features add. With :math:`B` permutations and the largest score among all candidates,

    .. math:: p = \frac{1 + \#\{b : \max_k J^{(b)}_k \ge J\}}{1 + B} .

    The maximum corrects for taking the best of many candidates. If no remaining feature adds information about the targets, the
    permuted data are as likely as the observed ones, so the next feature passes with probability :math:`\alpha` at most, for
    any criterion, any number of rows and any label frequency. For the first feature this is exact; for later ones it assumes
    that the selected features are the relevant ones.

    Assumes that rows are exchangeable: no time order, no groups of related rows. Unknown labels are permuted with the known
    ones of their row, so whether a label is known must not depend on the features. The codes are treated as fixed: supervised
    bins (MDL) depend on the targets, and then p-values are too small. The more features are selected, the fewer rows agree in
    all of them; when no two rows do, no permutation is left and the selection stops, so the rule cannot reach many features
    with many levels each.

    Parameters
    ----------
    alpha : float, default=0.05
        The significance level.
    n_permutations : int, default=199
        :math:`B`; p-values are multiples of :math:`1 / (B + 1)`. A feature that fails is detected earlier (Besag and Clifford
        1991: if :math:`h = \lfloor \alpha (B + 1) \rfloor` of :math:`l` permutations are at least as good, :math:`p = h / l`).
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations.
    max_features : int, default=None
        The largest number of features; None: all.

    Attributes
    ----------
    p_values_ : ndarray
        p-values of the selected features; NaN for forced ones.
    p_value_left_out_ : float or None
        p-value of the first feature that failed; None if there was none.
    reason_ : str
        Why it stopped.

    Notes
    -----
    Refused for weighted rows, label spaces that count rows several times, and supervised bins. Forced features define
    strata and are not tested. Cost: every feature needs :math:`B` times packing the features and scoring again with all
    selected ones, so :math:`K` features need up to :math:`B K^2 / 2` passes over all features and targets.

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
    is_test = True

    alpha: float = 0.05
    _: KW_ONLY
    n_permutations: int = 199
    random_state: RandomState = 0
    max_features: int | None = None

    def decide(self, path: SelectionPath) -> int:
        """The number of features before the first one that is not significant."""
        alpha = share(self.alpha, "alpha")
        whole_number(self.n_permutations, "n_permutations", 1, 2**31)
        path.require_plain_rows("PermutationTest", REMEDY)
        self._formula(path)
        random = check_random_state(self.random_state)
        p_values = [np.nan] * path.n_forced

        def passes(kept: int) -> bool:
            p_values.append(self._p_value(path, kept, alpha, random))
            self.reason_ = self.reason_ if p_values[-1] <= alpha else f"The next feature has p = {p_values[-1]:.3g}."
            return p_values[-1] <= alpha

        kept = self._extend_while(passes, path)
        self.p_values_ = np.array(p_values[:kept])
        left_out = p_values[kept] if len(p_values) > kept else np.nan
        self.p_value_left_out_ = None if np.isnan(left_out) else float(left_out)
        return kept

    def _formula(self, path: SelectionPath) -> Scorer:
        """The scores of a formula, which can be computed for permuted targets."""
        if not isinstance(path.search.gain, Scorer):
            raise InputError(
                f"PermutationTest permutes the targets of a formula, and the scores are of {path.search.gain.name}; use GTest, "
                "CrossValidated or a fixed number."
            )
        return path.search.gain

    def _p_value(self, path: SelectionPath, kept: int, alpha: float, random: np.random.RandomState) -> float:
        """p-value of the feature selected after ``kept`` others."""
        search, workspace, formula = path.search, path.workspace, self._formula(path)
        selected, observed = search.selected[:kept], search.scores[kept]
        columns = [workspace.X.column(feature) for feature in selected]
        strata = np.zeros(workspace.X.n_rows, dtype=np.uint32)
        if selected:
            joint = Codes(len(strata), workspace.X.levels[selected], dense=np.column_stack(columns))
            strata, n_strata = joint_variable(joint)
            if n_strata == len(strata):
                return 1.0
        penalty = np.where(path.candidates(kept), 0.0, -np.inf)
        # Rounded before the floor: 0.05 * 200 is a little more or less than ten.
        enough = max(1, int(np.floor(round(alpha * (self.n_permutations + 1), 9))))
        as_good = 0
        for n_done in range(1, self.n_permutations + 1):
            permuted = workspace.with_targets(permuted_rows(workspace.Y, permutation_within(strata, random)))
            scorer = formula.rebind(permuted, targets=path.targets, parents=path.parents)
            for feature in selected:
                scorer.select(feature)
            as_good += bool((scorer.scores() + penalty).max() >= observed)
            if as_good == enough and enough / n_done > alpha:
                return enough / n_done
        return (1 + as_good) / (1 + self.n_permutations)
