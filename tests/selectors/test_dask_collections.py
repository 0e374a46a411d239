"""Arrays and frames of Dask have the selection of the same rows in memory, bit for bit."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest
from distributed.client import FutureCancelledError
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve import InputError, Sieve
from labelsieve.datasets import ChunkedTable
from labelsieve.errors import ClusterError
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
