"""Selection for extreme label sets, on tables with power-law frequencies: ``python -m benchmarks.extreme [SIZE ...]``.

Every line is a separate process: CPU seconds of a fit, their ratio to one product ``Y.T @ X`` of SciPy in the same process, the
peak of its memory, and nanoseconds for each pair of a word and a label of the same row. Rows are generated block by block;
``--rows 0.1`` takes the first tenth of them, with all features and labels. A fit is a criterion and a number of features;
``labelwise-`` selects them for each label, among all features or as many candidates as a third number says. ``--growth``
prints the exponents of the time in the numbers of rows, features and labels, and in the words per row, from the slope of a
line in logarithms.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
import scipy.sparse as sp

from labelsieve import LabelwiseSieve, Sieve
from labelsieve.datasets import ExtremeLabels

FITS = ("mim 1", "mrmr 10", "jmi 2", "jmi 6", "cmim 2", "cmim 6", "icap 6", "labelwise-mim 10", "labelwise-jmi 10")
GROWTH = ("mim 1", "jmi 4", "mrmr 4", "labelwise-mim 5", "labelwise-jmi 5")
BASE = {"rows": 100_000, "features": 100_000, "labels": 20_000, "words per row": 100}
FACTORS = (1, 2, 4)


def tables(size, scale, share):
    """The first rows of a size, as ones and zeros."""
    data = ExtremeLabels(size, scale)
    n_rows, parts = int(share * data.shape[0]), []
    for block in data.blocks():
        parts.append(block)
        if sum(X.shape[0] for X, _ in parts) >= n_rows:
            break
    X, Y = (sp.vstack(blocks, format="csr")[:n_rows].astype(np.uint8) for blocks in zip(*parts, strict=True))
    return X, Y


def selector(fit):
    """The selector of a fit such as ``"jmi 6"``, or ``"labelwise-jmi 6 100"``."""
    criterion, n_selected, *n_candidates = fit.split()
    settings = {"discretizer": None, "n_features_to_select": int(n_selected)}
    if not criterion.startswith("labelwise-"):
        return Sieve(criterion, **settings)
    criterion = criterion.removeprefix("labelwise-")
    return LabelwiseSieve(criterion, n_candidates=int(n_candidates[0]) if n_candidates else None, **settings)


def seconds(fit, X, Y):
    """CPU seconds of a fit."""
    start = time.process_time()
    selector(fit).fit(X, Y)
    return time.process_time() - start


def measure(size, scale, share, fit):
    """CPU seconds of a fit and of the product, and the peak of memory of the fit, in GB."""
    X, Y = tables(size, scale, share)
    result = {"fit": seconds(fit, X, Y), "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6}
    result["visits"] = int((np.diff(X.indptr).astype(np.int64) * np.diff(Y.indptr)).sum())
    of_labels, of_features = Y.astype(np.int32).T.tocsr(), X.astype(np.int32)
    del X, Y
    start = time.process_time()
    result["tables"] = (of_labels @ of_features).nnz
    result["product"] = time.process_time() - start
    return result


def in_process(*arguments):
    """The same in a process of its own."""
    code = f"import json; from benchmarks.extreme import measure; print(json.dumps(measure{arguments}))"
    return json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def power_law(n_rows, n_columns, per_row):
    """Columns whose frequencies fall as 1 / rank, with about ``per_row`` ones in a row."""
    rng = np.random.default_rng([n_rows, n_columns, per_row])
    columns = (n_columns + 1) ** rng.random(n_rows * per_row) - 1
    entries = np.repeat(np.arange(n_rows), per_row), columns.astype(int)
    ones = sp.csr_array((np.ones(len(columns), dtype=np.uint8), entries), shape=(n_rows, n_columns))
    ones.data[:] = 1
    return ones


def growth(fits, scale, n_rounds=2):
    """Exponents of the time of some fits."""
    base = {name: int(scale * n) if name != "words per row" else n for name, n in BASE.items()}
    times = {}
    for name in BASE:
        for factor in FACTORS:
            n = {**base, name: factor * base[name]}
            if (sizes := tuple(n.values())) in times:
                continue
            X, Y = power_law(n["rows"], n["features"], n["words per row"]), power_law(n["rows"], n["labels"], 5)
            times[sizes] = {fit: min(seconds(fit, X, Y) for _ in range(n_rounds)) for fit in fits}
            print(n, {fit: round(taken, 2) for fit, taken in times[sizes].items()}, flush=True)
    print(f"{'fit':<17}" + "".join(f"{name:>15}" for name in BASE))
    for fit in fits:
        exponents = []
        for name in BASE:
            taken = [times[tuple({**base, name: factor * base[name]}.values())][fit] for factor in FACTORS]
            exponents.append(np.polyfit(np.log(FACTORS), np.log(taken), 1)[0])
        print(f"{fit:<17}" + "".join(f"{exponent:>15.2f}" for exponent in exponents))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", default=["eurlex-4k"], help="of ExtremeLabels")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rows", type=float, default=1.0)
    parser.add_argument("--fits", nargs="*", default=FITS)
    parser.add_argument("--growth", action="store_true")
    arguments = parser.parse_args()
    if arguments.growth:
        growth(GROWTH if arguments.fits is FITS else arguments.fits, arguments.scale)
        return
    print(f"{'size':<15}{'fit':<21}{'seconds':>9}{'Y.T @ X':>9}{'ratio':>7}{'GB':>7}{'tables':>9}{'ns':>7}")
    for name in arguments.sizes:
        for fit in arguments.fits:
            got = in_process(name, arguments.scale, arguments.rows, fit)
            ratio, each = got["fit"] / got["product"], 1e9 * got["fit"] / got["visits"]
            print(
                f"{name:<15}{fit:<21}{got['fit']:>9.2f}{got['product']:>9.2f}{ratio:>7.2f}{got['memory']:>7.2f}"
                f"{got['tables'] / 1e6:>8.1f}M{each:>7.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
