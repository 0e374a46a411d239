"""Numbers, dates and label sets as people write them into files."""

import json

import numpy as np
import pytest

from labelsieve import Sieve
from labelsieve.datasets import ChunkedTable, DatasetError, DatasetWarning, load
from tests.support.table_libraries import install_only

DAY = 86400.0


@pytest.fixture
def read(tmp_path):
    """The data set of a column of texts and a label."""

    def read(texts, labels="y", name="made.csv"):
        path = tmp_path / name
        path.write_text("x;y\n" + "".join(f"{text};{row % 2}\n" for row, text in enumerate(texts)), encoding="utf-8")
        return load(path, labels)

    return read


@pytest.mark.parametrize("package", ["pyarrow", "pandas", "polars", None])
@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["$1,234.50", "$20", "-$3"], [1234.5, 20, -3]),
        (["12.5%", "0%", "100 %"], [12.5, 0, 100]),
        (["(1,000,000)", "2,000", "−5"], [-1e6, 2000, -5]),
        (["1'000'000", "2", "3"], [1e6, 2, 3]),
    ],
)
def test_numbers_with_units_and_thousands_apart_are_numbers(read, monkeypatch, package, texts, numbers):
    install_only(monkeypatch, package)
    with pytest.warns(DatasetWarning, match=r"thousands apart or with < and > are numbers: 'x'"):
        assert read(texts).X.ravel().tolist() == numbers


def test_commas_are_decimal_marks_of_numbers_with_units_too(read):
    with pytest.warns(DatasetWarning, match="commas are decimal marks"):
        assert read(["1.234,5 €", "7 €", "0,5 €"]).X.ravel().tolist() == [1234.5, 7, 0.5]


@pytest.mark.parametrize("texts", [["$1", "€2"], ["1", "5%"], ["1,23", "x"], ["<5", ">5"], ["12 kg", "3 m"]])
def test_what_has_no_single_unit_stays_text(read, texts):
    assert read(texts).feature_kinds == ("nominal",)


def test_limits_of_detection_are_beside_their_number(read):
    with pytest.warns(DatasetWarning, match="are numbers"):
        low, half, one, high = read(["<0.5", "0.5", "1", "> 1"]).X.ravel()
    assert low < half == 0.5 < 1 == one < high
    assert low == pytest.approx(0.5)
    assert high == pytest.approx(1)


def test_words_for_nothing_are_missing_among_numbers_and_levels_among_words(read):
    with pytest.warns(DatasetWarning, match=r"'-', 'n\.a\.' among numbers or dates is missing: 'x'"):
        np.testing.assert_array_equal(read(["1.5", "-", "n.a.", "2"]).X.ravel(), [1.5, np.nan, np.nan, 2])
    assert read(["+", "-", "+"]).categories == {"x": ("+", "-")}
    assert read(["-", "-"]).categories == {"x": ("-",)}


def test_text_among_many_numbers_is_noted(read):
    with pytest.warns(DatasetWarning, match="most values are numbers and some are not"):
        assert read([*map(str, range(30)), "broken"]).feature_kinds == ("nominal",)


@pytest.mark.parametrize(
    ("texts", "days"),
    [
        (["02 Jan 1970", "1 January 1970"], [1, 0]),
        (["02-Jan-70", "31-Dec-69"], [1, -1]),
        (["Jan 2, 1970", "Sept. 1, 1970"], [1, 243]),
        (["1/2/70", "12/31/69"], [1, -1]),
        (["1970-1-2 6:00 PM", "1970-1-2 12:00 am"], [1.75, 1]),
        (["9:00 AM", "9:00 pm"], [0.375, 0.875]),
        (["1970.01.02", "1970.1.3"], [1, 2]),
        (["1970-01-02T01:00+01", "1970-01-01T23:00-01"], [1, 1]),
    ],
)
def test_more_forms_of_dates_become_seconds(read, texts, days):
    with pytest.warns(DatasetWarning, match="dates and times become numbers"):
        np.testing.assert_allclose(read(texts).X.ravel(), np.array(days) * DAY)


@pytest.mark.parametrize("texts", [["13:00 PM", "1:00 PM"], ["1 Foo 1970", "2 Jan 1970"], ["12-34-56", "10-11-12"]])
def test_texts_that_look_like_dates_and_are_none_stay_text(read, texts):
    assert read(texts).feature_kinds == ("nominal",)


def test_dates_without_a_day_above_12_are_noted(read):
    with pytest.warns(DatasetWarning, match="whether the day or the month comes first: 'x'"):
        assert read(["1/2/2020", "3/4/2020"]).feature_kinds == ("nominal",)


@pytest.mark.parametrize("spell", [json.dumps, str, lambda labels: f"{{{', '.join(labels)}}}" if labels else "set()"])
def test_lists_in_brackets_are_label_sets(tmp_path, spell):
    sets = [["mri", "x-ray"], [], ["mri"], ["ct"]]
    path = tmp_path / "made.csv"
    path.write_text("a;tags\n" + "".join(f"{row};{spell(labels)}\n" for row, labels in enumerate(sets)), encoding="utf-8")
    with pytest.warns(DatasetWarning, match="'tags' holds sets of labels"):
        found = load(path, "tags")
    assert found.label_names == ("ct", "mri", "x-ray")
    assert found.Y.tolist() == [[0, 1, 1], [0, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert load(path, "tags", label_separator=",").label_names == found.label_names


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_known_by_its_byte_order_mark(tmp_path, encoding):
    path = tmp_path / "made.csv"
    text = "größe,y\n1,0\n2,1\n"
    path.write_bytes((text if encoding == "utf-16" else "\ufeff" + text).encode(encoding))
    assert load(path, "y").feature_names == ("größe",)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DatasetError, match=r"begins as UTF-16 and is not .* Save it as UTF-8"):
        load(path, "y")


def test_a_header_of_numbers_is_noted(tmp_path):
    path = tmp_path / "made.csv"
    path.write_text("0.5,1\n1.5,0\n2.5,1\n")
    with pytest.warns(DatasetWarning, match=r"all names are numbers: '0\.5', '1'\. If it is data, add a line with names"):
        load(path, 1)
    path.write_text("0,1\n1.5,0\n2.5,1\n")
    assert load(path, 1).label_names == ("1",)


def test_a_comment_above_the_header_is_named_in_the_error(tmp_path):
    path = tmp_path / "made.csv"
    path.write_text("# made by a tool\na,y\n1,0\n")
    with pytest.raises(DatasetError, match=r"line 2: there are 2 values and 1 columns\..*'# made by a tool' is a comment"):
        load(path, "y")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"ARROW1\0\0", "Feather"),
        (b"SQLite format 3\0", "SQLite"),
        (b"\x80\x05\x95\0", "pickle"),
    ],
)
def test_other_formats_are_refused_by_name(tmp_path, content, name):
    path = tmp_path / "made"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=rf"this is .*{name}.*, which is not read\. Save the table as Parquet or CSV"):
        load(path, 1)


def test_chunks_have_the_numbers_that_are_loaded(tmp_path):
    rng = np.random.default_rng(0)
    cents, days = rng.integers(1, 100_000, 200), rng.integers(1, 28, 200)
    rows = [f"${cent / 100:,.2f};{day} Jan 2020;{cent % 7 > 3:d}" for cent, day in zip(cents, days, strict=True)]
    path = tmp_path / "made.csv"
    path.write_text("price;when;y\n-;1 Jan 2020;1\n" + "\n".join(rows) + "\n")
    with pytest.warns(DatasetWarning):
        loaded = load(path, "y")
    assert loaded.feature_kinds == ("numeric", "numeric")
    chunked = Sieve("mim").fit(ChunkedTable.from_csv(path, labels="y"))
    np.testing.assert_array_equal(chunked.scores_, Sieve("mim").fit(loaded.X, loaded.Y).scores_)


def test_chunks_refuse_what_only_load_can_read(tmp_path):
    path = tmp_path / "made.csv"
    path.write_text("a;y\n1,5;0\n2,5;1\n")
    with pytest.raises(DatasetError, match=r"column 'a' has decimal commas.*Load the file"):
        ChunkedTable.from_csv(path, labels="y")
    path.write_text("a,tags\n1,p;q\n2,p\n3,q\n")
    with pytest.raises(DatasetError, match=r"column 'tags' holds sets of labels.*or load the file"):
        Sieve("cmim").fit(ChunkedTable.from_csv(path, labels="tags"))
