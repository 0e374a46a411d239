"""A study that takes a second, what its file holds, and processes that run it."""

import multiprocessing
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from labelsieve.datasets import Dataset
from labelsieve.studies import Protocol, Study, StudyError
from labelsieve.studies.demo import demo_data

ROOT = Path(__file__).resolve().parents[2]
FORKS = multiprocessing.get_context("forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn")
# What a study imports is imported once, for all processes that are killed. The server may run in the folder of any test, where
# the name of this module means another one.
FORKS.set_forkserver_preload(["labelsieve.classifiers", "labelsieve.studies.demo"])


def data(name="songs", n_rows=80, seed=0):
    made = demo_data(n_rows, random_state=seed)
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


def _run(folder, n_jobs, pause, splits, errors):
    try:
        Study(protocol(splits=splits), folder).run(n_jobs=n_jobs, on_cell=lambda done, total: time.sleep(pause))
    except StudyError as error:
        Path(errors).write_text(str(error), encoding="utf-8")
        sys.exit(1)


class Runner:
    """A run in a process of its own, which can be killed."""

    def __init__(self, *how):
        self._errors = Path(tempfile.mkdtemp()) / "errors"
        self._process = FORKS.Process(target=_run, args=(*how, str(self._errors)))
        self._process.start()

    def ended(self, patience=0.0):
        """The exit code; None while it runs."""
        self._process.join(patience)
        return self._process.exitcode

    def kill(self):
        """The exit code, and what it said."""
        self._process.kill()
        return self.ended(60), self._errors.read_text(encoding="utf-8") if self._errors.exists() else ""


def start(folder, *, n_jobs=1, pause=0.0, splits="3x50%"):
    return Runner(str(folder), n_jobs, pause, splits)
