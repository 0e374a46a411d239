"""One CSV, one table: whichever library parses it, and where none is installed."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labelsieve.datasets import DatasetError, load
from labelsieve.datasets.readers import csv as csv_engines
from labelsieve.datasets.readers import csv as csv_table
from labelsieve.datasets.readers.csv import ENGINES, CsvRows, parse_csv, parse_without_engine
from labelsieve.datasets.readers.text_columns import MISSING

NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.floats(allow_nan=False).map(repr),
    st.sampled_from(["-0", "007", "+5", " 7", "1e400", "1E5", ".5", "5.", "inf", "-Infinity", "0x1F", "1_000", "٣", "1d5"]),
)
WORDS = st.one_of(
    st.sampled_from(["True", "false", "2020-01-31", "12:30", "2020-01-31 12:30:00", 'say "hi"', "a,b", " a ", "é", "\n", "x"]),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4),
)
GAPS = st.sampled_from(sorted(MISSING))
CODES = st.integers(0, 1).map(str)
KINDS = [NUMBERS, WORDS, CODES, NUMBERS | GAPS, WORDS | GAPS, NUMBERS | WORDS, CODES | GAPS, GAPS]


@st.composite
def tables(draw):
    n_rows, n_columns = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    kinds = [draw(st.sampled_from(KINDS)) for _ in range(n_columns)]
    return [[draw(kind) for kind in kinds] for _ in range(n_rows)]


def parsed(data, package):
    """The table, or the message of the refusal."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csv_table, "find_spec", lambda name: True if name == package else None)
            return parse_csv(data, Path("made.csv"))
    except DatasetError as error:
        return str(error)


def assert_same(found, expected):
    if isinstance(expected, str):
        assert found == expected
        return
    assert found.columns == expected.columns
    np.testing.assert_array_equal(found.cells.view(np.uint64), expected.cells.view(np.uint64))


@pytest.mark.parametrize("package", ENGINES)
@given(tables(), st.sampled_from(",;\t"), st.sampled_from(["\n", "\r\n"]), st.booleans())
@settings(max_examples=300)
def test_the_result_does_not_depend_on_the_library(package, rows, delimiter, line_end, quoted):
    pytest.importorskip(package)
    text = io.StringIO()
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    writer = csv.writer(text, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    writer.writerows([[f"c{position}" for position in range(len(rows[0]))], *rows])
    data = text.getvalue().encode()
    assert_same(parsed(data, package), parsed(data, None))


@pytest.mark.parametrize("package", ENGINES)
@given(st.text(st.sampled_from('ab01-."\n,? x'), max_size=30))
@example(',\n""')  # the last row, shorter than the header, is only a quoted cell
@example(",,?\n0\n,0")  # a row with a missing cell too many, and a row with a cell too few
@settings(max_examples=500)
def test_malformed_text_is_read_or_refused_in_the_same_way(package, body):
    pytest.importorskip(package)
    data = f"a,b\n{body}".encode()
    assert_same(parsed(data, package), parsed(data, None))


@pytest.mark.parametrize("package", ENGINES)
def test_large_tables_are_the_same(package, monkeypatch):
    pytest.importorskip(package)
    rng = np.random.default_rng(0)
    words = rng.choice(["red", "blue, dark", "", "7"], 3000)
    numbers = map(repr, rng.normal(size=3000).tolist())
    cells = [[number, word, str(row)] for row, (number, word) in enumerate(zip(numbers, words, strict=True))]
    cells[2500][2] = "0.5"  # what looks like integers at first
    text = io.StringIO()
    csv.writer(text).writerows([["a", "b", "c"], *cells])
    data = text.getvalue().encode()
    monkeypatch.setattr(csv_engines, "BLOCK_SIZE", 2**12)
    engine = dict(ENGINES)[package]
    assert engine(CsvRows(data.replace(b"\r\n", b"\n"), len(b"a,b,c\n"), ",", 3)) is not None, (
        "the library parsed it, not the fallback"
    )
    assert_same(parsed(data, package), parsed(data, None))


def test_the_fallback_reads_the_same_numbers_as_float():
    numbers = ["0.1", "1e-320", "123456789012345678901234567890", "-2.5E+3", "inf"]
    table = parse_without_engine(CsvRows(b"a\n" + "\n".join(numbers).encode(), 2, ",", 1), ["a"], Path("made.csv"))
    assert table.cells.ravel().tolist() == [float(number) for number in numbers]


@pytest.mark.parametrize("package", [*ENGINES, None])
def test_text_and_missing_cells_by_one_rule(tmp_path, package, monkeypatch):
    (tmp_path / "made.csv").write_text('n,w,b,y\n1,"blue, dark",True,yes\n NA ,red,False,no\n-nan, red ,True,yes\n')
    monkeypatch.setattr(csv_table, "find_spec", lambda name: True if name == package else None)
    found = load(tmp_path / "made.csv", "y")
    np.testing.assert_array_equal(found.X, [[1, 0, 1], [np.nan, 1, 0], [np.nan, 1, 1]])
    assert found.feature_kinds == ("numeric", "nominal", "nominal")
    assert found.categories == {"w": ("blue, dark", "red"), "b": ("False", "True")}
    assert found.Y.ravel().tolist() == [1, 0, 1]
    assert found.missing_features["n"].tolist() == [1, 2]
