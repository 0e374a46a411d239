"""Draw the figures of this folder: ``python docs/images/draw.py``. Takes half a minute."""

import csv
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np

from labelsieve import BaselineSieve, Sieve
from labelsieve.classifiers import MLkNN, nested_predictions
from labelsieve.datasets import make_feature_roles
from labelsieve.metrics import hamming_loss
from labelsieve.report.figures import critical_difference_diagram, curves
from labelsieve.statistics import compare

HERE = Path(__file__).parent
STUDY = HERE.parent / "studies" / "choosing.csv"
BASELINES = ("random", "all")
N_FEATURES, N_REPEATS = 20, 10
# Reproducible files: no random element ids.
matplotlib.rcParams.update({"svg.hashsalt": "labelsieve", "svg.fonttype": "path"})


def save(ax, name):
    ax.figure.savefig(HERE / f"{name}.svg", facecolor="white", metadata={"Date": None})


def losses(criterion, data, seed):
    """Hamming loss on the second half with the top 1, 2, ... features selected on the first half."""
    half = len(data.X) // 2
    X, Y = data.X[:half], data.Y[:half]
    if criterion == "random":
        sieve = BaselineSieve("random", n_features_to_select=N_FEATURES, random_state=seed)
    else:
        sieve = Sieve(criterion, n_features_to_select=N_FEATURES)
    ranking = sieve.fit(X, Y).selected_
    predictions = nested_predictions(MLkNN(k=7), X, Y, data.X[half:], features=ranking)
    return [hamming_loss(data.Y[half:], probabilities > 0.5) for _, probabilities in predictions]


def draw_curves():
    """Synthetic data: 6 features relevant to 6 labels, 12 noisy copies of them, 60 noise features."""
    values = {name: [] for name in ("hybrid", "jmi", "mim", "random")}
    for seed in range(N_REPEATS):
        data = make_feature_roles(1000, n_relevant=6, n_noisy_copies=12, n_xor_pairs=0, n_irrelevant=60, random_state=seed)
        for name, rows in values.items():
            rows.append(losses(name, data, seed))
    values = {"hybrid (default)": values.pop("hybrid"), **values}
    ax = curves(np.arange(1, N_FEATURES + 1), values, ylabel="Hamming loss")
    ax.set_xticks([1, 5, 6, 10, 15, 20])
    save(ax, "curves")


def study(measure):
    """Mean of every method on every data set, from the benchmark study."""
    with STUDY.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["measure"] == measure]
    methods = [name for name in rows[0] if name not in ("measure", "dataset", *BASELINES)]
    return np.array([[float(row[name]) for name in methods] for row in rows]), methods


def draw_ranks():
    table, methods = study("hamming_loss")
    save(critical_difference_diagram(compare(table, lower_is_better=True, methods=methods)), "choosing-ranks")


if __name__ == "__main__":
    draw_curves()
    draw_ranks()
