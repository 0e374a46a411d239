"""Conditional discoveries on synthetic data: empirical false discovery rate and power, with one and three sets of knockoffs.

    python -m benchmarks.discoveries_calibration RESULTS.csv [DATA SETS PER CASE]

Every data set adds lines to RESULTS.csv, and a run that was stopped goes on where it stopped; the table of all results is
printed at the end. Every synthetic data set has 200 rows and 60 features, 20 of them relevant; real X has 500 rows and 60
columns at most, a third of them relevant. A label depends on each relevant feature with probability 1/2, or on all of them if
it is the only label. A false discovery is a selected feature that is independent of all labels given the other features.
"""

import csv
import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from labelsieve import Sieve
from labelsieve.datasets import fetch
from labelsieve.discoveries import e_q_values, knockoff_e_values
from labelsieve.selectors import ConditionalDiscoveries
from labelsieve.stopping import FDR

N_ROWS, N_FEATURES, N_RELEVANT, ALPHA, N_REPEATS = 200, 60, 20, 0.1, 3


def independent(rng):
    return rng.normal(size=(N_ROWS, N_FEATURES))


def correlated(rng, rho=0.6):
    X = independent(rng)
    for j in range(1, N_FEATURES):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


def skewed(rng):
    return np.exp(correlated(rng))


def binary_chain(rng, stay=0.5):
    X = (rng.random((N_ROWS, N_FEATURES)) < 0.3).astype(int)
    for j in range(1, N_FEATURES):
        X[:, j] = np.where(rng.random(N_ROWS) < stay, X[:, j - 1], X[:, j])
    return X


def binary_factors(rng):
    """Not a tree: every feature depends on three hidden variables."""
    hidden = rng.normal(size=(N_ROWS, 3)) @ rng.normal(size=(3, N_FEATURES))
    return (hidden / np.sqrt(3) + rng.normal(size=hidden.shape) > 0.7).astype(int)


def curved(rng):
    """Not a Gaussian copula: neighbors depend on each other by their squares, and rows have different scales."""
    X = independent(rng)
    X[:, 1::2] = 0.7 * (X[:, ::2] ** 2 - 1) + 0.7 * X[:, 1::2]
    return X / np.sqrt(rng.chisquare(5, size=(N_ROWS, 1)) / 5)


@cache
def table_of(name):
    X, _ = fetch(name, return_X_y=True)
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)


def real(name):
    def features(rng):
        X = table_of(name)
        X = X[rng.permutation(len(X))[:500]]
        kept = np.flatnonzero((X[0] != X).sum(axis=0) >= 10)
        _, first = np.unique(X[:, kept], axis=1, return_index=True)  # distinct columns
        return X[:, kept[np.sort(rng.permutation(first)[:N_FEATURES])]]

    return features


def labels(rng, X, q, *, share=0.5, size=None):
    """Labels that depend on the first features, and which features those are; columns in random order."""
    X = X[:, rng.permutation(X.shape[1])]
    size = {1: 0.5, 14: 0.2, 159: 0.1}[q] if size is None else size
    n_relevant = min(N_RELEVANT, X.shape[1] // 3)
    weights = size * rng.choice([-1.0, 1.0], (n_relevant, q)) * (rng.random((n_relevant, q)) < (0.5 if q > 1 else 1.0))
    scaled = (X[:, :n_relevant] - X[:, :n_relevant].mean(axis=0)) / X[:, :n_relevant].std(axis=0)
    margin = scaled @ weights + rng.logistic(scale=0.5, size=(len(X), q))
    relevant = np.zeros(X.shape[1], dtype=bool)
    relevant[:n_relevant] = weights.any(axis=1)
    return X, (margin > np.quantile(margin, 1 - share, axis=0)).astype(int), relevant


def with_duplicates(rng, X, Y, relevant):
    """Five relevant and five irrelevant features twice: none of the twenty has information given the others."""
    repeated = np.r_[0:5, N_RELEVANT : N_RELEVANT + 5]
    relevant = np.append(relevant, np.zeros(10, dtype=bool))
    relevant[repeated] = False
    return np.hstack([X, X[:, repeated]]), Y, relevant


CASES = {  # number of the random seeds, features, numbers of labels, options
    "Gaussian, independent": (0, independent, (1, 14, 159), {}),
    "Gaussian, correlated 0.6": (1, correlated, (1, 14, 159), {}),
    "log-normal, correlated 0.6": (2, skewed, (14,), {}),
    "binary chain": (3, binary_chain, (1, 14, 159), {}),
    "Gaussian, duplicated features": (4, correlated, (1, 14, 159), {"duplicates": True}),
    "binary, duplicated features": (5, binary_chain, (1, 14, 159), {"duplicates": True}),
    "Gaussian, labels of 5 % of the rows": (6, correlated, (1, 14, 159), {"share": 0.05, "size": 0.5}),
    "binary, labels of 5 % of the rows": (7, binary_chain, (1, 14, 159), {"share": 0.05, "size": 0.5}),
    "binary, hidden factors (wrong model)": (8, binary_factors, (14,), {}),
    "numeric, curved and heavy-tailed (wrong model)": (9, curved, (14,), {}),
    "emotions, planted labels": (10, real("emotions"), (14,), {}),
    "yeast, planted labels": (11, real("yeast"), (14,), {}),
    "genbase, planted labels": (12, real("genbase"), (14,), {}),
    "Gaussian, correlated 0.6, no relevant feature": (13, correlated, (1, 14), {"size": 0.0}),
    "binary chain, no relevant feature": (14, binary_chain, (1, 14), {"size": 0.0}),
}
RULE = ("Gaussian, independent", "binary chain", "binary, duplicated features", "binary, labels of 5 % of the rows")
COLUMNS = ("case", "q", "seed", "method", "false", "power", "n_found")


def data_set(name, q, seed):
    number, features, _, options = CASES[name]
    options = dict(options)
    duplicates = options.pop("duplicates", False)
    rng = np.random.default_rng([number, q, seed])
    data = labels(rng, features(rng), q, **options)
    return with_duplicates(rng, *data) if duplicates else data


def discoveries(X, Y, seed):
    """The selections with one set of knockoffs and with several."""
    W = ConditionalDiscoveries(alpha=ALPHA, n_repeats=N_REPEATS, random_state=seed, n_jobs=1).fit(X, Y).statistics_
    for method, some in (("one", W[:1]), ("several", W)):
        yield method, e_q_values(knockoff_e_values(some, ALPHA)) <= ALPHA


def stopping_rule(X, Y, seed):
    rule = FDR(ALPHA, null="conditional", n_repeats=N_REPEATS, random_state=seed)
    yield "rule", Sieve("mim", discretizer="equal-frequency", n_features_to_select=rule, n_jobs=1).fit(X, Y).get_support()


def outcomes(results, n_sets):
    """Add what is missing in the file of results."""
    have = set()
    if results.exists():
        with results.open(newline="") as lines:
            have = {(line["case"], int(line["q"]), int(line["seed"]), line["method"]) for line in csv.DictReader(lines)}
    with results.open("a", newline="") as lines:
        writer = csv.writer(lines)
        if not have:
            writer.writerow(COLUMNS)
        both = ("several", discoveries, CASES), ("rule", stopping_rule, RULE)
        runs = [(q, name, last, select) for q in (14, 1, 159) for last, select, cases in both for name in cases]
        for q, name, last, select in runs:
            for seed in range(n_sets if q in CASES[name][2] else 0):
                if (name, q, seed, last) in have:
                    continue
                X, Y, relevant = data_set(name, q, seed)
                for method, found in select(X, Y, seed):
                    false = (found & ~relevant).sum() / max(1, found.sum())
                    power = (found & relevant).sum() / max(1, relevant.sum())
                    writer.writerow([name, q, seed, method, f"{false:.6g}", f"{power:.6g}", found.sum()])
                lines.flush()


def print_table(results):
    """Means with standard errors."""
    groups = {}
    with results.open(newline="") as lines:
        for line in csv.DictReader(lines):
            values = float(line["false"]), float(line["power"])
            groups.setdefault((line["case"], line["q"]), {}).setdefault(line["method"], {})[line["seed"]] = values
    for title, methods in (("features", ("one", "several")), ("features, stopping rule", ("rule",))):
        heads = " | ".join(f"rate, {method} | power, {method}" for method in methods)
        print(f"\n| {title} | q | data sets | {heads} |\n|---|---|---|" + "---|---|" * len(methods))
        for (name, q), found in groups.items():
            if methods[0] not in found:
                continue
            cells = []
            for method in methods:
                table = np.array(list(found[method].values()))
                (rate, power), error = table.mean(axis=0), table.std(axis=0) / np.sqrt(len(table))
                over = "" if rate <= ALPHA + 2 * error[0] else " (!)"
                shown = "-" if "no relevant" in name else f"{power:.2f} ± {error[1]:.3f}"
                cells += [f"{rate:.3f} ± {error[0]:.3f}{over}", shown]
            print(f"| {name} | {q} | {len(table):,} | {' | '.join(cells)} |")


if __name__ == "__main__":
    path, *count = sys.argv[1:]
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        outcomes(Path(path), int(count[0]) if count else 1000)
    print_table(Path(path))
