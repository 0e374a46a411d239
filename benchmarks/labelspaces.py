"""Every label space on real data, as a ratio to greedy JMI over single labels.

For a quick look: ``python -m benchmarks.labelspaces --datasets yeast --repeat 1``.
"""

import argparse
import json
from pathlib import Path

from benchmarks.clock import NEVER, Stopwatch
from benchmarks.shared_folder import VARIABLE, real_dataset, shared_folder
from benchmarks.table import number, print_table
from labelsieve import Sieve
from labelsieve.discretize import EqualWidth
from labelsieve.labelspace import LabelSpace, Pruned, read_targets
from labelsieve.registry import LABEL_SPACES, make_label_space

DATASETS = ("yeast", "enron", "bibtex", "delicious")
SPACES = {**{name: name for name in LABEL_SPACES}, "pruned, split": Pruned(split=True)}


def load(name):
    """Codes of the features (five bins), and labels, of a data set."""
    data, _ = real_dataset(name)
    return EqualWidth().encode(data.X).to_dense(), data.Y


class Ready(LabelSpace):
    """Variables that were made before, so that making them and counting them can be timed apart."""

    makes = "variable"

    def __init__(self, made=None):
        self.made = made

    def make(self, targets, weights=None):
        return self.made


def measure(name, spaces, n_features, rounds):
    """CPU seconds on one thread: making the variables, and a whole fit."""
    X, Y = load(name)
    targets = read_targets(Y)
    making, counting = dict.fromkeys(spaces, NEVER), dict.fromkeys(spaces, NEVER)
    entries = {}
    for _ in range(rounds):
        for label in spaces:  # they take turns, so that a busy spell of the machine hits them all
            watch = Stopwatch()
            made = make_label_space(SPACES[label]).make(targets)
            making[label] = making[label].best(watch.lap())
            Sieve("jmi", targets=Ready(made), discretizer=None, n_features_to_select=n_features).fit(X, Y)
            counting[label] = counting[label].best(watch.lap())
            entries[label] = made.codes.n_rows
    fitting = {label: making[label] + counting[label] for label in spaces}
    single = fitting["single"].cpu
    return [
        {
            "dataset": name,
            "space": label,
            "entries": entries[label],
            "making": making[label].cpu,
            "fit": fitting[label].cpu,
            "to_single": fitting[label].cpu / single,
        }
        for label in spaces
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default=",".join(DATASETS), help="names with commas between them")
    parser.add_argument("--skip", default="", help="label spaces to leave out, with commas between them")
    parser.add_argument("--features", type=int, default=20, help="how many features to choose")
    parser.add_argument("--repeat", type=int, default=3, help="rounds; the best time counts")
    parser.add_argument("--json", type=Path, help="write the numbers there")
    arguments = parser.parse_args()
    if shared_folder("data") is None:
        parser.exit(f"The data sets are not there; set ${VARIABLE}.\n")
    spaces = [label for label in SPACES if label == "single" or label not in arguments.skip.split(",")]
    records = []
    for name in arguments.datasets.split(","):
        found = measure(name, spaces, arguments.features, arguments.repeat)
        records += found
        rows = [
            (one["space"], [f"{one['entries']:,}", *(number(one[key]) for key in ("making", "fit", "to_single"))])
            for one in found
        ]
        print_table(f"{name}, K={arguments.features}", ["entries", "making s", "fit s", "fit/single"], rows)
        print(flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(records, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
