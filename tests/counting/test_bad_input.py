"""Bad input raises an InputError that names the position and the remedy."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from labelsieve import InputError
from labelsieve.discretize import equal_width
from labelsieve.information import (
    Codes,
    conditional_mutual_information,
    entropy,
    join,
    joint_mutual_information,
    mutual_information,
)

GOOD = np.array([[0, 1], [1, 0], [1, 1]])


def table_with(value, dtype=float):
    """Three rows and two columns of ones, and ``value`` in row 1, column 1."""
    table = np.ones((3, 2), dtype=dtype)
    table[1, 1] = value
    return table


# What is handed in, and what the message must say.
NOT_TABLES = {
    "no rows": (np.zeros((0, 3)), "0 rows"),
    "no columns": (np.zeros((3, 0)), "0 columns"),
    "empty list": ([], "0 rows"),
    "list of nothing": ([[]], "0 columns"),
    "sparse without rows": (sp.csr_array((0, 3)), "0 rows"),
    "frame without columns": (pd.DataFrame(index=[1, 2, 3]), "0 columns"),
    "frame without rows": (pl.DataFrame(schema={"a": pl.Int64}), "0 rows"),
    "a number": (np.array(3), "two dimensions"),
    "text": ("abc", "two dimensions"),
    "three dimensions": (np.zeros((3, 2, 2)), "two dimensions.*has 3"),
    "a sparse vector": (sp.coo_array(([1], ([0],)), shape=(3,)), "two dimensions.*has 1"),
    "ragged": ([[0], [0, 1], [1]], "not a table"),
    "objects": (np.array([[0], ["x"], [None]], dtype=object), "objects.*DataFrame"),
    "strings": ([["a"], ["b"], ["a"]], "text.*DataFrame"),
    "bytes": (np.array([[b"a"], [b"b"], [b"a"]]), "bytes.*DataFrame"),
    "complex": (np.ones((3, 1), dtype=complex), "complex.*instead of numbers"),
    "sparse complex": (sp.csr_array(np.eye(3, dtype=complex)), "complex"),
    "records": (np.zeros(3, dtype=[("a", "i4"), ("b", "i4")]), "instead of numbers"),
    "integers of any length": ([[2**70], [0], [1]], "objects.*DataFrame"),
    "masked": (np.ma.array(GOOD, mask=GOOD == 0), "masked.*fill"),
}

NOT_CODES = {
    "missing": (table_with(np.nan), "row 1, column 1: nan is missing.*fill"),
    "infinite": (table_with(np.inf), "row 1, column 1: inf"),
    "minus infinite": (table_with(-np.inf), "row 1, column 1: -inf"),
    "negative": (table_with(-1, int), "row 1, column 1: -1 is negative.*shift"),
    "negative byte": (table_with(-1, np.int8), "row 1, column 1: -1 is negative.*shift"),
    "negative float": (table_with(-1), r"row 1, column 1: -1\.0 is negative.*shift"),
    "fractional": (table_with(0.5), r"row 1, column 1: 0\.5 is not a whole number.*equal_width"),
    "nearly whole": (table_with(np.nextafter(1, 2)), r"row 1, column 1: 1\.0000000000000002 is not a whole number"),
    "huge": (table_with(1e300), r"row 1, column 1: 1e\+300 is larger than 65,534.*renumber"),
    "huge integer": (table_with(2**63, np.uint64), "row 1, column 1: 9223372036854775808 is larger"),
    "65,536": (table_with(2**16, np.uint32), "row 1, column 1: 65536 is larger than 65,534"),
    "wraps to 1 in 16 bits": (table_with(2**16 + 1, np.int32), "row 1, column 1: 65537 is larger than 65,534"),
    "sparse and negative": (sp.csc_array(table_with(-2)), r"row 1, column 1: -2\.0 is negative"),
    "sparse and missing": (sp.csr_array(table_with(np.nan)), "row 1, column 1: nan is missing"),
    "sparse and fractional": (sp.coo_array(table_with(0.25)), r"row 1, column 1: 0\.25 is not a whole number"),
    "frame and fractional": (pd.DataFrame(table_with(0.5), columns=["a", "b"]), r"row 1, column 1 \('b'\): 0\.5"),
}

BAD_FRAMES = {
    "pandas missing number": (pd.DataFrame({"a": [0, 1, 1], "b": [1.0, np.nan, 0.0]}), "'b'.*row 1"),
    "pandas missing integer": (pd.DataFrame({"b": pd.array([1, None, 0], dtype="Int64")}), "row 1.*'b'"),
    "pandas missing truth": (pd.DataFrame({"b": pd.array([True, None, False], dtype="boolean")}), "'b'.*row 1"),
    "pandas missing text": (pd.DataFrame({"a": [0, 1, 1], "b": ["x", None, "y"]}), "'b'.*row 1"),
    "pandas missing category": (pd.DataFrame({"b": pd.Categorical(["x", None, "y"])}), "'b'.*row 1"),
    "pandas mixed objects": (pd.DataFrame({"a": [0, 1, 1], "b": ["x", 1, 2.5]}), "'b'.*convert"),
    "pandas complex": (pd.DataFrame({"b": [1j, 0j, 1j]}), "'b'.*convert"),
    "pandas equal names": (pd.DataFrame(GOOD, columns=["b", "b"]), "'b'"),
    "polars missing number": (pl.DataFrame({"a": [0, 1, 1], "b": [1, None, 0]}), "row 1.*'b'"),
    "polars missing text": (pl.DataFrame({"a": [0, 1, 1], "b": ["x", None, "y"]}), "'b'.*row 1"),
    "polars nothing": (pl.DataFrame({"b": [None, None, None]}), "'b'.*row 0"),
    "polars lists": (pl.DataFrame({"b": [[0], [1], [1]]}), "'b'.*lists.*0/1 columns"),
}


LABEL_SETS = {"ragged", "strings"}  # in Y


def assert_refused(function, message):
    """An InputError whose whole message, on one line, has what is asked for in this order."""
    with pytest.raises(InputError) as caught:
        function()
    assert re.search(message, str(caught.value).replace("\n", " ")), str(caught.value)


@pytest.mark.parametrize("name", NOT_TABLES | NOT_CODES | BAD_FRAMES)
def test_what_is_not_a_table_of_codes_is_refused_wherever_it_is_handed_in(name):
    bad, message = (NOT_TABLES | NOT_CODES | BAD_FRAMES)[name]
    assert_refused(lambda: Codes.from_values(bad), f"X.*{message}|{message}.*X")
    assert_refused(lambda: entropy(bad), message)
    assert_refused(lambda: join(bad), message)
    assert_refused(lambda: mutual_information(bad, GOOD), f"^X.*{message}")
    if name not in LABEL_SETS:
        assert_refused(lambda: mutual_information(GOOD, bad), f"^Y.*{message}")
    assert_refused(lambda: conditional_mutual_information(GOOD, GOOD, bad), f"^Z.*{message}")


@pytest.mark.parametrize("name", sorted(set(NOT_TABLES) - {"masked"}))
def test_what_is_not_a_table_of_numbers_cannot_be_binned(name):
    bad, message = NOT_TABLES[name]
    assert_refused(lambda: equal_width(bad), message)


def test_a_lazy_frame_is_refused():
    assert_refused(lambda: Codes.from_values(pl.DataFrame({"a": [0, 1]}).lazy()), "X")


def test_the_first_bad_row_of_a_long_column_is_named():
    table = np.zeros((20_000, 3))
    table[[17_000, 12_345, 19_999], 2] = -1
    for order in "CF":
        assert_refused(lambda o=order: Codes.from_values(np.asarray(table, order=o)), "row 12345, column 2")


@pytest.mark.parametrize("function", [mutual_information, conditional_mutual_information, joint_mutual_information])
@pytest.mark.parametrize("n_rows", [1, 2, 4])
def test_tables_with_different_rows_are_refused(function, n_rows):
    other = np.zeros((n_rows, 2), dtype=int)
    if function is mutual_information:
        assert_refused(lambda: function(GOOD, other), f"X has 3 rows and Y has {n_rows}; .*same rows")
        assert_refused(lambda: function(other, sp.csr_array(GOOD)), f"X has {n_rows} rows and Y has 3")
    else:
        assert_refused(lambda: function(GOOD, other, GOOD), f"X has 3 rows and Y has {n_rows}")
        assert_refused(lambda: function(GOOD, GOOD, other), f"X has 3 rows and Z has {n_rows}")


BAD_WEIGHTS = {
    "too few": ([1, 1], "shape.*3 rows"),
    "too many": ([1, 1, 1, 1], "shape.*3 rows"),
    "two dimensions": ([[1], [1], [1]], "shape.*3 rows"),
    "one number": (2.0, "shape.*3 rows"),
    "negative": ([1, -2, 1], r"sample_weight\[1\] is -2"),
    "missing": ([1, 1, np.nan], r"sample_weight\[2\] is nan"),
    "infinite": ([np.inf, 1, 1], r"sample_weight\[0\] is inf"),
    "all zero": ([0, 0, 0], "zero for every row"),
    "text": (["a", "b", "c"], "sample_weight"),
    "complex": ([1j, 1, 1], "sample_weight"),
    "ragged": ([[1], [1, 2], [1]], "sample_weight"),
    "masked": (np.ma.array([1, 2, 3], mask=[0, 1, 0]), "sample_weight.*masked"),
}


@pytest.mark.parametrize("name", BAD_WEIGHTS)
def test_bad_weights_are_refused(name):
    weights, message = BAD_WEIGHTS[name]
    assert_refused(lambda: entropy(GOOD, sample_weight=weights), message)
    assert_refused(lambda: mutual_information(GOOD, GOOD, sample_weight=weights), message)


@pytest.mark.parametrize("base", ["nats", 2, "", None, np.e, ["nat"]])
def test_an_unknown_base_is_refused(base):
    message = f"base must be 'nat' or 'bit', not {re.escape(repr(base))}"
    assert_refused(lambda: entropy(GOOD, base=base), message)
    assert_refused(lambda: conditional_mutual_information(GOOD, GOOD, GOOD, base=base), message)


@pytest.mark.parametrize("estimator", ["plug-in", "mm", None, 1])
def test_an_unknown_estimator_is_refused(estimator):
    message = f"estimator must be 'plugin' or 'miller-madow' or 'shrinkage', not {re.escape(repr(estimator))}"
    assert_refused(lambda: mutual_information(GOOD, estimator=estimator), message)


@pytest.mark.parametrize("n_jobs", [0, "two", 1.5])
def test_an_impossible_number_of_threads_is_refused(n_jobs):
    with pytest.raises((ValueError, TypeError), match="n_jobs"):
        mutual_information(GOOD, n_jobs=n_jobs)


@pytest.mark.parametrize("n_bins", [0, -1, 65_536, 2.5, "5", None, True, [3]])
def test_an_impossible_number_of_bins_is_refused(n_bins):
    message = f"n_bins must be a whole number from 1 to 65,535, not {re.escape(repr(n_bins))}"
    assert_refused(lambda: equal_width(GOOD, n_bins), message)


@pytest.mark.parametrize("closed", ["both", None, "Left", 1])
def test_an_unknown_side_is_refused(closed):
    message = f"closed must be 'left' or 'right', not {re.escape(repr(closed))}"
    assert_refused(lambda: equal_width(GOOD, closed=closed), message)


def test_an_input_error_is_a_value_error():
    assert issubclass(InputError, ValueError)


def test_a_result_that_cannot_fit_is_refused_before_the_work():
    table = np.zeros((2, 3_000_000), dtype=np.uint8)
    with pytest.raises(MemoryError, match=r"3000000 features and 3000000 targets need 72000\.0 GB"):
        mutual_information(table)
