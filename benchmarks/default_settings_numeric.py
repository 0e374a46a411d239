"""Settings of Sieve for numeric targets, compared with multi-task lasso and tree importances.

Protocol, fixed before the first run. As :mod:`benchmarks.default_settings`: a random half of at most 3,000 rows trains, the
other half tests, two splits, features standardized on the training rows. Targets that are constant in the training half are
left out; missing features get the mean of the training rows. Learners: ten nearest neighbors, ridge regression (alpha = 1),
extra trees (50). Numbers of features: 3, 5, 10, 20. Measure: relative root mean squared error, averaged over the targets,
then over splits, learners and numbers of features.
DECIDE are the data sets that decide; CONFIRM are used once, afterwards.

    python -m benchmarks.default_settings_numeric run RESULTS.csv decide
    python -m benchmarks.default_settings_numeric ranks RESULTS.csv
    python -m benchmarks.default_settings_numeric
"""

import csv
import os
import sys
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import MultiTaskLasso, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from benchmarks.default_settings import command, finished
from labelsieve import Sieve
from labelsieve.datasets import fetch
from labelsieve.discretize import EqualFrequency, EqualWidth

DECIDE = ("andro", "slump", "edm", "atp1d", "jura", "oes97", "wq")
CONFIRM = ("atp7d", "enb", "oes10", "scpf", "rf1", "scm20d", "osales", "sf1", "sf2")
SIZES = (3, 5, 10, 20)
N_SPLITS, MOST_ROWS = 2, 3000


def sieve(criterion, discretizer, target_bins):
    def rank(X, Y, seed):
        codes = target_bins.fit_transform(Y)
        return Sieve(criterion, discretizer=discretizer, n_features_to_select=max(SIZES)).fit(X, codes).selected_

    return rank


def lasso(X, Y, seed):
    """Features in the order in which they enter as the penalty falls."""
    Y = StandardScaler().fit_transform(Y)
    largest = np.sqrt(((X.T @ Y) ** 2).sum(axis=1)).max() / len(X)
    entered = np.full(X.shape[1], np.inf)
    model = MultiTaskLasso(warm_start=True, max_iter=2000)
    for step, alpha in enumerate(largest * np.geomspace(1, 0.01, 20)):
        active = np.linalg.norm(model.set_params(alpha=alpha).fit(X, Y).coef_, axis=0)
        fresh = (active > 0) & np.isinf(entered)
        entered[fresh] = step - active[fresh] / (1 + active[fresh].max(initial=0))
        if np.isfinite(entered).sum() >= max(SIZES):
            break
    return np.argsort(entered, kind="stable")


def trees(X, Y, seed):
    return np.argsort(-ExtraTreesRegressor(100, random_state=seed).fit(X, Y).feature_importances_, kind="stable")


SELECTORS = {
    f"{criterion} {x_name}, targets {y_name}": sieve(criterion, x_bins, y_bins)
    for criterion in ("jmi", "cmim")
    for x_name, x_bins in {"equal-width 5": EqualWidth(5), "equal-frequency 5": EqualFrequency(5)}.items()
    for y_name, y_bins in {
        "equal-width 5": EqualWidth(5),
        "equal-frequency 3": EqualFrequency(3),
        "equal-frequency 5": EqualFrequency(5),
    }.items()
}
ON_RAW_VALUES = frozenset(SELECTORS)
SELECTORS |= {
    "multi-task lasso": lasso,
    "extra trees": trees,
    "random": lambda X, Y, seed: np.random.default_rng(seed).permutation(X.shape[1]),
}
LEARNERS = {
    "neighbors": lambda: KNeighborsRegressor(10),
    "ridge": lambda: Ridge(alpha=1.0),
    "extra trees": lambda: ExtraTreesRegressor(50, random_state=0),
}


def read(name, seed):
    data = fetch(name, data_home=os.environ["LABELSIEVE_DATA"], download=False)
    X, Y = np.asarray(data.X, dtype=float), np.asarray(data.Y, dtype=float)
    rows = np.random.default_rng(seed).permutation(len(Y))
    rows = rows[np.isfinite(Y[rows]).all(axis=1)][:MOST_ROWS]
    half = len(rows) // 2
    train, test = rows[:half], rows[half:]
    X = SimpleImputer(keep_empty_features=True).fit(X[train]).transform(X)
    varies = Y[train].std(axis=0) > 0
    scaler = StandardScaler().fit(X[train])
    return X[train], scaler.transform(X[train]), scaler.transform(X[test]), Y[train][:, varies], Y[test][:, varies]


def relative_error(predicted, Y_test, mean):
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt(((predicted - Y_test) ** 2).sum(axis=0) / ((mean - Y_test) ** 2).sum(axis=0))
    return float(ratio[np.isfinite(ratio)].mean())


def run(path, names):
    known = finished(path)
    with path.open("a", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        if not known:
            out.writerow(["dataset", "split", "selector", "learner", "n_features", "rrmse"])
        for name in names:
            for split in range(N_SPLITS):
                todo = [one for one in SELECTORS if (name, split, one) not in known]
                if not todo:
                    continue
                raw, X, X_test, Y, Y_test = read(name, split)
                for selector in todo:
                    order = SELECTORS[selector](raw if selector in ON_RAW_VALUES else X, Y, split)
                    for size in dict.fromkeys(min(size, X.shape[1]) for size in SIZES):
                        columns = order[:size]
                        for learner, make in LEARNERS.items():
                            predicted = make().fit(X[:, columns], Y).predict(X_test[:, columns]).reshape(Y_test.shape)
                            error = relative_error(predicted, Y_test, Y.mean(axis=0))
                            out.writerow([name, split, selector, learner, size, f"{error:.5f}"])
                    file.flush()
                print(name, split, flush=True)


def print_ranks(part, path, names):
    """Average ranks and mean errors of the selectors over the data sets, the best average rank first."""
    values = {}
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        if row["dataset"] in names:
            values.setdefault((row["dataset"], row["selector"]), []).append(float(row["rrmse"]))
    datasets = sorted({dataset for dataset, _ in values})
    print(f"{part}: {len(datasets)} data sets")
    if datasets:
        table = np.array([[round(np.mean(values[name, one]), 10) for one in SELECTORS] for name in datasets])
        ranks = rankdata(table, axis=1).mean(axis=0)
        for i in np.argsort(ranks):
            print(f"{list(SELECTORS)[i]:50}{ranks[i]:8.2f}{table[:, i].mean():10.4f}")


if __name__ == "__main__":
    command(sys.argv[1:], {"decide": DECIDE, "confirm": CONFIRM}, run, print_ranks, Path(__file__).with_suffix(".csv"))
