"""The workspace of a search has the data, the backend that counts them, and the tables that do not depend on a selection."""

from copy import copy
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.factory import DEFAULT_OPTIONS, CountingOptions, make_backend
from labelsieve.counting.backends.protocol import Backend, Column, Condition, Feature, JointFeatures, Sums, Target
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.joint_codes import refine
from labelsieve.counting.whole_tables import MissingLevels, Real, Terms, table_information
from labelsieve.tables.codes import Codes, with_missing_cells
from labelsieve.tables.weights import TargetWeights

PAIR_BYTES = 2**28  # of the tables (feature, target), which are kept when slices of them are asked for repeatedly


class Workspace:
    """The data of a search: codes of features and targets, their backend, and the tables that do not depend on a selection."""

    def __init__(
        self,
        X: Codes,
        Y: Codes,
        options: CountingOptions = DEFAULT_OPTIONS,
        *,
        row_index: NDArray[np.uint32] | None = None,
        target_weights: TargetWeights | None = None,
    ) -> None:
        X = X if X.missing is None else with_missing_cells(X, row_index)
        Y = Y if Y.missing is None else with_missing_cells(Y)
        self.X, self.Y, self.options, self.row_index = X, Y, options, row_index
        self.target_weights = target_weights
        self._given_features: dict[int, Sums] = {}
        # Terms are estimated one by one, each from a whole table.
        self.by_term = options.estimator == "shrinkage" or X.has_missing
        n_targets = Y.n_columns if target_weights is None else max(Y.n_columns, target_weights.n_targets)
        estimator = "plugin" if options.estimator == "shrinkage" else options.estimator  # then for sums of scores alone
        self.fixed = FixedPoint.for_data(Y.n_rows, options.weights, n_targets=n_targets, estimator=estimator)
        counted = replace(X, missing=None) if X.has_missing else X  # whole tables are counted with all levels
        self.backend = make_backend(counted, Y, self.fixed, options, row_index=row_index)

    def with_targets(self, Y: Codes) -> "Workspace":
        """Return a workspace of the same features with other targets of the same rows, without weights of rows."""
        assert self.options.weights is None
        assert self.row_index is None
        return Workspace(self.X, Y, self.options, target_weights=self.target_weights)

    def with_feature_as_target(self, feature: int) -> "Workspace":
        """Return a workspace of the same features with one of them as the only target."""
        column = self.X.column(feature) if self.row_index is None else self.X.column(feature)[self.row_index]
        missing = None if self.X.missing is None else self.X.missing[[feature]]
        target = Codes(len(column), self.X.levels[[feature]], dense=column[:, np.newaxis], missing=missing)
        return Workspace(self.X, target, self.options, row_index=self.row_index)

    @cached_property
    def feature_sums(self) -> Sums:
        """``(d,)``: tables of every feature alone."""
        features, self.target_sums = self.backend.singles()  # counted together
        return features

    @cached_property
    def target_sums(self) -> Sums:
        """``(q,)``: tables of every target alone."""
        self.feature_sums, targets = self.backend.singles()
        return targets

    @cached_property
    def constant_features(self) -> NDArray[np.intp]:
        """Features with one level among the counted rows: they have no information about anything."""
        constant: NDArray[np.intp] = (self.feature_sums == self.fixed.top).nonzero()[0]
        return constant

    def given_feature(self, feature: int) -> Sums:
        """Return the tables of one feature with every target, ``(q,)``; they are kept."""
        if feature not in self._given_features:
            self._given_features[feature] = self.backend.given_targets(Feature(feature))
        return self._given_features[feature]

    @property
    def keeps_pairs(self) -> bool:
        """True when the tables (feature, target) are small enough to be kept."""
        return 8 * self.X.n_columns * self.Y.n_columns <= PAIR_BYTES

    @cached_property
    def pairs(self) -> Sums:
        """``(d, q)``: tables (feature, target)."""
        return self.backend.pairs()

    @cached_property
    def running_pairs(self) -> Sums:
        """``(d, q + 1)``: :attr:`pairs` added up from the first target on, so that any range of targets is a difference."""
        running: Sums = self.backend.xp.zeros((self.X.n_columns, self.Y.n_columns + 1), dtype=np.int64)
        running[:, 1:] = self.pairs.cumsum(axis=1)
        return running

    @cached_property
    def of_known_rows(self) -> "Workspace":
        """A view in which the tables of targets with unknown cells are sums over the known rows alone."""
        return self._counted_by(self.backend.of_known_rows())

    @cached_property
    def on_device(self) -> "Workspace | None":
        """A view with tables in the memory of the GPU that counts them; None where no GPU does, or not all of them."""
        sums = self.backend.on_device
        if sums is None or self.by_term or self.Y.has_missing or self.target_weights is not None:
            return None
        return self._counted_by(sums)

    def _counted_by(self, backend: Backend) -> "Workspace":
        """Return a view of the same data that another backend counts."""
        view = copy(self)
        for kept in ("feature_sums", "target_sums", "pairs", "running_pairs"):
            view.__dict__.pop(kept, None)
        view.backend, view._given_features = backend, {}
        return view

    def table_information(self, terms: Terms, given: Condition | None, targets: slice) -> Real:
        """Estimate sums of entropies in nats from whole tables, in the rows in which all variables are known.

        See :func:`labelsieve.counting.whole_tables.table_information`.
        """
        missing = None
        if self.X.has_missing or self.Y.has_missing:
            given, given_missing = self._known_condition(given)
            missing = MissingLevels(_flags(self.X), _flags(self.Y)[targets], given_missing)
        shape = self.X.n_columns, len(range(*targets.indices(self.Y.n_columns)))
        estimator = self.options.estimator
        return table_information(
            self.backend, terms, given, shape, self.fixed, targets=targets, estimator=estimator, missing=missing
        )

    def _known_condition(self, given: Condition | None) -> tuple[Condition | None, bool]:
        """Return the condition, and whether its last level stands for missing cells."""
        match given:
            case Feature(index=index):
                return given, bool(_flags(self.X)[index])
            case Target(index=index):
                return given, bool(_flags(self.Y)[index])
            case JointFeatures(indices=indices) if _flags(self.X)[list(indices)].any():
                joint, n_levels = np.zeros(self.X.n_rows, dtype=np.uint32), 1
                missing = np.zeros(self.X.n_rows, dtype=bool)
                for index in indices:
                    n_levels = refine(joint, n_levels, self.X, index)
                    missing |= ~self.X.is_known(index)
                joint[missing] = n_levels
                return Column(joint if self.row_index is None else joint[self.row_index], n_levels + 1), True
        return given, False


def _flags(codes: Codes) -> NDArray[np.bool_]:
    return np.zeros(codes.n_columns, dtype=bool) if codes.missing is None else codes.missing
