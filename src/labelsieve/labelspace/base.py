"""The base class of label spaces, what goes with what, and the spaces for targets of any kind.

A label space encodes the targets as the variables that a criterion is computed for: :class:`EncodedTargets`. Together with the
codes of the features they become a :class:`CountingInput`, which is all that counting needs.
"""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from labelsieve.counting.joint_codes import join, joint_variable
from labelsieve.errors import InputError, whole_number
from labelsieve.tables.codes import MAX_LEVELS, Codes, positive_cells
from labelsieve.tables.targets import TargetTable, target_place
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
    """All that counting needs: features and variables as codes, on the same rows, and the weights of these rows."""

    X: Codes
    Y: Codes  # variables of the label space
    row_index: NDArray[np.uint32] | None  # the row of X for every row of Y, where rows are repeated
    weights: RowWeights | None  # of the rows of X
    n_left_out: int  # rows that the label space dropped
    encoded: EncodedTargets | None = None  # what the label space returned


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


class Labelsets(NamedTuple):
    """The labels of all rows, sorted by row and then by label."""

    rows: NDArray[np.uint32]
    labels: NDArray[np.int64]
    n_rows: int
    n_labels: int

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of labels of each row."""
        return np.bincount(self.rows, minlength=self.n_rows)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Index of the first label of each row."""
        sizes = self.sizes
        return np.cumsum(sizes) - sizes

    def counts(self, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Number of rows (or their weight) of each label."""
        of_labels = None if weights is None else weights[self.rows]
        return np.bincount(self.labels, weights=of_labels, minlength=self.n_labels).astype(np.float64)


def read_labelsets(targets: TargetTable, space: str) -> Labelsets:
    """Read the labelset of every row; targets that are not 0/1 are refused, with ``space`` in the message.

    >>> from labelsieve.labelspace import read_targets
    >>> read_labelsets(read_targets([[0, 1], [1, 1], [0, 0]]), "copy").labels
    array([1, 0, 1])
    """
    codes = targets.require_known(space).classes
    not_binary = (codes.levels > 2) | targets.is_numeric
    if not_binary.any():
        column = int(np.argmax(not_binary))
        found = "real numbers" if targets.is_numeric[column] else f"classes up to {int(codes.levels[column]) - 1}"
        raise InputError(
            f"Y, {target_place(column, codes.names)}: {space} needs binary labels (0 or 1), and this target has {found}."
        )
    return Labelsets(*positive_cells(codes), targets.n_rows, targets.n_columns)


class Single(LabelSpace):
    r"""Each target as a separate variable; scores are summed over the targets.

    .. math:: \sum_l I(X; Y_l)

    Sechidis, Nikolaou and Brown (2014), eq. 4, 7 and 8 (targets assumed independent); known as binary relevance. Numeric
    targets are cut into bins by the selector's ``target_discretizer``. Unknown cells are left out, target by target.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> Single().encode(read_targets([[0, 0.1], [1, 0.2], [1, 9.5]])).codes.levels
    array([2, 3], dtype=uint32)
    """

    name = "single"

    produces: ClassVar[Produces] = "targets"

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """Return the codes of the targets."""
        return EncodedTargets(targets.codes)


class Joint(LabelSpace):
    r"""One variable whose levels are the distinct labelsets: the label powerset.

    .. math:: I(X; Y_1 Y_2 \dots Y_q)

    Sechidis, Nikolaou and Brown (2014), eq. 3, 5 and 6 (no assumption about the targets). Numeric targets are cut into bins
    first, as for :class:`Single`. Cost: one pass over the rows for each target.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> Joint().encode(read_targets([[0, 1], [1, 1], [0, 1]])).codes.levels
    array([2], dtype=uint32)
    """

    name = "joint"

    produces: ClassVar[Produces] = "variable"

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """Encode the joint variable."""
        return EncodedTargets(join(targets.require_known(label_space_name(self)).codes))


@dataclass(eq=False, repr=False)
class Pruned(Joint):
    r"""The joint variable of the targets, without labelsets that occur fewer than ``min_count`` times.

    Pruned problem transformation (Read 2008), used by Doquire and Verleysen and in Sechidis, Nikolaou and Brown (2014),
    section 5. The papers print no threshold; the default of three is our own setting.

    Parameters
    ----------
    min_count : int, default=3
        The smallest number of rows (or sum of their sample weights) of a labelset that is kept.
    split : bool or "smallest", default=False
        False drops the rows with a rare labelset. True splits a rare labelset into frequent ones, as PPT-n does: the largest
        frequent subset (ties: the most frequent, then the one with the lowest labels), then the largest frequent subset of the
        remaining labels, and so on; the row counts once for each subset, and is dropped only if there is none. ``"smallest"``
        takes the smallest frequent subsets first (ties: the one with the highest labels), as Mulan's program does. Needs 0/1
        targets.

    Notes
    -----
    Cost: one pass over the rows for each target; splitting, rare labelsets times frequent ones times targets.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> Y = read_targets([[0, 1]] * 2 + [[1, 0]] * 2 + [[1, 1]])
    >>> Pruned(min_count=2).encode(Y).n_left_out
    1
    >>> Pruned(min_count=2, split=True).encode(Y).row_index
    array([0, 1, 2, 3, 4, 4], dtype=uint32)
    """

    name = "pruned"

    _: KW_ONLY
    min_count: int = 3
    split: bool | Literal["smallest"] = False

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """Encode the joint variable of the rows that are kept."""
        least = whole_number(self.min_count, "min_count", 1, 2**31)
        joint, n_levels = joint_variable(targets.require_known(label_space_name(self)).codes)
        frequent = np.bincount(joint, weights=weights, minlength=n_levels) >= least
        number = np.cumsum(frequent) - 1
        n_classes = int(np.count_nonzero(frequent))
        if n_classes > MAX_LEVELS:
            raise InputError(f"{n_classes:,} labelsets are frequent; at most {MAX_LEVELS:,} can be. Use a larger min_count.")
        if not self.split:
            rows = frequent[joint]
            return EncodedTargets(
                one_column(number[joint[rows]], n_classes), rows=rows, n_left_out=int(np.count_nonzero(~rows))
            )
        if self.split not in (True, "smallest"):
            raise InputError(f'split must be True, False or "smallest", not {self.split!r}.')
        subsets = _subsets(targets, joint, frequent, weights, smallest=self.split == "smallest")
        n_subsets = np.array([len(of_labelset) for of_labelset in subsets])
        row_index = np.repeat(np.arange(targets.n_rows, dtype=np.uint32), n_subsets[joint])
        starts = np.concatenate([[0], np.cumsum(n_subsets)])
        flat = np.array([number[subset] for of_labelset in subsets for subset in of_labelset], dtype=np.int64)
        within = np.arange(len(row_index)) - np.repeat(np.cumsum(n_subsets[joint]) - n_subsets[joint], n_subsets[joint])
        classes = flat[starts[joint[row_index]] + within]
        left_out = int(np.count_nonzero(n_subsets[joint] == 0))
        return EncodedTargets(one_column(classes, n_classes), row_index=row_index, n_left_out=left_out)


class Cumulative(LabelSpace):
    r"""Each target as a separate variable, numeric targets as indicators of the cut points between their bins.

    .. math:: \sum_l I(X; Y_l) + \sum_m \sum_t I(X; [Y_m > c_{mt}])

    Bins as one variable have no order: a feature that separates the lowest fifth from the highest has the same information as
    one that separates two neighboring fifths. Sums over indicators weigh a difference by the number of cut points that it
    crosses (Frank and Hall 2001, for ordinal classes). Bins are those of the selector's ``target_discretizer``; without
    numeric targets the space is :class:`Single`. Unknown cells are left out, target by target.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> Cumulative().encode(read_targets([[0, 0.1], [1, 0.2], [1, 9.5]])).codes.to_dense().tolist()
    [[0, 0, 0], [1, 1, 0], [1, 1, 1]]
    """

    name = "cumulative"

    produces: ClassVar[Produces] = "indicators"

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """Encode classes as they are and numeric targets as indicators, in the order of the targets."""
        codes = targets.codes
        if not targets.is_numeric.any():
            return EncodedTargets(codes)
        columns: list[NDArray[np.uint8] | NDArray[np.uint16]] = []
        levels, missing, target_of = [], [], []
        for column in range(codes.n_columns):
            values = codes.column(column)
            unknown = codes.missing is not None and bool(codes.missing[column])
            if not targets.is_numeric[column]:
                columns.append(values)
                levels.append(int(codes.levels[column]))
                missing.append(unknown)
                target_of.append(column)
                continue
            n_bins = int(codes.levels[column]) - unknown
            for cut in range(1, max(2, n_bins)):
                indicator = (values >= cut).astype(np.uint8)
                if unknown:
                    indicator[values == n_bins] = 2
                columns.append(indicator)
                levels.append(3 if unknown else 2)
                missing.append(unknown)
                target_of.append(column)
        dense = np.asfortranarray(np.column_stack(columns))
        marked = np.array(missing)
        variables = Codes(
            codes.n_rows, np.array(levels, dtype=np.uint32), dense=dense, missing=marked if marked.any() else None
        )
        return EncodedTargets(variables, target_of=np.array(target_of, dtype=np.intp))


def _subsets(
    targets: TargetTable, joint: NDArray[np.uint32], frequent: NDArray[np.bool_], weights: Weights, *, smallest: bool
) -> list[list[int]]:
    """Find, for every distinct labelset, the frequent labelsets that replace it."""
    labels = read_labelsets(targets, "Pruned(split=True)")
    _, first = np.unique(joint, return_index=True)
    members = np.zeros((len(first), targets.n_columns), dtype=bool)
    index = np.full(targets.n_rows, -1)
    index[first] = np.arange(len(first))
    is_first = index[labels.rows] >= 0
    members[index[labels.rows[is_first]], labels.labels[is_first]] = True
    sizes, counts = members.sum(axis=1), np.bincount(joint, weights=weights)
    usable = np.flatnonzero(frequent & (sizes > 0))
    # Sorted by size, then count, then labels: the first that fits is the best. Bytes of 0s and 1s compare like lists of labels.
    by_labels = members[usable].T[::-1]
    order = np.lexsort((*by_labels, sizes[usable]) if smallest else (*~by_labels, -counts[usable], -sizes[usable]))
    usable = usable[order]
    subsets: list[list[int]] = []
    for level in range(len(first)):
        if frequent[level]:
            subsets.append([level])
            continue
        rest, found = members[level].copy(), []
        fits = usable[~(members[usable] & ~rest).any(axis=1)]
        while len(fits):
            found.append(int(fits[0]))
            rest &= ~members[fits[0]]
            fits = fits[~(members[fits] & ~rest).any(axis=1)]
        subsets.append(found)
    return subsets
