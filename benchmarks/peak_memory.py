"""Peak memory of complete fits beyond their input, as a multiple of its size; each in a fresh process.

Quick run: ``python -m benchmarks.peak_memory --only "jmi, weighted"``.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks.memory import extra_memory, in_fresh_process
from benchmarks.table import megabytes, number, print_table
from labelsieve import QuadraticSieve, Sieve
from labelsieve.chains import ChainEnsemble
from labelsieve.classifiers import LIFT, RAkEL

ROWS, FEATURES, LABELS = 20_000, 500, 100


def codes(rng, n_rows=ROWS, n_features=FEATURES, n_labels=LABELS):
    return rng.integers(5, size=(n_rows, n_features), dtype=np.uint8), labels(rng, n_rows, n_labels)


def labels(rng, n_rows, n_labels):
    return (rng.random((n_rows, n_labels)) < 0.1).astype(np.uint8)


def numbers(rng):
    return rng.normal(size=(200_000, 50)), labels(rng, 200_000, 3)


def table(rng):
    return rng.normal(size=(1_500, 100)), labels(rng, 1_500, 14)


def text(rng):
    X = sp.random_array((5_000, 20_000), density=0.002, format="csr", rng=rng, data_sampler=ones)
    return X, sp.random_array((5_000, 2_000), density=0.003, format="csr", rng=rng, data_sampler=ones)


def ones(size):
    return np.ones(size)


def short_texts(rng):
    X = sp.random_array((1_000, 1_500), density=0.01, format="csr", rng=rng, data_sampler=ones)
    return X, labels(rng, 1_000, 40)


def sieve(criterion, **settings):
    return Sieve(criterion, n_features_to_select=10, discretizer=settings.pop("discretizer", None), **settings)


# A name: the data, a model, and what else its fit gets for a number of rows.
CASES = {
    "jmi": (codes, lambda: sieve("jmi"), {}),
    "jmi, weighted": (codes, lambda: sieve("jmi"), {"sample_weight": lambda n: np.linspace(0.5, 2, n)}),
    "jmi, whole weights": (codes, lambda: sieve("jmi"), {"sample_weight": lambda n: np.arange(n) % 3 + 1.0}),
    "jmi, copy-weight": (codes, lambda: sieve("jmi", targets="copy-weight"), {}),
    "jmi, shrinkage": (codes, lambda: sieve("jmi", estimator="shrinkage"), {}),
    "group-jmi-rand": (codes, lambda: sieve("group-jmi-rand"), {}),
    "jmi, equal-width": (numbers, lambda: sieve("jmi", discretizer="equal-width"), {}),
    "jmi, equal-frequency": (numbers, lambda: sieve("jmi", discretizer="equal-frequency"), {}),
    "jmi, k-means": (numbers, lambda: sieve("jmi", discretizer="k-means"), {}),
    "jmi, mdl": (numbers, lambda: sieve("jmi", discretizer="mdl"), {}),
    "jmi, sparse": (text, lambda: sieve("jmi"), {}),
    "cmim, sparse": (text, lambda: sieve("cmim"), {}),
    "mlqpfs, 4,000 features": (
        lambda rng: codes(rng, 4_000, 4_000, 50),
        lambda: QuadraticSieve(discretizer=None, n_features_to_select=10),
        {},
    ),
    "ECC, dense": (table, lambda: ChainEnsemble("cc", LinearSVC(dual=False), random_state=0), {}),
    "ECC, sparse": (short_texts, lambda: ChainEnsemble("cc", LinearSVC(dual=False), random_state=0), {}),
    "LIFT": (table, lambda: LIFT(random_state=0), {}),
    "RAkEL": (table, lambda: RAkEL(DecisionTreeClassifier(random_state=0), random_state=0), {}),
}


def size_of(array):
    return array.data.nbytes + array.indices.nbytes + array.indptr.nbytes if sp.issparse(array) else array.nbytes


def measure(name):
    make, model, settings = CASES[name]
    X, Y = make(np.random.default_rng(0))
    given = {key: value(X.shape[0]) for key, value in settings.items()}
    small = slice(0, 200)
    model().fit(X[small], Y[small], **{key: value[small] for key, value in given.items()})  # imports and tables of logarithms
    extra = extra_memory(lambda: model().fit(X, Y, **given))
    return {"case": name, "rows": X.shape[0], "features": X.shape[1], "labels": Y.shape[1], "input": size_of(X), "extra": extra}


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peak_memory", description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=CASES, help="a case, repeatable (default: all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the records to this file")
    options = parser.parse_args(arguments)
    records = []
    for name in options.only or CASES:
        records.append(in_fresh_process(measure, name))
        print(f"{name}: {megabytes(records[-1]['extra'])} MB", file=sys.stderr, flush=True)
    rows = []
    for one in records:
        sizes = [f"{one[key]:,}" for key in ("rows", "features", "labels")]
        rows.append(
            (one["case"], [*sizes, *(megabytes(one[key]) for key in ("input", "extra")), number(one["extra"] / one["input"])])
        )
    print_table("one thread", ["N", "d", "q", "X, MB", "peak MB", "peak/X"], rows)
    if options.json:
        options.json.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
