"""One CSV, one table: with pyarrow, and where it is not installed."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labelsieve.datasets import DatasetError, load
from labelsieve.datasets.readers import csv as csv_reader
from labelsieve.datasets.readers.csv import parse_csv
from labelsieve.tables.text import MISSING

NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.floats(allow_nan=False).map(repr),
    st.sampled_from(["-0", "007", "+5", " 7", "1e400", "1E5", ".5", "5.", "inf", "-Infinity", "0x1F", "1_000", "٣", "1d5"]),
)
WORDS = st.one_of(
    st.sampled_from(["True", "false", "2020-01-31", "12:30", "2020-01-31 12:30:00", 'say "hi"', "a,b", " a ", "é", "\n", "x"]),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4),
)
DATES = st.sampled_from(
    [
        *("2020-01-31", "1969-12-31", "0000-01-01", "9999-12-31", "2020-02-30", "NA"),
        *("12:30", "12:30:15", "23:59:60"),
        *("2020-01-31 12:30", "2020-01-31 12:30:00", "2020-01-31T12:30:00Z", "2020-01-31 12:30:00+01:00"),
        *("2020-01-31 12:30:00.123456789", "1677-01-01 00:00:00.5"),
    ]
)
GAPS = st.sampled_from(sorted(MISSING))
CODES = st.integers(0, 1).map(str)
KINDS = [NUMBERS, WORDS, CODES, NUMBERS | GAPS, WORDS | GAPS, NUMBERS | WORDS, CODES | GAPS, GAPS]


@st.composite
def tables(draw):
    n_rows, n_columns = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    kinds = [draw(st.sampled_from(KINDS)) for _ in range(n_columns)]
    return [[draw(kind) for kind in kinds] for _ in range(n_rows)]


def parsed(data, *, with_pyarrow):
    """The table, or the message of the refusal."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csv_reader, "find_spec", lambda name: with_pyarrow or None)
            return parse_csv(data, Path("made.csv"))
    except DatasetError as error:
        return str(error)


def assert_same_with_and_without_pyarrow(data):
    pytest.importorskip("pyarrow")
    found, expected = parsed(data, with_pyarrow=True), parsed(data, with_pyarrow=False)
    if isinstance(expected, str):
        assert found == expected
        return
    assert found.columns == expected.columns
    np.testing.assert_array_equal(found.cells, expected.cells)
    known = ~np.isnan(expected.cells)
    np.testing.assert_array_equal(np.signbit(found.cells[known]), np.signbit(expected.cells[known]))


@given(tables(), st.sampled_from(",;\t"), st.sampled_from(["\n", "\r\n"]), st.booleans())
@settings(max_examples=300)
def test_the_result_does_not_depend_on_pyarrow(rows, delimiter, line_end, quoted):
    text = io.StringIO()
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    writer = csv.writer(text, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    writer.writerows([[f"c{position}" for position in range(len(rows[0]))], *rows])
    assert_same_with_and_without_pyarrow(text.getvalue().encode())


@given(st.lists(DATES, min_size=1, max_size=3))
def test_dates_are_the_same(rows):
    assert_same_with_and_without_pyarrow("\n".join(["when", *rows]).encode())


@given(st.text(st.sampled_from('ab01-."\n,? x'), max_size=30))
@example("a,b")  # the only row repeats the header
@example('"a",b')
@example(',\n""')  # the last row, shorter than the header, is only a quoted cell
@example(",,?\n0\n,0")  # a row with a missing cell too many, and a row with a cell too few
@settings(max_examples=500)
def test_malformed_text_is_read_or_refused_in_the_same_way(body):
    assert_same_with_and_without_pyarrow(f"a,b\n{body}".encode())


def test_large_tables_are_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    words = rng.choice(["red", "blue, dark", "", "7"], 3000)
    numbers = map(repr, rng.normal(size=3000).tolist())
    cells = [[number, word, str(row)] for row, (number, word) in enumerate(zip(numbers, words, strict=True))]
    cells[2500][2] = "0.5"  # what looks like integers at first
    text = io.StringIO()
    csv.writer(text).writerows([["a", "b", "c"], *cells])
    monkeypatch.setattr(csv_reader, "BLOCK_SIZE", 2**12)
    assert_same_with_and_without_pyarrow(text.getvalue().encode())


def test_regular_text_is_left_to_pyarrow(monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(csv_reader, "_read_with_csv", lambda *_: pytest.fail("read by the module csv"))
    table = parse_csv(b'a,b\n1,"x, ""y"""\n"2","line\nend"\n', Path("made.csv"))
    assert table.columns[1].values == ("line\nend", 'x, "y"')


@pytest.mark.parametrize("wide", [False, True])
def test_numbers_are_those_of_python(wide, monkeypatch):
    numbers = ["0.1", "1e-320", "123456789012345678901234567890", "-2.5E+3", "inf"]
    monkeypatch.setattr(csv_reader, "WIDE", 1 if wide else 10**9)  # wide tables of numbers are read by numpy
    table = parse_csv(b"a\n" + "\n".join(numbers).encode(), Path("made.csv"))
    assert table.cells.ravel().tolist() == [float(number) for number in numbers]


@pytest.mark.parametrize("with_pyarrow", [True, False])
def test_text_and_missing_cells_by_one_rule(tmp_path, with_pyarrow, monkeypatch):
    (tmp_path / "made.csv").write_text('n,w,b,y\n1,"blue, dark",True,yes\n NA ,red,False,no\n-nan, red ,True,yes\n')
    monkeypatch.setattr(csv_reader, "find_spec", lambda name: with_pyarrow or None)
    found = load(tmp_path / "made.csv", "y")
    np.testing.assert_array_equal(found.X, [[1, 0, 1], [np.nan, 1, 0], [np.nan, 1, 1]])
    assert found.feature_kinds == ("numeric", "nominal", "nominal")
    assert found.categories == {"w": ("blue, dark", "red"), "b": ("False", "True")}
    assert found.Y.ravel().tolist() == [1, 0, 1]
    assert found.missing_features["n"].tolist() == [1, 2]
