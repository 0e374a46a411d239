"""The default method and least squares select the same from memory, chunks and Dask, bit for bit."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve import Sieve
from labelsieve.counting.backends.chunked import sums as chunked_sums
from labelsieve.criteria import Hybrid, LeastSquares
from labelsieve.datasets import ChunkedTable, fetch
from tests.selectors.test_same_selection_in_chunks import assert_same
from tests.support.shared_files import shared_file

DATASETS = ("emotions", "yeast", "scene", "birds", "flags", "genbase", "medical", "enron", "CAL500", "enb")


def make_table(seed, n_rows):
    """Numbers with gaps and outliers, text, booleans and whole numbers, and targets of classes and numbers, some unknown."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 6)) * 10.0 ** rng.integers(-8, 9, 6), columns=[*"abcdef"])
    frame.loc[rng.random(n_rows) < 0.2, "b"] = np.nan
    frame.loc[rng.integers(0, n_rows), "c"] *= 1e7
    frame["text"] = rng.choice(["red", "green", "blue", None], n_rows)
    frame["flag"] = rng.random(n_rows) < 0.3
    frame["count"] = rng.integers(0, 5, n_rows)
    signal = frame["a"].rank() + frame["d"].rank() * (frame["text"] == "red")
    targets = pd.DataFrame({"x": (signal > signal.median()).astype(float), "y": rng.integers(0, 3, n_rows).astype(float)})
    targets["z"] = frame["e"].rank() ** 2 + 0.1
    targets.loc[rng.random(n_rows) < 0.1, "x"] = np.nan
    targets.iloc[:3, 1] = [0, 1, 2]
    return frame, targets


def in_chunks(X, Y, sizes, **options):
    bounds = np.cumsum([0, *sizes])
    rows = X.iloc.__getitem__ if isinstance(X, pd.DataFrame) else X.__getitem__
    labels = Y.iloc.__getitem__ if isinstance(Y, pd.DataFrame) else Y.__getitem__
    pairs = [(rows(slice(a, b)), labels(slice(a, b))) for a, b in pairwise(bounds)]
    return ChunkedTable.from_chunks(pairs, **options)


CRITERIA = st.sampled_from(
    [
        "hybrid",
        "omp",
        LeastSquares(penalty=0.0),
        Hybrid(linear=LeastSquares(nominal=["count"])),
    ]
)


@given(st.integers(0, 2**32), CRITERIA, st.sampled_from([None, "whole", "any"]), st.integers(1, 200), st.sampled_from([1, 2]))
@settings(max_examples=25, deadline=None)
def test_random_tables(seed, criterion, weighted, first, n_jobs):
    X, Y = make_table(seed, 250)
    rng = np.random.default_rng(seed)
    weights = {None: None, "whole": rng.integers(0, 4, 250), "any": rng.random(250)}[weighted]
    sieve = Sieve(criterion, n_features_to_select=9)
    expected = sieve.fit(X, Y, sample_weight=weights)
    table = in_chunks(X, Y, [first, 250 - first], memory_limit=60 * 250)  # one column at a time
    found = Sieve(criterion, n_features_to_select=9, n_jobs=n_jobs).fit(table, sample_weight=weights)
    assert_same(found, expected)


@given(st.integers(0, 2**32), st.sampled_from(["hybrid", "omp"]), st.booleans())
@settings(max_examples=15, deadline=None)
def test_sparse_tables(seed, criterion, weighted):
    rng = np.random.default_rng(seed)
    X = sp.random(300, 25, 0.1, format="csr", random_state=rng)
    Y = sp.csr_array((rng.random((300, 6)) < 0.2).astype(int))
    weights = rng.random(300) if weighted else None
    dense, sparse = (Sieve(criterion, n_features_to_select=10).fit(form, Y, sample_weight=weights) for form in (X.toarray(), X))
    assert_same(sparse, dense)
    assert_same(Sieve(criterion, n_features_to_select=10).fit(in_chunks(X, Y, [120, 180]), sample_weight=weights), dense)


def test_many_chunks_of_rows_are_added(monkeypatch):
    monkeypatch.setattr(chunked_sums, "MOST_BYTES", 1)  # chunks of 4,096 rows
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 12))
    Y = (X[:, :4] + rng.normal(size=(10_000, 4)) > 1).astype(int)
    for form in (np.asarray, lambda X: sp.csr_array(np.where(abs(X) > 1.5, X, 0))):
        expected = Sieve(n_features_to_select=12).fit(form(X), Y)
        assert_same(Sieve(n_features_to_select=12).fit(in_chunks(form(X), Y, [5000, 5000])), expected)


@pytest.mark.parametrize("name", DATASETS)
def test_real_tables(name):
    home = shared_file("data", "MANIFEST.json").parent
    data = fetch(name, data_home=home, download=False)
    X, Y = data.X[:1500], data.Y[:1500]
    for criterion in ("hybrid", "omp"):
        expected = Sieve(criterion, n_features_to_select=12).fit(X, Y)
        assert_same(Sieve(criterion, n_features_to_select=12).fit(in_chunks(X, Y, [100, X.shape[0] - 100])), expected)


def test_a_warm_start_continues_on_chunks(tmp_path):
    X, Y = make_table(5, 200)
    table = in_chunks(X, Y, [150, 50], cache_folder=tmp_path / "cache")
    warm = Sieve(n_features_to_select=3, warm_start=True).fit(table)
    again = warm.set_params(n_features_to_select=8).fit(table)
    assert_same(again, Sieve(n_features_to_select=8).fit(X, Y))
    assert_same(Sieve("omp", n_features_to_select=8).fit(table), Sieve("omp", n_features_to_select=8).fit(X, Y))


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning", "ignore::DeprecationWarning")
def test_workers_of_a_cluster(monkeypatch):
    da = pytest.importorskip("dask.array", reason="needs the extra dask")
    from tests.counting.test_dask_backend import cluster

    monkeypatch.setattr(chunked_sums, "MOST_BYTES", 1)  # parts of 4,096 rows
    rng = np.random.default_rng(1)
    X = rng.normal(size=(9000, 10))
    X[rng.random(X.shape) < 0.1] = np.nan
    Y = (np.nan_to_num(X[:, :3]) + rng.normal(size=(9000, 3)) > 0.5).astype(int)
    weights = rng.random(9000)
    with cluster(n_workers=2, threads_per_worker=1, processes=False):
        lazy = da.from_array(X, chunks=(2000, 4)), da.from_array(Y, chunks=(2000, 3))
        for criterion in ("hybrid", "omp"):
            expected = Sieve(criterion, n_features_to_select=8).fit(X, Y, sample_weight=weights)
            assert_same(Sieve(criterion, n_features_to_select=8).fit(*lazy, sample_weight=weights), expected)
            named = Sieve(criterion, n_features_to_select=8, backend="dask")
            assert_same(named.fit(in_chunks(X, Y, [4000, 5000]), sample_weight=weights), expected)


def test_every_column_is_read_once_for_both_gains(tmp_path, monkeypatch):
    """But all of them again for the numbers, where the codes of some are in the cache."""
    X, Y = make_table(3, 200)
    reading, read = ChunkedTable.features, []
    monkeypatch.setattr(ChunkedTable, "features", lambda table, columns: read.extend(columns) or reading(table, columns))
    table = in_chunks(X, Y, [100, 100], memory_limit=60 * 200, cache_folder=tmp_path)  # one column at a time
    expected = Sieve(n_features_to_select=4).fit(X, Y)
    assert_same(Sieve(n_features_to_select=4).fit(table), expected)
    assert read == [*range(X.shape[1])]
    assert_same(Sieve(n_features_to_select=4).fit(table), expected)
    assert read == 2 * [*range(X.shape[1])]
