"""Floating and swap search against greedy search: objective, accuracy and time on development sets.

    python -m benchmarks.set_search

A random half of the rows trains selector and learners, the other half tests; two splits. Accuracy is label-ranking average
precision, the mean of ML-kNN (k = 10) and ridge regression on standardized features. Times are CPU seconds.
"""

import time
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import RidgeClassifierCV
from sklearn.preprocessing import StandardScaler

from benchmarks.shared_folder import real_dataset
from labelsieve import Sieve
from labelsieve.classifiers import MLkNN
from labelsieve.metrics import average_precision
from labelsieve.metrics.evaluation import label_scores

DATASETS = ("emotions", "flags", "birds", "yeast", "image")
CRITERIA = ("mrmr", "jmi", "cife", "icap", "d2f")
SIZES = (5, 10, 20)
SEARCHES = ("greedy", "floating", "swap")


def accuracy(columns, train, test):
    (X, Y), (queries, answers) = train, test
    scaler = StandardScaler().fit(X[:, columns])
    learners = MLkNN(), RidgeClassifierCV((1.0, 10.0, 100.0, 1000.0))
    values = []
    for learner in learners:
        fitted = learner.fit(scaler.transform(X[:, columns]), Y)
        values.append(average_precision(answers, label_scores(fitted, scaler.transform(queries[:, columns]))))
    return float(np.mean(values))


def cells(name):
    data, _ = real_dataset(name)
    X, Y = (np.asarray(table.toarray() if sp.issparse(table) else table, dtype=float) for table in (data.X, data.Y))
    for seed in (100, 101):
        order = np.random.default_rng(seed).permutation(len(X))
        halves = order[: len(X) // 2], order[len(X) // 2 :]
        train, test = ((X[rows], Y[rows].astype(int)) for rows in halves)
        for criterion in CRITERIA:
            for size in (size for size in SIZES if size < X.shape[1]):
                found = {}
                for search in SEARCHES:
                    sieve = Sieve(criterion, search=search, n_features_to_select=size, warm_start=True)
                    start = time.thread_time()
                    sieve.fit(*train)
                    spent = time.thread_time() - start
                    done = sieve._search[1].search  # with the objective
                    gain = 0.0 if search == "greedy" else done.objective / done.greedy_objective - 1
                    found[search] = accuracy(sieve.selected_, train, test), spent, gain, set(sieve.selected_.tolist())
                yield name, criterion, size, found


def main():
    warnings.simplefilter("ignore")
    rows = [cell for name in DATASETS for cell in cells(name)]
    print(f"{'criterion':<10} {'search':<9} {'sets changed':>12} {'objective':>10} {'accuracy':>9} {'won-lost':>9} {'time':>6}")
    for criterion in CRITERIA:
        of = [row for row in rows if row[1] == criterion]
        for search in SEARCHES[1:]:
            pairs = [(found["greedy"], found[search]) for *_, found in of]
            changed = sum(one[3] != other[3] for one, other in pairs)
            gains = [100 * other[2] for _, other in pairs]
            differences = np.array([1000 * (other[0] - one[0]) for one, other in pairs])
            wins = f"{(differences > 0).sum()}-{(differences < 0).sum()}"
            ratio = sum(other[1] for _, other in pairs) / sum(one[1] for one, _ in pairs)
            shown = (
                f"{changed:>6} of {len(of):>2} {np.median(gains):>9.2f}% {differences.mean():>+9.1f} {wins:>9} {ratio:>6.1f}"
            )
            print(f"{criterion:<10} {search:<9} {shown}", flush=True)
    print("accuracy: mean difference to greedy search in thousandths; time: relative to greedy search; objective: median gain")


if __name__ == "__main__":
    main()
