"""Blocks of plain rows are read at once, and must be read just as row by row."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from labelsieve.datasets import DatasetError
from labelsieve.datasets.readers import arff
from labelsieve.datasets.readers.arff import parse_arff

COLUMNS = b"@attribute a numeric\n@attribute b {0,1}\n@attribute c numeric\n@attribute d {10,7,0}\n"
USUAL = st.sampled_from(["0", "1", "7", "10", "0.5", "-2e3", "123456789012345", "?"])
ODD = st.sampled_from(
    ["", " 1", "1 ", "01", "1.0", "+1", "-0", "1e1", "nan", "inf", "nan(1)", "1_0", "x", "'1'", "1%", "١", "9" * 25, "0x1"]
)
CELLS = st.one_of(USUAL, USUAL, USUAL, ODD)


def refuse(*arguments):
    raise ValueError


def outcome(data):
    try:
        table = parse_arff(data, Path("made"))
    except DatasetError as error:
        return str(error)
    cells = table.cells.toarray() if sparse.issparse(table.cells) else table.cells
    return table.columns, sparse.issparse(table.cells), np.array(cells).tolist().__repr__()


def both(data):
    """The outcome for whole blocks, and row by row."""
    quick = outcome(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arff, "_read_dense_columns", refuse)
        patch.setattr(arff, "_read_sparse_numbers", refuse)
        return quick, outcome(data)


@given(st.lists(st.lists(CELLS, min_size=3, max_size=5), min_size=1, max_size=4))
def test_dense_rows(rows):
    data = b"@relation r\n" + COLUMNS + b"@data\n" + "\n".join(map(",".join, rows)).encode()
    quick, slow = both(data)
    assert quick == slow


INDICES = st.sampled_from(["0", "1", "2", "3", "3", "4", "-1", "1.5", "02", "x", ""])
BETWEEN = st.sampled_from([" ", " ", " ", "  ", ",", ""])


@given(
    st.lists(st.lists(st.tuples(INDICES, BETWEEN, CELLS), max_size=3), min_size=1, max_size=4),
    st.sampled_from([",", ", ", " ,"]),
)
def test_sparse_rows(rows, comma):
    lines = ["{" + comma.join("".join(pair) for pair in row) + "}" for row in rows]
    quick, slow = both(b"@relation r\n" + COLUMNS + b"@data\n" + "\n".join(lines).encode())
    assert quick == slow


@pytest.mark.parametrize("rows", [b"0.5,1,3,7\n?,0,?,10\n", b"{0 0.5,1 1}\n{}\n{1 1, 2 7e3}\n"])
def test_usual_rows_are_read_as_a_block(rows, monkeypatch):
    for name in ("_read_dense_row", "_read_sparse_row"):
        monkeypatch.setattr(arff, name, lambda *_: pytest.fail("read row by row"))
    assert parse_arff(b"@relation r\n" + COLUMNS + b"@data\n" + rows, Path("made")).cells.shape[1] == 4


@pytest.mark.parametrize("form", ["{}\n", "{{0 {}}}\n"])
def test_numbers_are_those_of_python(form):
    texts = ["0.1", "123456789012345678", "1e-320", "-0.30000000000000004", "5", "999999999999999", "2.5e10", "-7"]
    rows = "".join(map(form.format, texts))
    cells = parse_arff(f"@relation r\n@attribute a numeric\n@data\n{rows}".encode(), Path("made")).cells
    assert (cells.toarray() if sparse.issparse(cells) else cells).ravel().tolist() == [float(text) for text in texts]


def test_a_number_may_be_spelled_otherwise_than_it_is_declared():
    head = b"@relation r\n" + COLUMNS + b"@data\n"
    assert parse_arff(head + b"1,1.0,2,10.0\n", Path("made")).cells.tolist() == [[1, 1, 2, 0]]
    assert parse_arff(head + b"{1 1.0,3 7.0}\n", Path("made")).cells.toarray().tolist() == [[0, 1, 0, 1]]


def test_blocks_are_bounded_by_their_characters():
    lines = [(place, "x" * (arff.BLOCK // 2)) for place in range(5)]
    assert [len(block) for block in arff._blocks(iter(lines))] == [2, 2, 1]
