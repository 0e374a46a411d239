"""Nominal features are counted by their levels, whichever discretizer cuts the numeric ones and wherever they come from."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from labelsieve import InputError, LabelwiseSieve, QuadraticSieve, Sieve
from labelsieve.datasets import load
from labelsieve.discretize import MDL, EqualFrequency, EqualWidth
from labelsieve.errors import ColumnWarning, IdLikeColumnWarning
from labelsieve.registry import DISCRETIZERS, declare_nominal
from labelsieve.selectors import ChiSquare
from tests.support.command_line import run
from tests.support.shared_files import shared_file

RNG = np.random.default_rng(0)
WORDS = np.array([f"{letter}-town" for letter in "abcdefghijklmnopqrstuvwxyz"])
TOWN = RNG.permutation(np.repeat(np.arange(26), 40))
Y = np.isin(TOWN, RNG.permutation(26)[:13]).astype(int)
NOISE = RNG.normal(size=len(TOWN))
WORD = WORDS[TOWN].tolist()
every = pytest.mark.parametrize("name", DISCRETIZERS)

FRAMES = {
    "pandas text": pd.DataFrame({"noise": NOISE, "town": WORD}),
    "pandas objects": pd.DataFrame({"noise": NOISE, "town": pd.Series(WORD, dtype=object)}),
    "pandas categories": pd.DataFrame({"noise": NOISE, "town": pd.Categorical(WORD)}),
    "pandas categories of numbers": pd.DataFrame({"noise": NOISE, "town": pd.Categorical(TOWN * 10)}),
    "pandas of pyarrow": pd.DataFrame({"noise": NOISE, "town": pd.Series(WORD, dtype=pd.ArrowDtype(pa.string()))}),
    "polars text": pl.DataFrame({"noise": NOISE, "town": WORD}),
    "polars categories": pl.DataFrame({"noise": NOISE, "town": pl.Series(WORD, dtype=pl.Categorical)}),
    "polars enumeration": pl.DataFrame({"noise": NOISE, "town": pl.Series(WORD, dtype=pl.Enum(WORDS[::-1]))}),
    "pyarrow text": pa.table({"noise": NOISE, "town": WORD}),
    "pyarrow dictionary": pa.table({"noise": NOISE, "town": pa.array(WORD).dictionary_encode()}),
    "pyarrow chunks": pa.concat_tables(
        [pa.table({"noise": NOISE[s], "town": WORD[s]}) for s in (slice(500), slice(500, None))]
    ),
}


@every
@pytest.mark.parametrize("frame", FRAMES)
def test_a_category_that_determines_a_label_has_all_its_information(frame, name):
    sieve = Sieve("mim", discretizer=name, n_features_to_select=1).fit(FRAMES[frame], Y)
    assert sieve.selected_.tolist() == [1]
    assert sieve.scores_ == pytest.approx(np.log(2))
    assert sieve.label_information(FRAMES[frame], Y, backend="pandas").to_numpy() == pytest.approx(np.log(2))


@pytest.mark.parametrize("selector", [LabelwiseSieve, QuadraticSieve, ChiSquare])
def test_every_counting_selector_keeps_levels(selector):
    assert selector(n_features_to_select=1).fit(FRAMES["polars text"], Y).get_support().tolist() == [False, True]


@pytest.mark.parametrize("suffix", ["csv", "arff", "tsv", "parquet"])
def test_files_keep_levels_in_python_and_on_the_command_line(suffix, tmp_path):
    path = tmp_path / f"table.{suffix}"
    frame = FRAMES["pandas text"].assign(y=Y)
    if suffix == "arff":
        head = f"@relation t\n@attribute noise numeric\n@attribute town {{{','.join(WORDS)}}}\n@attribute y {{0,1}}\n@data\n"
        path.write_text(head + frame.to_csv(index=False, header=False))
    elif suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    data = load(path, labels=["y"], strings="nominal")
    assert Sieve("mim", n_features_to_select=1).fit(data.named_features(), data.Y).scores_ == pytest.approx(np.log(2))
    for options in ((), ("--discretizer", "mdl"), ("--labelwise",), ("--n-bins", 2)):
        result = run("select", path, "--labels", "y", "-k", 1, "--criterion", "mim", "--json", *options)
        first = json.loads(result.stdout)["selected"][0]
        assert (first["feature"], first["score"]) == ("town", pytest.approx(np.log(2))), options


def test_a_stopping_rule_with_a_learner_gets_codes_of_the_same_levels(tmp_path):
    path = tmp_path / "table.csv"
    FRAMES["pandas text"].assign(y=Y).to_csv(path, index=False)
    result = run("select", path, "--labels", "y", "-k", "cross-validation:cv=2:max_features=2", "--criterion", "mim", "--json")
    first = json.loads(result.stdout)["selected"][0]
    assert (first["feature"], first["score"]) == ("town", pytest.approx(np.log(2)))


def test_declared_columns_of_arrays_and_sparse_matrices_keep_levels():
    X = np.column_stack([NOISE, TOWN * 10])
    for container in (np.asarray, sp.csr_array, sp.csc_array, np.ndarray.tolist):
        for rule in (EqualWidth(nominal=[1]), MDL(nominal=[1])):
            assert Sieve("mim", discretizer=rule, n_features_to_select=1).fit(container(X), Y).scores_ == pytest.approx(
                np.log(2)
            )
    frame = pd.DataFrame(X, columns=["noise", "town"])
    sieve = Sieve("mim", discretizer=EqualWidth(nominal=["town"]), n_features_to_select=1).fit(frame, Y)
    assert sieve.scores_ == pytest.approx(np.log(2))
    with pytest.raises(InputError, match=r"there is no feature named 'twon'\. Did you mean 'town'"):
        Sieve("mim", discretizer=EqualWidth(nominal=["twon"])).fit(frame, Y)
    with pytest.raises(InputError, match="2 is not a column from 0 to 1"):
        Sieve("mim", discretizer=EqualWidth(nominal=[2])).fit(X, Y)


def test_information_gain_of_medical_is_that_of_its_nominal_columns():
    data = load(shared_file("data", "medical", "medical.arff"))
    sieve = Sieve("br-infogain", n_features_to_select=None)
    declare_nominal(sieve, data.nominal_features, data.X.shape[1])
    exact = Sieve("br-infogain", discretizer=None, n_features_to_select=None).fit(data.X, data.Y)
    assert np.array_equal(sieve.fit(data.X, data.Y).scores_, exact.scores_)
    assert np.array_equal(sieve.selected_, exact.selected_)


@every
@pytest.mark.parametrize("criterion", ["mim", "jmi", "cmim", "mrmr"])
def test_an_id_is_noted_and_never_wins_over_an_informative_feature(name, criterion):
    rng = np.random.default_rng(3)
    n_rows = 400
    weak = rng.normal(size=n_rows)
    labels = np.column_stack([weak + rng.normal(size=n_rows) > 0, rng.random(n_rows) < 0.5])
    ids = {
        "id": [f"row {i}" for i in range(n_rows)],
        "pairs": [f"pair {i // 2}" for i in rng.permutation(n_rows - 10)] + [f"one {i}" for i in range(10)],
    }
    frame = pd.DataFrame({**ids, "weak": weak})
    with (
        pytest.warns(IdLikeColumnWarning, match=r"column 0 \('id'\) has 400 levels in 400 rows, like an id.*Exclude"),
        pytest.warns(IdLikeColumnWarning, match=r"column 1 \('pairs'\) has 205 levels"),
    ):
        sieve = Sieve(criterion, discretizer=name, n_features_to_select=3).fit(frame, labels)
    assert sieve.selected_[0] == 2
    assert Sieve("mim", discretizer=None, n_features_to_select=None).fit([[i] for i in range(n_rows)], labels).scores_ > 0.5


def test_words_of_sentences_are_recommended():
    texts = [f"goal number {i} of the match" for i in range(60)]
    labels = np.arange(60) % 2
    with pytest.warns(IdLikeColumnWarning, match="If it is running text, make a column of every word"):
        Sieve(n_features_to_select=1).fit(pd.DataFrame({"headline": texts, "x": NOISE[:60]}), labels)
    with pytest.warns(IdLikeColumnWarning) as caught:
        Sieve(n_features_to_select=1).fit(pd.DataFrame({"id": [f"row {i}" for i in range(60)], "x": NOISE[:60]}), labels)
    assert not any("running text" in str(one.message) for one in caught)


def test_more_levels_than_codes_are_pooled():
    n_rows = 150_000
    levels = np.concatenate([np.arange(74_000), np.arange(74_000), np.zeros(2000, dtype=int)])
    frame = pl.DataFrame({"user": levels}).select("user " + pl.col("user").cast(pl.String))
    y = (levels == 0).astype(int)
    with pytest.warns(ColumnWarning, match="has 74,000 levels; the 65,533 most frequent are kept"):
        sieve = Sieve("mim", n_features_to_select=1).fit(frame, y)
    p = y.mean()
    assert len(frame) == n_rows
    assert sieve.scores_ == pytest.approx(-p * np.log(p) - (1 - p) * np.log(1 - p))


def test_rare_levels_are_pooled_on_request():
    words = ["a"] * 50 + ["b"] * 40 + ["c"] * 3 + ["d"] * 2 + [None]
    frame = pd.DataFrame({"word": words})
    pooled = EqualWidth(min_level_count=4).fit(frame)
    assert pooled.categories_[0].tolist() == ["a", "b"]
    assert pooled.transform(frame).ravel().tolist() == [0] * 50 + [1] * 40 + [2] * 5 + [3]
    assert np.array_equal(pooled.transform(frame), EqualWidth(min_level_count=4).encode(frame).to_dense())
    new = pooled.transform(pd.DataFrame({"word": ["unseen", "a", None]}))
    assert new.ravel().tolist() == [2, 0, 3], "an unseen level is one of the rare ones"
    kept = EqualWidth().fit(frame)
    assert kept.categories_[0].tolist() == ["a", "b", "c", "d"]
    assert kept.transform(pd.DataFrame({"word": ["unseen", "d", None]})).ravel().tolist() == [4, 3, 4]


def test_whole_weights_count_levels_as_repeated_rows_do():
    rng = np.random.default_rng(5)
    words, weights = rng.choice(list("abcdefgh"), size=60), rng.integers(0, 4, size=60)
    frame = pd.DataFrame({"word": words})
    rule = EqualWidth(min_level_count=9)
    repeated = rule.fit(frame.loc[np.repeat(np.arange(60), weights)])
    expected = repeated.categories_[0].tolist()
    assert 0 < len(expected) < 8
    assert rule.fit(frame, sample_weight=weights).categories_[0].tolist() == expected
    fractions = EqualWidth(min_level_count=2).fit(frame, sample_weight=np.maximum(weights, 1) / 100)
    assert len(fractions.categories_[0]) == 8, "fractions do not change the number of rows of a level"


def test_booleans_of_a_frame_are_never_cut():
    rare = np.zeros(200, dtype=bool)
    rare[:3] = True
    labels = (np.arange(200) < 8).astype(int)
    for frame in (
        pd.DataFrame({"rare": rare}),
        pl.DataFrame({"rare": rare}),
        pd.DataFrame({"rare": pd.array(rare, "boolean")}),
    ):
        assert MDL().encode(frame, labels).levels.tolist() == [2]
    gaps = pd.DataFrame({"rare": pd.Series([True, None, False] * 40, dtype=object)})
    assert MDL().encode(gaps, labels[:120]).column(0).tolist() == [1, 2, 0] * 40


def test_levels_of_few_rows_are_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Sieve("mim").fit(pd.DataFrame({"word": list("abcdefghij")}), [0, 1] * 5)


def street_table(n_levels):
    rng = np.random.default_rng(0)
    size = rng.normal(size=1000)
    street = [f"street {level}" for level in rng.integers(0, n_levels, 1000)]
    return pd.DataFrame({"street": street, "size": size}), (size + rng.normal(scale=2, size=1000) > 0).astype(int)


@pytest.mark.parametrize("selector", [Sieve("mim", n_features_to_select=1), LabelwiseSieve("mim", n_features_to_select=1)])
def test_information_that_is_bias_of_many_levels_is_noted_with_a_remedy_that_works(selector):
    X, y = street_table(450)
    with pytest.warns(ColumnWarning, match=r"'street' \(\d+\) has many levels for 1,000 rows.*estimator='shrinkage'"):
        assert selector.fit(X, y).get_feature_names_out().tolist() == ["street"]
    for remedy in ({"estimator": "shrinkage"}, {"discretizer": EqualFrequency(min_level_count=10)}, {"excluded": ["street"]}):
        assert clone(selector).set_params(**remedy).fit(X, y).get_feature_names_out().tolist() == ["size"]


def test_the_correction_of_miller_and_madow_is_noted_where_it_is_too_small():
    X, y = street_table(450)
    with pytest.warns(ColumnWarning, match=r"'street' \(\d+\) has many levels.*with estimator='miller-madow' too.*'shrinkage'"):
        Sieve("mim", estimator="miller-madow", n_features_to_select=1).fit(X, y)
    Sieve("mim", estimator="miller-madow").fit(*street_table(150))


@pytest.mark.filterwarnings("ignore::labelsieve.errors.ColumnWarning")
@pytest.mark.parametrize("n_levels", [120, 250, 450])
def test_the_default_of_the_command_line_prefers_informative_features_to_many_levels(n_levels):
    X, y = street_table(n_levels)
    assert Sieve(n_features_to_select=1).fit(X, y).get_feature_names_out().tolist() == ["size"]


def test_levels_with_many_rows_are_not_noted():
    Sieve("mim").fit(*street_table(90))
    X, y = street_table(450)
    Sieve("mim").fit(X[["street"]].assign(other=X["street"].to_numpy()[::-1]), y)  # no column has fewer levels
