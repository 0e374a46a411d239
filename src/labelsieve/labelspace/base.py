"""The base class of label spaces, and what goes with what.

A label space encodes the targets as the variables that a criterion is computed for: :class:`EncodedTargets`. Together with the
codes of the features they become a :class:`CountingInput`, which is all that counting needs.
"""

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
from labelsieve.tables.types import WeightsLike
from labelsieve.tables.weights import Estimator, RowWeights, TargetWeights, quantized_weights, read_target_weights

Produces = Literal["targets", "indicators", "some targets", "groups", "variable"]
Weights = NDArray[np.float64] | None
RandomState = int | np.random.RandomState | None

NO_ROWS = "No row is left in this label space: all are dropped. Use another one, or a smaller min_count."

# The needs of a formula (or a setting), the kinds of spaces that provide them, and the error message for the others.
NEEDS: dict[str, tuple[frozenset[Produces], str]] = {
    "sums over targets": (frozenset({"targets", "indicators", "some targets", "groups", "variable"}), ""),
    "pairs of targets": (frozenset({"targets"}), "label pairs need separate targets"),
    "parents of targets": (frozenset({"targets"}), "parents are of single targets"),
    "weights of targets": (frozenset({"targets", "indicators"}), "target_weight is for single targets"),
}

_IS: dict[Produces, str] = {
    "targets": "the targets themselves",
    "indicators": "indicators of their values",
    "some targets": "some of the targets",
    "groups": "groups of targets",
    "variable": "a single variable",
}


@dataclass(frozen=True, eq=False)
class EncodedTargets:
    """What a label space makes of the targets: variables as codes, and the rows of the features that they belong to.

    A label space may drop rows (``rows``), count a row several times, with different values of a variable (``row_index``), or
    give each row a weight (``share``).

    Attributes
    ----------
    codes : Codes
        The variables, one row for each row that is kept or for each entry of ``row_index``.
    rows : ndarray of bool, default=None
        Mask of the rows that are kept; None: all.
    row_index : ndarray of uint32, default=None
        With repetition of rows: the row of X for every row of ``codes``, ascending. Rows of X are never copied.
    share : ndarray of float, default=None
        A factor for the sample weight of every row.
    n_left_out : int, default=0
        Number of rows that are dropped.
    omitted_entropy : float, default=None
        For spaces that leave out or merge labels: an upper bound of the information about them, in nats.
    sampled_from : int, default=None
        The number of targets that the variables are a random sample of, in random order.
    target_of : ndarray of int, default=None
        The target that every variable belongs to; None: variable ``i`` is target ``i``.
    """

    codes: Codes
    rows: NDArray[np.bool_] | None = None
    row_index: NDArray[np.uint32] | None = None
    share: NDArray[np.float64] | None = None
    n_left_out: int = 0
    omitted_entropy: float | None = None
    sampled_from: int | None = None
    target_of: NDArray[np.intp] | None = None


class LabelSpace(BaseEstimator):
    """Base class of label spaces, which encode targets as variables. Parameters can be tuned by a grid search.

    A subclass defines ``encode`` and ``produces``, the kind of the variables: the ``"targets"`` themselves, ``"indicators"`` of
    their values, ``"some targets"``, ``"groups"`` of them, or one ``"variable"``. docs/extend/contributing.md has an example.
    """

    name: ClassVar[str]
    produces: ClassVar[Produces]

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """Encode the targets as variables; ``weights`` are sample weights, None for equal ones."""
        raise NotImplementedError

    def n_variables(self, n_targets: int) -> int:
        """Return the number of variables for ``n_targets`` targets."""
        return n_targets if self.produces in ("targets", "indicators", "some targets") else 1


@dataclass(frozen=True, eq=False)
class CountingInput:
    """All that counting needs: features and variables as codes, on the same rows, and the weights of these rows.

    Attributes
    ----------
    X, Y : Codes
        The features, and the variables of the label space.
    row_index : ndarray of uint32 or None
        The row of ``X`` for every row of ``Y``, where rows are repeated; None: row ``i`` belongs to row ``i``.
    weights : RowWeights or None
        Integer weights of the rows of ``X``; None: every row counts once.
    n_left_out : int
        Number of rows that the label space dropped.
    encoded : EncodedTargets or None
        What the label space returned.
    """

    X: Codes
    Y: Codes
    row_index: NDArray[np.uint32] | None
    weights: RowWeights | None
    n_left_out: int
    encoded: EncodedTargets | None = None


def weights_of_variables(target_weight: WeightsLike, data: CountingInput) -> TargetWeights | None:
    """Return the weights of the variables of a label space: every variable has the weight of its target."""
    target_of = None if data.encoded is None else data.encoded.target_of
    if target_weight is None or target_of is None:
        return read_target_weights(target_weight, data.Y.n_columns)
    given = read_target_weights(target_weight, int(target_of.max()) + 1)
    assert given is not None
    return read_target_weights(given.values[target_of], data.Y.n_columns)


def to_count(X: Codes, encoded: EncodedTargets, weights: Weights, estimator: Estimator) -> CountingInput:
    """Bring features and variables to the rows that the label space keeps.

    Dropped rows are removed from ``X``, unless it is read from a file, which is not copied: then ``row_index`` names the rows
    that are kept. Repeated rows stay single in ``X`` and are repeated in ``row_index``. Cost: a copy of the remaining codes, if
    any row is dropped.
    """
    rows, row_index, times = encoded.rows, encoded.row_index, None
    if encoded.share is not None:
        weights = encoded.share if weights is None else weights * encoded.share
    if X.in_file:
        if row_index is None and rows is not None and not rows.all():
            row_index = np.flatnonzero(rows).astype(np.uint32)
        if row_index is not None:
            if not len(row_index):
                raise InputError(NO_ROWS)
            times = np.bincount(row_index, minlength=X.n_rows)
            if weights is not None:  # those of dropped rows must not change how the others are rounded
                weights = np.where(times > 0, weights, weights[row_index[0]])
    else:
        if row_index is not None:
            times = np.bincount(row_index, minlength=X.n_rows)
            rows = times > 0
            if (np.diff(row_index.astype(np.int64)) > 0).all():  # no row is repeated: plain rows are counted faster
                row_index = times = None
            else:
                row_index = (np.cumsum(rows) - 1)[row_index].astype(np.uint32)
                times = times[rows]
        if rows is not None and not rows.all():
            X = X.take_rows(rows)
            weights = None if weights is None else weights[rows]
        if X.n_rows == 0:
            raise InputError(NO_ROWS)
    quantized = None if weights is None else quantized_weights(weights, estimator, times)
    return CountingInput(X, encoded.codes, row_index, quantized, encoded.n_left_out, encoded)


def refusal(needs: Iterable[str], space: LabelSpace) -> str | None:
    """Say why a criterion with these needs does not work in ``space``; None if it does.

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
    """Return the table of what goes with what as Markdown: label spaces in rows, needs in columns.

    >>> from labelsieve.labelspace import Joint
    >>> print(compatibility_table([Joint]).splitlines()[0][:44])
    | space | resulting variables | sums over ta
    """
    lines = [f"| space | resulting variables | {' | '.join(NEEDS)} |", "|---" * (len(NEEDS) + 2) + "|"]
    for space in spaces:
        answers = ["yes" if space.produces in where else "no" for where, _ in NEEDS.values()]
        lines.append(f"| `{space.name}` | {_IS[space.produces]} | {' | '.join(answers)} |")
    return "\n".join(lines)


def label_space_name(space: LabelSpace) -> str:
    """Return the public name of a label space; for a custom one, the name of its class."""
    return str(vars(type(space)).get("name", type(space).__name__))


def one_column(classes: NDArray[np.integer], n_classes: int) -> Codes:
    """Return the codes of a single variable."""
    column = classes.astype(np.uint16)[:, np.newaxis]
    return Codes(len(column), np.array([max(1, n_classes)], dtype=np.uint32), dense=column)


def random_generator(random_state: RandomState) -> np.random.Generator:
    """Make a numpy Generator from any ``random_state`` that scikit-learn accepts.

    >>> bool(random_generator(3).random() == random_generator(3).random())
    True
    """
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
