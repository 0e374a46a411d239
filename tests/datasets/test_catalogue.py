"""Every data set of the shared folder loads by its name, and is what its manifest says."""

import json

import numpy as np
import pytest
from scipy import sparse

from labelsieve.datasets import catalog, describe, fetch, load
from labelsieve.datasets.fetch import catalog_entry, where
from tests.support.shared_files import shared_file

# fmt: off
SETS = [
    "20ng", "andro", "atp1d", "atp7d", "bibtex", "birds", "CAL500", "corel16k1", "corel5k", "delicious", "edm",
    "emotions", "enb", "enron", "eukaryote-go", "flags", "foodtruck", "genbase", "image", "imdb", "jura", "languagelog",
    "mediamill-2500", "medical", "oes10", "oes97", "ohsumed", "osales", "rcv1s1", "rcv1s1-full", "reuters-k500", "rf1",
    "scene", "scm20d", "scpf", "sf1", "sf2", "slashdot", "slump", "stackex-chess", "tmc2007-500", "wq", "yahoo-arts",
    "yahoo-business", "yahoo-cut-computers", "yahoo-education", "yahoo-health", "yahoo-reference", "yahoo-science",
    "yeast",
]
# fmt: on


def manifest():
    return json.loads(shared_file("data", "MANIFEST.json").read_text())["datasets"]


def loaded(name):
    """By its name in the catalog, which knows files, parts and labels."""
    folder = shared_file("data", "MANIFEST.json").parent
    if where(catalog_entry(name), folder) != "folder":
        pytest.skip(f"the files of {name} are not in {folder}")
    return fetch(name, data_home=folder, download=False)


def nonzero_fraction(dataset):
    """As the manifest counts: a nominal value that is a number is that number, and a missing value is not 0."""
    if sparse.issparse(dataset.X):
        return np.count_nonzero(dataset.X.data) / np.prod(dataset.X.shape)
    X = dataset.X.copy()
    for place, name in enumerate(dataset.feature_names):
        try:
            values = [float(value) for value in dataset.categories.get(name, ())]
        except ValueError:
            continue
        if values:
            X[:, place] = np.array(values)[X[:, place].astype(int)]
    return np.count_nonzero(X) / X.size


def test_the_list_of_sets_is_whole():
    assert sorted(manifest()) == sorted(SETS) == sorted(set(catalog()) - {"tecator"})


@pytest.mark.parametrize("name", SETS)
def test_set_is_what_its_manifest_says(name):
    known = manifest()[name]
    dataset = loaded(name)
    assert dataset.name == name
    assert dataset.shape == (known["N"], known["d"], known["q"])
    assert sparse.issparse(dataset.X) == sparse.issparse(dataset.Y) == known["sparse_rows"]
    stored = dataset.X.data if sparse.issparse(dataset.X) else dataset.X
    assert np.isnan(stored).sum() == known["missing_values_features"]
    assert nonzero_fraction(dataset) == pytest.approx(known["features"]["nonzero_fraction"], abs=5.1e-7)
    assert dataset.feature_kinds.count("nominal") == len(dataset.categories)
    if known["format"] != "mat":
        assert len(dataset.categories) == known["features"]["declared_nominal"]
    if known["task"] == "multitarget-regression":
        assert dataset.Y.dtype == np.float64
        assert not np.isnan(dataset.Y).any()
        return
    found = describe(dataset)
    assert found.cardinality == pytest.approx(known["cardinality"], abs=5.1e-5)
    assert found.density == pytest.approx(known["density"], abs=5.1e-7)
    assert found.n_distinct == known["distinct_labelsets"]
    assert np.isinf(found.imbalance).sum() == known["label_columns_without_positive"]
    counts = np.asarray(dataset.Y.sum(axis=0)).ravel()
    assert counts[counts > 0].min() == known["rarest_label_count"] or counts.min() == known["rarest_label_count"]
    assert (np.asarray(dataset.Y.sum(axis=1)).ravel() == 0).sum() == known["instances_without_label"]


def test_second_version_of_tmc_is_read_from_matlab():
    known = manifest()["tmc2007-500"]["second_version"]
    found = describe(load(shared_file("data", known["file"])))
    assert (found.n_rows, found.n_features, found.n_labels) == (known["N"], known["d"], known["q"])
    assert found.cardinality == pytest.approx(known["cardinality"], abs=5.1e-5)
    assert found.n_distinct == known["distinct_labelsets"]


@pytest.mark.parametrize("name", ["emotions", "enron", "yeast"])
def test_parts_hold_as_many_rows_as_the_whole(name):
    whole = load(shared_file("data", name, f"{name}.arff.gz"))
    parts = load([shared_file("data", name, f"{name}-{part}.arff.gz") for part in ("train", "test")])
    assert parts.name == whole.name == name
    assert parts.label_names == whole.label_names
    assert parts.shape == whole.shape
    assert sorted(np.asarray(parts.Y.sum(axis=0)).ravel()) == sorted(np.asarray(whole.Y.sum(axis=0)).ravel())


def test_labels_keep_the_order_of_the_columns():
    yeast = load(shared_file("data", "yeast", "yeast.arff.gz"))
    assert yeast.label_names == tuple(f"Class{i}" for i in range(1, 15))


def test_escaped_names_match_their_header():
    birds = load(shared_file("data", "birds", "birds-train.arff.gz"))
    assert "Swainson's Thrush" in birds.label_names


@pytest.mark.parametrize("part", ["emotions", "emotions-train"])
def test_statistics_are_those_of_mulan(part):
    expected = json.loads(shared_file("reference", "mulan_statistics_emotions.json").read_text())[part]
    found = describe(load(shared_file("data", "emotions", f"{part}.arff.gz")))
    assert (found.n_rows, found.n_features, found.n_labels) == tuple(expected[k] for k in ("instances", "features", "labels"))
    assert found.n_distinct == expected["distinct"]
    close = {"rel": 0, "abs": 1e-10}
    assert found.cardinality == pytest.approx(expected["cardinality"], **close)
    assert found.density == pytest.approx(expected["density"], **close)
    assert found.imbalance.tolist() == pytest.approx(expected["IRLbl"], **close)
    assert found.mean_imbalance == pytest.approx(expected["meanIR"], **close)
    assert found.imbalance_variation == pytest.approx(expected["CVIR"], **close)
    assert found.scumble == pytest.approx(expected["SCUMBLE"], **close)
