"""Irrelevant and corrupted copies of features: what they hold, and how many of them are selected."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import InputError
from labelsieve.datasets import Dataset
from labelsieve.studies import Protocol, Study, StudyError
from labelsieve.studies.data import LoadedData, read_source
from leaderboard import noise_shares
from tests.support.small_studies import contents, data, protocol

NOISE = {"irrelevant": 0.5, "corrupted": 0.25}


def small(kind, *, sparse=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8)) if kind == "numeric" else rng.integers(0, 2, size=(200, 8)).astype(float)
    names = tuple("abcdefgh")
    return Dataset(
        sp.csr_array(X) if sparse else X, np.eye(200, 3, dtype=int), names, ("x", "y", "z"), (kind,) * 8, name="songs"
    )


def noisy(dataset, **changes):
    return read_source({"dataset": dataset, "noise": {**NOISE, **changes}}).load()


@pytest.mark.parametrize("sparse", [False, True])
def test_added_columns_are_permuted_and_corrupted_copies_of_named_columns(sparse):
    before, after = small("nominal", sparse=sparse), noisy(small("nominal", sparse=sparse))
    X, all_columns = (np.asarray(one.X.toarray() if sparse else one.X) for one in (before, after))
    assert sp.issparse(after.X) == sparse
    assert all_columns.shape == (200, 8 + 4 + 2)
    assert (all_columns[:, :8] == X).all()
    sources = [before.feature_names.index(name[-2]) for name in after.feature_names[8:]]
    for column, source in enumerate(sources[:4], 8):
        assert sorted(all_columns[:, column]) == sorted(X[:, source])
        assert (all_columns[:, column] != X[:, source]).mean() > 0.3
    for column, source in enumerate(sources[4:], 12):
        assert 0.02 < (all_columns[:, column] != X[:, source]).mean() <= 0.25
    assert [name.split()[0] for name in after.feature_names[8:]] == ["irrelevant"] * 4 + ["corrupted"] * 2


def test_corrupted_numbers_have_noise_of_their_own_deviation_and_a_seed():
    before, after = small("numeric"), noisy(small("numeric"))
    for column in (12, 13):
        source = before.X[:, before.feature_names.index(after.feature_names[column][-2])]
        assert np.corrcoef(after.X[:, column], source)[0, 1] == pytest.approx(np.sqrt(0.5), abs=0.12)
    assert (noisy(small("numeric")).X == after.X).all()
    assert (noisy(small("numeric"), seed=1).X != after.X).any()


def test_shares_of_noise_among_selected_features(tmp_path):
    made = protocol(
        datasets=[{"dataset": data(), "noise": NOISE}, data("films", 60, 1)],
        n_features=[5, 10],
        methods=["mim"],
        splits="2x50%",
    )
    Study(made, tmp_path).run()
    d = data().X.shape[1]
    rankings = [json.loads(row[8]) for row in contents(tmp_path)[0] if row[0] == "songs" and row[2] == "mim"]
    irrelevant = [sum(d <= column < d + d // 2 for column in ranking[:k]) / k for ranking in rankings for k in (5, 10)]
    corrupted = [sum(column >= d + d // 2 for column in ranking[:k]) / k for ranking in rankings for k in (5, 10)]
    found = noise_shares(tmp_path, sizes=(5, 10))
    assert found["mim"] == (pytest.approx(np.mean(irrelevant)), pytest.approx(np.mean(corrupted)), 1)
    assert found["random"][0] > found["mim"][0]
    Study(protocol(datasets=[data()], methods=["mim"], splits="1x50%"), tmp_path / "clean").run()
    with pytest.raises(InputError, match="no selection of a data set with noise"):
        noise_shares(tmp_path / "clean")


def test_file_that_extends_another_adds_noise_to_all_data_sets(tmp_path):
    (tmp_path / "base.toml").write_text('methods = ["jmi"]\nseed = 3\ndatasets = ["emotions", { name = "yeast" }]\n', "utf-8")
    (tmp_path / "noise.toml").write_text('extends = "base.toml"\nseed = 4\nnoise = { irrelevant = 0.5 }\n', "utf-8")
    made = Protocol.from_toml(tmp_path / "noise.toml")
    assert made.seed == 4
    assert [source.settings["noise"]["irrelevant"] for source in made.datasets] == [0.5, 0.5]
    (tmp_path / "noise.toml").write_text('extends = "noise.toml"\n', "utf-8")
    with pytest.raises(StudyError, match="extends must name another protocol"):
        Protocol.from_toml(tmp_path / "noise.toml")


@pytest.mark.parametrize("noise", [0.5, {"irrelevant": -1}, {"relevant": 0.5}, {"irrelevant": 0.5, "seed": 0.5}])
def test_wrong_noise_is_refused(noise):
    with pytest.raises(InputError, match=r"'songs'.*noise"):
        LoadedData.of(read_source({"dataset": data(), "noise": noise}))
