"""MDL: supervised discretization by the minimum description length principle."""

from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labelsieve import core
from labelsieve.counting.fixed_point import FixedPoint, logarithms
from labelsieve.counting.joint_codes import join
from labelsieve.discretize.base import BaseBins
from labelsieve.errors import InputError, whole_number
from labelsieve.tables.codes import Codes, ColumnCuts, column_blocks, in_threads, positive_cells
from labelsieve.tables.frames import NumberTable
from labelsieve.tables.types import CompressedMatrix, TableLike
from labelsieve.tables.weights import RowWeights

_LARGEST_TABLE = 2**24  # counts; more than that are looked up in 134 MB of n log n, and computing them is no slower


@dataclass(eq=False, repr=False)
class MDL(BaseBins):
    r"""Recursive entropy minimization with the minimum description length principle (Fayyad and Irani 1993).

    A set :math:`S` of :math:`N` rows with :math:`k` classes is cut between the two neighboring values that minimize the class
    entropy of the two subsets (the lowest such cut), if

    .. math:: H(S) - \frac{N_1}{N} H(S_1) - \frac{N_2}{N} H(S_2) >
        \frac{\log_2(N - 1) + \log_2(3^k - 2) - [k H(S) - k_1 H(S_1) - k_2 H(S_2)]}{N} ,

    and then each subset is cut recursively. A column without information about the classes has one level.

    Parameters
    ----------
    targets : {"auto", "joint", "single", "copy"}, default="auto"
        The classes of several targets. "joint": the distinct labelsets (label powerset). "single": the classes of each target,
        which gives one set of cut points per target. "copy": the labels, where a row counts once for each of its labels (copy
        transformation). Pereira et al. (2015) use each with the transformation of the same name. "auto" is "copy" for labels,
        and "joint" for one target or targets with more classes: there are often so many labelsets that no cut is accepted (on
        yeast, enron, bibtex and delicious not a single column is cut).
    boundaries : {"rows", "values"}, default="rows"
        The number of candidate cuts: :math:`N - 1`, or the number of boundaries between distinct values (Weka's "better
        encoding").

    Attributes
    ----------
    cut_points_ : list of ndarray
        Cut points of every column, ascending. With ``targets="single"`` and several targets, one such list for each target.
    categories_ : list of None
        No column keeps its values as levels.

    Notes
    -----
    Cut points equal those of Weka's supervised ``Discretize``, with its option ``-E``, except for more than 646
    classes, where :math:`3^k` overflows there. Class counts are added in fixed point, so equal entropies are exactly equal and
    the order of rows and classes does not matter.

    Cost: sorting a column once, then for each level of the recursion a pass over its rows (their labels with "copy"), except
    those with the column's most frequent value. Rows are never repeated in memory.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]]
    >>> MDL().fit(X, [0, 0, 0, 0, 1, 1, 1, 1]).cut_points_
    [array([4.5])]
    """

    name = "mdl"

    targets: Literal["auto", "joint", "single", "copy"] = "auto"
    _: KW_ONLY
    boundaries: Literal["rows", "values"] = "rows"

    uses_targets = True

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        assert targets is not None
        starts, kind = None, self.targets
        if kind == "auto":
            kind = "copy" if targets.n_columns > 1 and targets.levels.max() == 2 else "joint"
        if kind == "copy":
            starts, labels = positive_labels(targets)
            if len(labels) == 0:
                raise InputError('targets="copy": no row has a label, so there are no classes.')
            classes, n_classes = labels[:, np.newaxis], np.array([targets.n_columns], dtype=np.uint32)
        else:
            variables = join(targets) if kind == "joint" and targets.n_columns > 1 else targets
            classes, n_classes = variables.to_dense().astype(np.uint16), variables.levels
        return cut_by_classes(
            table,
            classes,
            n_classes,
            starts=starts,
            weights=weights,
            count_values=self.boundaries == "values",
        )

    def transform_label(self, X: TableLike, label: int) -> NDArray[np.integer] | CompressedMatrix:
        """Encode ``X`` by the cut points of one target."""
        check_is_fitted(self)
        return self._transform(X, self._cuts[whole_number(label, "label", 0, len(self._cuts) - 1)])


def positive_labels(targets: Codes) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
    """List the labels of all rows in order of the rows: those of row ``r`` are from ``starts[r]`` to ``starts[r + 1]``.

    >>> positive_labels(Codes.from_values([[1, 1], [0, 0], [0, 1]]))
    (array([0, 2, 2, 3]), array([0, 1, 1], dtype=uint16))
    """
    if targets.levels.max() > 2:
        target = int(np.argmax(targets.levels))
        raise InputError(
            f'targets="copy" needs binary labels, and target {target} has {targets.levels[target]} classes: '
            'use targets="joint" or "single".'
        )
    rows, labels = positive_cells(targets)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=targets.n_rows))])
    return starts.astype(np.int64), labels.astype(np.uint16)


def cut_by_classes(
    table: NumberTable,
    classes: NDArray[np.uint16],
    n_classes: NDArray[np.uint32],
    *,
    starts: NDArray[np.int64] | None = None,
    weights: RowWeights | None = None,
    count_values: bool = False,
) -> list[ColumnCuts]:
    """Cut every column by Fayyad and Irani's rule, once for each column of ``classes``.

    With ``starts`` there is one problem, and row ``r`` has the classes ``classes[starts[r]:starts[r + 1]]``.
    """
    n_rows = table.shape[0]
    of_rows, unit = (None, 1.0) if weights is None else (weights.values, weights.unit)
    times = np.ones(n_rows, dtype=np.int64) if starts is None else np.diff(starts)
    total = int(times.sum() if of_rows is None else times @ of_rows.astype(np.int64))
    fixed = FixedPoint.for_rows(total) if total <= _LARGEST_TABLE else FixedPoint.for_weights(total, unit=unit)
    of_classes = starts, np.asfortranarray(classes), n_classes, of_rows, unit
    settings = fixed.values, logarithms(), fixed.scale, count_values
    calls = []
    for block in column_blocks(table):
        calls.append((block.numbers, *of_classes, *settings))
    found = in_threads(core.mdl_numbers, calls)
    return [ColumnCuts.joined(of_problem) for of_problem in zip(*found, strict=True)]
