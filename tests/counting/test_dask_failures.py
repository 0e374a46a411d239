"""A cluster of separate processes that loses a worker, its scheduler or its memory: the same selection or a clear error."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager, suppress
from functools import partial

import distributed
import numpy as np
import psutil
import pytest

from labelsieve import Sieve
from labelsieve.counting.backends import dask_backend
from labelsieve.errors import ClusterError
from tests.counting.test_dask_backend import LAYOUTS, assert_same, cluster, make_data

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning", "ignore::DeprecationWarning"),
]
CUT_SECONDS, PATIENCE = 10, 120


def fit(X, Y, client, fault=None, **options):
    """The selection; ``fault`` is called before the second panel."""

    def make(*tables, **given):
        backend = dask_backend(*tables, **given, client=client, **options)
        panel, calls = backend.panel, []

        def faulty_panel(*arguments, **settings):
            calls.append(None)
            if len(calls) == 2 and fault is not None:
                fault()
            return panel(*arguments, **settings)

        backend.panel = faulty_panel
        return backend

    return Sieve("jmi", discretizer=None, n_features_to_select=5, backend=make).fit(X, Y)


def expected(X, Y):
    return Sieve("jmi", discretizer=None, n_features_to_select=5).fit(X, Y)


@pytest.fixture
def in_time():
    """Nothing hangs."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < PATIENCE


@pytest.mark.parametrize("layout", LAYOUTS)
def test_killed_worker_does_not_change_the_selection(in_time, layout):
    X, Y = make_data(4000, 400)
    with cluster(n_workers=2, threads_per_worker=1, processes=True) as client:
        pids = list(client.run(os.getpid).values())
        sieve = fit(X, Y, client, partial(os.kill, pids[0], signal.SIGKILL), layout=layout, part_rows=1000)
    assert_same(sieve, expected(X, Y))


def test_without_workers_the_fit_ends_in_an_error(in_time):
    X, Y = make_data()
    with cluster(n_workers=1, threads_per_worker=1, processes=True) as client:

        def lose_all():
            client.cluster.scale(0)
            end = time.monotonic() + 30
            while client.nthreads():
                assert time.monotonic() < end
                time.sleep(0.1)

        with pytest.raises(ClusterError, match=r"No Dask worker has run for 3 seconds: 0 are connected.*Start workers"):
            fit(X, Y, client, lose_all, timeout=3)


def test_worker_out_of_memory_ends_in_an_error_or_the_same_selection(in_time):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(200_000, 300), dtype=np.uint8)  # 60 MB, and as much packed
    Y = X[:, :3] > 1
    with cluster(n_workers=1, threads_per_worker=1, processes=True, memory_limit="200MB") as client:
        try:
            sieve = fit(X, Y, client, layout="rows", timeout=5, part_rows=100_000)
        except ClusterError as error:
            assert "memory" in str(error)  # noqa: PT017  either is right
        else:
            assert_same(sieve, expected(X, Y))


@contextmanager
def separate_processes(folder):
    """The address of a scheduler with two workers, and its process."""
    dask, file = [sys.executable, "-m", "dask"], folder / "scheduler.json"
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [subprocess.Popen([*dask, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file], **silent)]
    workers = ["worker", "--scheduler-file", file, "--nworkers", "2", "--nthreads", "1", "--no-dashboard"]
    try:
        end = time.monotonic() + 30
        while not file.exists():
            assert time.monotonic() < end
            time.sleep(0.1)
        started.append(subprocess.Popen([*dask, *workers, "--local-directory", folder], **silent))
        with distributed.Client(scheduler_file=str(file), timeout=30) as client:
            client.wait_for_workers(2, timeout=30)
            address = client.scheduler.address
        yield address, started[0]
    finally:
        for process in started:
            for child in psutil.Process(process.pid).children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    child.kill()
            process.kill()
            process.wait()


class Proxy:
    """Forwards connections to a scheduler, until it is cut."""

    def __init__(self, target):
        self._target, self._pairs, self.cut_until = target, [], 0.0
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        self.cut_until = time.monotonic() + CUT_SECONDS
        for one in sum(self._pairs, ()):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self):
        with suppress(OSError):
            while True:
                near, _ = self._server.accept()
                if time.monotonic() < self.cut_until:
                    near.close()
                    continue
                far = socket.create_connection(self._target)
                self._pairs.append((near, far))
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._forward, args=(source, sink), daemon=True).start()

    @staticmethod
    def _forward(source, sink):
        with suppress(OSError):
            while data := source.recv(65_536):
                sink.sendall(data)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)

    def close(self):
        self._server.close()


@pytest.mark.parametrize("how", ["stopped", "cut"])
def test_ten_seconds_without_the_scheduler_do_not_change_the_selection(tmp_path, in_time, how):
    X, Y = make_data(4000)
    with separate_processes(tmp_path) as (address, scheduler):
        host, port = address.removeprefix("tcp://").rsplit(":", 1)
        with closing(Proxy((host, int(port)))) as proxy, distributed.Client(proxy.address, timeout=30) as client:

            def stop():
                os.kill(scheduler.pid, signal.SIGSTOP)
                threading.Timer(CUT_SECONDS, os.kill, (scheduler.pid, signal.SIGCONT)).start()

            started = time.monotonic()
            sieve = fit(X, Y, client, stop if how == "stopped" else proxy.cut, part_rows=1000)
            assert time.monotonic() - started > CUT_SECONDS / 2
    assert_same(sieve, expected(X, Y))
