"""What a stopping rule is: it looks at a growing selection and says how many features to keep."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from labelsieve.counting.workspace import Workspace
from labelsieve.errors import InputError, whole_number
from labelsieve.search import GreedySearch

Numbers = NDArray[np.float64]
Rows = NDArray[np.intp]
Evaluator = Callable[[Rows, Rows, Any, Any, int], Numbers]
MOST_LOOKED_AT = 100  # features, by the rules that look at a whole curve and were not told how far


@dataclass(frozen=True, eq=False)
class SelectionPath:
    """What a rule may look at.

    Attributes
    ----------
    search : GreedySearch
        The selection; a rule may extend it further than it keeps.
    workspace : Workspace
        Codes of the rows that count.
    parents : list of lists of int, optional
        Of the targets.
    X, Y : as they came
    evaluator : callable
        ``evaluator(train, test, estimator, measure, n_features)``: select on some rows and give the measure on others with the
        first 1, 2, ..., features.
    targets : slice
        Those that the selection is for.
    """

    search: GreedySearch
    workspace: Workspace
    parents: list[list[int]] | None
    X: Any
    Y: Any
    evaluator: Evaluator
    targets: slice = field(default_factory=lambda: slice(None))

    @property
    def n_forced(self) -> int:
        return len(self.search.forced)

    @property
    def places(self) -> range:
        """The targets that the selection is for."""
        return range(*self.targets.indices(self.workspace.Y.n_columns))

    def candidates(self, n_selected: int) -> NDArray[np.bool_]:
        """The features that could be the next after so many."""
        left = np.ones(self.search.n_features, dtype=bool)
        left[[*self.search.excluded, *self.search.selected[:n_selected]]] = False
        return left

    def require_plain_rows(self, who: str, remedy: str) -> None:
        """Refuse weights and rows that count several times: then rows are not so many independent observations."""
        if self.workspace.row_index is not None:
            raise InputError(f"{who}: this label space counts rows several times, and copies are no new evidence; {remedy}")
        if self.workspace.weights is not None:
            raise InputError(f"{who} is not defined for weighted rows (sample_weight, or a label space with weights); {remedy}")


class StoppingRule(BaseEstimator):  # type: ignore[misc]
    """Says how many features to keep. Its parameters are scikit-learn parameters, so a search can tune them.

    A selector works on a clone and keeps it, with what it found, as ``stopping_``.

    Attributes
    ----------
    reason_ : str
        Why it stopped.
    """

    max_features: int | None = None

    def decide(self, evidence: SelectionPath) -> int:
        """The number of features, with those that are forced; sets the fitted attributes."""
        raise NotImplementedError

    def _most(self, evidence: SelectionPath, otherwise: int | None = None) -> int:
        """How far to look: never less than what is forced."""
        asked = otherwise if self.max_features is None else whole_number(self.max_features, "max_features", 1, 2**31)
        available = evidence.search.n_available
        return max(evidence.n_forced, available if asked is None else min(asked, available))

    def _walk(self, evidence: SelectionPath, most: int, passes: Callable[[int], bool]) -> int:
        """Choose one feature after the other as long as they pass; the one that does not is left out."""
        kept = evidence.n_forced
        evidence.search.extend(kept)
        self.reason_ = f"{most} features are all there are to choose." if self.max_features is None else "max_features."
        while kept < most:
            evidence.search.extend(kept + 1)
            if not passes(kept):
                break
            kept += 1
        return kept


def cannot_evaluate(*_: Any) -> Numbers:
    """The evaluator where there is none."""
    raise InputError("Predictions cannot be judged here; use a rule that looks at the scores or at the counts.")
