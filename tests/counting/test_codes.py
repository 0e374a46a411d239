"""Codes from any container of small whole numbers, with names, without copying bytes."""

import copy
import dataclasses
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from labelsieve import InputError
from labelsieve.information import Codes, entropy, join, mutual_information
from labelsieve.tables import codes as codes_module
from tests.support.random_tables import make_table, many_levels_table, sparse_table

VALUES = np.array([[0, 2, 1], [1, 0, 1], [1, 1, 1], [0, 2, 1]])
LEVELS = [2, 3, 2]
NAMES = ("a", "b", "c")

SOURCES = {
    "array": lambda: VALUES,
    "list": lambda: VALUES.tolist(),
    "bytes": lambda: VALUES.astype(np.uint8),
    "floats": lambda: VALUES.astype(float),
    "pandas": lambda: pd.DataFrame(VALUES, columns=NAMES),
    "polars": lambda: pl.DataFrame(VALUES, schema=NAMES),
    "csr": lambda: sp.csr_array(VALUES),
    "csc": lambda: sp.csc_matrix(VALUES),
    "coo": lambda: sp.coo_array(VALUES),
}
every_source = pytest.mark.parametrize("source", SOURCES)


@every_source
def test_codes_hold_the_values_they_were_made_of(source):
    codes = Codes.from_values(SOURCES[source]())
    assert codes.shape == (codes.n_rows, codes.n_columns) == (4, 3)
    assert codes.levels.dtype == np.uint32
    assert codes.levels.tolist() == LEVELS
    assert np.array_equal(codes.to_dense(), VALUES)
    assert codes.to_dense().dtype == np.uint8
    for j in range(-3, 3):
        assert np.array_equal(codes.column(j), VALUES[:, j])
        assert codes.column(j).dtype == np.uint16
    assert (codes.dense is None) == (source in ("csr", "csc", "coo")) == (codes.sparse is not None)


@every_source
def test_columns_have_the_names_of_the_frame_and_no_others(source):
    codes = Codes.from_values(SOURCES[source]())
    assert codes.names == (NAMES if source in ("pandas", "polars") else None)


@every_source
def test_columns_can_be_renamed(source):
    codes = Codes.from_values(SOURCES[source](), names=["x", "y", 3])
    assert codes.names == ("x", "y", "3")
    again = Codes.from_values(codes, names=["p", "q", "r"])
    assert again.names == ("p", "q", "r")
    assert codes.names == ("x", "y", "3")
    assert Codes.from_values(codes) is codes
    with pytest.raises(InputError, match="2 names for 3 columns"):
        codes.rename(["x", "y"])


@every_source
@pytest.mark.parametrize("rows", [[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 1]])
def test_rows_can_be_taken(source, rows):
    rows = np.array(rows, dtype=bool)
    codes = Codes.from_values(SOURCES[source]())
    taken = codes.take_rows(rows)
    assert taken.n_rows == rows.sum()
    assert taken.levels.tolist() == LEVELS
    assert taken.names == codes.names
    assert np.array_equal(taken.to_dense(), VALUES[rows])
    assert np.array_equal(mutual_information(taken), mutual_information(VALUES[rows]))


def test_rows_of_a_large_sparse_table_can_be_taken():
    table = sparse_table(0, 500, 60, density=0.1, n_levels=5)
    rows = np.random.default_rng(1).random(500) < 0.4
    taken = Codes.from_values(sp.csr_array(table)).take_rows(rows)
    assert np.array_equal(taken.to_dense(), table[rows])


@every_source
def test_codes_survive_pickling_and_copying(source):
    codes = Codes.from_values(SOURCES[source]())
    expected = mutual_information(codes)  # the core has packed them: its copy must not be pickled
    for clone in (pickle.loads(pickle.dumps(codes)), copy.deepcopy(codes), copy.copy(codes)):
        assert clone.names == codes.names
        assert np.array_equal(clone.levels, codes.levels)
        assert np.array_equal(clone.to_dense(), VALUES)
        assert np.array_equal(mutual_information(clone), expected)


@pytest.mark.parametrize("column", [3, -4, 100])
@pytest.mark.parametrize("source", ["array", "csr"])
def test_a_column_that_is_not_there_is_an_index_error(source, column):
    with pytest.raises(IndexError, match=f"column {column} of 3"):
        Codes.from_values(SOURCES[source]()).column(column)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (VALUES, "Codes(4 rows, 3 columns, 2 to 3 levels, dense)"),
        (sp.csr_array(VALUES), "Codes(4 rows, 3 columns, 2 to 3 levels, sparse)"),
        ([1, 0], "Codes(2 rows, 1 columns, 2 levels, dense)"),
    ],
    ids=["dense", "sparse", "one column"],
)
def test_repr_says_what_is_inside(values, expected):
    assert repr(Codes.from_values(values)) == expected


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.bool_, np.uint16])
@pytest.mark.parametrize("order", ["C", "F"])
def test_small_integers_are_not_copied(dtype, order):
    table = np.array(VALUES > 0, dtype=dtype, order=order)
    codes = Codes.from_values(table)
    assert np.shares_memory(codes.dense, table)
    assert np.shares_memory(codes.to_dense(), table)
    strided = np.zeros((8, 6), dtype=dtype)[::2, ::-2]
    assert np.shares_memory(Codes.from_values(strided).dense, strided)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_codes_of_a_sparse_matrix_do_not_change_with_it(form):
    matrix = sp.coo_array(VALUES).asformat(form)
    codes = Codes.from_values(matrix)
    matrix.data[:] = 1
    for name in ("indices", "row", "col"):
        if hasattr(matrix, name):
            getattr(matrix, name)[:] = 0
    assert np.array_equal(codes.to_dense(), VALUES)


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
@pytest.mark.parametrize(("largest", "expected"), [(255, np.uint8), (256, np.uint16), (65_534, np.uint16)])
def test_other_numbers_are_copied_into_the_smallest_integers(dtype, largest, expected):
    table = np.array([[0, 1], [largest, 0]], dtype=dtype)
    codes = Codes.from_values(table)
    assert codes.dense.dtype == expected
    assert codes.levels.tolist() == [largest + 1, 2]
    assert np.array_equal(codes.dense, table)


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.uint64, np.float32, np.float64])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_65_534_is_the_largest_code(dtype, make):
    table = np.array([[1, 0], [0, 65_534], [0, 3]], dtype=dtype)
    codes = Codes.from_values(make(table))
    assert codes.levels.tolist() == [2, 65_535]
    assert entropy(codes)[1] == entropy([0, 1, 2])[0]
    table[1, 1] = 65_535
    with pytest.raises(InputError, match=r"row 1, column 1: 65535(\.0)? is larger than 65,534.*renumber"):
        Codes.from_values(make(table))


def test_one_dimension_is_one_column():
    for column in ([0, 1, 2], np.arange(3), pd.Series([0, 1, 2]), pd.Series([0, 1, 2], name="s"), pl.Series([0, 1, 2])):
        codes = Codes.from_values(column)
        assert codes.shape == (3, 1)
        assert codes.column(0).tolist() == [0, 1, 2]


TEXT = ["pear", "apple", "fig", "apple"]
TEXT_CODES = [2, 0, 1, 0]
TEXT_COLUMNS = {
    "pandas text": lambda: pd.DataFrame({"fruit": TEXT, "n": [0, 1, 2, 3]}),
    "pandas objects": lambda: pd.DataFrame({"fruit": pd.Series(TEXT, dtype=object), "n": [0, 1, 2, 3]}),
    "pandas categories": lambda: pd.DataFrame({"fruit": pd.Categorical(TEXT, ["pear", "fig", "apple", "plum"])}),
    "polars text": lambda: pl.DataFrame({"fruit": TEXT, "n": [0.0, 1.0, 2.0, 3.0]}),
    "polars categories": lambda: pl.DataFrame({"fruit": pl.Series(TEXT, dtype=pl.Categorical)}),
    "polars enumeration": lambda: pl.DataFrame({"fruit": pl.Series(TEXT, dtype=pl.Enum(["pear", "fig", "apple"]))}),
    "pandas column": lambda: pd.Series(TEXT, name="fruit"),
}


@pytest.mark.parametrize("source", TEXT_COLUMNS)
def test_text_and_categories_are_numbered_in_the_order_of_their_sorted_values(source):
    codes = Codes.from_values(TEXT_COLUMNS[source]())
    assert codes.column(0).tolist() == TEXT_CODES
    assert codes.levels[0] == 3
    assert codes.names[0] == "fruit"
    if codes.n_columns > 1:
        assert codes.column(1).tolist() == [0, 1, 2, 3]


def test_true_and_false_are_one_and_zero():
    for frame in (pd.DataFrame({"a": [True, False], "b": [2, 0]}), pl.DataFrame({"a": [True, False], "b": [2, 0]})):
        assert Codes.from_values(frame).to_dense().tolist() == [[1, 2], [0, 0]]


def test_frames_keep_their_columns_in_order_whatever_their_names():
    frame = pd.DataFrame({1: [0, 1], 0: [1, 2]})
    codes = Codes.from_values(frame)
    assert codes.names == ("1", "0")
    assert codes.to_dense().tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("n_columns", [1, 2, 5])
def test_join_numbers_distinct_rows_in_order_of_appearance(n_columns):
    table = many_levels_table(2, 300, [3, 2, 2, 3, 40][:n_columns])
    seen = {}
    expected = [seen.setdefault(tuple(row), len(seen)) for row in table.tolist()]
    joined = join(table)
    assert joined.shape == (300, 1)
    assert joined.column(0).tolist() == expected
    assert joined.levels.tolist() == [len(seen)]
    assert np.array_equal(join(sp.csr_array(table)).column(0), expected)


def test_join_of_many_columns_with_many_levels_does_not_overflow():
    table = make_table(3, 400, ["20,000 levels", "all distinct", "20,000 levels", "gaps"])
    assert join(table).levels.tolist() == [400]
    assert join(np.vstack([table, table])).column(0).tolist() == [*range(400), *range(400)]


def test_join_refuses_more_distinct_rows_than_codes():
    table = np.stack([np.arange(70_000) % 300, np.arange(70_000) // 300], axis=1)
    with pytest.raises(InputError, match="70,000 distinct rows"):
        join(table)


@pytest.mark.parametrize("container", [np.asarray, sp.csc_array])
def test_codes_keep_which_columns_have_a_level_for_missing_cells(container):
    plain = Codes.from_values(container(VALUES))
    assert not plain.has_missing
    codes = dataclasses.replace(plain, missing=np.array([False, True, False]))
    kept = [
        codes,
        codes.rename(NAMES),
        codes.take_rows(np.array([True, False, True, True])),
        pickle.loads(pickle.dumps(codes)),
        Codes.from_values(codes),
    ]
    for each in kept:
        assert each.has_missing
        assert each.missing.tolist() == [False, True, False]


def test_large_tables_are_scanned_in_parts(monkeypatch):
    monkeypatch.setattr(codes_module, "SCANNED_AT_ONCE", 4)
    monkeypatch.setattr(codes_module, "n_threads", lambda n_jobs: 3)
    X = np.array([[0, 1, 0], [2, 0, 0], [1, 1, 0], [0, 0, 5], [3, 0, 0]])
    assert Codes.from_values(X).levels.tolist() == [4, 2, 6]
    for row in range(5):
        wrong = X.copy()
        wrong[row, 1] = -1
        with pytest.raises(InputError, match=f"row {row}, column 1: -1 is negative"):
            Codes.from_values(wrong)
    assert Codes.from_values(X.astype(np.uint8)).levels.tolist() == [4, 2, 6]
    assert Codes.from_values(np.full((2, 3), 255, dtype=np.uint8)).levels.tolist() == [256] * 3
