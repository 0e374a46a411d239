"""A panel given a feature is the panel given that feature's column."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve.counting.backends import NativeBackend
from labelsieve.counting.backends.protocol import PanelFold
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.information import Codes
from tests.support.random_tables import binary_table, many_levels_table

LEVELS = [2, 3, 1, 9, 70, 300]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("reduce", [None, "sum"])
def test_panel_given_a_feature_equals_the_panel_given_its_column(make, reduce):
    X, Y = Codes.from_values(make(many_levels_table(1, 500, LEVELS))), Codes.from_values(binary_table(2, 500, 7))
    backend = NativeBackend(X, Y, FixedPoint.for_rows(500, n_targets=7))
    for feature in range(X.n_columns):
        for targets in (slice(None), slice(2, 5), slice(0)):
            given = backend.triples(X.column(feature), int(X.levels[feature]), targets=targets, reduce=reduce)
            same = backend.triples_given_feature(feature, targets=targets, reduce=reduce)
            assert np.array_equal(given.pair, same.pair)
            assert np.array_equal(given.triple, same.triple)


def test_a_feature_that_is_not_there_is_refused():
    codes = Codes.from_values([[0, 1], [1, 0]])
    backend = NativeBackend(codes, codes, FixedPoint.for_rows(2, n_targets=2))
    with pytest.raises(ValueError, match="no such feature"):
        backend.triples_given_feature(2)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("with_fixed", [False, True])
def test_a_fold_adds_a_linear_function_of_the_panel(make, with_fixed):
    X, Y = Codes.from_values(make(many_levels_table(1, 300, LEVELS))), Codes.from_values(binary_table(2, 300, 5))
    backend = NativeBackend(X, Y, FixedPoint.for_rows(300, n_targets=5))
    fixed = np.arange(X.n_columns) * 1000 if with_fixed else None
    for feature in range(X.n_columns):
        for targets in (slice(None), slice(1, 4), slice(0)):
            account = np.full(X.n_columns, 7)
            backend.fold_given_feature(account, feature, PanelFold(11, fixed, -3, 2), targets=targets)
            panel = backend.triples_given_feature(feature, targets=targets, reduce="sum")
            assert np.array_equal(account, 7 + 11 + (0 if fixed is None else fixed) - 3 * panel.pair + 2 * panel.triple)
