"""Rows or columns on the workers of a cluster have the counts of one process, for any layout and parts."""

from contextlib import contextmanager
from functools import partial

import dask
import distributed
import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import InputError, Sieve
from labelsieve.counting.backends import Feature, JointFeatures, Target, dask_backend
from labelsieve.counting.backends.dask import choose_layout
from labelsieve.datasets import ChunkedTable
from labelsieve.errors import ClusterError
from labelsieve.tables.codes import Codes
from tests.counting.test_backend_conformance import CASES, make_case
from tests.support.naive_backend import NaiveBackend

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning", "ignore::DeprecationWarning")
LAYOUTS = ("rows", "columns")


@contextmanager
def cluster(**how):
    common = {"dashboard_address": ":0", "protocol": "tcp", "host": "127.0.0.1"}
    config = dask.config.set({"distributed.scheduler.allowed-failures": 2})
    with config, distributed.LocalCluster(**common, **how) as local, distributed.Client(local) as client:
        yield client


@pytest.fixture(scope="module")
def client():
    with cluster(n_workers=2, threads_per_worker=1, processes=False) as found:
        yield found


def make_data(n_rows=300, n_features=12):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(n_rows, n_features))
    return X, (X[:, [1, 5, 7]] + rng.integers(0, 3, size=(n_rows, 3)) > 3).astype(int)


def assert_same(ours, expected):
    assert np.array_equal(ours.selected_, expected.selected_)
    assert ours.scores_.tobytes() == expected.scores_.tobytes()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CASES)
def test_sums_are_those_of_the_naive_backend(client, name, layout):
    X, Y, fixed, options = make_case(name)
    ours = dask_backend(X, Y, fixed, client=client, layout=layout, part_rows=80, **options)
    naive = NaiveBackend(X, Y, fixed, **options)
    for mine, expected in zip(ours.singles(), naive.singles(), strict=True):
        assert np.array_equal(mine, expected)
    assert np.array_equal(ours.pairs(), naive.pairs())
    for given in (Feature(3), Target(1), JointFeatures((3, 0))):
        mine, expected = ours.panel(given), naive.panel(given)
        assert np.array_equal(mine.pair, expected.pair)
        assert np.array_equal(mine.triple, expected.triple)
    assert np.array_equal(ours.given_targets(given), naive.given_targets(given))
    assert ours.given_single(given) == naive.given_single(given)
    for mine, expected in zip(ours.joint_counts(Feature(3)), naive.joint_counts(Feature(3)), strict=False):
        assert mine.counts.sum() == expected.counts.sum() * len(mine.features) / len(expected.features)


@pytest.mark.parametrize("options", [{"part_rows": 90}, {}, {"layout": "columns"}], ids=str)
def test_selection_is_identical_for_any_parts_and_layout(client, options):
    X, Y = make_data(n_features=400)  # three blocks of one-hot columns: two groups of features
    for criterion, space in (("jmi", "single"), ("cmim", "joint")):
        sieve = Sieve(criterion, targets=space, discretizer=None, n_features_to_select=3)
        expected = Sieve(criterion, targets=space, discretizer=None, n_features_to_select=3).fit(X, Y)
        assert_same(sieve.set_params(backend=partial(dask_backend, client=client, **options)).fit(X, Y), expected)
        assert_same(sieve.fit(sp.csr_array(X), Y), expected)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_workers_read_the_codes_of_a_table_in_files(client, tmp_path, layout):
    X, Y = make_data()
    table = ChunkedTable.from_chunks([(X[:100], Y[:100]), (X[100:], Y[100:])], cache_folder=tmp_path / "cache")
    backend = partial(dask_backend, layout=layout, part_rows=70)
    assert_same(
        Sieve("jmi", n_features_to_select=4, backend=backend).fit(table), Sieve("jmi", n_features_to_select=4).fit(X, Y)
    )


def test_by_name_the_newest_client_counts(client):
    X, Y = make_data()
    assert_same(Sieve(backend="dask").fit(X, Y), Sieve().fit(X, Y))


def test_columns_are_on_workers_if_all_are_busy_and_they_fit():
    rng = np.random.default_rng(0)
    Y = Codes.from_values(rng.integers(0, 2, (50, 3)))
    for shape, n_workers, expected in (((50, 400), 4, "rows"), ((50, 2100), 4, "columns"), ((50, 2100), 6, "rows")):
        X = Codes.from_values(rng.integers(0, 2, shape))
        assert choose_layout(X, Y, n_workers, None) == expected
    sparse = Codes.from_values(sp.random_array((50, 60), density=0.1, format="csc", rng=rng, dtype=bool))
    assert choose_layout(sparse, Y, 16, None) == "columns"
    assert choose_layout(sparse, Y, 16, 100) == "rows"


def test_wrong_clients_and_layouts_are_refused(client):
    X, Y = make_data()
    with pytest.raises(InputError, match=r"client must be a dask\.distributed\.Client"):
        Sieve(backend=partial(dask_backend, client="tcp://here")).fit(X, Y)
    with pytest.raises(InputError, match="layout must be"):
        Sieve(backend=partial(dask_backend, layout="row")).fit(X, Y)


def test_without_a_client_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr("distributed.client._get_global_client", lambda: None)
    with pytest.raises(ClusterError, match="There is no Dask client; make one first"):
        Sieve(backend="dask").fit(*make_data())
