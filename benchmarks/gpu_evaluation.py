"""Permutation tests on a GPU and on the core.

    python -m benchmarks.gpu_evaluation

Seconds of the best of two runs on a GPU, on one thread and on all. Selections and p-values are compared.
"""

import time

from benchmarks.gpu import make_data
from benchmarks.table import number, print_table
from labelsieve import Sieve
from labelsieve.stopping import PermutationTest

CORE = {"backend": "native"}
SETTINGS = {"GPU": {"backend": "gpu"}, "1 thread": {**CORE, "n_jobs": 1}, "all threads": {**CORE, "n_jobs": -1}}
PERMUTED = [(2_000, 200, 10), (20_000, 1_000, 20), (50_000, 4_000, 50)]  # rows, features, labels


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
    for sizes in PERMUTED:
        rows.append((f"39 permutations, {' x '.join(map(str, sizes))}", measured(permutations(*sizes))))
        print(*rows[-1], flush=True)
    print_table("seconds", [*SETTINGS, "same"], rows)


if __name__ == "__main__":
    main()
