"""Five-fold results of BR, CC, ECC, EBCC, oCC and EoCC beside tables 3 to 6 of Sun and Kudo (2017).

For a quick look: ``python -m benchmarks.chains_study --datasets emotions``.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.published_chains import DATASETS, MEASURES, published
from benchmarks.shared_folder import VARIABLE, shared_folder
from benchmarks.table import print_table

SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)  # of the features: the paper's grid
PARTS = ("scene", "birds")  # published as train and test parts alone
NAMED_ROWS = ("genbase",)  # whose first feature is the name of the row: it tells nothing, and its code drowns all others


def load(name):
    """X, Y and the splits: the first published partition, or five shuffled folds."""
    from sklearn.model_selection import KFold

    from labelsieve.datasets import load as read
    from labelsieve.datasets.splits import PublishedFolds

    folder = shared_folder("data")
    names = [f"{name}-train.arff*", f"{name}-test.arff*"] if name in PARTS else [f"{name}.arff*"]
    parts = [read(next((folder / name).glob(pattern))) for pattern in names]
    X, Y = (
        sp.vstack([getattr(part, side) for part in parts], format="csr")
        if sp.issparse(getattr(parts[0], side))
        else np.vstack([getattr(part, side) for part in parts])
        for side in ("X", "Y")
    )
    if name in NAMED_ROWS:
        X = X[:, 1:]
    folds = folder / "folds" / f"{name}.mat"
    splitter = PublishedFolds(folds, partition=0) if folds.is_file() else KFold(5, shuffle=True, random_state=0)
    return X, Y, list(splitter.split(X)), "published folds" if folds.is_file() else "shuffled folds"


def models(sampling, variant, n_jobs):
    """Each method as {share of the features: model}; None is all of them."""
    from sklearn.svm import LinearSVC

    from labelsieve.chains import ChainEnsemble, ClassifierChain, OptimizedClassifierChain

    base = LinearSVC(dual=False, tol=0.01)  # liblinear's own, as the authors' program calls it

    def ensemble(chain):
        return ChainEnsemble(chain, base, sampling=sampling, random_state=0, n_jobs=n_jobs)

    def optimized(share, **how):
        return OptimizedClassifierChain(base, n_features_to_select=share, variant=variant, **how)

    return {
        "BR": {None: ClassifierChain(base, network="br")},
        "CC": {None: ClassifierChain(base, network="cc", random_state=0)},
        "ECC": {None: ensemble("cc")},
        "EBCC": {None: ensemble("bcc")},
        "oCC": {share: optimized(share) for share in SHARES},
        "EoCC": {share: ensemble(optimized(share, order="random")) for share in SHARES},
    }


def run(name, options):
    from labelsieve.metrics import evaluate

    X, Y, splits, folds = load(name)
    record = {"dataset": name, "folds": folds, "shape": [*X.shape, Y.shape[1]], "results": []}
    for method, grid in models(options.sampling, options.variant, options.n_jobs).items():
        if method not in options.methods.split(","):
            continue
        for share, model in grid.items():
            started, values = time.perf_counter(), []
            for train, test in splits:
                found = evaluate(Y[test], model.fit(X[train], Y[train]).predict(X[test]))
                values.append([float(found[measure]) for measure in MEASURES])
            seconds = time.perf_counter() - started
            record["results"].append({"method": method, "share": share, "folds": values, "seconds": seconds})
            print(f"{name} {method} {share}: {np.mean(values, axis=0).round(3)}, {seconds:.1f} s", file=sys.stderr, flush=True)
    return record


def best(results, measure):
    """The mean and spread of a measure at the best number of features for it, and at the middle of the grid."""
    column = MEASURES.index(measure)
    means = [np.mean([row[column] for row in result["folds"]]) for result in results]
    top = int(np.argmax(means))
    middle = means[len(means) // 2] if len(means) > 1 else None
    return means[top], np.std([row[column] for row in results[top]["folds"]]), results[top]["share"], middle


def print_record(record):
    n_rows, n_features, n_labels = record["shape"]
    print(f"{record['dataset']}: {n_rows} rows, {n_features} features, {n_labels} labels, {record['folds']}")
    for measure in MEASURES:
        rows = []
        for method in dict.fromkeys(result["method"] for result in record["results"]):
            mine = [result for result in record["results"] if result["method"] == method]
            mean, spread, share, middle = best(mine, measure)
            printed = published(record["dataset"], method, measure)
            cells = [f"{mean:.3f}", f"{spread:.3f}", "all" if share is None else f"{share}"]
            cells += ["-" if middle is None else f"{middle:.3f}", "-" if printed is None else f"{printed:.3f}"]
            cells.append("-" if printed is None else f"{mean - printed:+.3f}")
            rows.append((method, cells))
        print_table(measure, ["ours", "std", "share", "at 0.5", "paper", "ours - paper"], rows)
    print(flush=True)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chains_study", description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default=",".join(DATASETS), help="names, with commas (default: all)")
    parser.add_argument("--methods", default="BR,CC,ECC,EBCC,oCC,EoCC", help="names, with commas (default: all)")
    parser.add_argument("--sampling", default="paper", choices=["paper", "authors-program"], help="of the ensembles")
    parser.add_argument("--variant", default="paper", choices=["paper", "authors-program"], help="of oCC and EoCC")
    parser.add_argument("--n-jobs", type=int, default=None, help="chains of an ensemble at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the values of all folds there as well")
    options = parser.parse_args(arguments)
    names = options.datasets.split(",")
    if any(name not in DATASETS for name in names):
        parser.error(f"data sets are {', '.join(DATASETS)}")
    if shared_folder("data") is None:
        sys.exit(f"No data sets: there is no data/ in ${VARIABLE} or ../shared.")
    records = []
    for name in names:
        records.append(run(name, options))
        print_record(records[-1])
        if options.json:
            options.json.write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
