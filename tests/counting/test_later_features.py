"""Sums with the targets that are counted for the features from some number on."""

import numpy as np
import pytest

from labelsieve.counting.backends import CountingOptions, make_backend
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.tables.codes import Codes

N_ROWS, N_FEATURES = 300, 700  # of two levels: more than a block


@pytest.mark.parametrize("n_levels", [2, 5, 60])
@pytest.mark.parametrize("reduce", [None, "sum"])
@pytest.mark.parametrize("first", [0, 1, 33, 650])
def test_sums_of_later_features_are_those_of_all(n_levels, reduce, first):
    rng = np.random.default_rng(n_levels)
    levels = rng.integers(2, n_levels + 1, size=N_FEATURES)
    X = Codes.from_values((rng.random((N_ROWS, N_FEATURES)) * levels).astype(np.uint8))
    fixed = FixedPoint.for_data(N_ROWS, None, n_targets=20, estimator="plugin")
    backend = make_backend(X, X, fixed, CountingOptions(n_jobs=2))
    targets = slice(first, first + 20)
    expected = backend.pairs(targets=targets, reduce=reduce)
    assert np.array_equal(backend.pairs(targets=targets, reduce=reduce, first_feature=first)[first:], expected[first:])
