"""Base of the label spaces: a label space encodes the targets as the variables that a criterion is computed for."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from labelsieve.errors import InputError
from labelsieve.tables.codes import Codes
from labelsieve.tables.targets import TargetTable
from labelsieve.tables.weights import Estimator, RowWeights, quantized_weights

Produces = Literal["targets", "indicators", "some targets", "groups", "variable"]
Weights = NDArray[np.float64] | None
RandomState = int | np.random.RandomState | None


NO_ROWS = "No row is left in this label space: all are dropped. Use another one, or a smaller min_count."


@dataclass(frozen=True, eq=False)
class EncodedTargets:
    """The variables of a label space, and the rows that they belong to.

    Attributes
    ----------
    codes : Codes
        The variables.
    rows : ndarray of bool, default=None
        Mask of the rows that are kept; None: all.
    row_index : ndarray of uint32, default=None
        With repetition of rows: the row of X for every row of ``codes``, ascending. Rows of X are never copied.
    share : ndarray of float, default=None
        A factor for the sample weight of every row.
    n_left_out : int, default=0
        Number of rows that are dropped.
    omitted_entropy : float, default=None
        Of spaces that leave out or merge labels: an upper bound of the information about them, in nats.
    sampled_from : int, default=None
        The number of targets that the variables are a random sample of, in random order.
    """

    codes: Codes
    rows: NDArray[np.bool_] | None = None
    row_index: NDArray[np.uint32] | None = None
    share: NDArray[np.float64] | None = None
    n_left_out: int = 0
    omitted_entropy: float | None = None
    sampled_from: int | None = None


class LabelSpace(BaseEstimator):
    """Base class of label spaces: encodes targets as variables. Parameters can be tuned by a grid search.

    A subclass defines ``encode`` and ``produces``, the kind of the variables: the ``"targets"`` themselves, ``"indicators"`` of
    their values, ``"some targets"``, ``"groups"`` of them, or one ``"variable"``. docs/contributing.md has an example.
    """

    name: ClassVar[str]
    produces: ClassVar[Produces]

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """The variables; ``weights`` are sample weights, None for equal ones."""
        raise NotImplementedError

    def n_variables(self, n_targets: int) -> int:
        """Number of variables for ``n_targets`` targets."""
        return n_targets if self.produces in ("targets", "indicators", "some targets") else 1


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
    encoded: EncodedTargets | None = None


def to_count(X: Codes, encoded: EncodedTargets, weights: Weights, estimator: Estimator) -> CountingInput:
    """Features and variables on the rows that the label space keeps.

    Dropped rows are removed. Repeated rows stay single in X and are repeated in ``row_index``. Cost: a copy of the remaining
    codes, if any row is dropped.
    """
    if X.in_file:
        return _count_mapped(X, encoded, weights, estimator)
    rows, row_index, times = encoded.rows, encoded.row_index, None
    if row_index is not None:
        times = np.bincount(row_index, minlength=X.n_rows)
        rows = times > 0
        if (np.diff(row_index.astype(np.int64)) > 0).all():  # no row is repeated: plain rows are counted faster
            row_index = times = None
        else:
            row_index = (np.cumsum(rows) - 1)[row_index].astype(np.uint32)
            times = times[rows]
    if encoded.share is not None:
        weights = encoded.share if weights is None else weights * encoded.share
    if rows is not None and not rows.all():
        X = X.take_rows(rows)
        weights = None if weights is None else weights[rows]
    if X.n_rows == 0:
        raise InputError(NO_ROWS)
    quantized = quantized_weights(weights, estimator, times)
    return CountingInput(X, encoded.codes, row_index, quantized, encoded.n_left_out, encoded)


def _count_mapped(X: Codes, encoded: EncodedTargets, weights: Weights, estimator: Estimator) -> CountingInput:
    """The same for codes in a file, which is not copied: dropped rows are those that the row index does not name."""
    row_index, times = encoded.row_index, None
    if encoded.share is not None:
        weights = encoded.share if weights is None else weights * encoded.share
    if row_index is None and encoded.rows is not None and not encoded.rows.all():
        row_index = np.flatnonzero(encoded.rows).astype(np.uint32)
    if row_index is not None:
        if not len(row_index):
            raise InputError(NO_ROWS)
        times = np.bincount(row_index, minlength=X.n_rows)
        if weights is not None:  # those of dropped rows must not change how the others are rounded
            weights = np.where(times > 0, weights, weights[row_index[0]])
    quantized = quantized_weights(weights, estimator, times)
    return CountingInput(X, encoded.codes, row_index, quantized, encoded.n_left_out, encoded)


def one_column(classes: NDArray[np.integer], n_classes: int) -> Codes:
    """One variable as codes."""
    column = classes.astype(np.uint16)[:, np.newaxis]
    return Codes(len(column), np.array([max(1, n_classes)], dtype=np.uint32), dense=column)


def random_generator(random_state: RandomState) -> np.random.Generator:
    """A numpy Generator from any ``random_state`` that scikit-learn accepts.

    >>> bool(random_generator(3).random() == random_generator(3).random())
    True
    """
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))


# The needs of a formula (or a setting), the kinds of spaces that provide them, and the error message for the others.
NEEDS: dict[str, tuple[frozenset[Produces], str]] = {
    "sums over targets": (frozenset({"targets", "indicators", "some targets", "groups", "variable"}), ""),
    "pairs of targets": (frozenset({"targets"}), "label pairs need separate targets"),
    "parents of targets": (frozenset({"targets"}), "parents are of single targets"),
    "weights of targets": (frozenset({"targets"}), "target_weight is for single targets"),
}

_IS: dict[Produces, str] = {
    "targets": "the targets themselves",
    "indicators": "indicators of their values",
    "some targets": "some of the targets",
    "groups": "groups of targets",
    "variable": "a single variable",
}


def refusal(needs: Iterable[str], space: LabelSpace) -> str | None:
    """Why a criterion with these needs does not work in ``space``; None if it does.

    >>> from labelsieve.labelspace import Joint
    >>> refusal(["pairs of targets"], Joint())
    "label pairs need separate targets: use targets='single' (got 'joint', which is a single variable)."
    """
    for need in needs:
        where, reason = NEEDS[need]
        if space.produces not in where:
            return f"{reason}: use targets='single' (got {label_space_name(space)!r}, which is {_IS[space.produces]})."
    return None


def compatibility_table(spaces: Iterable[type[LabelSpace]]) -> str:
    """The table in Markdown: label spaces in rows, needs in columns.

    >>> from labelsieve.labelspace import Joint
    >>> print(compatibility_table([Joint]).splitlines()[0][:44])
    | space | resulting variables | sums over ta
    """
    lines = [f"| space | resulting variables | {' | '.join(NEEDS)} |", "|---" * (len(NEEDS) + 2) + "|"]
    for space in spaces:
        answers = ["yes" if space.produces in where else "no" for where, _ in NEEDS.values()]
        lines.append(f"| `{space.name}` | {_IS[space.produces]} | {' | '.join(answers)} |")
    return "\n".join(lines)
