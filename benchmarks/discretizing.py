"""Every discretizer on real data, compared with a JMI selection and with scikit-learn's KBinsDiscretizer.

Quick run: ``python -m benchmarks.discretizing --datasets yeast,enron --repeat 2``.
"""

import warnings
from itertools import chain

import numpy as np
import scipy.sparse as sp

from benchmarks.clock import timed
from benchmarks.options import BenchmarkOptions, measured, require_data, save
from benchmarks.shared_folder import real_dataset
from benchmarks.table import number, print_table

DATASETS = ("yeast", "enron", "bibtex", "delicious", "tall")
TALL = (1_000_000, 20)  # synthetic: normal values
N_STEPS = 50
SLICE = 20  # columns on which scikit-learn is timed; it goes column by column, so the rest costs in proportion
STRATEGIES = {"equal-width": "uniform", "equal-frequency": "quantile", "k-means": "kmeans"}


def rules():
    """The discretizers by name, and MDL's other two ways with labels."""
    from labelsieve.discretize import MDL
    from labelsieve.registry import DISCRETIZERS

    return {name: made() for name, made in DISCRETIZERS.items()} | {"mdl, joint": MDL("joint"), "mdl, single": MDL("single")}


def load(name):
    if name == "tall":
        rng = np.random.default_rng(0)
        X = rng.normal(size=TALL)
        return X, (X[:, :3] + rng.normal(size=(len(X), 3)) > 1).astype(np.uint8)
    data, _ = real_dataset(name)
    Y = data.Y.toarray() if sp.issparse(data.Y) else np.asarray(data.Y)
    return data.X, Y.astype(np.uint8)


def their_time(name, X, rounds):
    """scikit-learn's nearest thing, on a dense slice and extrapolated (it takes no sparse data); None where it has nothing."""
    from sklearn.preprocessing import KBinsDiscretizer

    if name not in STRATEGIES:
        return None
    part = X[:, : min(SLICE, X.shape[1])]
    dense = part.toarray() if sp.issparse(part) else np.asarray(part)
    extra = {"quantile_method": "averaged_inverted_cdf"} if name == "equal-frequency" else {}
    theirs = KBinsDiscretizer(5, encode="ordinal", strategy=STRATEGIES[name], subsample=None, **extra)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about constant columns and bins that are too small
        return timed(lambda: theirs.fit_transform(dense), rounds)[0] * X.shape[1] / dense.shape[1]


def measure(dataset, rounds, skip_sklearn):
    from labelsieve import Sieve

    X, Y = load(dataset)
    for name, rule in rules().items():
        seconds, codes = timed(lambda rule=rule: rule.encode(X, Y), rounds)
        selection = None
        if not isinstance(codes, list):
            sieve = Sieve("jmi", discretizer=rule, n_features_to_select=N_STEPS, n_jobs=1)
            selection = timed(lambda sieve=sieve: sieve.fit(X, Y), rounds)[0]
        yield {
            "dataset": dataset,
            "rows": X.shape[0],
            "features": X.shape[1],
            "labels": Y.shape[1],
            "sparse": bool(sp.issparse(X)),
            "discretizer": name,
            "seconds": seconds,
            "selection": selection,
            "sklearn": None if skip_sklearn else their_time(name, X, rounds),
            "levels": float(np.mean([table.levels.mean() for table in (codes if isinstance(codes, list) else [codes])])),
        }


def print_records(records):
    rows = []
    narrow = {record["dataset"]: record["seconds"] for record in records if record["discretizer"] == "equal-width"}
    for record in records:
        seconds, selection, theirs = record["seconds"], record["selection"], record["sklearn"]
        shape = [str(record[key]) for key in ("rows", "features", "labels")]
        cells = [
            *shape,
            "sparse" if record["sparse"] else "dense",
            record["discretizer"],
            number(record["levels"]),
            number(seconds),
        ]
        cells.append(number(seconds / narrow[record["dataset"]]))
        cells += [number(selection), number(None if selection is None else seconds / selection)]
        cells += [number(theirs), number(None if theirs is None else theirs / seconds)]
        rows.append((record["dataset"], cells))
    columns = [
        "N",
        "d",
        "q",
        "X",
        "discretizer",
        "levels",
        "encode",
        "/equal width",
        "JMI fit",
        "encode/fit",
        "~sklearn",
        "~sklearn/encode",
    ]
    print_table("seconds", columns, rows)


def main(arguments=None):
    parser = BenchmarkOptions("discretizing", __doc__, DATASETS)
    parser.add_argument("--skip-sklearn", action="store_true", help="leave out KBinsDiscretizer")
    options = parser.read(arguments)
    require_data()
    records = list(chain(*measured(options, lambda name: measure(name, options.repeat, options.skip_sklearn))))
    print_records(records)
    save(options, records)


if __name__ == "__main__":
    main()
