"""Data sets as arrays, and as frames of pandas and polars."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from labelsieve import InputError
from labelsieve.datasets import Dataset, load
from labelsieve.datasets import dataset as frames
from tests.support.table_libraries import install_only

X = np.array([[0.5, 1.0], [np.nan, 0.0], [-0.0, np.nan]])


def made(wrap=np.array):
    return Dataset(
        X=wrap(X),
        Y=np.array([[2, 1], [0, 0], [1, 1]]),
        feature_names=("tempo", "key"),
        label_names=("mood", "loud"),
        feature_kinds=("numeric", "nominal"),
        categories={"key": ("A", "B flat")},
        label_categories={"mood": ("calm", "happy", "sad")},
    )


def test_arrays_alone_are_returned_on_request(tmp_path):
    file = tmp_path / "made.csv"
    file.write_text("a,y\n1,0\n2,1\n")
    X, Y = load(file, 1, return_X_y=True)
    assert (X.tolist(), Y.tolist()) == ([[1], [2]], [[0], [1]])


@pytest.mark.parametrize("wrap", [np.array, sparse.csr_array])
def test_frames_of_pandas_have_categories(wrap):
    pandas = pytest.importorskip("pandas")
    features, labels = made(wrap).to_pandas()
    assert features["key"].dtype == pandas.CategoricalDtype(["A", "B flat"])
    assert features["key"].astype(object).where(features["key"].notna(), None).tolist() == ["B flat", "A", None]
    assert isinstance(features["tempo"].dtype, pandas.SparseDtype) == (wrap is not np.array)
    np.testing.assert_array_equal(np.asarray(features["tempo"]), X[:, 0])
    assert labels["mood"].tolist() == ["sad", "calm", "happy"]
    assert labels["loud"].tolist() == [1, 0, 1]


@pytest.mark.parametrize("wrap", [np.array, sparse.csr_array])
def test_frames_of_polars_have_enumerations_and_nulls(wrap):
    polars = pytest.importorskip("polars")
    features, labels = made(wrap).to_polars()
    assert features.schema == {"tempo": polars.Float64, "key": polars.Enum(["A", "B flat"])}
    assert features.to_dict(as_series=False) == {"tempo": [0.5, None, 0.0], "key": ["B flat", "A", None]}
    assert labels.to_dict(as_series=False) == {"mood": ["sad", "calm", "happy"], "loud": [1, 0, 1]}


def test_sparse_data_that_does_not_fit_as_dense_is_refused_for_polars(monkeypatch):
    pytest.importorskip("polars")
    monkeypatch.setattr(frames, "available_memory", lambda: 90)
    with pytest.raises(MemoryError, match=r"no sparse columns, and 3 x 2 dense cells .* to_pandas\(\)"):
        made(sparse.csr_array).to_polars()
    made().to_polars()


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_package_that_is_not_there_is_named(monkeypatch, package):
    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=f"pip install {package}"):
        getattr(made(), f"to_{package}")()


def test_data_sets_are_imported_without_frames():
    script = "import sys, labelsieve.datasets; print(*{'pandas', 'polars', 'pyarrow'}.intersection(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_features_for_estimators_have_names_and_categories(monkeypatch, library):
    pytest.importorskip(library)
    install_only(monkeypatch, library)
    features = made().named_features()
    assert type(features).__module__.partition(".")[0] == library
    kinds = {str(name): str(kind).lower() for name, kind in zip(features.columns, features.dtypes, strict=True)}
    assert kinds["tempo"] == "float64"
    assert kinds["key"].startswith(("category", "enum"))
    assert made().nominal_features == (1,)
    codes = np.asarray(made().named_features(codes=True), dtype=float)
    np.testing.assert_array_equal(codes, X)


def test_features_for_estimators_stay_arrays_where_they_are_sparse_or_no_library_is_there(monkeypatch):
    assert sparse.issparse(made(sparse.csr_array).named_features())
    install_only(monkeypatch, "csv")
    np.testing.assert_array_equal(made().named_features(), X)
