"""Feature selection of oCC compared with numpy, its scaling, and ECC compared with scikit-learn's chains.

Quick run: ``python -m benchmarks.chains --datasets emotions --repeat 1 --skip-growth``.
"""

import numpy as np
import scipy.sparse as sp

from benchmarks.clock import timed
from benchmarks.numpy_occ import chain_order, chain_parents, label_features
from benchmarks.options import BenchmarkOptions, require_data, save
from benchmarks.shared_folder import shared_folder
from benchmarks.table import number, print_table

DATASETS = ("emotions", "yeast", "scene", "medical", "enron")
ENSEMBLES = ("emotions", "yeast", "medical")
N_FEATURES = 30
SLICE = 8  # labels that numpy is timed on for features
START = {"rows": 1000, "features": 200, "labels": 20}


def load(name):
    from labelsieve.datasets import load as read

    folder = shared_folder("data") / name
    whole = next(folder.glob(f"{name}.arff*"), None)
    parts = [read(path) for path in ([whole] if whole else sorted(folder.glob(f"{name}-*.arff*")))]
    stack = sp.vstack if sp.issparse(parts[0].X) else np.vstack
    X = stack([part.X for part in parts])
    Y = np.vstack([part.Y.toarray() if sp.issparse(part.Y) else part.Y for part in parts])
    return sp.csr_matrix(X) if sp.issparse(X) else X, np.asarray(Y, dtype=np.uint8)


def select(X, Y):
    """The steps of oCC before it trains classifiers: network and label-specific features."""
    from labelsieve import LabelwiseSieve, NetworkRule
    from labelsieve.discretize import MeanStd

    network = NetworkRule("kcc").learn(X, Y)
    sieve = LabelwiseSieve("mlfs", discretizer=MeanStd(), n_features_to_select=N_FEATURES, parents=network)
    return network, sieve.fit(X, Y).selected_


def measure_selection(name, rounds):
    from labelsieve import NetworkRule
    from labelsieve.discretize import MeanStd
    from labelsieve.labelspace.network_rule import n_parents, principal_components, three_levels

    X, Y = load(name)
    Y = Y[:, (Y.any(axis=0)) & ~Y.all(axis=0)]
    record = {"dataset": name, "rows": X.shape[0], "features": X.shape[1], "labels": Y.shape[1]}
    record["ours"], (network, selected) = timed(lambda: select(X, Y), rounds)
    record["ours, network"], _ = timed(lambda: NetworkRule("kcc").learn(X, Y), rounds)
    # numpy starts from codes, labelsieve from numeric data.
    codes = MeanStd().fit_transform(X)
    codes = codes.toarray() if sp.issparse(codes) else codes
    component = three_levels(principal_components(X)).to_dense()
    labels = Y.astype(np.float32)
    seconds, order = timed(lambda: chain_order(component, labels), 1)
    record["numpy"] = seconds
    k = n_parents(0.8, Y.shape[1])
    seconds, parents = timed(lambda: chain_parents(labels, order, k), 1)
    record["numpy"] += seconds
    record["numpy, network"] = record["numpy"]
    some = np.unique(np.linspace(0, Y.shape[1] - 1, SLICE).astype(int)).tolist()
    seconds, theirs = timed(lambda: label_features(codes, labels, network.to_lists(), some, N_FEATURES), 1)
    record["numpy"] += seconds * Y.shape[1] / len(some)
    record["same order"] = float(np.mean(np.array(order) == network.order))
    given = NetworkRule("kcc", order=order).learn(None, Y).to_lists()
    record["same parents"] = float(np.mean([set(a) == set(b) for a, b in zip(given, parents, strict=True)]))
    record["same features"] = float((theirs == selected[some]).mean())
    return record


def measure_growth(rounds):
    rng = np.random.default_rng(0)
    records = []
    for axis in START:
        for factor in (1, 2, 4, 8):
            sizes = {**START, axis: START[axis] * factor}
            X = rng.normal(size=(sizes["rows"], sizes["features"]))
            Y = (X[:, : sizes["labels"]] + rng.normal(size=(sizes["rows"], sizes["labels"])) > 0.8).astype(np.uint8)
            seconds, _ = timed(lambda X=X, Y=Y: select(X, Y), rounds)
            records.append({"axis": axis, "factor": factor, "seconds": seconds})
    return records


def measure_ensemble(name, rounds):
    from sklearn.multioutput import ClassifierChain as SklearnChain
    from sklearn.svm import LinearSVC

    from labelsieve.chains import ChainEnsemble

    X, Y = load(name)
    Y = Y[:, (Y.any(axis=0)) & ~Y.all(axis=0)].astype(int)
    base = LinearSVC(dual=False)
    record = {"dataset": name, "rows": X.shape[0], "features": X.shape[1], "labels": Y.shape[1]}
    ours = ChainEnsemble("cc", base, sampling="all", random_state=0)
    record["fit"], _ = timed(lambda: ours.fit(X, Y), rounds)
    record["predict"], votes = timed(lambda: ours.predict_proba(X), rounds)
    orders = [list(member.network_.order) for member in ours.chains_]
    record["their fit"], theirs = timed(lambda: [SklearnChain(base, order=order).fit(X, Y) for order in orders], rounds)
    record["their predict"], expected = timed(lambda: np.mean([chain.predict(X) for chain in theirs], axis=0), rounds)
    record["same votes"] = float((votes == expected).mean())
    sampled = ChainEnsemble("cc", base, random_state=0)
    record["sampled fit"], _ = timed(lambda: sampled.fit(X, Y), rounds)
    return record


def print_selection(records):
    columns = ["N", "d", "q", "ours", "of it network", "numpy/ours", "network: numpy/ours"]
    columns += ["same order", "same parents", "same features"]
    rows = []
    for record in records:
        cells = [str(record[key]) for key in ("rows", "features", "labels")]
        cells += [number(record["ours"]), number(record["ours, network"]), f"~{number(record['numpy'] / record['ours'])}"]
        cells.append(number(record["numpy, network"] / record["ours, network"]))
        cells += [number(record[key]) for key in ("same order", "same parents", "same features")]
        rows.append((record["dataset"], cells))
    print_table(f"order, parents, {N_FEATURES} features; CPU s", columns, rows)


def print_growth(records):
    rows = []
    for axis, start in START.items():
        mine = {record["factor"]: record["seconds"] for record in records if record["axis"] == axis}
        rows.append((f"{axis}, from {start}", [number(mine[1]), *(number(mine[f] / mine[1]) for f in (2, 4, 8))]))
    print_table("growth of the same", ["CPU s", "twice", "4 times", "8 times"], rows)


def print_ensembles(records):
    columns = ["ECC fit", "predict", "sklearn fit/ours", "predict/ours", "same votes", "sampled fit/fit"]
    rows = []
    for record in records:
        cells = [number(record["fit"]), number(record["predict"]), number(record["their fit"] / record["fit"])]
        cells += [number(record["their predict"] / record["predict"]), number(record["same votes"])]
        rows.append((record["dataset"], [*cells, number(record["sampled fit"] / record["fit"])]))
    print_table("ten chains, CPU s", columns, rows)


def main(arguments=None):
    parser = BenchmarkOptions("chains", __doc__, DATASETS)
    parser.add_argument("--skip-growth", action="store_true")
    parser.add_argument("--skip-ensembles", action="store_true")
    options = parser.read(arguments)
    require_data()
    records = {"selection": [measure_selection(name, options.repeat) for name in options.names]}
    print_selection(records["selection"])
    if not options.skip_growth:
        records["growth"] = measure_growth(options.repeat)
        print()
        print_growth(records["growth"])
    if not options.skip_ensembles:
        records["ensembles"] = [measure_ensemble(name, options.repeat) for name in options.names if name in ENSEMBLES]
        print()
        print_ensembles(records["ensembles"])
    save(options, records)


if __name__ == "__main__":
    main()
