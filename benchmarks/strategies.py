"""Where one way of counting overtakes another: ``python -m benchmarks.strategies``.

The core chooses by a few thresholds (features.cpp, panels.cpp). Each row here is one panel, timed for every strategy that
can be forced, as a ratio to the automatic strategy: a ratio well below 1 means that a threshold is not optimal.
"""

import numpy as np

from benchmarks.clock import Stopwatch
from benchmarks.table import print_table
from labelsieve.counting.backends import Column, NativeBackend
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.information import Codes

STRATEGIES = ("positional", "grouped", "tiled", "sparse", "histogram")
SLOWEST = 40  # times the automatic strategy; slower ones are shown as a bound

# what changes: (rows, features, levels, density of ones, targets, classes, density of the rarer class, levels given)
SHAPES = {
    "one-hot columns 40": (50_000, 20, 3, None, 20, 2, 0.4, 3),
    "one-hot columns 120": (50_000, 60, 3, None, 20, 2, 0.4, 3),
    "one-hot columns 200": (50_000, 100, 3, None, 20, 2, 0.4, 3),
    "one-hot columns 400": (50_000, 200, 3, None, 20, 2, 0.4, 3),
    "ones 0.2 %": (8_000, 8_000, 2, 0.002, 20, 2, 0.1, 2),
    "ones 0.5 %": (8_000, 8_000, 2, 0.005, 20, 2, 0.1, 2),
    "ones 1 %": (8_000, 8_000, 2, 0.01, 20, 2, 0.1, 2),
    "ones 2 %": (8_000, 8_000, 2, 0.02, 20, 2, 0.1, 2),
    "cells 10": (2_400, 300, 5, None, 3, 2, 0.3, 5),
    "cells 40": (2_400, 300, 5, None, 3, 8, None, 5),
    "cells 80": (2_400, 300, 5, None, 3, 16, None, 5),
    "cells 200": (2_400, 300, 5, None, 3, 40, None, 5),
    "cells 1000": (2_400, 300, 5, None, 3, 200, None, 5),
    "cells 80, more rows": (24_000, 300, 5, None, 3, 16, None, 5),
    "cells 320, more rows": (24_000, 300, 5, None, 3, 64, None, 5),
}


def make(rows, features, levels, ones, targets, classes, rare, given, rng):
    if ones is None:
        x = rng.integers(0, levels, size=(features, rows), dtype=np.uint8).T
    else:
        x = (rng.random((features, rows), dtype=np.float32) < ones).astype(np.uint8).T
    if rare is None:
        y = rng.integers(0, classes, size=(targets, rows)).astype(np.uint8).T
    else:
        y = (rng.random((targets, rows)) < rare).astype(np.uint8).T
    column = x[:, 0] if ones is None and levels == given else rng.integers(0, given, size=rows)
    return x, y, column


def seconds(backend, column, given):
    """Best of several panels; the first, which also counts the margins, is not among them."""
    backend.panel(Column(column, given), reduce="sum")
    best = np.inf
    for _ in range(5):
        watch = Stopwatch()
        backend.panel(Column(column, given), reduce="sum")
        best = min(best, watch.lap().cpu)
    return best


def main():
    rng = np.random.default_rng(3)
    rows = []
    for name, shape in SHAPES.items():
        x, y, column = make(*shape, rng)
        fixed = FixedPoint.for_rows(len(x), n_targets=y.shape[1])
        codes = Codes.from_values(x), Codes.from_values(y)
        times = {
            strategy: seconds(NativeBackend(*codes, fixed, strategy=strategy), column, shape[-1])
            for strategy in ("auto", *STRATEGIES)
        }
        ratios = [times[strategy] / times["auto"] for strategy in STRATEGIES]
        rows.append((name, [f"{ratio:.2f}" if ratio < SLOWEST else f">{SLOWEST}" for ratio in ratios]))
    print_table("panel time / automatic", STRATEGIES, rows)


if __name__ == "__main__":
    main()
