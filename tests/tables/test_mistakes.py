"""Leaks and mistakes in tables are told, from a file and in a frame, with the name of the column and what to do."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from openpyxl import Workbook
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from labelsieve import LabelwiseSieve, Sieve
from labelsieve.datasets import DatasetError, DatasetWarning, load
from labelsieve.errors import (
    ColumnWarning,
    DateColumnWarning,
    IdLikeColumnWarning,
    InputError,
    LeakWarning,
    MissingTargetWarning,
    TableWarning,
)
from tests.support import command_line
from tests.support.table_libraries import install_only

N = 400


def run(*arguments):
    """Call the command line, which prints warnings as notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        return command_line.run(*arguments)


@pytest.fixture
def table():
    """A table of three noisy features and two labels that need two of them."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 3)).round(3)
    noise = rng.normal(size=(N, 2))
    Y = ((X[:, :2] + noise) > 0).astype(int)
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": Y[:, 0], "z": Y[:, 1]})


def told(table, path, category, *, labels=("y", "z"), quiet=False):
    """What is told about a table: from a file on the command line, and in a frame by ``fit``."""
    labels = list(labels)
    table.to_csv(path, index=False)
    result = run("select", path, "--labels", ",".join(labels), "-k", 3)
    assert result.exit_code == 0, result.output
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        Sieve(n_features_to_select=3).fit(table.drop(columns=labels), table[labels])
    assert all(one.filename == __file__ for one in found)
    of_frame = [str(one.message) for one in found if issubclass(one.category, category)]
    assert len(of_frame) <= 1 or not quiet
    return " ".join(result.stderr.split()), " ".join(of_frame)


def named(texts, name):
    """Pairs of a text and how it names a column: by its name where the table is a file, with its number in a frame."""
    return zip(texts, (f"column '{name}'", f"('{name}')"), strict=True)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "made.csv"


def test_an_ordinary_table_tells_nothing(table, path):
    assert told(table, path, Warning) == ("", "")


def test_a_feature_that_alone_predicts_a_target_is_told(table, path):
    cancelled = table["y"] == 1
    table["cancel_date"] = np.where(cancelled, "2024-02-1", None)
    table.loc[cancelled, "cancel_date"] = [f"2024-03-{1 + day % 28:02}" for day in range(int(cancelled.sum()))]
    for text, column in named(told(table, path, LeakWarning), "cancel_date"):
        assert f"{column} predicts 'y', alone and almost perfectly. Was it known before the target?" in text
        assert "If not, exclude it (excluded=, --excluded)" in text


@pytest.mark.parametrize("kind", ["text", "order", "copy of numbers", "classes"])
def test_leaks_of_all_kinds_are_found(table, path, kind):
    if kind == "text":
        table["leak"] = np.where(table["y"] == 1, "gone", "here")
    elif kind == "order":
        table["leak"] = table["y"] * 10 + table["c"]
    elif kind == "copy of numbers":
        table["z"] = table["b"] + 2 * table["c"]
        table["leak"] = 3 * table["z"] + 1
    else:
        table["z"] = pd.qcut(table["b"] + table["c"], 4, labels=["i", "ii", "iii", "iv"]).astype(str)
        table["leak"] = table["z"].map({"i": 3, "ii": 1, "iii": 2, "iv": 4})
    for text, column in named(told(table, path, LeakWarning), "leak"):
        assert f"{column} predicts" in text


def test_a_good_feature_is_no_leak(table, path):
    rng = np.random.default_rng(0)
    table["good"] = table["y"] * 4 + rng.normal(size=N)  # area under the curve of 0.998
    table["rare"] = np.where(np.arange(N) < 6, 1, 0)
    table["z"] = table["rare"]  # six rows are too few to be sure
    assert told(table, path, LeakWarning) == ("", "")


def test_a_column_that_numbers_the_rows_is_told_unless_it_is_excluded(table, path):
    table.insert(0, "number", np.random.default_rng(0).permutation(N) + 1000)
    for text, column in named(told(table, path, TableWarning), "number"):
        assert f"{column} has the whole numbers from 1,000 to 1,399, each once, like an id" in text
        assert "Exclude it" in text
    assert "number" not in run("select", path, "--labels", "y,z", "--excluded", "number").stderr
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Sieve(excluded=["number"]).fit(table[["number", "a", "b"]], table[["y", "z"]])


def test_a_target_among_the_features_is_refused(table, path):
    with pytest.raises(InputError, match=r"'y'\) is also among the features, X, column 3, .* pass X.drop\(columns=\['y'\]\)"):
        Sieve().fit(table, table[["y", "z"]])
    with pytest.raises(InputError, match="'y'"):
        Sieve().fit(pl.from_pandas(table), pl.from_pandas(table)["y"])
    Sieve().fit(table[["a", "b", "c"]], (table["c"] > 1).rename("c"))  # derived from a feature, as pandas names it
    path.write_text("a,y,y\n1,0,0\n2,1,1\n3,1,1\n")
    result = run("select", path, "--labels", "y")
    assert result.exit_code
    assert "two columns have the same name: 'y'" in result.stderr


LARGE = 2**53


@pytest.mark.parametrize("reader", ["pyarrow", "csv"])
def test_whole_numbers_beyond_floating_point_stay_different_in_files(tmp_path, monkeypatch, reader):
    install_only(monkeypatch, reader)
    path = tmp_path / "made.csv"
    rows = [f"{LARGE + k % 2},{k},{10**20 + k % 3},{LARGE + k % 2}" for k in range(12)]
    path.write_text("id,a,hash,y\n" + "\n".join(rows) + "\n")
    with pytest.warns(DatasetWarning, match=r"beyond 2\*\*53, such as '9007199254740993', .*: 'id', 'hash', 'y'\.") as found:
        data = load(path, "y")
    assert found[0].filename == __file__
    assert data.categories == {"id": (str(LARGE), str(LARGE + 1)), "hash": tuple(str(10**20 + k) for k in range(3))}
    assert data.label_categories == {"y": (str(LARGE), str(LARGE + 1))}
    assert data.Y.ravel().tolist() == [k % 2 for k in range(12)]


def test_large_numbers_that_are_not_merged_stay_numbers(path):
    path.write_text("".join(["id,y\n", *(f"{LARGE + 1000 * k},{k % 2}\n" for k in range(6))]))
    assert load(path, "y").X.ravel().tolist() == [float(LARGE + 1000 * k) for k in range(6)]


def test_whole_numbers_beyond_floating_point_stay_different_in_parquet(tmp_path):
    path = tmp_path / "made.parquet"
    numbers = [None if k == 3 else LARGE + k % 2 for k in range(12)]
    pa.parquet.write_table(pa.table({"id": numbers, "a": range(12), "y": [LARGE + k % 3 for k in range(12)]}), path)
    with pytest.warns(DatasetWarning, match="'id', 'y'"):
        data = load(path, "y")
    assert data.categories["id"] == (str(LARGE), str(LARGE + 1))
    assert np.isnan(data.X[3, 0])
    assert data.Y.ravel().tolist() == [k % 3 for k in range(12)]


@pytest.mark.parametrize("kind", ["frame", "mixed frame", "nullable", "polars", "128 bits", "array"])
def test_whole_numbers_beyond_floating_point_stay_different_as_features(kind):
    code = np.arange(200) % 2
    y, other = code.copy(), np.arange(200) % 5
    numbers = LARGE + code.astype(np.int64)
    X = {
        "frame": pd.DataFrame({"other": other.astype(np.int64), "id": numbers}),
        "mixed frame": pd.DataFrame({"other": other / 2, "id": numbers}),
        "nullable": pd.DataFrame({"other": other / 2, "id": pd.array(numbers, dtype="Int64")}),
        "polars": pl.DataFrame({"other": other / 2, "id": numbers}),
        "128 bits": pl.DataFrame({"other": other / 2, "id": code}).with_columns(pl.col("id").cast(pl.Int128) + 2**100),
        "array": np.column_stack([other, numbers]),
    }[kind]
    with pytest.warns(ColumnWarning, match=r"whole numbers beyond 2\*\*53 that floating point would merge: each is a level"):
        sieve = Sieve("mim", n_features_to_select=1).fit(X, y)
    assert sieve.selected_.tolist() == [1]
    assert sieve.scores_[0] == pytest.approx(np.log(2))


@pytest.mark.filterwarnings("ignore::labelsieve.errors.ColumnWarning")
@pytest.mark.parametrize("make", [np.asarray, pd.Series, lambda numbers: pd.DataFrame({"y": numbers, "z": numbers / 2})])
def test_whole_numbers_beyond_floating_point_are_different_classes(make):
    code = np.random.default_rng(0).integers(0, 2, 200)
    sieve = Sieve("mim", n_features_to_select=1).fit(np.column_stack([code[::-1], code]), make(LARGE + code.astype(np.int64)))
    assert sieve.selected_.tolist() == [1]
    assert sieve.target_types_[0] == "class"


def test_levels_of_large_numbers_are_exact():
    numbers = LARGE + 2 * (np.arange(100) % 3)
    codes = Sieve("mim", discretizer={0: "levels"}, n_features_to_select=1).fit(numbers[:, None], np.arange(100) % 3)
    assert codes.scores_[0] == pytest.approx(np.log(3), abs=1e-3)


DATES = {
    "iso": lambda day: f"2024-{1 + day // 28 % 12:02}-{1 + day % 28:02}",
    "iso with time": lambda day: f"2024-01-{1 + day % 28:02}T{day % 24:02}:30:00Z",
    "german": lambda day: f"{1 + day % 28}.{1 + day // 28 % 12}.2024",
    "american": lambda day: f"{1 + day // 28 % 12}/{1 + day % 28}/2024",
    "words": lambda day: f"{1 + day % 28} Jan 2024",
    "clock": lambda day: f"{day % 24:02}:{day % 60:02}",
}


@pytest.mark.filterwarnings("ignore:.*'unknown' among numbers or dates is missing")
@pytest.mark.parametrize("form", DATES)
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_text_dates_and_times_in_frames_are_numbers_as_in_files(table, tmp_path, form, library):
    table["when"] = [DATES[form](day) for day in range(N)]
    table.loc[7, "when"] = "unknown"
    table.to_csv(tmp_path / "made.csv", index=False)
    X = library(table[["a", "b", "c", "when"]].to_dict("list"))
    with pytest.warns(DateColumnWarning, match="text in column 'when', such as .* is dates or times: counted") as one:
        sieve = Sieve("mim", n_features_to_select=4).fit(X, table[["y", "z"]])
    assert len(one) == 1
    with pytest.warns(DatasetWarning, match="dates and times become numbers, .*: 'when'"):
        data = load(tmp_path / "made.csv", "y,z")
    of_file = Sieve("mim", n_features_to_select=4).fit(data.named_features(), data.Y)
    np.testing.assert_array_equal(sieve.selected_, of_file.selected_)
    np.testing.assert_array_equal(sieve.scores_, of_file.scores_)


def test_undecided_dates_stay_text_and_say_so(table, path):
    table["when"] = [f"{1 + day % 12}/{1 + day // 12 % 12}/2024" for day in range(N)]
    of_file, of_frame = told(table, path, DateColumnWarning)
    assert "no day above 12 shows whether the day or the month comes first: 'when'" in of_file
    assert "dates in column 'when'" in of_frame
    assert "pandas.to_datetime" in of_frame


def test_categories_of_dates_are_taken_as_meant(table):
    table["when"] = pd.Categorical([f"2024-01-{1 + day % 3:02}" for day in range(N)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Sieve().fit(table[["a", "when"]], table["y"])


@pytest.mark.parametrize("selector", [Sieve, LabelwiseSieve])
def test_a_table_whose_columns_are_all_pooled_says_so(table, path, selector):
    ids = pd.DataFrame({"name": [f"n{k}" for k in range(N)], "street": [f"s{k}x" for k in range(N)], "y": table["y"]})
    with pytest.warns(IdLikeColumnWarning), pytest.warns(ColumnWarning, match="all columns have one level .'name', 'street'"):
        selector().fit(ids[["name", "street"]], ids["y"])
    ids.to_csv(path, index=False)
    assert "all columns have one level ('name', 'street')" in " ".join(run("select", path, "--labels", "y").stderr.split())


@pytest.mark.parametrize("reader", ["pyarrow", "csv"])
def test_repeated_header_rows_of_a_file_are_left_out(table, path, monkeypatch, reader):
    text = table.to_csv(index=False).splitlines()
    path.write_text("\n".join([*text[:5], text[0], text[0], *text[5:], text[0]]) + "\n")
    install_only(monkeypatch, reader)
    with pytest.warns(DatasetWarning, match="3 rows that repeat the names of the columns, .* are left out"):
        data = load(path, "y,z")
    np.testing.assert_array_equal(data.X, table[["a", "b", "c"]])


def test_the_line_of_an_error_counts_repeated_headers(path):
    path.write_text("a,y\n1,0\na,y\n2,1,1\n")
    with pytest.raises(DatasetError, match="line 4: there are 3 values"):
        load(path, "y")


@pytest.mark.filterwarnings("ignore::labelsieve.errors.ColumnWarning")
def test_a_header_that_is_repeated_in_a_frame_is_told(table, path):
    text = table.to_csv(index=False)
    path.write_text(text + text)
    frame = pd.read_csv(path, dtype=str)
    with pytest.warns(TableWarning, match=r"row 400 repeat the names of the columns.*\(X\['a'\] != 'a'\)"):
        Sieve().fit(frame[["a", "b", "c"]], frame["y"])


def test_a_row_of_totals_is_told(table, path):
    named = table.assign(town=["x", "y"] * (N // 2))
    total = pd.DataFrame([{**table.sum(numeric_only=True), "town": "Total"}])
    for text in told(pd.concat([named, total]), path, TableWarning):
        assert "row 400, the last, sums up the others: it has 'Total' in column 3 ('town')" in text
    unnamed = pd.concat([table.abs(), pd.DataFrame([table.abs().sum(numeric_only=True)])])
    for text in told(unnamed, path, TableWarning):
        assert "sums up the others: it has the sums of 'a', 'b', 'c'. Remove it" in text


def test_a_header_of_groups_over_names_is_refused_with_a_remedy(path):
    path.write_text("size,size,label\nheight,width,y\n1,2,0\n3,4,1\n")
    with pytest.raises(DatasetError, match=r"'size' \(columns 1 and 2\).* Join a header of two rows to one"):
        load(path, "label")
    frame = pd.read_csv(path, header=[0, 1])
    assert Sieve("mim", n_features_to_select=1).fit(frame[["size"]], frame["label"]).selected_.tolist() == [0]


def test_a_second_header_row_of_a_file_is_left_out(table, path):
    named = table.assign(town=["x", "y"] * (N // 2))
    first, *rows = named.to_csv(index=False).splitlines()
    path.write_text("\n".join([first, "(cm),(kg),,,,", *rows]))
    with pytest.warns(DatasetWarning, match=r"words where all others have numbers, '\(cm\)' under 'a', '\(kg\)' under 'b'"):
        data = load(path, "y,z")
    np.testing.assert_array_equal(data.X[:, :3], table[["a", "b", "c"]])
    path.write_text("\n".join([first, "1,2,3,0,1,x", *rows]))
    assert load(path, "y,z").shape == (N + 1, 4, 2)
    path.write_text("\n".join([first, "(cm),2,3,0,1,x", *rows]))  # one cell is a number, so the row is data
    with pytest.warns(DatasetWarning, match="most values are numbers and some are not"):
        assert load(path, "y,z").shape == (N + 1, 4, 2)


@pytest.mark.filterwarnings("ignore::labelsieve.errors.ColumnWarning")
def test_a_second_header_row_in_a_frame_is_told(table, path):
    first, *rows = table.to_csv(index=False).splitlines()
    path.write_text("\n".join([first, "(cm),(kg),m,0,0", *rows]))
    frame = pd.read_csv(path)
    with pytest.warns(TableWarning, match=r"row 0 has words, such as '\(cm\)', .*: 'a', 'b', 'c'\. Remove it"):
        Sieve().fit(frame[["a", "b", "c"]], frame["y"])


def test_json_lines_are_read_as_the_same_table_from_csv(table, tmp_path):
    table["town"] = ["x", "y"] * (N // 2)
    table.loc[3, "a"] = np.nan
    table.to_csv(tmp_path / "made.csv", index=False)
    table.to_json(tmp_path / "made.jsonl", orient="records", lines=True)
    one, other = load(tmp_path / "made.csv", "y,z"), load(tmp_path / "made.jsonl", "y,z")
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.Y, other.Y)
    assert one.feature_names == other.feature_names
    assert one.categories == other.categories
    frame = pd.read_json(tmp_path / "made.jsonl", lines=True)
    sieve = Sieve(n_features_to_select=3).fit(frame[["a", "b", "c", "town"]], frame[["y", "z"]])
    result = run("select", tmp_path / "made.jsonl", "--labels", "y,z", "-k", 3, "--json")
    assert [one["feature"] for one in json.loads(result.stdout)["selected"]] == sieve.feature_names_in_[
        sieve.selected_
    ].tolist()


def test_json_lines_have_lists_gaps_and_exact_numbers(tmp_path):
    path = tmp_path / "made.ndjson"
    rows = [{"x": 1, "tags": ["rock", "loud"]}, {"tags": [], "id": LARGE, "b": True}, {"x": 2.5, "tags": None, "id": LARGE + 1}]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    with pytest.warns(DatasetWarning, match="'id'"):
        data = load(path, "tags")
    assert data.label_names == ("loud", "rock")
    assert data.Y.tolist() == [[1, 1], [0, 0], [0, 0]]
    assert data.categories == {"id": (str(LARGE), str(LARGE + 1))}
    np.testing.assert_array_equal(data.X, [[1, np.nan, np.nan], [np.nan, 0, 1], [2.5, 1, np.nan]])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"x": 1}\n{"x": \n', "line 2: this line is not JSON"),
        ('{"x": 1}\n[1]\n', "line 2: this line is not an object"),
        ('{"x": 1}\n{"": 1}\n', "line 2: this line has no name"),
        ('{"x": {"y": 1}}\n', "'x' in row 1 is an object"),
        ('{"x": [[1]]}\n', "'x' holds lists of lists"),
        ('{"x": "\\ud800"}\n', "line 1: this line has half of a character"),
        ('[{"x": 1}]', "this is JSON, which is not read. Save the table as JSON lines"),
        ('{\n "x": 1}', "this is JSON, which is not read"),
    ],
)
def test_damaged_json_lines_are_refused(path, text, words):
    path.write_text(text)
    with pytest.raises(DatasetError, match=words):
        load(path, "x")


def test_formulas_without_results_are_refused_and_told(table, tmp_path):
    book = Workbook()
    book.active.append(["a", "ratio", "y"])
    for row in range(30):
        book.active.append([float(table["a"][row]), f"=A{row + 2}*2", int(table["y"][row])])
    book.save(tmp_path / "made.xlsx")
    with pytest.raises(DatasetError, match=r"column 'ratio' has 30 formulas without a result, the first in row 2 .* save it"):
        load(tmp_path / "made.xlsx", "y")
    assert "'ratio'" in run("select", tmp_path / "made.xlsx", "--labels", "y").stderr
    frame = pd.read_excel(tmp_path / "made.xlsx")
    with pytest.warns(TableWarning, match=r"column 1 \('ratio'\) has no value in any row. Leave it out; if it holds formulas"):
        Sieve().fit(frame[["a", "ratio"]], frame["y"])


def test_workbooks_lose_repeated_and_second_headers(table, tmp_path):
    rows = table.head(30).to_numpy().tolist()
    book = Workbook()
    for row in [list(table.columns), ["cm", "kg", "m", None, None], *rows[:10], list(table.columns), *rows[10:]]:
        book.active.append(row)
    book.save(tmp_path / "made.xlsx")
    with pytest.warns(DatasetWarning) as found:
        data = load(tmp_path / "made.xlsx", "y,z")
    assert [words in str(one.message) for one, words in zip(found, ["1 row that repeats", "'cm' under 'a'"], strict=True)]
    np.testing.assert_array_equal(data.X, table[["a", "b", "c"]].head(30))


def test_missing_labels_follow_one_rule(table, path):
    table["y"] = table["y"].astype(float)
    table.loc[[3, 8], "y"] = np.nan
    table.loc[[8], "z"] = np.nan
    of_file, of_frame = told(table, path, MissingTargetWarning)
    assert of_file.count("note:") == 1
    assert "label 'y' is missing in row 4 (2 rows have missing labels). Each label is counted in the rows where it" in of_file
    assert "--missing-labels drop" in of_file
    assert (
        "Y, column 0 ('y') in 1 of 399 rows are unknown, and each target is counted in the rows where it is known" in of_frame
    )
    assert "1 rows without any known target are left out" in of_frame
    result = run("select", path, "--labels", "y,z", "-k", 3, "--json")
    sieve = Sieve(n_features_to_select=3).fit(table[["a", "b", "c"]], table[["y", "z"]])
    assert [one["feature"] for one in json.loads(result.stdout)["selected"]] == sieve.feature_names_in_[
        sieve.selected_
    ].tolist()
    refused = run("select", path, "--labels", "y,z", "--missing-labels", "error")
    assert refused.exit_code
    assert "label 'y' is missing in row 4" in refused.stderr


def test_a_warning_comes_once_at_the_line_of_the_caller(table):
    X, Y = table[["a", "b"]].assign(when=pd.Timestamp("2024-01-01") + pd.to_timedelta(range(N), "h")), table[["y", "z"]]
    pipeline = make_pipeline(FunctionTransformer(), Sieve("jmi", n_features_to_select="permutation"))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        pipeline.fit(X, Y)
        sieve = pipeline[-1]
        sieve.summary(X, Y)
        sieve.information_components(X, Y)
    assert [(one.category, one.filename) for one in found] == [(DateColumnWarning, __file__)]
    assert "'when'" in str(found[0].message)


@pytest.mark.parametrize("named", [True, False])
def test_a_warning_names_the_column_of_the_whole_table(named):
    rng = np.random.default_rng(0)
    X, y = np.column_stack([rng.normal(size=(N, 3)), np.arange(N) * 3]), rng.integers(0, 2, N)
    data, column = (pd.DataFrame(X, columns=list("abcd")), "d") if named else (X, 3)
    with pytest.warns(IdLikeColumnWarning, match=r"X, column 3 \('d'\)" if named else "X, column 3 has"):
        Sieve("mim", discretizer={column: "levels"}).fit(data, y)
