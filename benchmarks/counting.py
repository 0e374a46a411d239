"""Greedy JMI on synthetic workloads: the core compared with the prototype and other implementations.

Quick run: ``python -m benchmarks.counting --workloads w1,w3 --repeat 3 --skip-slow-baselines``.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from benchmarks.table import megabytes, number, print_table
from benchmarks.workloads import WORKLOADS

TIMES = {
    "ours 1t": "ours",
    "ours 2t": "wall_2_threads",
    "packing": "ours_packing",
    "counting": "ours_counting",
    "prot. packing": "prototype_packing",
    "prot. counting": "prototype_counting",
    "C loop": "c_loop",
    "numpy": "numpy",
    "sklearn": "sklearn",
}


def parse(arguments):
    summary = __doc__.splitlines()[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.counting", description=summary)
    parser.add_argument("--workloads", default=",".join(WORKLOADS), help="comma-separated names (default: all)")
    parser.add_argument("--repeat", type=int, default=5, help="rounds; the best run counts (default: 5)")
    parser.add_argument("--skip-slow-baselines", action="store_true", help="only ours and the prototype")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the records to this file")
    options = parser.parse_args(arguments)
    options.workloads = options.workloads.split(",")
    unknown = [name for name in options.workloads if name not in WORKLOADS]
    if unknown:
        parser.error(f"unknown workloads {', '.join(unknown)}; known are {', '.join(WORKLOADS)}")
    if options.repeat < 1:
        parser.error("--repeat must be at least 1")
    return options


def add_ratios(record):
    """Ratios of one record; what was not measured gives none."""

    def ratio(above, below):
        return above / below if above is not None and below else None

    packing, counting = record.get("prototype_packing"), record.get("prototype_counting")
    both = None if counting is None else packing + counting
    ours = record["ours"]
    record["ratios"] = {
        "counting/prot.": ratio(record["ours_counting"], counting),
        "pack+count/prot.": ratio(record["ours_packing"] + record["ours_counting"], both),
        "2t speed-up": ratio(record["wall_1_thread"], record["wall_2_threads"]),
        "C loop/ours": ratio(record.get("c_loop"), ours),
        "numpy/ours": ratio(record.get("numpy"), ours),
        "sklearn/ours": ratio(record.get("sklearn"), ours),
    }
    return record


def seconds(record, key):
    text = number(record.get(key))
    return "~" + text if key in record["extrapolated"] else text


def label(record):
    return f"{record['workload']} {record['likeness']}"


def print_times(records):
    rows = []
    for record in records:
        shape = [str(record[key]) for key in ("rows", "features", "targets")]
        rows.append((label(record), shape + [seconds(record, key) for key in TIMES.values()]))
    print_table("JMI, seconds", ["N", "d", "q", *TIMES], rows)


def print_ratios(records):
    rows = []
    for record in records:
        memory = [megabytes(record["peak_memory"]), megabytes(record["memory_bound"])]
        rows.append((label(record), [number(value) for value in record["ratios"].values()] + memory))
    print_table("ratios", [*records[0]["ratios"], "peak MB", "bound MB"], rows)


def main(arguments=None):
    options = parse(arguments)
    try:
        from benchmarks.extrapolate import DifferentSelection
        from benchmarks.measure import measure, single_threaded_blas
        from benchmarks.selfcheck import check_methods
        from benchmarks.tools import find_tools
    except ModuleNotFoundError as missing:
        sys.exit(f"benchmarks.counting needs {missing.name}: install labelsieve with its dependencies first.")

    with tempfile.TemporaryDirectory() as folder:
        tools = find_tools(Path(folder), slow_baselines=not options.skip_slow_baselines)
        try:
            with single_threaded_blas():
                check_methods(tools.histogram)
            records = []
            for name in options.workloads:
                print(f"measuring {WORKLOADS[name].title} ...", file=sys.stderr, flush=True)
                records.append(add_ratios(measure(WORKLOADS[name], tools, options.repeat)))
        except DifferentSelection as difference:
            sys.exit(f"Stopped, the methods do not agree: {difference}")

    print_times(records)
    print()
    print_ratios(records)
    if options.json:
        options.json.write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
