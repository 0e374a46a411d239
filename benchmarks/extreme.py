"""Selection for extreme label sets, on tables with power-law frequencies: ``python -m benchmarks.extreme [SIZE ...]``.

Every line is a separate process: CPU seconds of a fit, their ratio to one product ``Y.T @ X`` of SciPy in the same process, and
the peak of its memory. ``--growth`` fits a tenth and two fifths of a size instead, and prints the exponent in between.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

from labelsieve import Sieve
from labelsieve.datasets import make_extreme

FITS = ("mim 1", "mrmr 10", "jmi 2", "jmi 6", "cmim 2", "cmim 6", "icap 6")
SIZES = ("eurlex-4k", "wiki10-31k", "amazoncat-13k", "amazon-670k")


def measure(size, scale, fit, *, product=True):
    """CPU seconds of a fit and of the product, and the peak of memory of the fit, in GB."""
    X, Y = make_extreme(size, scale=scale)
    X.data[:] = 1
    X = X.astype(np.uint8)
    criterion, n_selected = fit.split()
    start = time.process_time()
    Sieve(criterion, discretizer=None, n_features_to_select=int(n_selected)).fit(X, Y)
    result = {"fit": time.process_time() - start, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6}
    result["visits"] = int((np.diff(X.indptr).astype(np.int64) * np.diff(Y.indptr)).sum())
    if product:
        of_labels, of_features = Y.astype(np.int32).T.tocsr(), X.astype(np.int32)
        start = time.process_time()
        result["tables"] = (of_labels @ of_features).nnz
        result["product"] = time.process_time() - start
    return result


def in_process(size, scale, fit, *, product=True):
    """The same in a process of its own."""
    call = f"measure({size!r}, {scale}, {fit!r}, product={product})"
    code = f"import json; from benchmarks.extreme import measure; print(json.dumps({call}))"
    return json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def growth(size):
    """The time of a fit as a power of the pairs of a listed feature and a label of the same row, from two scales."""
    for fit in ("mim 1", "jmi 3"):
        small, large = (in_process(size, scale, fit, product=False) for scale in (0.1, 0.4))
        exponent = np.log(large["fit"] / small["fit"]) / np.log(large["visits"] / small["visits"])
        print(f"{size:<15}{fit:<9}{small['fit']:>9.2f}{large['fit']:>9.2f}{exponent:>7.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", default=["eurlex-4k"], choices=SIZES)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--fits", nargs="*", default=FITS)
    parser.add_argument("--growth", action="store_true")
    arguments = parser.parse_args()
    if arguments.growth:
        for name in arguments.sizes:
            growth(name)
        return
    print(f"{'size':<15}{'fit':<9}{'seconds':>9}{'Y.T @ X':>9}{'ratio':>7}{'GB':>7}{'tables':>9}")
    for name in arguments.sizes:
        for fit in arguments.fits:
            got = in_process(name, arguments.scale, fit)
            ratio, tables = got["fit"] / got["product"], got["tables"] / 1e6
            print(
                f"{name:<15}{fit:<9}{got['fit']:>9.2f}{got['product']:>9.2f}{ratio:>7.2f}{got['memory']:>7.2f}{tables:>8.1f}M",
                flush=True,
            )


if __name__ == "__main__":
    main()
