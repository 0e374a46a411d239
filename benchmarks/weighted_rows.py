"""Cost of row weights: ``python -m benchmarks.weighted_rows``.

Complete ``Sieve.fit`` calls from codes, without weights, with real ones (exponential) and with small whole ones (1 to 3), in
turns; CPU seconds on one thread, best of several rounds.
"""

import argparse
from functools import partial

import numpy as np
import scipy.sparse as sp

from benchmarks.clock import in_turns
from benchmarks.table import number, print_table
from labelsieve import Sieve

# Rows, features, labels, levels, share of labels, features selected.
TALL, TEXT, SMALL = (20_000, 500, 100, 5, 0.1, 20), (7395, 1836, 159, 2, 0.02, 50), (2417, 103, 14, 5, 0.3, 50)
CASES = {
    "tall, jmi": (TALL, "jmi", "single"),
    "tall, cmim": (TALL, "cmim", "single"),
    "tall, mim": (TALL, "mim", "single"),
    "bibtex-like, jmi": (TEXT, "jmi", "single"),
    "bibtex-like, sparse, jmi": (TEXT, "jmi", "single"),
    "yeast-like, jmi": (SMALL, "jmi", "single"),
    "yeast-like, joint, jmi": (SMALL, "jmi", "joint"),
    "yeast-like, five classes, jmi": (SMALL, "jmi", "classes"),
}


def make_data(name, shape, targets):
    rng = np.random.default_rng(0)
    n, d, q, levels, density, _ = shape
    X = rng.integers(0, levels, size=(n, d)) if levels > 2 else rng.random((n, d)) < (0.004 if "sparse" in name else 0.035)
    Y = rng.integers(0, 5, size=(n, q)) if targets == "classes" else rng.random((n, q)) < density
    X, Y = X.astype(np.uint8), Y.astype(np.uint8)
    return (sp.csr_matrix(X), sp.csr_matrix(Y)) if "sparse" in name else (X, Y)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=",".join(name.replace(", ", ":") for name in CASES))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rows = []
    for name in (case.replace(":", ", ") for case in options.cases.split(",")):
        shape, criterion, targets = CASES[name]
        X, Y = make_data(name, shape, targets)
        rng = np.random.default_rng(1)
        weights = [None, rng.exponential(size=shape[0]), rng.integers(1, 4, size=shape[0])]
        space = "single" if targets == "classes" else targets
        sieve = Sieve(criterion, targets=space, discretizer=None, n_features_to_select=shape[-1])
        best, _ = in_turns({kind: partial(sieve.fit, X, Y, each) for kind, each in enumerate(weights)}, options.rounds)
        plain, real, whole = (lap.cpu for lap in best.values())
        rows.append((name, [number(plain), number(real), number(whole), f"{real / plain:.2f}", f"{whole / plain:.2f}"]))
    print_table("fit, CPU seconds", ["no weights", "real", "whole", "real/none", "whole/none"], rows)


if __name__ == "__main__":
    main()
