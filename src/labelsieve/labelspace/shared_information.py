r"""Information that labels share with each other, in exact integers.

In fixed point (:class:`~labelsieve.counting.fixed_point.FixedPoint`), so that sums do not depend on their order and equal
labels tie exactly. Constant labels are uninformative: they have no edges in a network.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends import CountingOptions, Target, make_backend
from labelsieve.counting.backends.factory import DEFAULT_OPTIONS
from labelsieve.counting.codes import Codes
from labelsieve.counting.fixed_point import FixedPoint

Fixed = NDArray[np.int64]
PANEL_BYTES = 2**26  # of one slice of a panel
MANY = 2**10  # additional terms that the fixed point allows beyond the sum over the targets


class SharedInformation:
    """Information between labels of ``Y``, by itself, given a label, or given the features ``X``.

    Memory: the tables of label pairs, 8 q^2 bytes, and slices of panels of 64 MB.
    """

    def __init__(self, Y: Codes, X: Codes | None = None, options: CountingOptions = DEFAULT_OPTIONS) -> None:
        self.Y, self.X, self._options = Y, X, options
        n_features = 1 if X is None else X.n_columns
        fewer, more = sorted((n_features, Y.n_columns))
        n_targets = more * (1 + fewer // MANY)
        self.fixed = FixedPoint.for_data(Y.n_rows, options.weights, n_targets=n_targets, estimator=options.estimator)
        self._labels = make_backend(Y, Y, self.fixed, options)
        self._singles = self._labels.singles()[0]

    @property
    def n_labels(self) -> int:
        return self.Y.n_columns

    @cached_property
    def constant(self) -> NDArray[np.bool_]:
        """Mask of the constant labels: without positives, or without negatives."""
        constant: NDArray[np.bool_] = self._singles == self.fixed.top
        return constant

    @cached_property
    def _pairs(self) -> Fixed:
        return self._labels.pairs()

    @cached_property
    def mutual(self) -> Fixed:
        """``(q, q)``: I(a; b); the diagonal is the entropy. Cost: one panel."""
        return self._pairs - self._singles[:, np.newaxis] - (self._singles - self.fixed.top)

    def given_label(self, label: int, targets: slice) -> Fixed:
        """``(q, t)``: I(label; target | given), the given label down, the targets across. Cost: one panel of q by t tables."""
        panel = self._labels.panel(Target(label), targets=targets)
        information: Fixed = panel.triple - self._pairs[:, targets]
        information -= (panel.pair - self._singles)[:, np.newaxis]
        return information

    def given_features(self) -> Fixed:
        """``(q, q)``: I(a; b | x) added over the features. Cost: q panels of d by q/2 tables on average."""
        assert self.X is not None
        features = make_backend(self.X, self.Y, self.fixed, self._options)
        n_labels, of_features = self.n_labels, int(features.singles()[0].sum())
        slices = _slices(0, n_labels, self.X.n_columns)
        of_pairs = np.concatenate([features.pairs(targets=part).sum(axis=0) for part in slices])
        total = np.zeros((n_labels, n_labels), dtype=np.int64)
        for label in map(int, np.flatnonzero(~self.constant)):
            for part in _slices(label + 1, n_labels, self.X.n_columns):
                panel = features.panel(Target(label), targets=part)
                total[label, part] = panel.triple.sum(axis=0) - of_pairs[part] - (int(panel.pair.sum()) - of_features)
        return total + total.T


def _slices(first: int, last: int, n_features: int) -> list[slice]:
    width = max(1, PANEL_BYTES // (8 * n_features))
    return [slice(start, min(last, start + width)) for start in range(first, last, width)]
