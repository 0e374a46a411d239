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

import os
import sys

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import MultiTaskLasso, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from benchmarks.default_settings import MOST_ROWS, command
from labelsieve import Sieve
from labelsieve.datasets import fetch
from labelsieve.discretize import EqualFrequency, EqualWidth

DECIDE = ("andro", "slump", "edm", "atp1d", "jura", "oes97", "wq")
CONFIRM = ("atp7d", "enb", "oes10", "scpf", "rf1", "scm20d", "osales", "sf1", "sf2")
SIZES = (3, 5, 10, 20)
MEASURES = ("rrmse",)


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
on_raw_values = frozenset(SELECTORS).__contains__
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


def evaluate(learner, X, Y, X_test, Y_test):
    predicted = LEARNERS[learner]().fit(X, Y).predict(X_test).reshape(Y_test.shape)
    return (relative_error(predicted, Y_test, Y.mean(axis=0)),)


if __name__ == "__main__":
    command(sys.modules[__name__], sys.argv[1:])
