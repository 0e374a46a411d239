"""The automatic number of features against fixed numbers and scikit-learn's RFECV, on halves of real data sets.

    python -m benchmarks.automatic_size [--sets emotions,wq] [--splits 2] [--jobs 8] [--out FILE]
    python -m benchmarks.automatic_size --cost [--sets emotions,wq]

Features are selected on one half of the rows and predicted on the other, by the predictor of the explained share. RFECV removes
10 % of the features at a time by the coefficients of a ridge regression of all targets, with five folds. Printed are, for every
data set, the number of features and the share of the other half that they explain, then the means and the processor seconds.
With --cost, only processor time on all rows is printed: a selection of 40 features from arrays, and how many times as much
the selections in the folds of the explained share, its predictions, the marks, and all of it with the selection take, the
best of five runs each, in turns.
"""

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.feature_selection import RFECV
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from benchmarks.clock import in_turns
from benchmarks.shared_folder import shared_folder
from labelsieve import Sieve
from labelsieve.classifiers.prefix_scores import scaled_rows
from labelsieve.datasets import fetch
from labelsieve.discoveries import row_tests_of
from labelsieve.report.text import tables
from labelsieve.selection import explained as parts
from labelsieve.tables.nominal import LearnerFeatures
from labelsieve.tables.problem import Problem, read

SETS = [
    "flags",
    "emotions",
    "birds",
    "CAL500",
    "yeast",
    "scene",
    "image",
    "enron",
    "medical",
    "genbase",
    "wq",
    "atp1d",
    "atp7d",
    "edm",
    "enb",
    "jura",
    "oes10",
    "oes97",
    "rf1",
    "scm20d",
]
FIXED = (5, 10, 20, 40)


def held_out(problem: Problem, train: Any, test: Any, chosen: Any, lists: Any, splits: Any) -> Any:
    """The share of the rows ``test`` that the first 1, 2, ... of the features explain, fitted on the rows ``train``."""
    weights, random = np.ones(problem.targets.n_rows), np.random.RandomState(0)
    targets = parts._Targets.of(problem.targets, weights, random)
    sizes = np.arange(1, len(chosen) + 1)
    rows = [*((train[inner], train[outer]) for inner, outer in splits), (train, test)]
    curve = parts.prefix_curve(problem, targets, weights, [*lists, chosen], rows, sizes)
    return np.array([saved[-len(test) :].sum() for saved in curve.rows]) / curve.row_losses[-len(test) :].sum()


def eliminated(problem: Problem, train: Any) -> tuple[Any, float]:
    """The features that RFECV keeps, best first by their coefficients, and its processor seconds."""
    started = time.process_time()
    columns, ends = LearnerFeatures(problem.features).columns(range(problem.n_features))
    X = scaled_rows("standard", columns[train], columns[:1])[0]
    targets = parts._Targets.of(problem.targets, np.ones(problem.targets.n_rows), np.random.RandomState(0)).values[train]
    Y = StandardScaler().fit_transform(np.where(np.isnan(targets), np.nanmean(targets, axis=0), targets))
    rule = RFECV(Ridge(1.0), step=0.1, cv=5, scoring="r2").fit(X, Y)
    kept = np.flatnonzero(rule.support_)
    size = np.linalg.norm(np.atleast_2d(rule.estimator_.coef_), axis=0)
    owners = np.searchsorted(ends, kept[np.argsort(-size)], side="right")
    return np.array(list(dict.fromkeys(owners.tolist()))), time.process_time() - started


def one(name: str, split: int) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    data = fetch(name)
    problem = read(data.X, data.Y)
    order = np.random.default_rng(split).permutation(problem.targets.n_rows)
    train, test = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :][:2000])
    mask = np.zeros(len(order), dtype=bool)
    mask[train] = True
    half = problem.take_rows(mask)
    started = time.process_time()
    sieve = Sieve(n_features_to_select=40).fit(half)
    plain = time.process_time() - started
    started = time.process_time()
    found = parts.explained_share(sieve, half, n_features=40)
    seconds = time.process_time() - started
    splits = parts._folds(half, None, np.random.RandomState(0))
    shares = held_out(problem, train, test, sieve.selected_, found.lists, splits)
    size = found.choose()
    kept, rfe_seconds = eliminated(problem, train)
    small = kept[:200]
    lists = [small] * len(splits)  # its choice is not repeated in the folds, in its favor
    rfe = held_out(problem, train, test, small, lists, splits)[-1]
    at = {f"{k}": float(shares[min(k, len(shares)) - 1]) for k in FIXED}
    return {
        "set": name, "split": split, "size": int(size), "auto": float(shares[size - 1]) if size else 0.0, **at,
        "estimate": float(found.explained[size - 1]) if size else 0.0, "best": float(shares.max()),
        "rfe": float(rfe), "rfe_size": len(kept), "plain": plain, "seconds": seconds, "rfe_seconds": rfe_seconds,
    }  # fmt: skip


def cost_of(name: str) -> list[str]:
    """Measure what the explained share and the marks of a data set cost, as multiples of a plain selection."""
    warnings.simplefilter("ignore")
    data = fetch(name)
    problem = read(data.X, data.Y)

    sieve = Sieve(n_features_to_select=40).fit(problem)
    folds = parts._folds(problem, None, np.random.RandomState(0))
    calls = {
        "plain": lambda: Sieve(n_features_to_select=40).fit(data.X, data.Y),
        "share": lambda: parts.explained_share(sieve, problem, n_features=40),
        "selections": lambda: [parts.fold_selection(sieve, problem, train, 40) for train, _ in folds],
        "marks": lambda: row_tests_of(problem, sieve.selected_, problem.n_features),
    }
    laps, _ = in_turns(calls, rounds=5)
    plain = laps["plain"].cpu
    selections, share, marks = (laps[part].cpu / plain for part in ("selections", "share", "marks"))
    return [
        name,
        f"{1000 * plain:.1f}",
        *(f"{value:.1f}" for value in (selections, share - selections, marks, 1 + share + marks)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--cost", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("LABELSIEVE_DATA", str(shared_folder("data")))
    if options.cost:
        heads = ["set", ">selection, ms", ">fold selections", ">predictions", ">marks", ">select / selection"]
        print(tables(heads, [cost_of(name) for name in options.sets.split(",")]))
        return
    cells = [(name, split) for name in options.sets.split(",") for split in range(options.splits)]
    results = Parallel(options.jobs)(delayed(one)(*cell) for cell in cells)
    if options.out is not None:
        options.out.write_text("\n".join(map(json.dumps, results)))
    rows = []
    for name in [*options.sets.split(","), "mean"]:
        some = [found for found in results if name in (found["set"], "mean")]
        mean = {key: float(np.mean([found[key] for found in some])) for key in some[0] if key not in ("set", "split")}
        shares = [f"{100 * mean[key]:.1f}" for key in ("auto", *map(str, FIXED), "rfe", "best")]
        sizes = f"{mean['size']:.1f}", f"{mean['rfe_size']:.1f}"
        costs = f"{mean['seconds'] / mean['plain']:.1f}", f"{mean['rfe_seconds'] / mean['plain']:.1f}"
        rows.append([name, sizes[0], *shares[:-2], sizes[1], *shares[-2:], f"{100 * mean['estimate']:.1f}", *costs])
    heads = ["set", ">size", ">auto", *(f">{k}" for k in FIXED), ">RFECV size", ">RFECV", ">best", ">estimate"]
    print(tables([*heads, ">cost", ">cost of RFECV"], rows))


if __name__ == "__main__":
    main()
