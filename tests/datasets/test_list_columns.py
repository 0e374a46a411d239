"""Columns of lists in Parquet files and frames are label sets; among features they are refused with the remedy."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from labelsieve import InputError, Sieve
from labelsieve.datasets import ChunkedTable, DatasetError, load
from tests.support.command_line import run

SETS = [["rock", "loud"], [], None, ['say "hi"', "rock"], ["a;b"], ["loud"]] * 10
NAMES = ("a;b", "loud", "rock", 'say "hi"')
X = np.random.default_rng(0).normal(size=(60, 3))
KNOWN = [labels or [] for labels in SETS]


@pytest.fixture
def path(tmp_path):
    table = pa.table({"x": X[:, 0], "z": X[:, 1], "tags": pa.array(SETS, pa.list_(pa.string()))})
    pq.write_table(table, tmp_path / "songs.parquet")
    return tmp_path / "songs.parquet"


def expected(sets):
    return [[int(name in (labels or [])) for name in NAMES] for labels in sets]


def test_lists_of_a_file_are_label_sets(path):
    data = load(path, "tags")
    assert data.label_names == NAMES
    assert data.feature_names == ("x", "z")
    assert data.Y.tolist() == expected(SETS)


def test_several_columns_of_lists_are_joined(tmp_path):
    path = tmp_path / "songs.parquet"
    pq.write_table(pa.table({"x": [1.5, 2.5], "mood": [["sad"], ["calm"]], "year": [[1990], [1990, 2000]]}), path)
    data = load(path, ["mood", "year"])
    assert data.label_names == ("calm", "sad", "1990", "2000")
    assert data.Y.tolist() == [[0, 1, 1, 0], [1, 0, 1, 1]]


def test_the_command_line_selects_for_them(path):
    result = run("select", path, "--labels", "tags", "-k", 1, "--format", "json")
    assert result.exit_code == 0, result.output
    assert len(json.loads(result.stdout)["selected"]) == 1


def test_other_uses_are_refused_with_the_remedy(path, tmp_path):
    with pytest.raises(
        DatasetError, match=r"column 'tags' holds lists, which only labels can be\. Name it as the label column"
    ):
        load(path, "x")
    with pytest.raises(
        DatasetError, match=r"'tags' holds lists of labels, and the other label columns do not\. Name it as the only"
    ):
        load(path, ["x", "tags"])
    with pytest.raises(DatasetError, match=r"'tags' holds list.*or load the file"):
        ChunkedTable.from_parquet(path, labels="tags")
    damaged = tmp_path / "damaged.parquet"
    pq.write_table(pa.table({"x": [1.5, 2.5], "tags": [["rock"], ["rock", None]]}), damaged)
    with pytest.raises(DatasetError, match=r"column 'tags', row 2: a label is missing in the list"):
        load(damaged, "tags")
    pq.write_table(pa.table({"x": [1.5, 2.5], "tags": [[["rock"]], [[]]]}), damaged)
    with pytest.raises(DatasetError, match=r"column 'tags' holds list<.*neither numbers nor text nor lists of labels"):
        load(damaged, "tags")


LISTS = pa.chunked_array([pa.array(KNOWN, pa.list_(pa.string()))])
FRAMES = {
    "polars frame": pl.DataFrame({"tags": KNOWN}),
    "polars series": pl.Series("tags", KNOWN),
    "arrow table": pa.table({"tags": LISTS}),
    "arrow column": LISTS,
    "pandas of lists": pd.Series(KNOWN),
    "pandas of arrays": pd.DataFrame({"tags": [np.array(labels, dtype=object) for labels in KNOWN]}),
    "pandas of arrow": pd.Series(KNOWN, dtype=pd.ArrowDtype(pa.list_(pa.string()))),
}


@pytest.mark.parametrize("Y", FRAMES.values(), ids=FRAMES)
def test_lists_of_frames_are_label_sets(Y):
    sieve = Sieve("mim", n_features_to_select=2).fit(X, Y)
    assert tuple(sieve.label_names_) == NAMES
    assert sieve.scores_.tolist() == Sieve("mim", n_features_to_select=2).fit(X, expected(KNOWN)).scores_.tolist()


@pytest.mark.parametrize("name", ["polars frame", "arrow table", "pandas of arrays"])
def test_lists_among_features_are_refused(name):
    with pytest.raises(InputError, match=r"X: column 'tags' holds .*lists\. Sets of labels become 0/1 columns with"):
        Sieve().fit(FRAMES[name], X[:, 0] > 0)
