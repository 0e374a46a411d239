"""What is saved is loaded again, bit for bit, whatever the names and numbers are."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from labelsieve.datasets import Dataset, load, save
from labelsieve.tables.text import MISSING
from tests.support.saved_datasets import assert_same, assert_same_labels, bits, data_sets, dense, texts
from tests.support.shared_files import shared_file

PACKED = st.sampled_from(["", "", ".gz", ".bz2", ".xz"])
PLAIN = texts(st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters=";\t")).filter(bool)
WORDS = PLAIN.map(lambda text: "v" + text).filter(lambda text: text not in MISSING)


def again(dataset, name, labels=None):
    with tempfile.TemporaryDirectory() as folder:
        files = save(dataset, Path(folder, name))
        assert sorted(Path(folder).iterdir()) == sorted(files)
        return load(files[0], labels)


@given(data_sets(), PACKED)
def test_arff_keeps_everything(dataset, packed):
    found = again(dataset, "made.arff" + packed)
    assert_same(found, dataset)
    assert (found.name, found.description) == (dataset.name, dataset.description)


@given(data_sets(label_names=texts(st.characters(codec="utf-8", exclude_characters="\0"))), PACKED)
def test_parquet_keeps_everything(dataset, packed):
    pytest.importorskip("pyarrow")
    found = again(dataset, "made.parquet" + packed)
    assert_same(found, dataset)
    assert (found.name, found.description) == (dataset.name, dataset.description)


@given(data_sets(values=None, targets=("labels",)), PACKED)
def test_libsvm_keeps_all_but_names(dataset, packed):
    found = again(dataset, "made.libsvm" + packed)
    assert sparse.issparse(found.X)
    np.testing.assert_array_equal(bits(found.X), bits(sparse.csr_array(dataset.X)))
    np.testing.assert_array_equal(dense(found.Y), dense(dataset.Y))
    assert found.feature_names == tuple(f"feature{place}" for place in range(dataset.X.shape[1]))
    assert found.label_names == tuple(f"label{place}" for place in range(dataset.Y.shape[1]))


@pytest.mark.filterwarnings("ignore:.*all names are numbers")
@given(data_sets(names=PLAIN, label_names=PLAIN, values=WORDS, targets=("labels", "numeric")), PACKED)
def test_csv_keeps_numbers_names_and_words(dataset, packed):
    found = again(dataset, "made.csv" + packed, len(dataset.label_names))
    assert (found.feature_names, found.label_names) == (dataset.feature_names, dataset.label_names)
    X = dense(dataset.X) + 0.0  # -0.0 becomes 0.0
    for place, name in enumerate(dataset.feature_names):
        if name not in dataset.categories:
            np.testing.assert_array_equal(bits(found.X[:, [place]]), bits(X[:, [place]]))
        elif not np.isnan(X[:, place]).all():
            words = [_word(code, dataset.categories[name]) for code in X[:, place]]
            assert [_word(code, found.categories[name]) for code in found.X[:, place]] == words
    np.testing.assert_array_equal(found.Y.astype(float), dense(dataset.Y).astype(float))


def _word(code, values):
    return None if np.isnan(code) else values[int(code)]


REAL = {
    "dense": ("emotions/emotions.arff.gz", None),
    "sparse and nominal": ("medical/medical.arff", None),
    "nominal": ("flags/flags.arff", None),
    "missing cells": ("osales/osales.arff.gz", 12),
    "regression on nominal features": ("sf1/sf1.arff", 3),
    "sparse counts": ("slashdot/SLASHDOT-F.arff.gz", None),
}


@pytest.mark.parametrize("ending", ["arff", "arff.gz", "parquet"])
@pytest.mark.parametrize("name", REAL)
def test_real_sets_come_back(name, ending, tmp_path):
    path, labels = REAL[name]
    dataset = load(shared_file("data", *path.split("/")), labels)
    save(dataset, tmp_path / f"{dataset.name}.{ending}")
    found = load(tmp_path / f"{dataset.name}.{ending}")
    assert_same(found, dataset)
    assert (found.name, found.description) == (dataset.name, dataset.description)


def test_a_real_set_comes_back_through_libsvm(tmp_path):
    dataset = load(shared_file("data", "slashdot", "SLASHDOT-F.arff.gz"))
    numeric = Dataset(dataset.X, dataset.Y, dataset.feature_names, dataset.label_names, ("numeric",) * dataset.shape[1])
    save(numeric, tmp_path / "slashdot.svm")
    assert_same(load(tmp_path / "slashdot.svm"), numeric, names=False)


def test_classes_of_a_real_set_come_back(tmp_path):
    dataset = load(shared_file("data", "flags", "flags.arff"), ["landmass", "zone", "red"])
    assert set(dataset.label_categories) == {"landmass", "zone"}
    for name in ("flags.arff", "flags.parquet"):
        save(dataset, tmp_path / name)
        assert_same_labels(load(tmp_path / name), dataset)
        assert load(tmp_path / name).label_categories == dataset.label_categories


# fmt: off
NASTY = [
    "", " ", "?", "%", "5%", "%5", "'", '"', "''", "it's", "'quoted'", '"both\'', "\\", "\\\\", "a\\'", "\\n", "a\nb", "\r",
    "\t", ",", "a,b", "{", "}", "{0 1}", "@data", "@attribute a numeric", "a b", " a", "a ", "#", "&amp;", "<label/>", "ä",
    "\u97f3\u697d", "\U0001f3b5", "\x85", "\u2028", "\ufeff", "nan", "NA", "0", "-C 3", "1:2", "feature_indices",
]
# fmt: on


@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize("ending", ["arff", "parquet"])
def test_names_and_values_that_mean_something_to_a_format_come_back(ending, scattered):
    count = len(NASTY)
    codes = np.arange(count, dtype=float)[:, np.newaxis]
    X = np.hstack([codes, np.eye(count)[:, : count - 1]])
    dataset = Dataset(
        X=sparse.csr_array(X) if scattered else X,
        Y=np.hstack([codes, codes[::-1]]).astype(np.int64),
        feature_names=(*NASTY[:-1], "last"),
        label_names=(NASTY[-1], "-C 1"),
        feature_kinds=("nominal",) + ("numeric",) * (count - 1),
        categories={NASTY[0]: tuple(NASTY)},
        label_categories={NASTY[-1]: tuple(NASTY), "-C 1": tuple(reversed(NASTY))},
        name="'it' -C 1",
    )
    assert_same(again(dataset, f"made.{ending}"), dataset)


@pytest.mark.parametrize("name", ["BZh", "PAR1", "@relation", "%", "1 5:2", "MATLAB 5.0 MAT-file", "\ufeffa", "a,b", '"a"'])
def test_csv_is_taken_for_csv_whatever_its_first_name(name):
    dataset = Dataset(np.array([[1.0], [0.0]]), np.array([[1], [0]], np.uint8), (name,), ("y",), ("numeric",))
    assert_same(again(dataset, "made.csv", 1), dataset)
