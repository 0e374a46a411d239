"""Cut points and codes of real data against those of other people's programs."""

import json

import numpy as np
import pytest
from sklearn.preprocessing import KBinsDiscretizer

from labelsieve import datasets
from labelsieve.discretize import MDL, EqualFrequency, EqualWidth, KMeansBins, MeanStd
from tests.support.shared_files import shared_file

SETTINGS = {"default": {}, "betterEncoding": {"boundaries": "values"}, "kononenko": {"rule": "kononenko"}}


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
