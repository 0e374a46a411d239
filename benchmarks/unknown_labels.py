"""Cost of unknown labels compared with the same data with complete labels: ``python -m benchmarks.unknown_labels``.

Complete ``Sieve.fit`` calls, 10 % of the labels unknown (NaN) at random, CPU seconds, best of several rounds in turn. The
labels are doubles in rows in both cases. Real data need the shared folder.
"""

import argparse
from functools import partial

import numpy as np

from benchmarks.clock import in_turns
from benchmarks.shared_folder import real_dataset, shared_folder
from benchmarks.table import number, print_table
from labelsieve import Sieve

SHARE = 0.1
FAST = ("mim", "mrmr", "jmi", "cmim")
CONDITIONED = ("cife", "icap", "disr")  # terms conditioned on a label, or joint with one


def synthetic(n_rows=20_000, n_features=500, n_labels=100):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    noise = rng.normal(size=(n_rows, n_labels))
    return X, (X[:, :n_labels] + noise > np.linspace(0.7, 2.5, n_labels)).astype(float)


def real(name):
    dataset, _ = real_dataset(name)
    Y = dataset.Y.toarray() if hasattr(dataset.Y, "toarray") else np.asarray(dataset.Y)
    return dataset.X, Y.astype(float, order="C")


def measure(X, Y, criterion, steps, rounds):
    unknown = np.where(np.random.default_rng(1).random(Y.shape) < SHARE, np.nan, Y)
    sieve = Sieve(criterion, n_features_to_select=steps)
    best, _ = in_turns({"complete": partial(sieve.fit, X, Y), "unknown": partial(sieve.fit, X, unknown)}, rounds)
    return best["complete"].cpu, best["unknown"].cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--conditioned", action="store_true", help="also criteria with terms conditioned on a label")
    options = parser.parse_args()
    sets = {"20,000 x 500 x 100": synthetic}
    if shared_folder("data") is not None:
        sets = {"yeast": lambda: real("yeast"), "enron": lambda: real("enron"), **sets}
    rows = []
    for name, make in sets.items():
        X, Y = make()
        for criterion in (*FAST, *(CONDITIONED if options.conditioned else ())):
            complete, unknown = measure(X, Y, criterion, options.steps, options.rounds)
            density = f"{Y.mean():.2f}"
            rows.append((f"{name}, {criterion}", [density, number(complete), number(unknown), f"{unknown / complete:.2f}"]))
    print_table(f"{options.steps} steps, 10 % of the labels unknown", ["density", "complete", "unknown", "ratio"], rows)


if __name__ == "__main__":
    main()
