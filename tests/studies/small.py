"""A study that takes a second, what its file holds, and scripts that run it in a process of their own."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np

from labelsieve.datasets import Dataset, make_known_answer
from labelsieve.studies import Protocol

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import sys, time
from labelsieve.studies import Study
from tests.studies.small import protocol

if __name__ == "__main__":
    folder, n_jobs, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    Study(protocol(splits=sys.argv[4]), folder).run(n_jobs=n_jobs, on_cell=lambda done, total: time.sleep(pause))
"""


def data(name="songs", n_rows=80, seed=0):
    made = make_known_answer(n_rows, random_state=seed)
    names = tuple(made.feature_names), tuple(made.label_names)
    return Dataset(np.asarray(made.X), np.asarray(made.Y), *names, ("numeric",) * len(names[0]), name=name)


def protocol(**changes):
    settings = {
        "datasets": [data(), data("films", 60, 1)],
        "methods": ["jmi", {"name": "grouped", "criterion": "jmi", "targets": "group-rand"}],
        "n_features": "1..4",
        "classifiers": [{"name": "mlknn", "k": 3}, {"name": "brknn", "k": 3}],
        "measures": ["hamming_loss", "ranking_loss"],
        "splits": "3x50%",
    }
    return Protocol(**(settings | changes))


def contents(folder):
    """All that is stored but times, memory and who ran it: selections, cells, values."""
    db = sqlite3.connect(Path(folder) / "results.sqlite")
    prints = "data, rows, settings, code"
    selections = f"SELECT dataset, split, method, {prints}, n_wanted, selected, error FROM selections ORDER BY 1, 2, 3"
    cells = f"SELECT dataset, split, method, classifier, {prints}, sizes, measures, error FROM cells ORDER BY 1, 2, 3, 4"
    values = """SELECT dataset, split, method, classifier, k, measure, value FROM results JOIN cells ON cell = id
                ORDER BY 1, 2, 3, 4, 5, 6"""
    found = [db.execute(sql).fetchall() for sql in (selections, cells, values)]
    db.close()
    return found


def start(folder, *, n_jobs=1, pause=0.0, splits="3x50%"):
    """A run in a process of its own."""
    command = [sys.executable, "-c", SCRIPT, str(folder), str(n_jobs), str(pause), splits]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
