"""Long runs can be stopped, shared between threads and continued after a fork."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from labelsieve.counting.backends import Column, NativeBackend
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.information import Codes
from labelsieve.resources import interruptible
from tests.support.joint_tables import N_ROWS, features, givens, targets

ROOT = Path(__file__).resolve().parents[2]

# Rows, columns and levels of a table, and what is done to it: well over five seconds without an interrupt.
LONG = {
    "vector kernels": ((120_000, 2500, 5), "mutual_information(table, n_jobs=N_JOBS)"),
    "many levels": ((30_000, 2000, 60), "mutual_information(table, n_jobs=N_JOBS)"),
    "weighted rows": ((30_000, 4000, 2), "mutual_information(table, sample_weight=rng.random(30_000), n_jobs=N_JOBS)"),
    "given many levels": (
        (50_000, 3000, 2),
        "conditional_mutual_information(table, table, np.arange(50_000) // 3, n_jobs=N_JOBS)",
    ),
    "differences of many neighbors": (
        (10_000, 4000, 2),
        "Neighbors(table.astype(float), N_JOBS).weighted_differences("
        "np.arange(640), np.tile(np.arange(10_000, dtype=np.uint32), (640, 1)), np.ones((640, 10_000)))",
    ),
    "graph of neighbors": ((20_000, 300, 2), "neighbor_graph(table.astype(float), 5, n_jobs=N_JOBS)"),
    "k-means bins": ((200, 2, 2), "KMeansBins(60).fit(rng.random((300_000, 16)))"),
}

# Asked is the processor's time from the signal's arrival to the stop, which does not hang on what else the machine does.
SCRIPT = """
    import signal, socket, threading, time
    import numpy as np
    from labelsieve.discretize import KMeansBins
    from labelsieve.information import conditional_mutual_information, mutual_information
    from labelsieve.selectors.rankings.relief import Neighbors
    from labelsieve.selectors.regressions.base import neighbor_graph

    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell has begun the tests in the background
    heard, woken = socket.socketpair()
    woken.setblocking(False)
    signal.set_wakeup_fd(woken.fileno())
    arrived = []
    listener = threading.Thread(target=lambda: (heard.recv(1), arrived.append(time.process_time())), daemon=True)
    listener.start()

    N_JOBS = {n_jobs}
    rng = np.random.default_rng(0)
    # A thousand random rows repeated: drawing all of them would take longer than the test.
    table = np.resize(rng.integers({levels}, size=(1000, {columns}), dtype=np.uint8), ({rows}, {columns}))
    print("begun", flush=True)
    try:
        {call}
    except KeyboardInterrupt:
        stopped = time.process_time()
        listener.join()
        print(stopped - arrived[0], flush=True)
        small = mutual_information(table[:100, :2], n_jobs=N_JOBS)
        print("works", bool(np.all(small >= 0) and small[0, 0] > 0.5), flush=True)
    else:
        print("ended by itself", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be sent Ctrl-C alone on Windows")
@pytest.mark.parametrize(("name", "n_jobs"), [("vector kernels", 1), *((name, 2) for name in LONG)])
def test_ctrl_c_stops_a_long_run_within_a_second_of_each_thread(name, n_jobs):
    (rows, columns, levels), call = LONG[name]
    script = textwrap.dedent(SCRIPT).format(call=call, rows=rows, columns=columns, levels=levels, n_jobs=n_jobs)
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "begun\n"
            time.sleep(0.8)  # by now it is counting
            process.send_signal(signal.SIGINT)
            answer = process.stdout.read().splitlines()
        finally:
            process.kill()
    assert answer[1:] == ["works True"], answer
    assert float(answer[0]) < n_jobs


def shared_backend():
    X, Y = Codes.from_values(features("binary")), Codes.from_values(targets())
    return NativeBackend(X, Y, FixedPoint.for_rows(N_ROWS, n_targets=Y.n_columns), n_jobs=2)


def test_two_threads_may_ask_one_backend_at_once():
    backend = shared_backend()
    questions = [
        lambda: backend.panel(Column(givens()[:, 2], 5)).triple,
        lambda: backend.panel(Column(givens()[:, 1], 3), reduce="sum").triple,
        backend.pairs,
        lambda: backend.singles()[1],
        lambda: backend.singles()[0],
        lambda: backend.panel(Column(givens()[:, 5], N_ROWS), targets=slice(0, 5)).triple,
    ]
    expected = [question() for question in questions]
    wrong, start = [], threading.Barrier(4)

    def ask(first):
        start.wait()
        for turn in range(18):
            which = (first + turn) % len(questions)
            if not np.array_equal(questions[which](), expected[which]):
                wrong.append(which)

    threads = [threading.Thread(target=ask, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


FORK = """
    import os
    import sys

    import numpy as np

    from labelsieve.counting.backends import Column
    from tests.counting.test_interrupt import shared_backend
    from tests.support.joint_tables import givens

    backend = shared_backend()
    expected = backend.panel(Column(givens()[:, 1], 3)).triple  # the threads are running now
    child = os.fork()
    if child == 0:
        same = np.array_equal(backend.panel(Column(givens()[:, 1], 3)).triple, expected)
        fresh = np.array_equal(shared_backend().panel(Column(givens()[:, 1], 3)).triple, expected)
        del backend
        os._exit(0 if same and fresh else 1)
    _, status = os.waitpid(child, 0)
    again = np.array_equal(backend.panel(Column(givens()[:, 1], 3)).triple, expected)
    print(os.waitstatus_to_exitcode(status), again)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_backend_works_on_in_a_forked_child_and_in_its_parent():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FORK)], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.split() == ["0", "True"], done.stderr


def test_ctrl_c_is_heard_while_a_matrix_is_factorized():
    square, finished, threads = np.random.default_rng(0).random((1500, 1500)), [], []

    def work():
        threads.append(threading.current_thread())
        values = np.linalg.eigvalsh(square @ square.T)
        finished.append(values)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            interruptible(work, 1500)
        assert not finished, "the main thread did not wait for the end"
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    threads[0].join(timeout=120)
    assert len(finished) == 1


def test_an_interruptible_call_returns_its_result_and_raises_its_errors():
    assert interruptible(lambda: 5, 1500) == 5 == interruptible(lambda: 5, 5)
    with pytest.raises(np.linalg.LinAlgError):
        interruptible(lambda: np.linalg.cholesky(-np.eye(2)), 1500)
    results = []
    other = threading.Thread(target=lambda: results.append(interruptible(threading.current_thread, 1500)))
    other.start()
    other.join()
    assert results == [other], "signals are heard by the main thread alone"
