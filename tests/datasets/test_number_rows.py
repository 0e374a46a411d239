"""Rows of numbers are read in a quick way, and it must read just what the slow one reads."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from labelsieve.datasets import DatasetError
from labelsieve.datasets.readers.arff import parse_arff
from labelsieve.datasets.readers.column_table import Column
from labelsieve.datasets.readers.csv import BLOCK, NumberRows, blocks, parse_csv, read_cells

COLUMNS = b"@attribute a numeric\n@attribute b {0,1}\n@attribute c numeric\n@attribute d {10,7,0}\n"
USUAL = st.sampled_from(["0", "1", "7", "10", "0.5", "-2e3", "123456789012345", "?"])
ODD = st.sampled_from(
    ["", " 1", "1 ", "01", "1.0", "+1", "-0", "1e1", "nan", "inf", "nan(1)", "1_0", "x", "'1'", "1%", "١", "9" * 25, "0x1"]
)
CELLS = st.one_of(USUAL, USUAL, USUAL, ODD)


def refuse(*arguments):
    raise ValueError


def outcome(parse, data):
    try:
        table = parse(data, Path("made"))
    except DatasetError as error:
        return str(error)
    cells = table.cells.toarray() if sparse.issparse(table.cells) else table.cells
    return table.columns, sparse.issparse(table.cells), np.array(cells).tolist().__repr__()


def both(parse, data):
    """The outcome of the quick way, and that without it."""
    quick = outcome(parse, data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NumberRows, "dense", refuse)
        patch.setattr(NumberRows, "sparse", refuse)
        return quick, outcome(parse, data)


@given(st.lists(st.lists(CELLS, min_size=3, max_size=5), min_size=1, max_size=4))
def test_dense_rows(rows):
    data = b"@relation r\n" + COLUMNS + b"@data\n" + "\n".join(map(",".join, rows)).encode()
    quick, slow = both(parse_arff, data)
    assert quick == slow


@given(st.lists(st.lists(CELLS, min_size=1, max_size=3), min_size=1, max_size=4), st.sampled_from(",;\t"))
def test_comma_separated_rows(rows, comma):
    quick, slow = both(parse_csv, "\n".join(map(comma.join, [["a", "b"], *rows])).encode())
    assert quick == slow


INDICES = st.sampled_from(["0", "1", "2", "3", "3", "4", "-1", "1.0", "02", "1e0", "x", ""])
BETWEEN = st.sampled_from([" ", " ", " ", "  ", ",", ""])


@given(
    st.lists(st.lists(st.tuples(INDICES, BETWEEN, CELLS), max_size=3), min_size=1, max_size=4),
    st.sampled_from([",", ", ", " ,"]),
)
def test_sparse_rows(rows, comma):
    lines = ["{" + comma.join("".join(pair) for pair in row) + "}" for row in rows]
    quick, slow = both(parse_arff, b"@relation r\n" + COLUMNS + b"@data\n" + "\n".join(lines).encode())
    assert quick == slow


def test_usual_rows_are_read_in_the_quick_way():
    columns = [Column("a"), Column("b", ("0", "1")), Column("c", ("10", "7"))]
    assert NumberRows(columns).dense(["0.5,1,7", "?,0,10"])[0].tolist() == [0.5, 1, 1]
    pairs, places, values = NumberRows(columns).sparse(["{0 0.5,2 7}", "{}", "{1 1}"])
    assert (pairs.tolist(), places.tolist(), values.tolist()) == ([2, 0, 1], [0, 2, 1], [0.5, 1, 1])


def test_numbers_are_those_of_python():
    texts = ["0.1", "123456789012345678", "1e-320", "-0.30000000000000004", "5", "999999999999999", "2.5e10", "-7"]
    assert read_cells(",".join(texts)).values.tolist() == [float(text) for text in texts]


def test_blocks_are_bounded_by_their_characters():
    lines = [(place, "x" * (BLOCK // 2)) for place in range(5)]
    assert [len(block) for block in blocks(iter(lines))] == [2, 2, 1]
