"""Selection for extreme label sets, on tables with power-law frequencies: ``python -m benchmarks.extreme [SIZE ...]``.

Every line is a separate process: CPU seconds of a fit, their ratio to one product ``Y.T @ X`` of SciPy in the same process, and
the peak of its memory. ``--growth`` doubles rows, features, labels or entries instead, and prints exponents.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
import scipy.sparse as sp

from labelsieve import Sieve

SIZES = {  # rows, features, labels, features of a row, labels of a row
    "small": (4000, 20_000, 3000, 60, 5),
    "eurlex-4k": (15_449, 186_104, 3956, 271, 5.3),
    "wiki10-31k": (14_146, 101_938, 30_938, 673, 18.6),
    "amazoncat-13k": (1_186_239, 203_882, 13_330, 71, 5.0),
    "amazon-670k": (490_449, 135_909, 670_091, 76, 5.5),
}
FITS = ("mim 1", "mrmr 10", "jmi 2", "jmi 6", "cmim 2", "cmim 6", "icap 6")


def power_law(rng, n_rows, n_columns, per_row, *, shift):
    """A binary table whose columns have frequencies 1 / (rank + shift), in random order."""
    frequency = 1 / (np.arange(n_columns) + shift)
    bounds, columns = np.cumsum(frequency / frequency.sum()), rng.permutation(n_columns).astype(np.int32)
    lengths = np.maximum(1, rng.poisson(per_row, size=n_rows))
    drawn = np.minimum(np.searchsorted(bounds, rng.random(lengths.sum())), n_columns - 1)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    table = sp.csr_array((np.ones(len(drawn), dtype=np.uint8), columns[drawn], starts), shape=(n_rows, n_columns))
    table.sum_duplicates()
    table.data[:] = 1
    return table


def measure(size, fit, *, product=True):
    """CPU seconds of a fit and of the product, and the peak of memory of the fit, in GB."""
    rng = np.random.default_rng(0)
    n_rows, n_features, n_labels, per_row, labels_per_row = size
    X = power_law(rng, n_rows, n_features, per_row * 1.2, shift=20)
    Y = power_law(rng, n_rows, n_labels, labels_per_row, shift=10 if n_labels < 10**5 else 3000)
    criterion, n_selected = fit.split()
    start = time.process_time()
    Sieve(criterion, discretizer=None, n_features_to_select=int(n_selected)).fit(X, Y)
    seconds = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    n_visits = int((np.diff(X.indptr).astype(np.int64) * np.diff(Y.indptr)).sum())
    result = {"fit": seconds, "memory": memory, "entries": X.nnz + Y.nnz, "visits": n_visits}
    if product:
        of_labels, of_features = Y.astype(np.int32).T.tocsr(), X.astype(np.int32)
        start = time.process_time()
        result["tables"] = (of_labels @ of_features).nnz
        result["product"] = time.process_time() - start
    return result


def in_process(size, fit, *, product=True):
    """The same in a process of its own."""
    code = (
        f"import json; from benchmarks.extreme import measure; print(json.dumps(measure({size}, {fit!r}, product={product})))"
    )
    return json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def growth():
    """Exponents of the time of a fit in rows, features, labels and entries of a row."""
    base = np.array([8000, 40_000, 6000, 80, 6])
    print(f"{'doubled':<16}" + "".join(f"{fit:>10}" for fit in ("mim 1", "jmi 3")))
    of_base = {fit: in_process(tuple(base.tolist()), fit, product=False)["fit"] for fit in ("mim 1", "jmi 3")}
    for name, columns in {"rows": [0], "features": [1], "labels": [2], "features per row": [3], "labels per row": [4]}.items():
        larger = base.copy()
        larger[columns] *= 4
        times = [in_process(tuple(larger.tolist()), fit, product=False)["fit"] / of_base[fit] for fit in of_base]
        print(f"{name:<16}" + "".join(f"{np.log(ratio) / np.log(4):>10.2f}" for ratio in times), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", default=["small"], choices=SIZES)
    parser.add_argument("--fits", nargs="*", default=FITS)
    parser.add_argument("--growth", action="store_true")
    arguments = parser.parse_args()
    if arguments.growth:
        growth()
        return
    print(f"{'size':<15}{'fit':<9}{'seconds':>9}{'Y.T @ X':>9}{'ratio':>7}{'GB':>7}{'tables':>9}")
    for name in arguments.sizes:
        for fit in arguments.fits:
            got = in_process(SIZES[name], fit)
            ratio, tables = got["fit"] / got["product"], got["tables"] / 1e6
            print(
                f"{name:<15}{fit:<9}{got['fit']:>9.2f}{got['product']:>9.2f}{ratio:>7.2f}{got['memory']:>7.2f}{tables:>8.1f}M",
                flush=True,
            )


if __name__ == "__main__":
    main()
