"""Base of the stopping rules: a rule reads a selection path and decides how many features to keep."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from labelsieve.counting.workspace import Workspace
from labelsieve.errors import InputError, whole_number
from labelsieve.search import GreedySearch
from labelsieve.tables.types import TableLike, TargetsLike

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
MAX_EXPLAINED_SIZE = 40  # features whose explained share is evaluated, where max_features is None
MAX_CURVE_LENGTH = 100  # features evaluated by the rules that need a whole curve, where max_features is None


class Evaluator(Protocol):
    """Evaluates predictions from the features that a selector selects in some of the rows."""

    def scores(self, train: Rows, test: Rows, estimator: Any, measure: Any, n_features: int, scale: Any) -> Floats:
        """Select on the rows ``train``; return the measure on the rows ``test`` with the first 1, 2, ..., features."""

    def explained(self, n_features: int, cv: Any, random_state: Any) -> Any:
        """Return the :class:`labelsieve.selectors.Explained` share of the first 1, 2, ..., ``n_features`` features."""


@dataclass(frozen=True, eq=False)
class SelectionPath:
    """The sequence of selected features that a :class:`StoppingRule` decides on, and the data behind it.

    Attributes
    ----------
    search : GreedySearch
        The search that grows the selection; a rule may extend it further than it keeps.
    workspace : Workspace
        Codes of the rows with positive weight.
    parents : list of lists of int, optional
        Parents of every target.
    X, Y : array-like
        The data passed to ``fit``.
    evaluator : Evaluator
        Evaluates predictions from the first 1, 2, ..., features that are selected in some of the rows.
    targets : slice, default=slice(None)
        The targets that the features are selected for.
    """

    search: GreedySearch
    workspace: Workspace
    parents: list[list[int]] | None
    X: TableLike
    Y: TargetsLike | None
    evaluator: Evaluator
    targets: slice = field(default_factory=lambda: slice(None))

    @property
    def n_forced(self) -> int:
        return len(self.search.forced)

    @property
    def has_unknown_labels(self) -> bool:
        """True when some label is unknown in some row; always False for rankings, which have no counts."""
        counted: Any = self.workspace
        return counted is not None and bool(counted.Y.has_missing)

    @property
    def target_indices(self) -> range:
        """Indices of the targets that the features are selected for."""
        return range(*self.targets.indices(self.workspace.Y.n_columns))

    def candidates(self, n_selected: int) -> NDArray[np.bool_]:
        """Mask of the features that can be selected after the first ``n_selected``."""
        candidates = np.ones(self.search.n_features, dtype=bool)
        candidates[[*self.search.excluded, *self.search.selected[:n_selected]]] = False
        return candidates

    def require_plain_rows(self, rule: str, remedy: str) -> None:
        """Raise an error for weighted or repeated rows, which are not independent observations."""
        require_plain_rows(self.workspace, rule, remedy)


def require_plain_rows(workspace: Workspace, rule: str, remedy: str) -> None:
    """Refuse weights and repeated rows: with them the rows are not independent observations."""
    if workspace.row_index is not None:
        raise InputError(f"{rule}: this label space counts rows several times, so they are not independent; {remedy}")
    if workspace.options.weights is not None:
        raise InputError(f"{rule} is not defined for weighted rows (sample_weight or a weighted label space); {remedy}")


class StoppingRule(BaseEstimator):
    """Base class of stopping rules, which decide how many features to keep. Parameters can be tuned by a grid search.

    A selector fits a clone of the rule and stores it as ``stopping_``. A subclass defines ``decide``.

    Attributes
    ----------
    reason_ : str
        Why it stopped.
    """

    name: ClassVar[str]
    leaves_out: ClassVar[bool] = False  # whether :meth:`leave_out` may return features
    is_test: ClassVar[bool] = False  # of significance: codes and candidates must not depend on the targets
    max_features: int | None = None

    def leave_out(self, workspace: Workspace, targets: slice, unavailable: Sequence[int]) -> list[int]:
        """Return features that the search must not select. ``unavailable`` are forced and excluded ones."""
        return []

    def decide(self, path: SelectionPath) -> int:
        """Return the number of features to keep, forced ones included, and set the fitted attributes."""
        raise NotImplementedError

    def _max_features(self, path: SelectionPath, default: int | None = None) -> int:
        """Return the largest number of features to evaluate: at least the number of forced ones."""
        limit = default if self.max_features is None else whole_number(self.max_features, "max_features", 1, 2**31)
        available = path.search.n_available
        return max(path.n_forced, available if limit is None else min(limit, available))

    def _extend_while(self, passes: Callable[[int], bool], path: SelectionPath) -> int:
        """Extend the path feature by feature while ``passes(n_selected)``; the first feature that fails is not kept."""
        kept, most = path.n_forced, self._max_features(path)
        path.search.extend(kept)
        self.reason_ = f"All {most} available features are selected." if self.max_features is None else "max_features."
        while kept < most:
            path.search.extend(kept + 1)
            if not passes(kept):
                break
            kept += 1
        return kept


class CannotEvaluate:
    """The evaluator of selectors that cannot evaluate predictions."""

    def scores(self, *_: object) -> Floats:
        """Refuse to evaluate: this selector has no rows to select from again."""
        raise InputError("This selector cannot evaluate predictions; use a stopping rule on scores or on counts.")

    explained = scores
