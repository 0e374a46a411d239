"""Rows on the workers of a cluster have the counts of one process, and those of a lost worker are packed again."""

import os
import signal
import threading
import time
from contextlib import contextmanager
from functools import partial

import dask
import distributed
import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import InputError, Sieve
from labelsieve.counting.backends import Feature, JointFeatures, Target
from labelsieve.counting.backends.dask_rows import DaskBackend
from labelsieve.datasets import ChunkedTable
from tests.counting.test_backend_conformance import CASES, make_case
from tests.support.naive_backend import NaiveBackend

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning", "ignore::DeprecationWarning")


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


def make_data(n_rows=300):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(n_rows, 12))
    return X, (X[:, [1, 5, 7]] + rng.integers(0, 3, size=(n_rows, 3)) > 3).astype(int)


def assert_same(ours, expected):
    assert np.array_equal(ours.selected_, expected.selected_)
    assert ours.scores_.tobytes() == expected.scores_.tobytes()


@pytest.mark.parametrize("name", CASES)
def test_sums_are_those_of_the_naive_backend(client, name):
    X, Y, fixed, options = make_case(name)
    ours = DaskBackend(X, Y, fixed, client=client, part_rows=80, **options)
    naive = NaiveBackend(X, Y, fixed, **options)
    for mine, expected in zip(ours.singles(), naive.singles(), strict=True):
        assert np.array_equal(mine, expected)
    assert np.array_equal(ours.pairs(), naive.pairs())
    for given in (Feature(3), Target(1), JointFeatures((3, 0))):
        mine, expected = ours.panel(given), naive.panel(given)
        assert np.array_equal(mine.pair, expected.pair)
        assert np.array_equal(mine.triple, expected.triple)


@pytest.mark.parametrize("part_rows", [90, None])
def test_selection_is_identical_for_any_parts(client, part_rows):
    X, Y = make_data()
    backend = partial(DaskBackend, client=client, part_rows=part_rows)
    for criterion, space in (("jmi", "single"), ("cmim", "joint")):
        sieve = Sieve(criterion, targets=space, discretizer=None, n_features_to_select=4)
        expected = Sieve(criterion, targets=space, discretizer=None, n_features_to_select=4).fit(X, Y)
        assert_same(sieve.set_params(backend=backend).fit(X, Y), expected)
        assert_same(sieve.fit(sp.csr_array(X), Y), expected)


def test_workers_read_the_codes_of_a_table_in_files(client, tmp_path):
    X, Y = make_data()
    table = ChunkedTable.from_chunks([(X[:100], Y[:100]), (X[100:], Y[100:])], cache_folder=tmp_path / "cache")
    sieve = Sieve("jmi", n_features_to_select=4, backend=partial(DaskBackend, client=client, part_rows=70)).fit(table)
    assert_same(sieve, Sieve("jmi", n_features_to_select=4).fit(X, Y))


def test_killed_worker_does_not_change_the_selection():
    X, Y = make_data(4000)
    with cluster(n_workers=2, threads_per_worker=1, processes=True) as client:
        pids = list(client.run(os.getpid).values())
        killed = threading.Event()

        def kill():
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline:  # as soon as rows are on the workers
                if sum(map(len, client.has_what().values())) >= 3:
                    os.kill(pids[0], signal.SIGKILL)
                    killed.set()
                    return
                time.sleep(0.02)

        thread = threading.Thread(target=kill)
        thread.start()
        sieve = Sieve("jmi", discretizer=None, n_features_to_select=5)
        sieve.set_params(backend=partial(DaskBackend, client=client, part_rows=1000)).fit(X, Y)
        thread.join()
    assert killed.is_set()
    assert_same(sieve, Sieve("jmi", discretizer=None, n_features_to_select=5).fit(X, Y))


def test_client_must_be_one():
    X, Y = make_data()
    with pytest.raises(InputError, match=r"client must be a dask\.distributed\.Client"):
        Sieve(backend=partial(DaskBackend, client="tcp://here")).fit(X, Y)
