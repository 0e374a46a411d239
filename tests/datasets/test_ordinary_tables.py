"""Tables as people have them: label sets in one column, patterns, other delimiters, decimal commas, dates, workbooks."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import MultiLabelBinarizer

from labelsieve.datasets import DatasetError, DatasetWarning, load
from tests.support.table_libraries import install_only

READERS = ["pyarrow", "csv"]


@pytest.fixture
def write(tmp_path):
    def write(text, name="made.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture(params=READERS)
def reader(request, monkeypatch):
    install_only(monkeypatch, request.param)


TAGS = "a,tags\n1,rock; loud\n2,\n3,calm\n4,loud;calm;loud\n5,rock;\n"


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("separator", [";", "|", ","])
def test_a_column_of_label_sets_becomes_one_label_for_each_word(write, separator):
    text = io.StringIO()
    rows = [line.split(",", 1) for line in TAGS.splitlines()]
    csv.writer(text).writerows([a, tags.replace(";", separator)] for a, tags in rows)
    found = load(write(text.getvalue()), "tags", label_separator=separator)
    sets = [["rock", "loud"], [], ["calm"], ["loud", "calm"], ["rock"]]
    binarizer = MultiLabelBinarizer()
    np.testing.assert_array_equal(found.Y, binarizer.fit_transform(sets))
    assert found.label_names == tuple(binarizer.classes_) == ("calm", "loud", "rock")
    assert found.Y.dtype == np.uint8
    assert found.label_categories == {}


WORDS = st.text("abc", min_size=1, max_size=2)


@given(st.lists(st.sets(WORDS, max_size=4), min_size=2, max_size=8).filter(any), st.sampled_from(";|,/"))
@settings(max_examples=100)
def test_label_sets_are_those_of_scikit_learn(tmp_path_factory, sets, separator):
    file = tmp_path_factory.mktemp("sets") / "made.csv"
    with file.open("w", newline="") as lines:
        csv.writer(lines).writerows([["x", "tags"], *([k, separator.join(sorted(words))] for k, words in enumerate(sets))])
    found = load(file, ["tags"], label_separator=separator)
    binarizer = MultiLabelBinarizer()
    np.testing.assert_array_equal(found.Y, binarizer.fit_transform(sets))
    assert found.label_names == tuple(binarizer.classes_)


def test_label_sets_are_found_and_announced_unless_the_separator_is_given(write):
    file = write(TAGS)
    with pytest.warns(DatasetWarning, match=r"made\.csv: 'tags' holds sets of labels with ';' .* label_separator=\"\" takes"):
        found = load(file, "tags")
    np.testing.assert_array_equal(found.Y, load(file, "tags", label_separator=";").Y)
    kept = load(write(TAGS.replace("2,\n", "2,calm\n")), "tags", label_separator="")
    assert kept.label_categories["tags"] == ("calm", "loud;calm;loud", "rock;", "rock; loud")
    names = load(write('x,by\n1,"Smith, Jo"\n2,"Smith, Al"\n3,"Doe, Kim"\n'), "by")
    assert names.label_categories["by"] == ("Doe, Kim", "Smith, Al", "Smith, Jo")


def test_labels_of_sets_have_unique_names(write):
    file = write("loud,tags,more\n1,rock;loud,x\n0,loud,x;y\n")
    assert load(file, "tags", label_separator=";").label_names == ("tags=loud", "tags=rock")
    assert load(file, "tags,more", label_separator=";").label_names == ("tags=loud", "tags=rock", "more=x", "more=y")
    assert load(write("z,tags,more\n1,rock,x\n0,loud,x;y\n"), "tags,more", label_separator=";").label_names == (
        "loud",
        "rock",
        "x",
        "y",
    )


def test_numbers_and_decimal_commas_are_words_in_label_sets(write):
    with pytest.warns(DatasetWarning, match="commas are decimal marks"):
        found = load(write("x;tags\n1,5;1,3\n2,5;3\n3,5;2,1\n"), "tags", label_separator=",")
    assert found.label_names == ("1", "2", "3")
    assert found.Y.tolist() == [[1, 0, 1], [0, 0, 1], [1, 1, 0]]
    assert found.X.ravel().tolist() == [1.5, 2.5, 3.5]


def test_label_sets_that_are_none_are_refused(write):
    with pytest.raises(DatasetError, match="every row has an empty set of labels"):
        load(write("x,tags\n1,\n2,;\n"), "tags", label_separator=";")
    with pytest.raises(DatasetError, match=r"rows are sparse, .* label_separator="):
        load(write("0 1:1\n1 2:1\n", "made.svm"), label_separator=";")
    dropped = load(write("x,tags\n1,a\n2,\n3,b;a\n"), "tags", label_separator=";", missing_labels="drop")
    assert dropped.X.ravel().tolist() == [1, 3]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("label_*", ("label_a", "label_b")),
        ("y?", ("y1", "y2")),
        ("y*", ("y1", "y2")),
        ("y[2-9], label_a", ("y2", "label_a")),
        (["label_*", "y1"], ("label_a", "label_b", "y1")),
        (r"re:^y\d+$", ("y1", "y2")),
        (r"re:^(y\d{1,2}|label_b)$", ("label_b", "y1", "y2")),
        ("x*", ("x*",)),
    ],
)
def test_patterns_name_label_columns(write, labels, expected):
    file = write("a,label_a,x*,label_b,y1,y2,ay1x\n1,0,1,0,1,0,3\n2,1,0,1,1,0,4\n3,1,0,0,0,1,5\n")
    assert load(file, labels).label_names == expected


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ("z_*", r"no column matches 'z_\*'; there are 'a', 'label_a'"),
        ("re:^z", "no column matches '\\^z'"),
        ("re:(", "not a regular expression"),
        ("a\r, label_a", "are not names with commas between them"),
        ("lable_a", "no column named 'lable_a'. Did you mean 'label_a'"),
    ],
)
def test_patterns_without_a_match_are_refused(write, labels, words):
    with pytest.raises(DatasetError, match=words):
        load(write("a,label_a\n1,0\n2,1\n"), labels)


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_other_delimiters_and_decimal_commas(write, mark):
    rows = [["x, in m", "size", "mood", "y"], ["1,5", "1.234,5", "a", "0"], ["-2", "", "b, c", "1"], ["3e-1", "7", "a", "1"]]
    text = "".join(mark.join(row) + "\n" for row in rows)
    with pytest.warns(DatasetWarning, match=r"commas are decimal marks, .*: 'x, in m', 'size'\.$"):
        found = load(write(text), "y")
    np.testing.assert_array_equal(found.X, [[1.5, 1234.5, 0], [-2, np.nan, 1], [0.3, 7, 0]])
    assert found.feature_names == ("x, in m", "size", "mood")
    assert found.feature_kinds == ("numeric", "numeric", "nominal")


def test_commas_are_no_decimal_marks_beside_decimal_points(write):
    with pytest.warns(DatasetWarning, match="thousands"):
        found = load(write("a;b;y\n1,234;0.5;0\n2,500;1.5;1\n"), "y")
    assert found.X[:, 0].tolist() == [1234, 2500]


def test_the_delimiter_splits_all_rows_alike(write):
    found = load(write("x (a,b);y (c,d,e);z\n1;2;0\n3;4;1\n"), "z")
    assert found.feature_names == ("x (a,b)", "y (c,d,e)")
    assert load(write('"a;b;c;d","e"\n1,0\n2,1\n'), "e").feature_names == ("a;b;c;d",)


DAY = 86400.0


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize(
    ("texts", "days"),
    [
        (["1970-01-02", "1970-02-01", ""], [1, 31, np.nan]),
        (["1970-01-02 06:00", "1970-01-01T18:00:00Z", "1970-01-02 01:00:00+01:00"], [1.25, 0.75, 1]),
        (["1970/01/02", "1971/01/01", "1969/12/31"], [1, 365, -1]),
        (["2.1.1970", "01.02.1970", "31.12.1969"], [1, 31, -1]),
        (["1/2/1970", "2/1/1970", "12/31/1969"], [1, 31, -1]),
        (["2/1/1970", "1/2/1970", "31/12/1969"], [1, 31, -1]),
        (["12:00", "06:00:00", "18:00:00.0"], [0.5, 0.25, 0.75]),
    ],
)
def test_dates_become_seconds_with_a_note(write, texts, days):
    with pytest.warns(DatasetWarning, match=r"made\.csv: dates and times become numbers, seconds since 1970-01-01: 'when'\.$"):
        found = load(write("when,y\n" + "".join(f"{text},{k % 2}\n" for k, text in enumerate(texts))), "y")
    assert found.feature_kinds == ("numeric",)
    np.testing.assert_allclose(found.X.ravel(), np.array(days) * DAY)


@pytest.mark.filterwarnings("ignore:.*whether the day or the month comes first")
@pytest.mark.parametrize("texts", [["1/2/2020", "3/4/2020"], ["2020-02-31"], ["2020-01-01", "soon"], ["2020-1-1", "12:30"]])
def test_what_is_not_plainly_a_date_stays_text(write, texts):
    found = load(write("when,y\n" + "".join(f"{text},{k % 2}\n" for k, text in enumerate([*texts, *texts]))), "y")
    assert found.feature_kinds == ("nominal",)


def test_dates_of_arff_become_seconds_and_others_are_refused(write):
    head = "@relation r\n@attribute when date{}\n@attribute y {{0,1}}\n@data\n"
    with pytest.warns(DatasetWarning, match="dates and times become numbers"):
        found = load(write(head.format("") + "'1970-01-02T00:00:00',0\n?,1\n1970-01-01,1\n", "made.arff"), 1)
    np.testing.assert_array_equal(found.X.ravel(), [DAY, np.nan, 0])
    file = write(head.format(" 'yyyy'") + "1970,0\n1971,1\n", "made.arff")  # texts that look like numbers
    with pytest.raises(
        DatasetError, match=r"'when' is a date, and '1970' .* no known form.*strings=\"drop\".*strings=\"nominal\""
    ):
        load(file, 1)
    assert load(file, 1, strings="nominal").categories == {"when": ("1970", "1971")}


def test_dates_of_parquet_are_those_of_csv(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"when": pandas.to_datetime(["1970-01-02", None, "1970-01-01"]), "y": [0, 1, 1]})
    frame.to_parquet(tmp_path / "made.parquet")
    with pytest.warns(DatasetWarning, match="dates and times become numbers"):
        found = load(tmp_path / "made.parquet", "y")
    np.testing.assert_array_equal(found.X.ravel(), [DAY, np.nan, 0])


def test_categories_of_parquet_that_do_not_occur_are_no_values(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    words = pandas.Categorical(["b", None, "a", "b"], categories=["z", "a", "b", "9"])
    numbers = pandas.Categorical(["1", "2", None, "1"], categories=["word", "1", "2"])
    pandas.DataFrame({"w": words, "n": numbers, "y": [0, 1, 0, 1]}).to_parquet(tmp_path / "made.parquet")
    found = load(tmp_path / "made.parquet", 1)
    assert found.categories == {"w": ("a", "b")}
    np.testing.assert_array_equal(found.X, [[1, 1], [np.nan, 2], [0, np.nan], [1, 1]])


def test_columns_of_one_name_are_refused_with_both_positions(write):
    with pytest.raises(DatasetError, match=r"two columns have the same name: 'a' \(columns 1 and 3\)\. Rename"):
        load(write("a,b,a,y\n1,2,3,0\n"), "y")
    with pytest.raises(DatasetError, match="attributes 1 and 3 are both named 'a'"):
        load(write("@relation r\n@attribute a real\n@attribute b real\n@attribute a real\n@data\n1,2,3\n", "made.arff"), 1)


def test_a_workbook_is_the_table_that_csv_is(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    frame = pandas.DataFrame(
        {
            "tempo": [98.5, None, 120],
            "key": ["A", None, "B flat"],
            "loud": [True, False, True],
            "when": pandas.to_datetime(["1970-01-02 00:00", "1970-01-01 12:00", None]),
            "tags": ["rock;calm", "calm", "rock"],
        }
    )
    frame.to_excel(tmp_path / "made.xlsx", index=False)
    frame.assign(loud=[1, 0, 1]).to_csv(tmp_path / "made.csv", index=False)
    with pytest.warns(DatasetWarning, match="dates and times"):
        found = load(tmp_path / "made.xlsx", "tags", label_separator=";")
    with pytest.warns(DatasetWarning, match="dates and times"):
        expected = load(tmp_path / "made.csv", "tags", label_separator=";")
    np.testing.assert_array_equal(found.X, expected.X)
    np.testing.assert_array_equal(found.Y, expected.Y)
    assert (found.feature_names, found.categories) == (expected.feature_names, expected.categories)


def test_workbooks_that_cannot_be_read_are_refused(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    from labelsieve.datasets.readers import spreadsheet

    file = tmp_path / "made.xlsx"
    with pandas.ExcelWriter(file) as book:
        pandas.DataFrame({"a": [1, 2], "y": [0, 1]}).to_excel(book, sheet_name="one", index=False)
        pandas.DataFrame({"b": [1]}).to_excel(book, sheet_name="two", index=False)
    with pytest.warns(DatasetWarning, match="only the first of its 2 sheets is read, 'one'"):
        assert load(file, "y").shape == (2, 1, 1)
    with pytest.raises(DatasetError, match=r"takes about .* max_bytes="):
        load(file, "y", max_bytes=20_000)
    far = pandas.DataFrame([[1, 2]], columns=["a", "y"])
    with pandas.ExcelWriter(tmp_path / "far.xlsx") as book:
        far.to_excel(book, index=False)
        book.sheets["Sheet1"].cell(1_048_576, 16_384, 1)
    with pytest.raises(DatasetError, match="a table of 1,048,576 rows and 16,384 columns takes about 2,061"):
        load(tmp_path / "far.xlsx", "y", max_bytes=2**32)
    with monkeypatch.context() as old:
        old.setattr("openpyxl.__version__", "3.0.1")
        with pytest.raises(DatasetError, match=r"needs pandas and openpyxl \(.*3\.0\.1.* pip install 'labelsieve\[excel\]'"):
            load(file, "y")
    monkeypatch.setattr(spreadsheet, "find_spec", lambda name: None if name == "openpyxl" else True)
    with pytest.raises(DatasetError, match=r"needs pandas and openpyxl\. pip install 'labelsieve\[excel\]'"):
        load(file, "y")
    for content, words in ((b"PK\x03\x04damaged", "cannot be read as a workbook"), (b"\xd0\xcf\x11\xe0old", "before 2007")):
        file.write_bytes(content)
        with pytest.raises(DatasetError, match=words):
            load(file, "y")


def test_missing_labels_may_be_kept(write):
    rows = "".join(f"{k % 2},{k % 3},{k % 2 if k % 5 else ''},{k % 3 > 1:d}\n" for k in range(60))
    found = load(write("a,b,y,z\n" + rows), "y,z", missing_labels="keep")
    assert np.isnan(found.Y[:, 0]).sum() == 12
    assert found.Y[1].tolist() == [1, 0]
