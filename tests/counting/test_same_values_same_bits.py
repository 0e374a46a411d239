"""The codes of a table depend on its values, never on their type, memory layout or container."""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from labelsieve.information import Codes, conditional_mutual_information, entropy, joint_mutual_information, mutual_information
from tests.support.random_tables import binary_table, many_levels_table, sparse_table

N_ROWS = 600
PARTNER = many_levels_table(0, N_ROWS, [2, 2, 3, 34])
GIVEN = many_levels_table(1, N_ROWS, [3])

TABLES = {
    "zeros and ones": lambda: binary_table(2, N_ROWS, 200),
    "few zeros and ones": lambda: binary_table(3, N_ROWS, 9),
    "up to 120": lambda: many_levels_table(4, N_ROWS, [1, 2, 3, 5, 17, 33, 34, 100, 121] * 3),
    "up to 30,000": lambda: many_levels_table(5, N_ROWS, [2, 255, 256, 257, 30_000]),
    "mostly zeros": lambda: sparse_table(6, N_ROWS, 150, density=0.005),
    "mostly zeros, many levels": lambda: sparse_table(7, N_ROWS, 40, density=0.1, n_levels=120),
}
every_table = pytest.mark.parametrize("name", TABLES)

NUMBER_TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NUMBER_TYPES += ["float16", "float32", "float64", "longdouble", "bool", ">i4", ">u2", ">f8", ">f4"]


@cache
def values(name):
    table = TABLES[name]().astype(np.int64)
    table.flags.writeable = False
    return table


def measure(table, rows=slice(None)):
    """A table as features, as targets and as what is given."""
    partner, given = PARTNER[rows], GIVEN[rows]
    return [
        entropy(table),
        mutual_information(table, partner),
        mutual_information(partner, table),
        conditional_mutual_information(table, partner, given),
        conditional_mutual_information(partner, table, given),
        joint_mutual_information(partner, given, table),
    ]


@cache
def expected(name):
    return measure(values(name))


def assert_measures_like(table, name):
    for ours, theirs in zip(measure(table), expected(name), strict=True):
        assert np.array_equal(ours, theirs)


def pairs(dtypes):
    """Every table with every number type that can hold its values."""
    fitting = [
        (name, dtype)
        for name in TABLES
        for dtype in dtypes
        if np.array_equal(values(name).astype(dtype).astype(np.int64), values(name))
    ]
    return pytest.mark.parametrize(("name", "dtype"), fitting)


@pairs(NUMBER_TYPES)
def test_any_number_type_gives_the_same_bits(name, dtype):
    assert_measures_like(values(name).astype(dtype), name)


def strided(table):
    buffer = np.full((2 * table.shape[0], 3 * table.shape[1]), 99, dtype=table.dtype)
    buffer[::2, ::3] = table
    return buffer[::2, ::3]


def unaligned(table):
    buffer = np.zeros(table.nbytes + 1, dtype=np.uint8)
    view = buffer[1:].view(table.dtype) if table.dtype.itemsize == 1 else buffer[1:].view(f"V{table.dtype.itemsize}")
    view = view.view(table.dtype).reshape(table.shape)
    view[...] = table
    return view


def record_field(table):
    """Rows that are further apart than a whole number of items."""
    records = np.zeros(table.shape[0], dtype=[("flag", "u1"), ("row", table.dtype, table.shape[1:])])
    records["row"] = table
    return records["row"]


def read_only(table):
    copy = table.copy()
    copy.flags.writeable = False
    return copy


LAYOUTS = {
    "rows first": np.ascontiguousarray,
    "columns first": np.asfortranarray,
    "read only": read_only,
    "every second row and third column": strided,
    "transposed": lambda table: table.T.copy().T,
    "rows backwards in memory": lambda table: table[::-1].copy()[::-1],
    "columns backwards in memory": lambda table: table[:, ::-1].copy()[:, ::-1],
    "both backwards in memory": lambda table: table[::-1, ::-1].copy(order="F")[::-1, ::-1],
    "not aligned": unaligned,
    "matrix": np.asmatrix,
    "list": np.ndarray.tolist,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int64", "float32", "float64"])
@pytest.mark.parametrize("name", ["zeros and ones", "up to 120", "mostly zeros, many levels"])
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # numpy's, of its matrix
def test_any_memory_layout_gives_the_same_bits(name, dtype, layout):
    table = LAYOUTS[layout](values(name).astype(dtype))
    assert_measures_like(table, name)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float64"])
def test_a_field_of_records_gives_the_same_bits(dtype):
    assert_measures_like(record_field(values("up to 120").astype(dtype)), "up to 120")


def test_broadcast_columns_are_read_as_what_they_look_like():
    column = many_levels_table(8, N_ROWS, [5])
    wide = np.broadcast_to(column, (N_ROWS, 40))
    assert wide.strides[1] == 0
    for ours, theirs in zip(measure(wide), measure(wide.copy()), strict=True):
        assert np.array_equal(ours, theirs)


@every_table
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dok", "lil"])
@pytest.mark.parametrize("kind", [sp.coo_array, sp.coo_matrix])
def test_sparse_input_gives_the_same_bits_as_dense(name, form, kind):
    assert_measures_like(kind(values(name)).asformat(form), name)


@pairs(["bool", "int8", "uint8", "int32", "uint64", "float32", "float64", "longdouble"])
def test_sparse_input_of_any_number_type_gives_the_same_bits(name, dtype):
    assert_measures_like(sp.csc_array(values(name).astype(dtype)), name)


@every_table
def test_sparse_input_may_list_zeros_and_come_unsorted(name):
    table = values(name)
    rng = np.random.default_rng(9)
    listed = (table != 0) | (rng.random(table.shape) < 0.3)
    columns, rows = np.nonzero(listed.T)
    starts = np.concatenate([[0], np.cumsum(listed.sum(axis=0))])
    order = np.lexsort([rng.random(len(rows)), columns])
    data = table[rows[order], columns[order]]
    matrix = sp.csc_array((data, rows[order], starts), shape=table.shape)
    assert not matrix.has_sorted_indices
    assert_measures_like(matrix, name)
    assert np.array_equal(matrix.indices, rows[order]), "the caller's matrix was changed"


def test_sparse_input_with_wide_indices_gives_the_same_bits():
    matrix = sp.csc_array(values("mostly zeros"))
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    assert_measures_like(matrix, "mostly zeros")


@pytest.mark.parametrize("dtype", ["longdouble", "float64", "int8"])
@pytest.mark.parametrize("form", ["csc", "csr", "coo"])
def test_sparse_input_is_left_as_it_was(form, dtype):
    matrix = sp.coo_array(values("mostly zeros").astype(dtype)).asformat(form)
    before = matrix.copy()
    mutual_information(matrix, PARTNER)
    assert matrix.data.dtype == before.data.dtype
    assert np.array_equal(matrix.data, before.data)
    assert np.array_equal(matrix.toarray(), before.toarray())


FRAMES = {
    "pandas": lambda table, names: pd.DataFrame(table, columns=names),
    "pandas without names": lambda table, names: pd.DataFrame(table),
    "pandas, several types": lambda table, names: pd.DataFrame(
        {name: table[:, j].astype(["int64", "float64", "int32"][j % 3]) for j, name in enumerate(names)}
    ),
    "pandas, nullable": lambda table, names: pd.DataFrame(table, columns=names).astype("Int64"),
    "polars": lambda table, names: pl.DataFrame(table, schema=names),
    "polars, several types": lambda table, names: pl.DataFrame(
        {name: table[:, j].astype(["int64", "float32", "int16"][j % 3]) for j, name in enumerate(names)}
    ),
    "arrow": lambda table, names: pa.table({name: table[:, j] for j, name in enumerate(names)}),
}


@pytest.mark.parametrize("frame", FRAMES)
@every_table
def test_frames_give_the_same_bits_as_arrays(name, frame):
    table = values(name)
    names = [f"feature {j}" for j in range(table.shape[1])]
    native_frame = FRAMES[frame](table, names)
    assert_measures_like(native_frame, name)
    assert Codes.from_values(native_frame).n_columns == len(names)


@every_table
def test_codes_give_the_same_bits_as_what_they_were_made_of(name):
    assert_measures_like(Codes.from_values(values(name)), name)
    assert_measures_like(Codes.from_values(sp.csr_array(values(name))), name)


@every_table
def test_any_order_of_rows_gives_the_same_bits(name):
    order = np.random.default_rng(10).permutation(N_ROWS)
    for ours, theirs in zip(measure(values(name)[order], order), expected(name), strict=True):
        assert np.array_equal(ours, theirs)
