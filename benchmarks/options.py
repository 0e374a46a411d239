"""The options that several benchmarks have: names of data sets or workloads, rounds, and a file for the numbers."""

import argparse
import json
import sys
from pathlib import Path

from benchmarks.shared_folder import VARIABLE, shared_folder


class BenchmarkOptions(argparse.ArgumentParser):
    """The options of a module; ``known`` are the names of its data sets, which are in the shared folder, or workloads."""

    def __init__(self, module, summary, known, *, kind="datasets", repeat=3):
        super().__init__(prog=f"python -m benchmarks.{module}", description=summary.splitlines()[0])
        self.known, self.kind = known, kind
        self.add_argument(f"--{kind}", default=",".join(known), help="comma-separated names (default: all)")
        self.add_argument("--repeat", type=int, default=repeat, help=f"rounds; the best run counts (default: {repeat})")
        self.add_argument("--json", type=Path, metavar="FILE", help="also write the records to this file")

    def read(self, arguments=None):
        """The options, with ``names`` as a list."""
        options = self.parse_args(arguments)
        options.names = getattr(options, self.kind).split(",")
        if options.repeat < 1 or any(name not in self.known for name in options.names):
            self.error(f"{self.kind} are {', '.join(self.known)}; --repeat from 1")
        return options


def require_data():
    """Stop where the data sets are absent."""
    if shared_folder("data") is None:
        sys.exit(f"No data sets: there is no data/ in ${VARIABLE} or ../shared.")


def measured(options, measure):
    """Records of all names, one after the other."""
    records = []
    for name in options.names:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        records.append(measure(name))
    return records


def save(options, records):
    """Write the records to the file of the options, if there is one."""
    if options.json:
        options.json.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
