"""Cost of shrinkage: ``python -m benchmarks.shrinkage``.

Greedy selection from codes, five levels a feature, with ``estimator="plugin"`` and ``"shrinkage"``, in turns. CPU seconds of
complete ``fit`` calls, best of several rounds.
"""

import argparse
from functools import partial

import numpy as np

from benchmarks.clock import in_turns
from benchmarks.table import number, print_table
from labelsieve import Sieve

SHAPES = {"emotions": (593, 72, 6), "yeast": (2417, 103, 14), "enron": (1702, 1001, 53), "tall": (20_000, 100, 10)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    rng, rows = np.random.default_rng(0), []
    for name, (n, d, q) in SHAPES.items():
        X = rng.integers(0, 5, size=(n, d)).astype(np.uint8)
        Y = (rng.random((n, q)) < 0.2).astype(np.uint8)
        for criterion in ("mim", "mrmr", "jmi"):
            settings = {"discretizer": None, "n_features_to_select": options.steps}
            sieves = {name: Sieve(criterion, estimator=name, **settings) for name in ("plugin", "shrinkage")}
            best, _ = in_turns({name: partial(sieve.fit, X, Y) for name, sieve in sieves.items()}, options.rounds)
            plugin, shrunk = best["plugin"].cpu, best["shrinkage"].cpu
            tables = d * (q * options.steps if criterion == "jmi" else q + (options.steps - 1) * (criterion == "mrmr"))
            sizes, times = (f"{n:,}", f"{d:,}", str(q)), (number(plugin), number(shrunk), f"{shrunk / plugin:.2f}")
            rows.append((f"{name}, {criterion}", [*sizes, *times, f"{1e6 * shrunk / tables:.2g}"]))
    head = ["rows", "features", "labels", "plugin", "shrinkage", "ratio", "µs per table"]
    print_table(f"{options.steps} steps", head, rows)


if __name__ == "__main__":
    main()
