"""Complete fits on one thread and on several: speed-up, and efficiency relative to a loop without memory access.

Wall time. Other processes take cores from a fit on several threads and not from one on a single thread, so the loop runs after
every fit, on as many threads: efficiency is the speed-up of the fit by that of the loop, which is the number of free cores.

Quick run: ``python -m benchmarks.threads --only jmi,group-jmi-rand --repeat 1``; on a larger machine ``--threads 1,2,16``.
"""

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from hashlib import pbkdf2_hmac
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.clock import NEVER, Stopwatch
from benchmarks.measure import single_threaded_blas
from benchmarks.table import number, print_table
from labelsieve import LabelwiseSieve, QuadraticSieve, Sieve
from labelsieve.chains import ChainEnsemble, ClassifierChain
from labelsieve.classifiers import LIFT, BinaryRelevance, MLkNN, RAkEL
from labelsieve.registry import make_selector

LEAST_SECONDS, LEAST_EFFICIENCY = 0.05, 0.8  # the goal: for fits of more seconds, at two threads
HASHES, PARTS = 150_000, 30  # of the loop for every thread: about a tenth of a second, in parts that the threads share


def make_data(n_rows, n_features, n_labels, seed=0):
    """Normal features, and labels that depend on some of them: each label on three."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    informative = rng.integers(n_features, size=(n_labels, 3))
    noise = rng.normal(size=(n_rows, n_labels))
    return X, (X[:, informative].sum(axis=2) + noise > 2).astype(np.uint8)


def selected(model):
    return np.concatenate([np.atleast_1d(one) for one in model.selected_])


def sieve(criterion, **settings):
    return lambda n_jobs: Sieve(criterion, n_features_to_select=20, n_jobs=n_jobs, **settings)


def predictions(model, X):
    return np.asarray(model.predict(X[:500]))


# A name: a shape of the data, a model for a number of threads, and what must not depend on it.
CASES = {
    "jmi": ((20_000, 500, 50), sieve("jmi"), lambda model, X: selected(model)),
    "cmim": ((20_000, 500, 50), sieve("cmim"), lambda model, X: selected(model)),
    "mrmr": ((20_000, 500, 50), sieve("mrmr"), lambda model, X: selected(model)),
    "pmu": ((5_000, 200, 30), sieve("pmu"), lambda model, X: selected(model)),
    "jmi with equal-frequency": (
        (300_000, 30, 5),
        sieve("jmi", discretizer="equal-frequency"),
        lambda model, X: selected(model),
    ),
    "jmi with k-means": ((100_000, 30, 5), sieve("jmi", discretizer="k-means"), lambda model, X: selected(model)),
    "jmi with mdl": ((50_000, 30, 5), sieve("jmi", discretizer="mdl"), lambda model, X: selected(model)),
    "group-jmi-rand": ((10_000, 200, 60), sieve("group-jmi-rand"), lambda model, X: selected(model)),
    "labelwise jmi": (
        (10_000, 300, 20),
        lambda n_jobs: LabelwiseSieve("jmi", n_features_to_select=10, n_jobs=n_jobs),
        lambda model, X: selected(model),
    ),
    "mlqpfs": (
        (4_000, 1_500, 30),
        lambda n_jobs: QuadraticSieve(n_features_to_select=20, n_jobs=n_jobs),
        lambda model, X: selected(model),
    ),
    "relieff": (
        (3_000, 100, 10),
        lambda n_jobs: make_selector("relieff", n_features_to_select=20, n_jobs=n_jobs),
        lambda model, X: selected(model),
    ),
    "ML-kNN": ((8_000, 50, 30), lambda n_jobs: MLkNN(n_jobs=n_jobs), predictions),
    "binary relevance": (
        (2_000, 60, 20),
        lambda n_jobs: BinaryRelevance(LogisticRegression(max_iter=200), n_jobs=n_jobs),
        predictions,
    ),
    "LIFT": ((2_000, 60, 12), lambda n_jobs: LIFT(n_jobs=n_jobs, random_state=0), predictions),
    "RAkEL": (
        (2_000, 60, 12),
        lambda n_jobs: RAkEL(LogisticRegression(max_iter=200), random_state=0, n_jobs=n_jobs),
        predictions,
    ),
    "ECC": (
        (2_000, 60, 12),
        lambda n_jobs: ChainEnsemble(ClassifierChain(LogisticRegression(max_iter=200)), random_state=0, n_jobs=n_jobs),
        predictions,
    ),
}


def loop_on(n_threads):
    """Hashes, which hold neither the interpreter's lock nor memory: the same number for each thread, shared by the threads."""

    def part(_):
        pbkdf2_hmac("sha256", b"password", b"salt", HASHES // PARTS)

    if n_threads == 1:
        return list(map(part, range(PARTS)))
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(part, range(n_threads * PARTS)))


def measure(name, threads, rounds):
    shape, make, result = CASES[name]
    X, Y = make_data(*shape)
    best, loops, results = dict.fromkeys(threads, NEVER), dict.fromkeys(threads, NEVER), {}
    for _ in range(rounds):
        for n_jobs in threads:  # alternating, so that other load on the machine affects all of them
            model = make(n_jobs)
            watch = Stopwatch()
            model.fit(X, Y)
            best[n_jobs] = best[n_jobs].best(watch.lap())
            loop_on(n_jobs)
            loops[n_jobs] = loops[n_jobs].best(watch.lap())
            results[n_jobs] = result(model, X)
    same = all(np.array_equal(results[threads[0]], other) for other in results.values())
    cores = {n: n / threads[0] * loops[threads[0]].wall / loops[n].wall for n in threads}
    return {"case": name, "shape": shape, "same": same, "wall": {n: best[n].wall for n in threads}, "cores": cores}


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(CASES), help="comma-separated names (default: all)")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, the first is the baseline (default: 1,2)")
    parser.add_argument("--repeat", type=int, default=3, help="rounds; the best run counts (default: 3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the records to this file")
    options = parser.parse_args(arguments)
    names = options.only.split(",")
    if any(name not in CASES for name in names):
        parser.error(f"cases are: {'; '.join(CASES)}")
    threads = [int(text) for text in options.threads.split(",")]
    records, rows = [], []
    with single_threaded_blas():
        for name in names:
            record = measure(name, threads, options.repeat)
            records.append(record)
            wall = record["wall"]
            cells = ["x".join(map(str, record["shape"])), *(number(wall[n]) for n in threads)]
            for n in threads[1:]:
                speed_up = wall[threads[0]] / wall[n]
                efficiency = speed_up / record["cores"][n]
                low = n == 2 * threads[0] and wall[threads[0]] > LEAST_SECONDS and efficiency < LEAST_EFFICIENCY
                cells += [number(speed_up), number(record["cores"][n]), number(efficiency) + (" !" if low else "")]
            rows.append((name, [*cells, "yes" if record["same"] else "NO"]))
    columns = ["N x d x q", *(f"{n} threads" for n in threads)]
    for n in threads[1:]:
        columns += [f"speed-up at {n}", "of the loop", "efficiency"]
    print_table("wall seconds", [*columns, "same result"], rows)
    if options.json:
        options.json.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
