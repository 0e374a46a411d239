"""Equal-width codes depend on the values: not on their type, not on whether zeros are stored, not on layout."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve.discretize import equal_width
from labelsieve.information import mutual_information
from tests.support import reference_discretizers as references

sides = pytest.mark.parametrize("closed", ["left", "right"])
N_ROWS = 200


def whole_numbers():
    """Columns whose zeros fall in the first, a middle and the last bin, and columns with only zeros or none."""
    rng = np.random.default_rng(0)
    table = rng.integers(-100, 101, size=(N_ROWS, 12)) * (rng.random((N_ROWS, 12)) < 0.4)
    table[:, 1] = abs(table[:, 1])
    table[:, 2] = -abs(table[:, 2])
    table[:, 3] = 0
    table[:, 4] = rng.integers(1, 100, size=N_ROWS)
    table[:, 5] = rng.integers(-100, 0, size=N_ROWS)
    table[:, 6] = np.sign(table[:, 6])
    table[:, 7] = 5
    table[:, 8] = np.where(np.arange(N_ROWS) == 17, -9, 0)
    return table


WHOLE = whole_numbers()


@sides
@pytest.mark.parametrize("n_bins", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "bsr"])
def test_sparse_input_gives_the_codes_of_dense_input(form, n_bins, closed):
    fractions = WHOLE / 7
    for table in (WHOLE, fractions):
        dense = equal_width(table, n_bins, closed=closed)
        sparse = equal_width(sp.coo_array(table).asformat(form), n_bins, closed=closed)
        assert sparse.dense is None
        assert np.array_equal(sparse.levels, dense.levels)
        assert np.array_equal(sparse.to_dense(), dense.to_dense())
        assert np.array_equal(mutual_information(sparse), mutual_information(dense))


@sides
def test_zero_falls_in_its_bin_although_it_is_not_stored(closed):
    codes = equal_width(sp.csc_array(WHOLE), 5, closed=closed)
    for j in range(WHOLE.shape[1]):
        assert codes.column(j).tolist() == references.equal_width(WHOLE[:, j].tolist(), 5, closed)[0]
    implicit = codes.sparse.implicit
    assert implicit[0] == 2  # from -100 to 100
    assert implicit[1] == 0  # from 0 up
    assert implicit[2] == 4  # from below up to 0
    assert implicit[3] == 0  # a constant
    assert implicit[6] == 1  # the middle one of -1, 0, 1
    assert implicit[8] == 1  # the larger one of -9, 0


@sides
def test_zeros_that_are_stored_are_zeros(closed):
    matrix = sp.csc_array(WHOLE.astype(float))
    matrix.data[::3] = 0
    assert np.array_equal(
        equal_width(matrix, closed=closed).to_dense(), equal_width(matrix.toarray(), closed=closed).to_dense()
    )


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_the_largest_integers_are_cut_like_any_other(dtype):
    limits = np.iinfo(dtype)
    values = np.linspace(limits.min, limits.max, 41)[1:-1].astype(dtype)
    expected = references.equal_width([int(value) for value in values.tolist()], 5)[0]
    assert equal_width(values).column(0).tolist() == expected


def test_input_is_not_modified():
    table, matrix = WHOLE.astype(float), sp.csc_array(WHOLE.astype(float))
    equal_width(table)
    equal_width(matrix)
    assert np.array_equal(table, WHOLE)
    assert np.array_equal(matrix.toarray(), WHOLE)
