"""Cut points and codes of real data against those of published programs."""

import gzip
import json

import numpy as np
import pytest
from sklearn.preprocessing import KBinsDiscretizer

from labelsieve import datasets
from labelsieve.discretize import MDL, EqualFrequency, EqualWidth, KMeansBins, MeanStd, equal_width
from tests.support.shared_files import shared_file

SETTINGS = {"default": {}, "betterEncoding": {"boundaries": "values"}}


@pytest.mark.parametrize("setting", SETTINGS)
def test_mdl_cut_points_are_those_of_weka(setting):
    expected = json.loads(shared_file("reference", "weka_mdl_cut_points_emotions.json").read_text())["emotions-train"][setting]
    data = datasets.load(shared_file("data", "emotions", "emotions-train.arff.gz"))
    of_labels = MDL("single", **SETTINGS[setting]).fit(data.X, data.Y).cut_points_
    for label, of_label in enumerate(of_labels):
        assert {str(j): cuts.tolist() for j, cuts in enumerate(of_label)} == expected[str(label)]
    of_powerset = MDL("joint", **SETTINGS[setting]).fit(data.X, data.Y).cut_points_
    assert {str(j): cuts.tolist() for j, cuts in enumerate(of_powerset)} == expected["LP"]


def test_mean_std_levels_are_those_of_the_authors_program():
    with np.load(shared_file("reference", "occ_emotions.npz"), allow_pickle=False) as reference:
        expected, targets = reference["X_disc"], reference["Y"]
    data = datasets.load(shared_file("data", "emotions", "emotions.arff.gz"))
    assert np.array_equal(np.asarray(data.Y), targets), "the rows are in another order"
    codes = MeanStd(factor=0.5, decimals=3, keep_binary=True).fit_transform(data.X)
    assert np.array_equal(codes.astype(int) - 1, expected)


def test_bins_are_those_of_scikit_learn_where_the_rules_agree():
    rng = np.random.default_rng(0)
    X = rng.permuted(np.linspace(0, 1, 200) ** 3 + 1e-6 * rng.random((6, 200)), axis=1).T
    ours = {"uniform": EqualWidth(5), "quantile": EqualFrequency(5)}
    for strategy, rule in ours.items():
        extra = {"quantile_method": "averaged_inverted_cdf"} if strategy == "quantile" else {}
        theirs = KBinsDiscretizer(5, encode="ordinal", strategy=strategy, subsample=None, **extra).fit_transform(X)
        assert np.array_equal(rule.fit_transform(X), theirs)
    blobs = np.concatenate([rng.normal(center, 0.1, size=(40, 6)) for center in (0, 3, 6, 9)])
    theirs = KBinsDiscretizer(4, encode="ordinal", strategy="kmeans", subsample=None).fit(blobs)
    found = KMeansBins(4).fit(blobs)
    assert np.allclose(found.cut_points_, [edges[1:-1] for edges in theirs.bin_edges_])
    assert np.array_equal(found.transform(blobs), theirs.transform(blobs))


def numbers_of(name):
    """The numbers of a dense ARFF file without missing values."""
    with gzip.open(shared_file("data", name, f"{name}.arff.gz"), "rt") as lines:
        rows = [line.split(",") for line in lines if line.strip() and line[0] not in "@%"]
    return np.array(rows, dtype=float)


def number_occupied(codes):
    """Every column with the bins that are not empty numbered from 0, as the reference files have them."""
    return np.stack([np.unique(column, return_inverse=True)[1] for column in codes.T], axis=1)


@pytest.mark.parametrize("name", ["emotions", "atp1d"])
def test_five_bins_of_a_published_data_set_are_those_of_the_reference(name):
    with np.load(shared_file("reference", f"group_jmi_{name}_seed0.npz"), allow_pickle=False) as reference:
        expected, targets = reference["X_disc"], reference["Y"]
    table = numbers_of(name)
    n_features = expected.shape[1]
    assert np.array_equal(table[:, n_features:], targets), "the rows are in another order"
    codes = equal_width(table[:, :n_features])
    assert codes.levels.max() == 5
    assert np.array_equal(number_occupied(codes.to_dense()), expected)


def test_five_bins_of_emotions_are_the_input_of_feast():
    with np.load(shared_file("reference", "feast_emotions_eqw5.npz"), allow_pickle=False) as reference:
        expected = reference["X_disc"]
    codes = equal_width(numbers_of("emotions")[:, : expected.shape[1]])
    assert np.array_equal(number_occupied(codes.to_dense()), number_occupied(expected))
