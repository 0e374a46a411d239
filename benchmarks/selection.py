"""Complete ``Sieve.fit`` calls on synthetic workloads, compared with the core alone and with other implementations.

``python -m benchmarks.selection`` prints the overhead of the selector over the core for greedy JMI (packing, relevance, and the
counts of every step but the last), and compares with a C loop, numpy one-hot products and scikit-learn's
``mutual_info_classif`` per label, which is only the first step.
"""

import argparse
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks import jmi_on_core
from benchmarks.clock import NEVER, Stopwatch
from benchmarks.extrapolate import Estimate, selection_time
from benchmarks.histogram_loop import CompilerMissing, HistogramLoop, compile_histogram_loop
from benchmarks.measure import LARGEST_ONE_HOT, single_threaded_blas
from benchmarks.onehot_products import OneHotProducts
from benchmarks.table import number, print_table
from benchmarks.workloads import WORKLOADS, generate
from labelsieve import Criterion, Sieve
from labelsieve.formula import I, f, s, sum_s, sum_y, y

CELLS = 2_000_000  # of the slice on which mutual_info_classif is timed


def fit_time(workload, x, y, n_jobs, criterion="jmi"):
    watch = Stopwatch()
    sieve = Sieve(criterion, discretizer=None, n_features_to_select=workload.steps, n_jobs=n_jobs).fit(x, y)
    return sieve.selected_, watch.lap()


class CustomJMI(Criterion):
    """JMI as a custom criterion."""

    first = sum_y(I(f, y))
    score = sum_s(sum_y(I((f, s), y)))


def core_time(workload, x, y):
    """The same counts, computed directly by the core."""
    shorter = replace(workload, steps=workload.steps - 1)
    _, stages = jmi_on_core.select(shorter, x, y, n_jobs=1)
    return stages.total


def label_by_label_time(workload, x, y):
    """``mutual_info_classif`` for every label: relevance alone, without the later steps."""
    from sklearn.feature_selection import mutual_info_classif

    columns = max(1, min(workload.features, CELLS // workload.rows))
    watch = Stopwatch()
    mutual_info_classif(x[:, :columns], y[:, 0], discrete_features=True)
    scaled = watch.lap().cpu * workload.targets * workload.features / columns
    return Estimate(scaled, extrapolated=True)


def measure(workload, rounds, loop):
    x, y = generate(workload)
    best = {"fit": NEVER, "fit 2t": NEVER, "core": NEVER, "custom": NEVER}
    selected = None
    for _ in range(rounds):
        best["core"] = best["core"].best(core_time(workload, x, y))
        selected, lap = fit_time(workload, x, y, 1)
        best["fit"] = best["fit"].best(lap)
        best["custom"] = best["custom"].best(fit_time(workload, x, y, 1, CustomJMI())[1])
        best["fit 2t"] = best["fit 2t"].best(fit_time(workload, x, y, 2)[1])
    values = jmi_on_core.fixed_point_values(workload.rows, workload.targets)
    selected = [int(k) for k in selected]
    others = {}
    if loop is not None:
        others["C loop"] = selection_time(partial(HistogramLoop, loop, workload, x, y, values), workload, selected)
    widest = max(1, LARGEST_ONE_HOT // (4 * workload.rows * (workload.levels - 1)))
    with single_threaded_blas():
        make = partial(OneHotProducts, workload, x, y, values)
        others["numpy"] = selection_time(make, workload, selected, narrowest=widest, widest=widest)
    others["sklearn"] = label_by_label_time(workload, x, y)
    return best, others


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.selection", description=__doc__.splitlines()[0])
    parser.add_argument("--workloads", default="w1,w2,w3,w4,w5,w6", help="comma-separated names")
    parser.add_argument("--repeat", type=int, default=7, help="rounds; the best run counts (default: 7)")
    options = parser.parse_args(arguments)
    try:
        loop = compile_histogram_loop()
    except CompilerMissing as reason:
        loop = None
        print(f"No C loop: {reason}.")
    rows = []
    for name in options.workloads.split(","):
        workload = WORKLOADS[name]
        best, others = measure(workload, options.repeat, loop)
        fit, core = best["fit"].cpu, best["core"].cpu
        ratios = [
            f"{100 * (fit / core - 1):+.1f} %",
            number(1000 * (fit - core)),
            number(best["custom"].cpu / fit),
            number(best["fit"].wall / best["fit 2t"].wall),
        ]
        for other in ("C loop", "numpy", "sklearn"):
            estimate = others.get(other)
            ratios.append("-" if estimate is None else ("~" if estimate.extrapolated else "") + number(estimate.seconds / fit))
        rows.append((workload.title, [number(fit), number(core), *ratios]))
    columns = [
        "fit",
        "core",
        "overhead",
        "overhead ms",
        "custom/built-in",
        "2t speed-up",
        "C loop/fit",
        "numpy/fit",
        "sklearn MIM/fit",
    ]
    print_table("JMI, seconds", columns, rows)


if __name__ == "__main__":
    np.seterr(all="raise")
    main()
