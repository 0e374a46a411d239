"""Evaluation on a GPU and on the core: nested predictions of ML-kNN, and permutation tests.

    python -m benchmarks.gpu_evaluation

Seconds of the best of two runs on a GPU, on one thread and on all. Predictions, selections and p-values are compared.
"""

import time

import numpy as np

from benchmarks.gpu import make_data
from benchmarks.table import number, print_table
from labelsieve import Sieve
from labelsieve.classifiers import MLkNN, nested_predictions
from labelsieve.stopping import PermutationTest

CORE = {"backend": "native"}
SETTINGS = {"GPU": {"backend": "gpu"}, "1 thread": {**CORE, "n_jobs": 1}, "all threads": {**CORE, "n_jobs": -1}}
NEIGHBORS = [(2_000, 20), (10_000, 50), (40_000, 50)]  # rows, features
PERMUTED = [(2_000, 200, 10), (20_000, 1_000, 20), (50_000, 4_000, 50)]  # rows, features, labels


def predictions(n_rows, n_features, *, whole):
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(n_rows, n_features)).astype(float) if whole else rng.normal(size=(n_rows, n_features))
    Y = (X[:, :5] + rng.normal(size=(n_rows, 5)) > 1).astype(int)
    half = n_rows // 2

    def run(**setting):
        found = nested_predictions(MLkNN(**setting), X[:half], Y[:half], X[half:], features=range(n_features))
        return [probabilities.sum() for _, probabilities in found]

    return run


def permutations(n_rows, n_features, n_targets):
    X, Y = make_data(n_rows, n_features, n_targets, 5)
    Y[:, : n_targets // 2] |= X[:, 3 : 3 + n_targets // 2] > 3

    def run(**setting):
        rule = PermutationTest(n_permutations=39, max_features=3, random_state=0)
        sieve = Sieve("jmi", discretizer=None, n_features_to_select=rule, **setting).fit(X, Y)
        return sieve.selected_.tolist(), sieve.stopping_.p_values_.tolist()

    return run


def measured(run):
    times, found = [], []
    for setting in SETTINGS.values():
        laps = []
        for _ in range(2):
            start = time.perf_counter()
            found.append(run(**setting))
            laps.append(time.perf_counter() - start)
        times.append(min(laps))
    return [*map(number, times), str(all(each == found[0] for each in found))]


def main():
    rows = []
    for n_rows, n_features in NEIGHBORS:
        for whole in (True, False):
            name = f"ML-kNN, {n_rows // 2} + {n_rows // 2} x {n_features}, {'whole numbers' if whole else 'numbers'}"
            rows.append((name, measured(predictions(n_rows, n_features, whole=whole))))
            print(*rows[-1], flush=True)
    for sizes in PERMUTED:
        rows.append((f"39 permutations, {' x '.join(map(str, sizes))}", measured(permutations(*sizes))))
        print(*rows[-1], flush=True)
    print_table("seconds", [*SETTINGS, "same"], rows)


if __name__ == "__main__":
    main()
