"""Draw the ranks of docs/evidence/formulas.md: ``python docs/images/draw.py``."""

import csv
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np

from labelsieve.report.figures import critical_difference_diagram
from labelsieve.statistics import compare

HERE = Path(__file__).parent
STUDY = HERE.parent / "studies" / "choosing.csv"
BASELINES = ("random", "all")
# Reproducible files: no random element ids.
matplotlib.rcParams.update({"svg.hashsalt": "labelsieve", "svg.fonttype": "path"})


def save(ax, name):
    ax.figure.savefig(HERE / f"{name}.svg", facecolor="white", metadata={"Date": None})


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
    draw_ranks()
