"""The score of MIM is the plug-in mutual information of the raw columns, whatever types and missing cells these have."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve import Sieve
from labelsieve.discretize import EqualWidth

N_BINS = 4


def naive_levels(column):
    """Categories as they are; numbers in bins of equal width, or as they are if they are few; None is a level."""
    present = [value for value in column if value is not None]
    if all(isinstance(value, str | bool) for value in present) or len(set(present)) <= N_BINS:
        return column
    low, width = min(present), (max(present) - min(present)) / N_BINS
    cuts = [low + i * width for i in range(1, N_BINS)]
    return [None if value is None else sum(value >= cut for cut in cuts) for value in column]


def naive_information(column, labels):
    n_rows = len(labels)
    both, of_column, of_labels = Counter(zip(column, labels, strict=True)), Counter(column), Counter(labels)
    return sum(n / n_rows * math.log(n * n_rows / (of_column[x] * of_labels[y])) for (x, y), n in both.items())


cells = {
    "text": st.sampled_from(["red", "Red", "blue", "", "red ", "nan", "é"]),
    "many words": st.sampled_from([f"word {i}" for i in range(15)]),
    "truth": st.booleans(),
    "number": st.sampled_from([-1e9, -2.5, -0.0, 0.5, 1.0, 3.0, 1e-3, 77.0]),
    "whole": st.integers(-5, 30),
}


@st.composite
def tables(draw):
    n_rows = draw(st.integers(2, 40))
    columns, kinds = {}, draw(st.lists(st.sampled_from(sorted(cells)), min_size=1, max_size=5))
    for position, kind in enumerate(kinds):
        cell = cells[kind]
        holes = draw(st.booleans())
        column = draw(st.lists(st.none() | cell if holes else cell, min_size=n_rows, max_size=n_rows))
        columns[f"{kind} {position}"] = column
    labels = draw(st.lists(st.lists(st.integers(0, 1), min_size=n_rows, max_size=n_rows), min_size=1, max_size=3))
    return columns, kinds, np.array(labels).T


def pandas_frame(columns, kinds):
    types = {"text": "str", "many words": "category", "truth": "boolean", "number": "Float64", "whole": "Int64"}
    with_kinds = zip(columns.items(), kinds, strict=True)
    return pd.DataFrame({name: pd.Series(column, dtype=types[kind]) for (name, column), kind in with_kinds})


def polars_frame(columns, kinds):
    types = {"text": pl.String, "many words": pl.Categorical, "truth": pl.Boolean, "number": pl.Float64, "whole": pl.Int64}
    with_kinds = zip(columns.items(), kinds, strict=True)
    return pl.DataFrame({name: pl.Series(column, dtype=types[kind]) for (name, column), kind in with_kinds})


@pytest.mark.filterwarnings("ignore::labelsieve.errors.ColumnWarning")
@pytest.mark.parametrize("library", [pandas_frame, polars_frame])
@settings(max_examples=60, deadline=None)
@given(tables())
def test_mim_is_the_information_of_the_raw_columns(library, table):
    columns, kinds, labels = table
    sieve = Sieve("mim", discretizer=EqualWidth(N_BINS), n_features_to_select=None).fit(library(columns, kinds), labels)
    naive = [sum(naive_information(naive_levels(column), label.tolist()) for label in labels.T) for column in columns.values()]
    assert np.allclose(sieve.scores_, np.array(naive)[sieve.selected_], atol=1e-9)
    assert math.isclose(sieve.scores_[0], max(naive), abs_tol=1e-9)
