"""Mutual information of every feature with every label on real data, compared with sparse products in scipy.

Quick run: ``python -m benchmarks.real --datasets bibtex --repeat 2``.
"""

import sys
from functools import cache

import numpy as np
import scipy.sparse as sp

from benchmarks.clock import in_turns
from benchmarks.memory import extra_memory, in_fresh_process
from benchmarks.options import BenchmarkOptions, measured, require_data, save
from benchmarks.scipy_information import scipy_mutual_information
from benchmarks.shared_folder import real_dataset
from benchmarks.table import megabytes, number, print_table

DATASETS = ("bibtex", "delicious", "yahoo-health", "imdb")


def ours(X, Y, n_jobs=1):
    from labelsieve.information import mutual_information

    return mutual_information(X, Y, n_jobs=n_jobs)


METHODS = {"ours": ours, "scipy": scipy_mutual_information}


@cache
def load(name, max_code):
    """Codes of a data set as sparse uint8 columns, checked against its entry in the manifest.

    Term counts above ``max_code`` become ``max_code``: 1 asks whether a term is there at all.
    """
    data, entry = real_dataset(name)
    shape = (*data.X.shape, data.Y.shape[1])
    if shape != (entry["N"], entry["d"], entry["q"]):
        raise ValueError(f"{name}: read N, d, q = {shape}, which differs from the manifest")
    return codes_of(sp.csc_array(data.X), max_code, name), codes_of(sp.csc_array(data.Y), 1, name)


def codes_of(columns, max_code, name):
    values = columns.data
    if values.size and (values.min() < 0 or np.any(values != np.rint(values))):
        raise ValueError(f"{name} has values that are not counts; discretize them first")
    columns = columns.copy()
    columns.data = np.minimum(values, max_code)
    columns = columns.astype(np.uint8)
    columns.eliminate_zeros()
    return columns


def method_memory(method, name, max_code):
    """Peak bytes beyond the input; call it in a fresh process. A small call first loads all modules."""
    X, Y = load(name, max_code)
    METHODS[method](X[:64, :8], Y[:64, :4])
    return extra_memory(lambda: METHODS[method](X, Y))


def measure(name, max_code, rounds):
    X, Y = load(name, max_code)
    contenders = {
        "ours 1t": lambda: ours(X, Y, n_jobs=1),
        "ours 2t": lambda: ours(X, Y, n_jobs=2),
        "scipy": lambda: scipy_mutual_information(X, Y),
    }
    laps, results = in_turns(contenders, rounds)
    if not np.array_equal(results["ours 1t"], results["ours 2t"]):
        sys.exit(f"Stopped, {name}: one and two threads do not give the same numbers")
    return {
        "dataset": name,
        "rows": X.shape[0],
        "features": X.shape[1],
        "labels": Y.shape[1],
        "ours": laps["ours 1t"].cpu,
        "wall_1_thread": laps["ours 1t"].wall,
        "wall_2_threads": laps["ours 2t"].wall,
        "scipy": laps["scipy"].cpu,
        "ours_memory": in_fresh_process(method_memory, "ours", name, max_code),
        "scipy_memory": in_fresh_process(method_memory, "scipy", name, max_code),
        "largest_difference": float(np.abs(results["ours 1t"] - results["scipy"]).max()),
    }


def print_records(records):
    columns = ["N", "d", "q", "ours 1t", "ours 2t", "scipy", "scipy/ours", "2t speed-up"]
    columns += ["ours MB", "scipy MB", "largest difference"]
    rows = []
    for record in records:
        cells = [str(record[key]) for key in ("rows", "features", "labels")]
        cells += [number(record[key]) for key in ("ours", "wall_2_threads", "scipy")]
        cells += [number(record["scipy"] / record["ours"])]
        cells += [number(record["wall_1_thread"] / record["wall_2_threads"])]
        cells += [megabytes(record["ours_memory"]), megabytes(record["scipy_memory"])]
        rows.append((record["dataset"], [*cells, f"{record['largest_difference']:.1e}"]))
    print_table("all pairs, seconds", columns, rows)


def main(arguments=None):
    parser = BenchmarkOptions("real", __doc__, DATASETS, repeat=5)
    parser.add_argument("--max-code", type=int, default=1, help="cap of term counts (default: 1, presence)")
    options = parser.read(arguments)
    if not 1 <= options.max_code <= 255:
        parser.error("--max-code from 1 to 255")
    require_data()
    try:
        import labelsieve.information  # noqa: F401
    except ModuleNotFoundError as missing:
        sys.exit(f"benchmarks.real needs {missing.name}: install labelsieve with its dependencies first.")
    records = measured(options, lambda name: measure(name, options.max_code, options.repeat))
    print_records(records)
    save(options, records)


if __name__ == "__main__":
    main()
