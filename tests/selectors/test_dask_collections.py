"""Arrays and frames of Dask have the selection of the same rows in memory, bit for bit."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from distributed.client import FutureCancelledError
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve import InputError, LabelwiseSieve, Sieve
from labelsieve.datasets import ChunkedTable
from labelsieve.errors import ClusterError
from tests.counting.test_dask_backend import cluster
from tests.selectors.test_chunked_tables import LABELS, assert_same, make_frame

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore:.*scheduler.*")


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    import dask

    with dask.config.set(scheduler="sync"):
        yield


def numbers(frame):
    return frame.drop(columns=[*LABELS, "mood"]).to_numpy(), frame[LABELS].to_numpy()


@settings(max_examples=5, deadline=None)
@given(rows=st.integers(1, 400), columns=st.integers(1, 7), criterion=st.sampled_from(["jmi", "cmim", "mrmr"]))
def test_any_chunks_of_an_array(rows, columns, criterion):
    X, Y = numbers(make_frame(2))
    expected = Sieve(criterion).fit(X, Y)
    chunked = da.from_array(X, chunks=(rows, columns))
    assert_same(Sieve(criterion).fit(chunked, da.from_array(Y, chunks=(rows, 2))), expected)
    assert_same(Sieve(criterion).fit(chunked, Y), expected)


def test_frames_with_text_and_missing_cells():
    frame = make_frame(3)
    lazy = dd.from_pandas(frame, npartitions=3)
    ours = Sieve("jmi").fit(lazy.drop(columns=LABELS), lazy[LABELS])
    expected = Sieve("jmi").fit(frame.drop(columns=LABELS), frame[LABELS])
    assert_same(ours, expected)
    assert ours.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
    assert ours.label_names_.tolist() == LABELS
    one = Sieve("jmi").fit(lazy.drop(columns=LABELS), lazy["l0"])
    assert_same(one, Sieve("jmi").fit(frame.drop(columns=LABELS), frame["l0"]))


def test_chunks_of_unknown_size_and_weights():
    frame = make_frame(4)
    X, Y = numbers(frame)
    lazy = dd.from_pandas(frame.drop(columns=[*LABELS, "mood"]), npartitions=2).to_dask_array()
    assert np.isnan(lazy.shape[0])
    weights = np.random.default_rng(0).integers(0, 3, len(Y))
    assert_same(Sieve("jmi").fit(lazy, Y, sample_weight=weights), Sieve("jmi").fit(X, Y, sample_weight=weights))


def mixed_frame():
    """Text, numbers, and categories of text and of numbers: the latter are levels, and no quantities."""
    rng = np.random.default_rng(7)
    frame = make_frame(7)
    frame["mood"] = frame["mood"].astype("category")
    frame["code"] = pd.Categorical(rng.integers(0, 40, len(frame)))
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Four files whose categories differ; every file numbers its rows from 0."""
    path, frame = tmp_path_factory.mktemp("several"), mixed_frame()
    for part in range(4):
        rows = frame.iloc[100 * part : 100 * part + 100].copy()
        for name in ("mood", "code"):
            rows[name] = rows[name].cat.remove_unused_categories()
        rows.to_parquet(path / f"part{part}.parquet", index=False)
    return path


FEATURES = [name for name in mixed_frame() if name not in LABELS]


def with_index(index):
    frame = mixed_frame()
    return dd.from_pandas(frame.set_axis(index(len(frame)), axis=0), npartitions=3, sort=False)


def with_empty_partitions():
    lazy = dd.from_pandas(mixed_frame(), npartitions=4)
    return dd.concat([lazy[lazy["age"] > 1000], lazy.partitions[:2], lazy[lazy["age"] > 1000], lazy.partitions[2:]])


COLLECTIONS = {
    "several files": lambda folder: dd.read_parquet(folder),
    "several files, read by arrow": lambda folder: dd.read_parquet(folder, filesystem="arrow").astype({"code": "category"}),
    "several files, known divisions": lambda folder: dd.read_parquet(folder, calculate_divisions=True),
    "several files, a partition of each": lambda folder: dd.read_parquet(folder, blocksize=None, split_row_groups=True),
    "a reset index": lambda folder: dd.read_parquet(folder).reset_index(drop=True),
    "an index of text": lambda folder: with_index(lambda n: [f"row {i:04d}" for i in range(n)]),
    "a repeated index": lambda folder: with_index(lambda n: np.arange(n) // 10),
    "an index with a name": lambda folder: with_index(lambda n: pd.Index(np.arange(n)[::-1], name="f0")),
    "an index of dates": lambda folder: with_index(lambda n: pd.date_range("2026", periods=n)),
    "empty partitions": lambda folder: with_empty_partitions(),
    "unknown categories": lambda folder: dd.from_pandas(mixed_frame(), npartitions=3).assign(
        mood=lambda lazy: lazy["mood"].astype(str).astype("category")
    ),
}


@pytest.mark.parametrize("kind", COLLECTIONS)
def test_collections_as_people_have_them(folder, kind):
    lazy, frame = COLLECTIONS[kind](folder), mixed_frame()
    expected = Sieve("jmi").fit(frame[FEATURES], frame[LABELS])
    ours = Sieve("jmi").fit(lazy[FEATURES], lazy[LABELS])
    assert_same(ours, expected)
    assert ours.feature_names_in_.tolist() == FEATURES
    assert_same(
        Sieve("jmi").fit(lazy[FEATURES], lazy[LABELS].compute()), expected
    )  # in the order in which Dask reads the files


def test_x_and_y_in_different_partitions(folder):
    frame = mixed_frame()
    X, Y = dd.read_parquet(folder)[FEATURES], dd.from_pandas(frame[LABELS], npartitions=7)
    assert X.npartitions != Y.npartitions
    assert_same(Sieve("jmi").fit(X, Y), Sieve("jmi").fit(frame[FEATURES], frame[LABELS]))


def test_arrays_of_frames_have_chunks_of_unknown_size(folder):
    lazy, (X, Y) = dd.read_parquet(folder), numbers(make_frame(7))
    names = [name for name in make_frame() if name not in (*LABELS, "mood")]
    assert_same(Sieve("jmi").fit(lazy[names].values, lazy[LABELS].values), Sieve("jmi").fit(X, Y))


def test_sparse_labels_and_sparse_blocks():
    X, Y = numbers(make_frame(8))
    lazy = da.from_array(X, chunks=(90, 3))
    assert_same(Sieve("jmi").fit(lazy, sp.csr_array(Y)), Sieve("jmi").fit(X, sp.csr_array(Y)))
    counts = np.maximum(np.nan_to_num(X).round(), 0)
    blocks = da.from_array(counts, chunks=(90, 3)).map_blocks(sp.csr_array)
    assert_same(Sieve("jmi").fit(blocks, da.from_array(Y)), Sieve("jmi").fit(sp.csr_array(counts), Y))
    with pytest.raises(InputError, match="X has 400 rows and Y has 401"):
        Sieve("jmi").fit(blocks, np.zeros(401))


def test_rows_in_another_order_are_refused(folder):
    lazy = dd.from_pandas(mixed_frame(), npartitions=2)
    backward = dd.from_pandas(mixed_frame()[::-1], npartitions=2, sort=False)
    with pytest.raises(InputError, match=r"same index, but their rows are in a different order.*persist"):
        Sieve("jmi").fit(lazy[FEATURES], backward[LABELS])


def test_repeated_names_and_empty_collections_are_refused():
    frame = make_frame()
    lazy = dd.from_pandas(frame, npartitions=2)
    with pytest.raises(InputError, match="several columns named 'f0'"):
        Sieve("jmi").fit(dd.concat([lazy[["f0"]], lazy[["f0"]]], axis=1), frame[LABELS])
    none = lazy[lazy["age"] > 1000]
    with pytest.raises(ValueError, match="there are no rows"):
        Sieve("jmi").fit(none[["f0"]], none[LABELS])


def test_other_selectors_say_what_to_do_and_transform_stays_lazy(folder):
    lazy, frame = dd.read_parquet(folder), mixed_frame()
    with pytest.raises(InputError, match=r"LabelwiseSieve needs the table in memory.*X\.compute\(\)"):
        LabelwiseSieve("jmi").fit(lazy[FEATURES], frame[LABELS])
    sieve = Sieve("jmi", n_features_to_select=2).fit(lazy[FEATURES], frame[LABELS])
    taken = sieve.transform(lazy[FEATURES])
    assert isinstance(taken, dd.DataFrame)
    assert list(taken.columns) == list(sieve.get_feature_names_out())
    with pytest.raises(InputError, match="other columns than in fit"):
        sieve.transform(lazy[FEATURES[::-1]])
    array = Sieve("mim", n_features_to_select=1).fit(da.zeros((20, 3), chunks=5), np.arange(20) % 2)
    assert array.transform(da.ones((7, 3))).shape == (7, 1)


def test_files_are_counted_on_a_cluster(folder):
    frame = mixed_frame()
    expected = Sieve("jmi").fit(frame[FEATURES], frame[LABELS])
    with cluster(n_workers=2, threads_per_worker=1, processes=False):
        lazy = dd.read_parquet(folder)
        table = ChunkedTable.from_dask(lazy[FEATURES], lazy[LABELS])
        assert table.backend == "dask"
        assert_same(Sieve("jmi").fit(table), expected)


def test_rows_that_do_not_match_are_refused():
    X, Y = numbers(make_frame())
    with pytest.raises(InputError, match="X has 400 rows and Y has 399"):
        Sieve().fit(da.from_array(X), Y[1:])
    with pytest.raises(InputError, match="Labels are needed"):
        Sieve().fit(da.from_array(X), None)
    with pytest.raises(InputError, match="two dimensions"):
        Sieve().fit(da.from_array(X[:, 0]), Y)


def test_a_scheduler_that_ends_while_columns_are_computed_is_named(monkeypatch):
    table = ChunkedTable.from_dask(da.zeros((20, 3), chunks=5), np.arange(20) % 2)

    def lost(self, **options):
        raise FutureCancelledError("finalize", "scheduler-connection-lost")

    monkeypatch.setattr(da.Array, "compute", lost)
    with pytest.raises(ClusterError, match="connection to the Dask scheduler was lost"):
        Sieve("mim", n_features_to_select=1).fit(table)
