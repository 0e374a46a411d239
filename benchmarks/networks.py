"""Label networks and label-specific features: orders, parents, and MLFS for every label, on real data.

Quick run: ``python -m benchmarks.networks --datasets enron``.
"""

import sys
from functools import partial

import numpy as np

from benchmarks.clock import timed
from benchmarks.numpy_mlfs import numpy_mlfs
from benchmarks.options import BenchmarkOptions, measured, require_data, save
from benchmarks.real import load
from benchmarks.table import number, print_table

DATASETS = ("enron", "delicious")
N_FEATURES = 30
SLICE = 16  # labels on which slow baselines are timed


def separate_searches(X, Y, parents, labels):
    """One search per label, without shared counts."""
    from labelsieve.counting.workspace import Workspace
    from labelsieve.information import Codes
    from labelsieve.registry import make_criterion
    from labelsieve.search import GreedySearch

    plan = make_criterion("mlfs").plan
    workspace = Workspace(Codes.from_values(X), Codes.from_values(Y))
    selected = []
    for label in labels:
        scorer = plan.bind(workspace, targets=slice(label, label + 1), parents=parents)
        search = GreedySearch(scorer, X.shape[1])
        search.extend(N_FEATURES)
        selected.append(search.selected)
    return np.array(selected)


def measure(name, rounds, gaps):
    from labelsieve import LabelwiseSieve, NetworkRule
    from labelsieve.formula import labelwise

    X, Y = (codes.toarray() for codes in load(name, 1))
    record = {"dataset": name, "rows": X.shape[0], "features": X.shape[1], "labels": Y.shape[1]}
    rules = {
        "order, sun-kudo": {"parents": "none"},
        "order, eq. 47": {"parents": "none", "order": "information"},
        "order, no second term": {"parents": "none", "order": "information", "second_term": False},
        "kCC, k = 3": {"order": "given", "k": 3},
        "kCC, k = 0.4 q": {"order": "given", "k": 0.4},
        "kCC, k = 0.8 q": {"order": "given"},
        "tree": {"parents": "tree", "root": 0},
    }
    for what, options in rules.items():
        record[what], network = timed(lambda options=options: NetworkRule(**options).learn(X, Y), rounds)
        if what == "kCC, k = 0.8 q":
            parents = network.to_lists()

    def fit(criterion, parents=None):
        return LabelwiseSieve(criterion, discretizer=None, n_features_to_select=N_FEATURES, parents=parents).fit(X, Y).selected_

    record["JMI"], _ = timed(lambda: fit("jmi"), rounds)
    record["MLFS, no parents"], _ = timed(lambda: fit("mlfs"), rounds)
    record["MLFS"], ours = timed(lambda: fit("mlfs", parents=parents), rounds)
    some = np.unique(np.linspace(0, Y.shape[1] - 1, SLICE).astype(int)).tolist()
    baselines = {"one by one": separate_searches, "numpy": partial(numpy_mlfs, n_selected=N_FEATURES)}
    for what, slow in baselines.items():
        seconds, theirs = timed(lambda slow=slow: slow(X, Y, parents, some), 1)
        record[what] = seconds * Y.shape[1] / len(some)
        if what == "one by one" and not np.array_equal(theirs, ours[some]):
            sys.exit(f"Stopped, {name}: shared and separate searches select different features")
        record[f"{what}, same features"] = float((theirs == ours[some]).mean())
    record["gaps"] = {}
    for gap in gaps:
        labelwise.WIDEST_GAP, usual = gap, labelwise.WIDEST_GAP
        record["gaps"][gap], _ = timed(lambda: fit("jmi"), rounds)
        labelwise.WIDEST_GAP = usual
    return record


def print_records(records):
    head = [(record["dataset"], [str(record[key]) for key in ("rows", "features", "labels")]) for record in records]
    learning = ["order, sun-kudo", "order, eq. 47", "order, no second term"]
    learning += ["kCC, k = 3", "kCC, k = 0.4 q", "kCC, k = 0.8 q", "tree"]
    rows = []
    for (name, size), record in zip(head, records, strict=True):
        rows.append((name, [*size, *(number(record[what]) for what in learning)]))
    print_table("learning, CPU seconds", ["N", "d", "q", *learning], rows)
    print()
    columns = ["JMI", "MLFS, no parents", "MLFS", "MLFS/JMI", "one by one/MLFS", "numpy/MLFS", "numpy: same features"]
    rows = []
    for record in records:
        seconds = [number(record[what]) for what in columns[:3]]
        ratios = [record["MLFS"] / record["JMI"], record["one by one"] / record["MLFS"], record["numpy"] / record["MLFS"]]
        rows.append((record["dataset"], [*seconds, number(ratios[0]), *(f"~{number(ratio)}" for ratio in ratios[1:])]))
        rows[-1][1].append(number(record["numpy, same features"]))
    print_table(f"{N_FEATURES} features for every label", columns, rows)
    if records[0]["gaps"]:
        print()
        columns = [f"gap {gap}" for gap in records[0]["gaps"]]
        rows = [(record["dataset"], [number(seconds) for seconds in record["gaps"].values()]) for record in records]
        print_table("JMI for every label", columns, rows)


def main(arguments=None):
    parser = BenchmarkOptions("networks", __doc__, DATASETS)
    parser.add_argument("--gaps", default="", help="widest gaps between targets that are counted together, comma-separated")
    options = parser.read(arguments)
    require_data()
    gaps = [int(gap) for gap in options.gaps.split(",") if gap]
    records = measured(options, lambda name: measure(name, options.repeat, gaps))
    print_records(records)
    save(options, records)


if __name__ == "__main__":
    main()
