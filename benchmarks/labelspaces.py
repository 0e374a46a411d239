"""Every label space on real data, as a ratio to greedy JMI over single labels.

Quick run: ``python -m benchmarks.labelspaces --datasets yeast --repeat 1``.
"""

from benchmarks.clock import NEVER, Stopwatch
from benchmarks.options import BenchmarkOptions, require_data, save
from benchmarks.shared_folder import real_dataset
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


class Encoded(LabelSpace):
    """Targets that are encoded already, so that encoding and counting can be timed separately."""

    produces = "variable"

    def __init__(self, encoded=None):
        self.encoded = encoded

    def encode(self, targets, weights=None):
        return self.encoded


def measure(name, spaces, n_features, rounds):
    """CPU seconds on one thread: encoding of the targets, and a complete fit."""
    X, Y = load(name)
    targets = read_targets(Y)
    encoding, counting = dict.fromkeys(spaces, NEVER), dict.fromkeys(spaces, NEVER)
    counted_rows = {}
    for _ in range(rounds):
        for label in spaces:  # alternating, so that other load on the machine affects all of them
            watch = Stopwatch()
            encoded = make_label_space(SPACES[label]).encode(targets)
            encoding[label] = encoding[label].best(watch.lap())
            Sieve("jmi", targets=Encoded(encoded), discretizer=None, n_features_to_select=n_features).fit(X, Y)
            counting[label] = counting[label].best(watch.lap())
            counted_rows[label] = encoded.codes.n_rows
    fitting = {label: encoding[label] + counting[label] for label in spaces}
    single = fitting["single"].cpu
    return [
        {
            "dataset": name,
            "space": label,
            "counted_rows": counted_rows[label],
            "encoding": encoding[label].cpu,
            "fit": fitting[label].cpu,
            "to_single": fitting[label].cpu / single,
        }
        for label in spaces
    ]


def main():
    parser = BenchmarkOptions("labelspaces", __doc__, DATASETS)
    parser.add_argument("--skip", default="", help="label spaces to leave out, comma-separated")
    parser.add_argument("--features", type=int, default=20, help="number of features to select")
    arguments = parser.read()
    require_data()
    spaces = [label for label in SPACES if label == "single" or label not in arguments.skip.split(",")]
    records = []
    for name in arguments.names:
        found = measure(name, spaces, arguments.features, arguments.repeat)
        records += found
        rows = [
            (one["space"], [f"{one['counted_rows']:,}", *(number(one[key]) for key in ("encoding", "fit", "to_single"))])
            for one in found
        ]
        print_table(f"{name}, K={arguments.features}", ["counted rows", "encoding s", "fit s", "fit/single"], rows)
        print(flush=True)
    save(arguments, records)


if __name__ == "__main__":
    main()
