"""Selections on a local Dask cluster of one and two worker processes, in both layouts, against one process.

    python -m benchmarks.dask_layouts                          # 200,000 rows x 200 features x 10 labels

CPU seconds: of the client, and of the busiest worker, so that other work on the machine counts little; waits are not in
them.
"""

import argparse
import time
from functools import partial

import distributed
import numpy as np

from benchmarks.table import number, print_table
from labelsieve import Sieve
from labelsieve.counting.backends import dask_backend

N_STEPS = 10


def make_data(n_rows, n_features, n_labels):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, size=(n_rows, n_features), dtype=np.uint8)
    return X, (X[:, :n_labels] + rng.integers(0, 4, size=(n_rows, n_labels), dtype=np.uint8) > 4).astype(np.uint8)


def stages(X, Y, backend, clock):
    """Clocks before the fit, after the first step, and after the others."""
    sieve = Sieve("jmi", discretizer=None, n_features_to_select=1, backend=backend, warm_start=True)
    clocks = [clock()]
    for n_steps in (1, 1 + N_STEPS):
        sieve.set_params(n_features_to_select=n_steps).fit(X, Y)
        clocks.append(clock())
    return np.diff(np.array(clocks), axis=0), sieve.scores_.tobytes()


def on_cluster(X, Y, layout, n_workers):
    options = {"n_workers": n_workers, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options, host="127.0.0.1") as cluster, distributed.Client(cluster) as client:

        def clock():
            return [time.process_time(), *sorted(client.run(time.process_time).values())]

        started = time.perf_counter()
        steps, answer = stages(X, Y, partial(dask_backend, client=client, layout=layout), clock)
        return steps, answer, time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=200)
    parser.add_argument("--labels", type=int, default=10)
    options = parser.parse_args()
    X, Y = make_data(options.rows, options.features, options.labels)
    rows, answers = [], []
    for name in ("native", "chunked"):
        steps, answer = stages(X, Y, name, lambda: [time.process_time()])
        answers.append(answer)
        rows.append((name, [number(steps[0, 0]), number(steps[1, 0] / N_STEPS), "", ""]))
    for layout in ("rows", "columns"):
        for n_workers in (1, 2):
            steps, answer, wall = on_cluster(X, Y, layout, n_workers)
            answers.append(answer)
            figures = [steps[0, 0], steps[1, 0] / N_STEPS, steps[0, 1:].max(), steps[1, 1:].max() / N_STEPS]
            rows.append((f"dask, {layout}, {n_workers} workers", [*map(number, figures)]))
            print(rows[-1], f"{wall:.1f} s by the clock", flush=True)
    assert len(set(answers)) == 1
    heads = ["client, first", "client, step", "worker, first", "worker, step"]
    print_table(f"{options.rows:,} rows x {options.features} features x {options.labels} labels", heads, rows)


if __name__ == "__main__":
    main()
