"""Discretizers by column: names, positions and kinds of columns, in Python and on the command line."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from labelsieve import InputError, LabelwiseSieve, QuadraticSieve, Sieve
from labelsieve.discretize import MDL, AsGiven, ByColumn, EqualFrequency, EqualWidth, Levels, MeanStd
from tests.support.command_line import refusal, run
from tests.support.selection_data import assert_same_selection

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "age": RNG.normal(40, 10, size=300),
        "income": RNG.lognormal(size=300),
        "zip": RNG.integers(10, 40, size=300) * 100,
        "rooms": RNG.integers(0, 12, size=300),
        "color": RNG.choice(["red", "green", "blue", "gray", "pink", "teal", "navy"], size=300),
    }
)
Y = np.column_stack([FRAME["age"] > 42, FRAME["zip"] % 700 > 300, FRAME["color"].isin(["red", "gray"])]).astype(int)
selectors = pytest.mark.parametrize("selector", [Sieve, LabelwiseSieve, QuadraticSieve])


def alone(rule, name):
    return rule.encode(FRAME[[name]], Y).column(0).tolist()


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas])
def test_every_column_has_the_codes_of_its_discretizer(library):
    rule = ByColumn({"age": MDL(), ("income", 3): EqualFrequency(3), "zip": Levels()}, EqualWidth(4))
    codes = rule.encode(library(FRAME), Y)
    expected = {"age": MDL(), "income": EqualFrequency(3), "zip": Levels(), "rooms": EqualFrequency(3), "color": AsGiven()}
    for position, (name, used) in enumerate(expected.items()):
        assert codes.column(position).tolist() == alone(used, name), name
    assert codes.names == tuple(FRAME.columns)


def test_kinds_of_columns_have_discretizers_and_names_override_them():
    codes = ByColumn({"int": Levels(), "rooms": EqualWidth(2), "float": EqualFrequency(3)}, AsGiven()).encode(FRAME, Y)
    expected = [EqualFrequency(3), EqualFrequency(3), Levels(), EqualWidth(2), AsGiven()]
    for position, (name, used) in enumerate(zip(FRAME.columns, expected, strict=True)):
        assert codes.column(position).tolist() == alone(used, name), name
    named = FRAME.rename(columns={"age": "int"})
    codes = ByColumn({"int": EqualWidth(2)}, EqualWidth(3)).encode(named)
    assert codes.levels.tolist() == [2, 3, 3, 3, 7], "a column of that name"


def test_positions_work_for_arrays_and_sparse_matrices():
    values = FRAME.drop(columns="color").to_numpy()
    rule = ByColumn({0: MDL(), 2: Levels()}, EqualWidth(4))
    expected = rule.encode(FRAME.drop(columns="color"), Y).to_dense()
    for container in (np.asarray, np.ndarray.tolist, sp.csr_array, sp.csc_matrix):
        assert np.array_equal(rule.encode(container(values), Y).to_dense(), expected)
    separate = ByColumn({0: MDL("single")}, EqualWidth(4)).encode(values, Y)
    assert [codes.column(0).tolist() for codes in separate] == [
        codes.column(0).tolist() for codes in MDL("single").encode(values[:, :1], Y)
    ]


@selectors
def test_selectors_take_a_dictionary(selector, tmp_path):
    rules = {"zip": "levels", "age": MDL(), 1: "equal-frequency"}
    method = {"criterion": "mlqpfs" if selector is QuadraticSieve else "cmim"}  # by codes alone
    sieve = clone(selector(**method, discretizer=rules, n_features_to_select=3)).fit(FRAME, Y)
    default = EqualFrequency()
    expected = ByColumn({"zip": Levels(), "age": MDL(), "income": EqualFrequency()}, default).encode(FRAME, Y)
    assert_same_selection(selector(**method, discretizer=None, n_features_to_select=3).fit(expected.to_dense(), Y), sieve)
    assert_same_selection(pickle.loads(pickle.dumps(sieve)), sieve)
    information = sieve.label_information(FRAME, Y)
    whole = selector("mim" if selector is not QuadraticSieve else "mlqpfs", discretizer=rules, n_features_to_select=None)
    everything = whole.fit(FRAME, Y).label_information(FRAME, Y)
    assert np.allclose(information, everything.loc[information.index]), "of some columns as of all"
    sieve.to_json(tmp_path / "sieve.json")
    assert_same_selection(selector.from_json(tmp_path / "sieve.json").fit(FRAME, Y), sieve)


def test_parameters_of_a_pipeline_can_be_dictionaries():
    model = make_pipeline(Sieve(n_features_to_select=2), KNeighborsClassifier(5))
    grid = {"sieve__discretizer": [{"age": "mdl"}, {"age": EqualWidth(2)}, "equal-frequency"]}
    numbers = FRAME.drop(columns="color")
    assert len(GridSearchCV(model, grid, cv=2, error_score="raise").fit(numbers, Y).cv_results_["params"]) == 3


def test_unknown_columns_and_discretizers_are_refused_by_name():
    with pytest.raises(InputError, match=r"discretizer: there is no feature named 'aeg'\. Did you mean 'age'"):
        Sieve(discretizer={"aeg": "mdl"}).fit(FRAME, Y)
    with pytest.raises(InputError, match="5 is not a column from 0 to 4"):
        Sieve(discretizer={5: "mdl"}).fit(FRAME, Y)
    with pytest.raises(InputError, match=r"'equal-widht' is not a discretizer\. Did you mean 'equal-width'"):
        Sieve(discretizer={"age": "equal-widht"}).fit(FRAME, Y)


def test_the_command_line_has_discretizers_of_columns(tmp_path):
    path = tmp_path / "table.csv"
    FRAME.assign(y=Y[:, 1]).to_csv(path, index=False)
    command = ("select", path, "--labels", "y", "-k", 3, "--criterion", "mim", "--json")
    binned = json.loads(run(*command).stdout)["selected"]
    levels = json.loads(run(*command, "--discretizer-of", "zip=levels", "--discretizer-of", "age=equal-width:n_bins=2").stdout)
    expected = Sieve("mim", discretizer={"zip": "levels", "age": EqualWidth(2)}, n_features_to_select=3).fit(FRAME, Y[:, 1])
    assert levels["selected"][0]["feature"] == "zip"
    assert [feature["score"] for feature in levels["selected"]] == pytest.approx(expected.scores_)
    assert levels["selected"][0]["score"] > 2 * binned[0]["score"], "five bins mix the levels"
    both = json.loads(run(*command, "--discretizer", "mean-std", "--discretizer-of", "int=levels").stdout)["selected"]
    rule = ByColumn({"int": Levels()}, MeanStd())
    assert rule.encode(FRAME).levels.tolist()[2:] == [30, 12, 7]
    expected = Sieve("mim", discretizer=rule, n_features_to_select=1).fit(FRAME, Y[:, 1])
    assert both[0]["score"] == pytest.approx(expected.scores_[0])
    assert "it looks like COLUMN=DISCRETIZER" in refusal(*command, "--discretizer-of", "age")
    assert "EqualWidth has n_bins" in refusal(*command, "--discretizer-of", "age=equal-width:bins=2")
    assert "Did you mean 'age'" in refusal(*command, "--discretizer-of", "aeg=mdl")
