"""The page on columns says what selectors do: every example of its tables is evaluated."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from labelsieve import Sieve
from labelsieve.discretize import EqualFrequency
from labelsieve.errors import ColumnWarning

PAGE = (Path(__file__).parents[2] / "docs" / "start" / "columns.md").read_text(encoding="utf-8")
RNG = np.random.default_rng(0)
LETTERS = np.array([f"word {letter}" for letter in "abcdefghijklmnopqrstuvwxyz"])
NAMES = {
    "np": np,
    "pd": pd,
    "pl": pl,
    "pa": pa,
    "u": RNG.random(1000),
    "i": np.arange(1000),
    "words": RNG.choice(LETTERS, 1000),
}


def table(header):
    rows = PAGE[PAGE.index(header) :].split("\n\n")[0].splitlines()[2:]
    return [pytest.param(*(cell.strip() for cell in row.strip("|").split(" | ")), id=row.split("|")[1].strip()) for row in rows]


def frame_of(column):
    """A frame of the library that the column is from."""
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return pa.table({"x": column})
    if isinstance(column, pl.Series):
        return pl.DataFrame({"x": column})
    return pd.DataFrame({"x": column})


@pytest.mark.filterwarnings("ignore::labelsieve.errors.ColumnWarning")
@pytest.mark.parametrize(("column", "example", "treatment", "levels"), table("| column | example |"))
def test_features_have_the_levels_of_the_page(column, example, treatment, levels):
    X = frame_of(eval(example.strip("`"), NAMES))
    discretizer = Sieve("mim", n_features_to_select=1).fit(X, NAMES["i"] % 2).discretizer_
    assert isinstance(discretizer, EqualFrequency)
    codes = discretizer.encode(X)
    assert codes.levels.tolist() == [int(levels)]
    if "warning" in treatment:
        with pytest.warns(ColumnWarning):
            EqualFrequency().encode(X)


@pytest.mark.parametrize(("target", "example", "treatment", "types"), table("| targets | example |"))
def test_targets_have_the_types_of_the_page(target, example, treatment, types):
    sieve = Sieve("mim", n_features_to_select=1).fit(NAMES["u"].reshape(-1, 1), eval(example.strip("`"), NAMES))
    assert list(sieve.target_types_) == types.split()
    if "bins" in treatment:
        assert re.search(r"five bins of equal frequency", treatment)
        assert sieve.target_discretizer == "auto"


def test_the_settings_of_the_page_exist():
    u, words = NAMES["u"], NAMES["words"]
    X = pd.DataFrame({"zip": (u * 40).astype(int), "word": words, "hole": np.where(u < 0.1, np.nan, u)})
    y = NAMES["i"] % 2
    assert EqualFrequency(nominal=["zip"]).encode(X).levels[0] == 40
    assert EqualFrequency(min_level_count=40).encode(X).levels[1] < 26
    with pytest.raises(ValueError, match="hole"):
        Sieve(missing="error").fit(X, y)
    assert len(Sieve("mim", missing="drop-pairwise", n_features_to_select=3).fit(X, y).selected_) == 3
