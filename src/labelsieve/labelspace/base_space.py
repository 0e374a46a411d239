"""What a label space is: a way to make, of the targets, the variables that a criterion runs over."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from labelsieve.counting.codes import Codes
from labelsieve.counting.row_weights import Estimator, RowWeights, quantized_weights
from labelsieve.counting.targets import TargetTable
from labelsieve.errors import InputError

Makes = Literal["targets", "groups", "variable"]
Weights = NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class EncodedTargets:
    """The variables of a label space, and which rows they are of.

    Attributes
    ----------
    codes : Codes
        The variables.
    rows : ndarray of bool, optional
        The rows that count; all of them unless given.
    row_index : ndarray of uint32, optional
        Where rows count more than once: the row of every row of ``codes``, ascending. Rows themselves are never copied.
    share : ndarray of float, optional
        What each row weighs, beside its sample weight.
    n_left_out : int
        Rows that do not count.
    """

    codes: Codes
    rows: NDArray[np.bool_] | None = None
    row_index: NDArray[np.uint32] | None = None
    share: NDArray[np.float64] | None = None
    n_left_out: int = 0


class LabelSpace(BaseEstimator):  # type: ignore[misc]
    """Makes variables of targets. Its parameters are scikit-learn parameters, so a search can tune them.

    ``makes`` tells what comes out: the ``"targets"`` themselves, ``"groups"`` of them, or one ``"variable"``.
    """

    name: ClassVar[str]
    makes: ClassVar[Makes]
    kind: Literal["auto", "classes", "numbers"] = "auto"

    def make(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """The variables; ``weights`` are sample weights, one each unless given."""
        raise NotImplementedError

    def n_variables(self, n_targets: int) -> int:
        """How many variables come of so many targets."""
        return n_targets if self.makes == "targets" else 1


def label_space_name(space: LabelSpace) -> str:
    """The public name of a label space; the class name of a custom one."""
    return str(vars(type(space)).get("name", type(space).__name__))


@dataclass(frozen=True, eq=False)
class CountingInput:
    """Features and variables, ready to be counted."""

    X: Codes
    Y: Codes
    row_index: NDArray[np.uint32] | None
    weights: RowWeights | None
    n_left_out: int


def to_count(X: Codes, made: EncodedTargets, weights: Weights, estimator: Estimator) -> CountingInput:
    """Bring features and variables to the rows that count.

    Rows that do not are taken out. Rows that count several times stay single: ascending row_index name them. Cost: a copy of
    the codes that stay, where any are taken out.
    """
    rows, row_index, times = made.rows, made.row_index, None
    if row_index is not None:
        times = np.bincount(row_index, minlength=X.n_rows)
        rows = times > 0
        if (np.diff(row_index.astype(np.int64)) > 0).all():  # nothing is named twice: fewer rows, counted at full speed
            row_index = times = None
        else:
            row_index = (np.cumsum(rows) - 1)[row_index].astype(np.uint32)
            times = times[rows]
    if made.share is not None:
        weights = made.share if weights is None else weights * made.share
    if rows is not None and not rows.all():
        X = X.take_rows(rows)
        weights = None if weights is None else weights[rows]
    if X.n_rows == 0:
        raise InputError("No row is left in this label space: every one is dropped. Use another, or a smaller min_count.")
    quantized = quantized_weights(weights, estimator, times)
    return CountingInput(X, made.codes, row_index, quantized, made.n_left_out)


def one_column(classes: NDArray[np.integer], n_classes: int) -> Codes:
    """One variable as codes."""
    column = classes.astype(np.uint16)[:, np.newaxis]
    return Codes(len(column), np.array([max(1, n_classes)], dtype=np.uint32), dense=column)
