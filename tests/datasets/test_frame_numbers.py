"""Text columns of frames that are numbers: a warning that names the conversion, and the conversion by the rule for files."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from labelsieve import InputError, Sieve
from labelsieve.datasets import DatasetWarning, load, to_numbers
from labelsieve.errors import NumberTextWarning

TEXTS = {
    "price": ["$1,234.50", "($5)", "-", None],
    "share": ["12 %", "0.5%", "", "NA"],
    "lead": ["<0.5", "0.7", "3", "n.a."],
    "zip": ["01234", "99999", "00501", "10001"],
    "word": ["a", "b", "c", "1"],
    "count": [1, 2, 3, 4],
}
FORMATTED = {
    "price": lambda values: [f"${value:,.2f}" for value in values],
    "percent": lambda values: [f"{value:.1f} %" for value in values],
    "comma": lambda values: [f"{value:.1f}".replace(".", ",") for value in values],
    "limit": lambda values: ["<10" if value < 10 else f"{value:.1f}" for value in values],
}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_numbers_are_converted_in_a_frame_of_the_same_library(frame):
    converted = to_numbers(frame(TEXTS))
    assert type(converted) is type(frame(TEXTS))
    numbers = pd.DataFrame({name: list(map(str, converted[name].to_numpy())) for name in TEXTS})
    assert numbers["price"].tolist()[:2] == ["1234.5", "-5.0"]
    assert numbers["share"].tolist()[:2] == ["12.0", "0.5"]
    assert float(numbers["lead"][0]) < 0.5 < float(numbers["lead"][1])
    assert numbers["zip"].tolist() == TEXTS["zip"]  # codes, and words, stay as they are
    assert numbers["word"].tolist() == TEXTS["word"]


def test_rows_keep_their_labels_and_the_frame_its_text():
    frame = pd.DataFrame(TEXTS, index=list("wxyz"))
    converted = to_numbers(frame)
    assert converted.loc["x", "price"] == -5
    assert np.isnan(converted.loc["y", "price"])
    assert frame.loc["x", "price"] == "($5)"


def test_named_columns_must_be_numbers():
    frame = pd.DataFrame(TEXTS)
    assert to_numbers(frame, ["zip"])["zip"].tolist() == [1234, 99999, 501, 10001]
    assert to_numbers(pd.DataFrame({"e": ["1.234,5", "2,5"]}), decimal=",")["e"].tolist() == [1234.5, 2.5]
    with pytest.raises(InputError, match="column 'word' is not numbers of one unit: 'a'"):
        to_numbers(frame, ["word"])
    with pytest.raises(InputError, match=r"'prise' .*Did you mean 'price'"):
        to_numbers(frame, ["prise"])
    with pytest.raises(InputError, match="decimal must be"):
        to_numbers(frame, decimal=";")


@pytest.mark.parametrize("kind", FORMATTED)
def test_the_warning_names_a_conversion_that_gives_what_the_file_gives(kind, tmp_path):
    rng = np.random.default_rng(0)
    values = rng.gamma(2, 20, size=300)
    y = (values + rng.normal(scale=5, size=300) > 40).astype(int)
    X = pd.DataFrame({"value": FORMATTED[kind](values), "noise": rng.normal(size=300)})
    mark = "," if kind == "comma" else "."
    expected = r"X: text in 'value' .* is numbers.*labelsieve\.datasets\.to_numbers\(X" + (
        r", decimal=','\)" if mark == "," else r"\)"
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*levels")
        with pytest.warns(NumberTextWarning, match=expected):
            Sieve("mim").fit(X, y)
    path = tmp_path / "data.csv"
    X.assign(y=y).to_csv(path, index=False, sep=";", decimal=mark)
    with pytest.warns(DatasetWarning):
        data = load(path, "y")
    found = Sieve("mim").fit(to_numbers(X, decimal=mark), y)
    assert found.selected_[0] == 0
    assert found.scores_[0] == Sieve("mim").fit(data.named_features(), data.Y).scores_[0]


def test_words_codes_categories_and_few_texts_do_not_warn():
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 60, size=900)
    X = pd.DataFrame(
        {
            "zip": [f"{number:05d}" for number in numbers],
            "category": pd.Categorical([f"{number}" for number in numbers]),
            "few": [f"{number % 20}" for number in numbers],
            "word": [f"street {number}" for number in numbers],
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", NumberTextWarning)
        Sieve("mim", estimator="miller-madow").fit(X, numbers > 30)
