"""ReliefF and RReliefF compared with numpy, which holds one row of differences at a time.

Quick run: ``python -m benchmarks.neighbor_scores --workloads small --repeat 2``.
"""

import sys
from dataclasses import dataclass

import numpy as np

from benchmarks.clock import in_turns
from benchmarks.memory import extra_memory, in_fresh_process
from benchmarks.options import BenchmarkOptions, measured, save
from benchmarks.table import megabytes, number, print_table

NEIGHBORS = 10
SLICE = 100  # reference rows that numpy is timed on; its time is proportional to their number


@dataclass(frozen=True)
class Workload:
    name: str
    rows: int
    features: int
    targets: int


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("small", 600, 72, 6),  # like emotions
        Workload("scene-like", 2407, 294, 6),
        Workload("scm20d-like", 8966, 61, 16),
    )
}


def generate(workload):
    """Normal features, of which each label needs two, and the scores behind the labels as numeric targets."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(workload.rows, workload.features))
    columns = np.arange(workload.targets) % workload.features
    scores = X[:, columns] + X[:, (columns + 1) % workload.features] + 0.5 * rng.normal(size=(workload.rows, workload.targets))
    return X, scores, (scores > 0.5).astype(int)


def numpy_relieff(X, Y, rows):
    """Sum of the weight updates of these rows: ReliefF as published, vectorized over rows and features."""
    Z = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    weights = np.zeros(X.shape[1])
    for i in rows:
        differences = np.abs(Z - Z[i])
        order = np.argsort(differences.sum(axis=1), kind="stable")
        order = order[order != i]
        for y in Y.T:
            of_class = y[order] == y[i]
            weights += differences[order[~of_class][:NEIGHBORS]].mean(axis=0) - differences[order[of_class][:NEIGHBORS]].mean(
                axis=0
            )
    return weights / Y.shape[1]


def ours(name, X, scores, Y, n_jobs=1):
    from labelsieve.selectors import ReliefF, RReliefF

    if name == "RReliefF":
        return RReliefF(n_neighbors=NEIGHBORS, n_jobs=n_jobs).fit(X, scores).feature_scores_
    return ReliefF(n_neighbors=NEIGHBORS, n_jobs=n_jobs).fit(X, Y).feature_scores_


def check():
    """Both must give the same scores before their times may be compared."""
    X, scores, Y = generate(Workload("check", 150, 9, 3))
    if not np.allclose(ours("ReliefF", X, scores, Y), numpy_relieff(X, Y, range(150)) / 150, atol=1e-8):
        sys.exit("Stopped: ReliefF and the numpy form give different scores.")


def peak_memory(workload):
    X, scores, Y = generate(workload)
    ours("ReliefF", X[:64], scores[:64], Y[:64])
    return extra_memory(lambda: ours("ReliefF", X, scores, Y))


def measure(workload, rounds):
    X, scores, Y = generate(workload)
    rows = range(min(SLICE, workload.rows))
    contenders = {
        "relieff": lambda: ours("ReliefF", X, scores, Y),
        "relieff_2_threads": lambda: ours("ReliefF", X, scores, Y, n_jobs=2),
        "rrelieff": lambda: ours("RReliefF", X, scores, Y),
        "numpy": lambda: numpy_relieff(X, Y, rows),
    }
    laps, _ = in_turns(contenders, rounds)
    return {
        "workload": workload.name,
        "rows": workload.rows,
        "features": workload.features,
        "targets": workload.targets,
        "relieff": laps["relieff"].cpu,
        "rrelieff": laps["rrelieff"].cpu,
        "numpy": laps["numpy"].cpu * workload.rows / len(rows),
        "speed_up": laps["relieff"].wall / laps["relieff_2_threads"].wall,
        "peak_memory": in_fresh_process(peak_memory, workload),
    }


def print_records(records):
    columns = ["N", "d", "q", "ReliefF", "RReliefF", "numpy", "numpy/ReliefF", "2t speed-up", "peak MB", "N x N MB"]
    lines = []
    for record in records:
        cells = [str(record[key]) for key in ("rows", "features", "targets")]
        cells += [number(record["relieff"]), number(record["rrelieff"]), f"~{number(record['numpy'])}"]
        cells += [number(record["numpy"] / record["relieff"]), number(record["speed_up"])]
        cells += [megabytes(record["peak_memory"]), megabytes(8 * record["rows"] ** 2)]
        lines.append((record["workload"], cells))
    print_table("10 neighbors, CPU seconds", columns, lines)


def main(arguments=None):
    options = BenchmarkOptions("neighbor_scores", __doc__, WORKLOADS, kind="workloads").read(arguments)
    check()
    records = measured(options, lambda name: measure(WORKLOADS[name], options.repeat))
    print_records(records)
    save(options, records)


if __name__ == "__main__":
    main()
