"""Tables as people keep them: what could give a poor selection in silence is read rightly, noted, or refused."""

import numpy as np
import openpyxl
import pandas as pd
import pytest

from labelsieve import Sieve
from labelsieve.datasets import ChunkedTable, DatasetError, DatasetWarning, load
from labelsieve.datasets.readers import csv

N_ROWS = 200


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def saved(path, frame):
    frame.to_csv(path, index=False)
    return path


def test_numbers_with_a_unit_are_numbers(tmp_path, rng):
    weight, heat = rng.normal(5, 1, N_ROWS).round(2), rng.normal(20, 4, N_ROWS).round(1)
    frame = pd.DataFrame(
        {"weight": [f"{w} kg" for w in weight], "heat": [f"{t}°C" for t in heat], "noise": rng.normal(size=N_ROWS)}
    )
    frame["house"] = [
        f"{number}{letter}"
        for number, letter in zip(rng.integers(1, 9, N_ROWS), rng.choice(["", "a", "b"], N_ROWS), strict=True)
    ]
    path = saved(tmp_path / "goods.csv", frame.assign(heavy=(weight > 5).astype(int), hot=(heat > 21).astype(int)))
    with pytest.warns(DatasetWarning, match="numbers with a unit.*'weight', 'heat'"):
        data = load(path, "heavy,hot")
    assert data.feature_kinds == ("numeric", "numeric", "numeric", "nominal")
    np.testing.assert_array_equal(data.X[:, 0], weight)
    selected = Sieve(n_features_to_select=2).fit(data.named_features(), data.Y).get_feature_names_out()
    assert set(selected) == {"weight", "heat"}


def test_yes_and_no_in_several_cases_are_noted(tmp_path, rng):
    frame = pd.DataFrame({"x": rng.normal(size=N_ROWS), "ill": rng.choice(["Yes", "yes", "NO", "No"], N_ROWS)})
    with pytest.warns(DatasetWarning, match=r"differ only in case, such as 'NO', 'No', are different levels or classes: 'ill'"):
        load(saved(tmp_path / "survey.csv", frame), "ill")


@pytest.mark.parametrize("row", ["kg,m,1", "Total,,1"])
def test_rows_of_units_and_totals_are_named(tmp_path, rng, row):
    path = saved(tmp_path / "units.csv", pd.DataFrame({"a": rng.normal(size=N_ROWS), "b": rng.normal(size=N_ROWS), "y": 1}))
    path.write_text(path.read_text() + row + "\n")
    word = row.split(",")[0]
    with pytest.warns(DatasetWarning, match=rf"some are not, such as '{word}'.*'a'.*remove rows of units or totals"):
        load(path, "y")


def test_a_transposed_table_is_recognized(tmp_path, rng):
    genes = pd.DataFrame(rng.normal(size=(6, 8)), columns=[f"patient{i}" for i in range(8)])
    genes.insert(0, "gene", [*(f"GENE{i}" for i in range(5)), "tumor"])
    with pytest.raises(DatasetError, match=r"column 'gene' has it as a value\. .*transpose the table.*set_index\('gene'\)\.T"):
        load(saved(tmp_path / "genes.csv", genes), "tumor")


def test_a_title_above_the_header_is_named(tmp_path):
    book = openpyxl.Workbook()
    for row in (["Report 2024"], [], ["a", "y"], [1.5, 0], [2.5, 1]):
        book.active.append(row)
    book.active.merge_cells("A1:B1")
    book.save(tmp_path / "report.xlsx")
    (tmp_path / "report.csv").write_text("Report 2024,\n,\na,y\n1.5,0\n2.5,1\n")
    for name in ("report.xlsx", "report.csv"):
        with pytest.raises(DatasetError, match=r"column 2 has no name\. .*if 'Report 2024' is a title, remove it"):
            load(tmp_path / name, "y")


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_the_unnamed_index_of_a_frame_is_left_out(tmp_path, form):
    path = tmp_path / f"table.{form}"
    frame = pd.DataFrame({"a": [1.5, 2.5, 0.5], "y": [0, 1, 0]}, index=["row one", "row two", "row three"])
    frame.to_csv(path) if form == "csv" else frame.to_excel(path)
    with pytest.warns(UserWarning, match="the first column has no name.*left out"):
        data = load(path, "y")
    assert data.feature_names == ("a",)
    np.testing.assert_array_equal(data.X, [[1.5], [2.5], [0.5]])


def test_marks_are_labels_where_blanks_mean_absent(tmp_path, rng):
    marked = rng.random(N_ROWS) < 0.4
    path = saved(tmp_path / "marks.csv", pd.DataFrame({"a": rng.normal(size=N_ROWS), "b": np.where(marked, "x", "")}))
    data = load(path, "b", missing_labels="absent")
    assert data.Y[:, 0].tolist() == marked.astype(int).tolist()
    assert data.label_categories == {}


@pytest.mark.parametrize("form", ["csv", "xlsx", "parquet"])
def test_digits_with_leading_zeros_are_levels(tmp_path, form):
    zips = np.array(["00123", "0123", "123", ""])[np.arange(N_ROWS) % 4]
    frame = pd.DataFrame(
        {"zip": zips, "month": [f"{row % 12 + 1:02d}" for row in range(N_ROWS)], "y": (zips == "0123").astype(int)}
    )
    path = tmp_path / f"people.{form}"
    getattr(frame, {"csv": "to_csv", "xlsx": "to_excel", "parquet": "to_parquet"}[form])(path, index=False)
    with pytest.warns(DatasetWarning, match=r"leading zeros, such as '00123', are text, and each is a level: 'zip'"):
        data = load(path, "y")
    assert data.categories == {"zip": ("00123", "0123", "123")}
    assert np.nanmax(data.X[:, 1]) == 12  # a month is a number


def test_digits_with_leading_zeros_are_levels_without_pyarrow_and_in_chunks(tmp_path, monkeypatch):
    zips = np.array(["00123", "0123", "123"])[np.arange(N_ROWS) % 3]
    frame = pd.DataFrame({"zip": zips, "n": np.arange(N_ROWS) % 7, "y": (zips == "0123").astype(int)})
    path = saved(tmp_path / "people.csv", frame)
    sieve = Sieve("mim", n_features_to_select=2)
    scores = sieve.fit(frame[["zip", "n"]], frame[["y"]]).scores_.tolist()
    assert scores[0] > 0.6  # the entropy of one in three
    assert sieve.fit(ChunkedTable.from_csv(path, ["y"])).scores_.tolist() == scores
    monkeypatch.setattr(csv, "find_spec", lambda name: None)
    with pytest.warns(DatasetWarning, match="leading zeros"):
        assert load(path, "y").categories == {"zip": ("00123", "0123", "123")}


def test_padded_measurements_are_numbers(tmp_path):
    frame = pd.DataFrame({"weight": ["0123.5", "0001", "0072"] * 20, "y": [0, 1] * 30})
    assert load(saved(tmp_path / "weights.csv", frame), "y").X[:3, 0].tolist() == [123.5, 1.0, 72.0]


def test_a_name_that_occurs_twice_is_refused_with_both_positions_also_in_chunks(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("a,b,a,y\n1,2,3,0\n4,5,6,1\n")
    for read in (load, ChunkedTable.from_csv):
        with pytest.raises(DatasetError, match=r"twice.csv.* same name: 'a' \(columns 1 and 3\)"):
            read(path, ["y"])
