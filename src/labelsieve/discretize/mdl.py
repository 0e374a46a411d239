"""Cuts that tell the classes apart, as many as the data pay for."""

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from labelsieve.counting.codes import Codes
from labelsieve.counting.cut_points import ColumnCuts, apply_cuts, cut_by_classes
from labelsieve.counting.joint_codes import join
from labelsieve.counting.number_table import NumberTable
from labelsieve.counting.row_weights import RowWeights
from labelsieve.discretize.base_discretizer import Bins, Missing
from labelsieve.discretize.label_classes import positive_labels
from labelsieve.discretize.sparse_codes import as_matrix_like
from labelsieve.errors import InputError, whole_number


class MDL(Bins):
    r"""Recursive entropy minimization with the minimum description length principle (Fayyad and Irani 1993).

    A set :math:`S` of :math:`N` rows with :math:`k` classes is cut between two neighboring values, where the entropy of
    the classes within the parts is least (the lowest such place), if that gains

    .. math:: H(S) - \frac{N_1}{N} H(S_1) - \frac{N_2}{N} H(S_2) >
        \frac{\log_2(N - 1) + \log_2(3^k - 2) - [k H(S) - k_1 H(S_1) - k_2 H(S_2)]}{N} ,

    and then each part is treated alike. A column that says nothing about the classes has one level.

    Parameters
    ----------
    targets : {"auto", "joint", "single", "copy"}
        What the classes of several targets are. "joint": the distinct label rows (label powerset). "single": those of each
        target, which makes a set of cuts for every target. "copy": the labels, a row counting once for each label that it has.
        Pereira et al. (2015) use them so with the transformation of the same name. "auto" is "copy" for labels, and "joint"
        for one target or targets with more classes: label rows are often so many that no cut pays (on yeast, enron, bibtex
        and delicious not a single column is cut).
    rule : {"fayyad-irani", "kononenko"}
        When a cut pays: the inequality above, or Kononenko's (1995) code length.
    boundaries : {"rows", "values"}
        Among how many places the cut was chosen: :math:`N - 1`, or the number of places between distinct values (Weka's
        "better encoding").
    missing : {"error", "level"}
        What NaN is: refused, or a level of its own, the last.

    Attributes
    ----------
    cut_points_ : list of ndarray
        Of every column, rising. With ``targets="single"`` and several targets, a list of such lists, one for each target.
    categories_ : list of None
        No column is kept as it is.

    Notes
    -----
    Cut points are those of Weka's supervised ``Discretize``, with its options ``-K`` and ``-E``; but more than 646 classes,
    where :math:`3^k` overflows there, are cut like others. Class counts are added in fixed point, so equal entropies are
    equal and the order of rows and classes does not matter.

    Cost: sorting a column once, then for each level of the recursion a pass over its rows (their labels with "copy"),
    leaving out those that have the column's most frequent value. Rows are never repeated in memory.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]]
    >>> MDL().fit(X, [0, 0, 0, 0, 1, 1, 1, 1]).cut_points_
    [array([4.5])]
    """

    name = "mdl"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Bins._parameter_constraints,
        "targets": [StrOptions({"auto", "joint", "single", "copy"})],
        "rule": [StrOptions({"fayyad-irani", "kononenko"})],
        "boundaries": [StrOptions({"rows", "values"})],
    }
    _supervised = True

    def __init__(
        self,
        targets: Literal["auto", "joint", "single", "copy"] = "auto",
        *,
        rule: Literal["fayyad-irani", "kononenko"] = "fayyad-irani",
        boundaries: Literal["rows", "values"] = "rows",
        missing: Missing = "error",
    ) -> None:
        self.targets = targets
        self.rule = rule
        self.boundaries = boundaries
        self.missing = missing

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        assert targets is not None
        starts, kind = None, self.targets
        if kind == "auto":
            kind = "copy" if targets.n_columns > 1 and targets.levels.max() == 2 else "joint"
        if kind == "copy":
            starts, labels = positive_labels(targets)
            if len(labels) == 0:
                raise InputError('targets="copy": no row has a label, so there are no classes to tell apart.')
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
            kononenko=self.rule == "kononenko",
            count_values=self.boundaries == "values",
        )

    def _store(self, cuts: list[ColumnCuts]) -> None:
        super()._store(cuts)
        if len(cuts) > 1:
            self.cut_points_: list[Any] = [of_target.split()[0] for of_target in cuts]

    def _only_cuts(self) -> ColumnCuts:
        if len(self._cuts) > 1:
            raise InputError(
                f'MDL(targets="single") has cuts for each of {len(self._cuts)} targets; use transform_label(X, target), '
                'or targets="joint" or "copy".'
            )
        return super()._only_cuts()

    def transform_label(self, X: Any, label: int) -> Any:
        """Codes of ``X`` by the cuts of one target."""
        check_is_fitted(self)
        cuts = self._cuts[whole_number(label, "label", 0, len(self._cuts) - 1)]
        codes = apply_cuts(self._read_new(X), cuts)
        return codes.to_dense() if codes.sparse is None else as_matrix_like(codes, X)
