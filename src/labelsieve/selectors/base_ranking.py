"""The base class of selectors that give every feature one score."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from labelsieve.counting.number_table import read_table
from labelsieve.errors import InputError
from labelsieve.selectors.base import BaseSieve, evaluator_of
from labelsieve.stopping import StoppingRule


class BaseRanking(BaseSieve):
    """A selector that keeps the features of largest score; ties go to the lowest column."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [*BaseSieve._parameter_constraints["n_features_to_select"], StoppingRule],
    }

    def _keep_best(self, scores: NDArray[np.float64], X: Any, Y: Any, sample_weight: Any = None) -> None:
        """Select the features of largest score."""
        order = np.argsort(-scores, kind="stable")
        self.feature_scores_ = scores
        self._keep_first(order, scores[order], 0, X, Y, evaluator_of(self, X, Y, sample_weight))


def read_numbers(selector: Any, X: Any, Y: Any) -> tuple[Any, Any]:
    """``X`` and ``Y`` as finite numbers, dense or sparse rows, for methods that calculate with them.

    ``Y`` has two dimensions. Both are arrays of float64, or CSR.
    """
    X, Y = validate_data(selector, X, Y, accept_sparse=("csr", "csc"), multi_output=True, dtype=np.float64)
    try:
        table = read_table(_as_numbers(Y), what="Y")
    except InputError as error:
        raise InputError(f"{type(selector).__name__} calculates with the targets. {error}") from None
    targets = table.sparse.tocsr() if table.dense is None else table.dense
    return X.tocsr() if hasattr(X, "tocsr") else X, targets.astype(np.float64, copy=False)


def _as_numbers(Y: Any) -> Any:
    """Numbers that came as objects as numbers; anything else as it is."""
    if getattr(getattr(Y, "dtype", None), "kind", "") != "O":
        return Y
    try:
        return Y.astype(np.float64)
    except (TypeError, ValueError):
        return Y
