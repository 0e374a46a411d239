"""Chi-square ranking: the deviation of the table of a feature and a target from independence."""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import _fit_context

from labelsieve.counting.row_weights import quantize, read_weights
from labelsieve.errors import InputError, one_of, require_same_rows
from labelsieve.information import Codes, join
from labelsieve.labelspace import known_classes
from labelsieve.selectors.base_counting import BaseCodeRanking
from labelsieve.selectors.contingency import LEVELS_OF_A_FEW, Array, Classes, chi_square_table, classes_of, column_slices
from labelsieve.selectors.selector_input import named_labels
from labelsieve.table_types import TableLike, TargetsLike, WeightsLike

Targets = Literal["single", "joint", "copy", "copy-weight"]
TARGETS = ("single", "joint", "copy", "copy-weight")


def chi_square(X: TableLike, Y: TargetsLike, *, targets: Targets = "single", sample_weight: WeightsLike = None) -> Array:
    r"""Pearson's chi-square statistic of every column of ``X`` with the targets.

    .. math:: \chi^2 = \sum_{ab} \frac{(n_{ab} - n_a n_b / n)^2}{n_a n_b / n}

    Parameters
    ----------
    X : array-like, frame, sparse matrix or Codes of shape (n_rows, d)
        Codes: whole numbers from 0. Bin continuous columns first (:func:`labelsieve.discretize.equal_width`).
    Y : array-like, frame or sparse matrix of shape (n_rows, q)
        Classes, or labels 0 and 1.
    targets : {"single", "joint", "copy", "copy-weight"}, default="single"
        ``"single"``: every target by itself; ``"joint"``: the label powerset; ``"copy"``: one target whose classes are the
        labels, with a copy of a row for each of its labels; ``"copy-weight"``: these copies with a weight of 1 / the number of
        labels of the row, which is ELA-CHI (Chen et al. 2007). Copies leave out rows without labels.
    sample_weight : array-like of shape (n_rows,), default=None
        The weight of each row.

    Returns
    -------
    ndarray of shape (d, q), or (d, 1) for other ``targets`` than ``"single"``

    Notes
    -----
    The statistic is that of ``scipy.stats.chi2_contingency(table, correction=False)``, and 0 where that refuses a table of
    empty rows or columns. ``sklearn.feature_selection.chi2`` is another: it takes a feature for counts of events and leaves
    out the rest of the table; for a feature of zeros and ones, n_1 of n rows being ones, it is (1 - n_1 / n) times ours.

    Cost: for each row, the product of its levels other than 0 and its classes; rows are not repeated for copies. Counts are
    exact, so dense and sparse input give the same numbers.

    Examples
    --------
    >>> chi_square([[0, 0], [0, 1], [1, 0], [1, 1]], [[0], [0], [1], [1]])
    array([[4.], [0.]])
    """
    one_of(targets, "targets", TARGETS)
    features, classes = Codes.from_values(X), known_classes(Y, "chi_square")
    require_same_rows(features.n_rows, classes.n_rows)
    return _statistics(features, classes, targets, read_weights(sample_weight, features.n_rows))


def _statistics(features: Codes, targets: Codes, space: str, weights: Array | None) -> Array:
    whole, unit = np.ones(features.n_rows), 1.0
    if space in ("copy", "copy-weight"):
        return _copy_transformed(features, targets, whole if weights is None else weights, by_row=space == "copy-weight")
    if weights is not None:
        quantized = quantize(weights)
        whole, unit = quantized.values.astype(np.float64), quantized.unit
    if space == "joint":
        targets = join(targets)
    blocks = [chi_square_table(features, classes_of(targets, some, whole)) for some in column_slices(targets, LEVELS_OF_A_FEW)]
    return _in_units_of_weights(np.concatenate(blocks, axis=1), unit)


def _copy_transformed(features: Codes, targets: Codes, weights: Array, *, by_row: bool) -> Array:
    labels = _labels(targets)
    n_labels = np.asarray(labels.sum(axis=1)).ravel()
    if not (weights * n_labels).any():
        return np.zeros((features.n_columns, 1))
    of_copy = np.where(n_labels > 0, weights / np.maximum(n_labels, 1) if by_row else weights, 0.0)
    quantized = quantize(of_copy)
    members = sp.csr_array(sp.diags_array(quantized.values.astype(np.float64)) @ labels)
    rows = np.asarray(members.sum(axis=1), dtype=np.float64).ravel()
    classes = Classes(members, np.array([labels.shape[1]]), rows, np.empty(0, dtype=np.intp))
    return _in_units_of_weights(chi_square_table(features, classes), quantized.unit)


def _in_units_of_weights(statistics: Array, unit: float) -> Array:
    """Statistics of quantized weights for the weights themselves: they grow with these."""
    with np.errstate(over="ignore"):
        divided = statistics / unit
        if np.isfinite(divided.sum(axis=1)).all():
            return divided
    raise InputError(
        "sample_weight is so large that chi-square statistics, which grow with it, overflow; divide it by its mean."
    )


def _labels(targets: Codes) -> sp.csr_array:
    several = np.flatnonzero(targets.levels > 2)
    if len(several):
        raise InputError(
            f"Y, column {several[0]} has {targets.levels[several[0]]} classes; copies are made for labels, which are 0 or 1. "
            'Use targets="single" or "joint", or turn classes into labels.'
        )
    stored = targets.sparse
    if stored is None or stored.implicit.any():
        return sp.csr_array(targets.to_dense(), dtype=np.float64)
    return sp.csc_array(
        (stored.codes.astype(np.float64), stored.rows.astype(np.intp), stored.starts), shape=targets.shape
    ).tocsr()


@dataclass(eq=False, repr=False, kw_only=True)
class ChiSquare(BaseCodeRanking):
    """Rank features by their chi-square statistic with the targets: see :func:`chi_square`.

    Parameters
    ----------
    targets : {"single", "joint", "copy", "copy-weight"}, default="single"
        The label space. ``"copy-weight"`` is ELA-CHI (Chen et al. 2007; a baseline of Sechidis et al. 2019).
    combine : {"sum", "max"}, default="sum"
        How the scores of the targets are combined, for ``targets="single"``.
    discretizer : str, Discretizer or None, default="equal-width"
        As for :class:`labelsieve.Sieve`. Bins come from all rows, also from those that copies leave out.
    n_features_to_select : int, float, str, StoppingRule or None, default=10
        A number (all, if there are fewer), a fraction of all, None for a ranking of all, or a rule of
        :mod:`labelsieve.stopping` that uses the scores (``ScoreThreshold``, ``Knee(of="score")``) or predictions
        (``CrossValidated``).

    Attributes
    ----------
    feature_scores_ : ndarray of float, shape (n_features,)
        The statistic of every feature.
    discretizer_, target_discretizer_ : Discretizer
        The objects that were used, with their settings.
    target_types_, label_names_
        As for :class:`labelsieve.Sieve`.
    n_rows_without_labels_ : int
        Rows that copies left out; 0 in the other label spaces.

    Notes
    -----
    The statistic is not divided by its degrees of freedom: features of more levels score higher, also independent ones.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_noisy_copies=0)
    >>> sieve = ChiSquare(targets="copy-weight", n_features_to_select=4).fit(data.X, data.Y)
    >>> sorted(sieve.selected_.tolist()) == data.columns("relevant")
    True
    """

    targets: Targets = "single"
    combine: Literal["sum", "max"] = "sum"

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Score the features of ``X`` for the targets ``y``: one column or many, classes or 0/1, dense or sparse."""
        y = named_labels(self, y)
        features, targets, weights = self._encode(X, y, sample_weight)
        statistics = _statistics(features, targets, self.targets, weights)
        copies = self.targets in ("copy", "copy-weight")
        self.n_rows_without_labels_ = int(np.count_nonzero(_labels(targets).sum(axis=1) == 0)) if copies else 0
        self._keep_best(statistics.max(axis=1) if self.combine == "max" else statistics.sum(axis=1), X, y, sample_weight)
        return self
