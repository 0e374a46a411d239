"""Shrunk tables of the core: the bits of those of numpy, and the same bits for every strategy and number of threads."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve.counting.backends import Feature, NativeBackend, Target
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.whole_tables import table_information
from labelsieve.information import Codes
from labelsieve.tables.weights import quantize
from tests.support.naive_backend import WholeTables
from tests.support.random_tables import many_levels_table

N_ROWS = 120
JMI = [(1.0, "xz"), (1.0, "y"), (-1.0, "xyz")]
EVERY = [(0.5 + k, names) for k, names in enumerate(("x", "y", "z", "xy", "xz", "yz", "xyz"))]
CASES = [(JMI, Feature(3)), (EVERY, Feature(1)), (EVERY, Target(1)), ([(1.0, "x"), (1.0, "y"), (-1.0, "xy")], None)]


def make_tables():
    X, Y = many_levels_table(1, N_ROWS, [2, 3, 1, 9, 30, 2]), many_levels_table(2, N_ROWS, [2, 3, 1, 16])
    X[:, 1] *= 2  # a level that does not occur
    return Codes.from_values(X), Codes.from_values(Y)


def backend_of(X, Y, weights=None, **options):
    return NativeBackend(X, Y, FixedPoint.for_data(X.n_rows, weights), weights=weights, **options)


def shrunk(backend, terms, given):
    information = backend.shrunk_information(terms, given, slice(None))
    assert information is not None
    return information


@pytest.mark.parametrize(("terms", "given"), CASES)
@pytest.mark.parametrize("kind", ["plain", "whole", "real"])
def test_shrunk_tables_are_those_of_numpy(terms, given, kind):
    X, Y = make_tables()
    rng = np.random.default_rng(0)
    values = {"plain": None, "whole": rng.integers(1, 5, size=N_ROWS).astype(float), "real": rng.random(N_ROWS) + 0.1}[kind]
    weights = None if values is None else quantize(values)
    plain = WholeTables(X, Y, weights=None if weights is None else weights.values / weights.unit)
    fixed = FixedPoint.for_data(N_ROWS, weights)
    expected = table_information(plain, terms, given, (X.n_columns, Y.n_columns), fixed)
    assert np.array_equal(shrunk(backend_of(X, Y, weights), terms, given), expected)


@pytest.mark.parametrize(("terms", "given"), CASES)
def test_shrunk_tables_do_not_depend_on_how_they_are_counted(terms, given):
    X, Y = make_tables()
    expected = shrunk(backend_of(X, Y), terms, given)
    for strategy in ("positional", "grouped", "tiled", "sparse"):
        assert np.array_equal(shrunk(backend_of(X, Y, strategy=strategy, n_jobs=2), terms, given), expected)
    sparse = Codes.from_values(sp.csr_matrix(X.to_dense()))
    assert np.array_equal(shrunk(backend_of(sparse, Y), terms, given), expected)


def test_whole_weights_are_repeated_rows_to_the_last_bit():
    X, Y = make_tables()
    times = np.random.default_rng(0).integers(1, 5, size=N_ROWS)
    rows = np.repeat(np.arange(N_ROWS), times)
    weighted = shrunk(backend_of(X, Y, quantize(times.astype(float))), EVERY, Feature(3))
    repeated = (Codes.from_values(table.to_dense()[rows]) for table in (X, Y))
    assert np.array_equal(weighted, shrunk(backend_of(*repeated), EVERY, Feature(3)))


def test_tables_of_a_feature_without_targets():
    X, Y = make_tables()
    terms = [(1.0, "x"), (1.0, "z"), (-1.0, "xz")]
    fixed = FixedPoint.for_rows(N_ROWS)
    expected = table_information(WholeTables(X, Y), terms, Feature(3), (X.n_columns, Y.n_columns), fixed)
    ours = backend_of(X, Y).shrunk_information(terms, Feature(3), None)
    assert ours.shape == expected.shape == (X.n_columns, 1)
    assert np.array_equal(ours, expected)


@pytest.mark.parametrize(("x_levels", "y_levels"), [(34, 2), (2, 65)])
def test_large_tables_are_left_to_numpy(x_levels, y_levels):
    X = Codes.from_values(many_levels_table(1, 900, [x_levels, 2]))
    Y = Codes.from_values(many_levels_table(2, 900, [2, y_levels]))
    backend, fixed = backend_of(X, Y), FixedPoint.for_rows(900)
    assert backend.shrunk_information(JMI, Feature(1), slice(None)) is None
    expected = table_information(WholeTables(X, Y), JMI, Feature(1), (2, 2), fixed)
    assert np.array_equal(table_information(backend, JMI, Feature(1), (2, 2), fixed), expected)
