"""Selectors and classifiers of one's own: their rankings are checked, and a change of their code is noticed."""

import sys
import types

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from labelsieve import InputError
from labelsieve.studies import Study, StudyError
from labelsieve.studies.cells import SplitWork
from labelsieve.studies.data import LoadedData, read_source
from tests.support.small_studies import data, protocol

SMALL = {"datasets": [data()], "n_features": [2], "splits": "2x50%", "baselines": []}


class Says(BaseEstimator):
    """Selects the given columns."""

    def __init__(self, what=None):
        self.what = what

    def fit(self, X, Y):
        if self.what is not None:
            self.selected_ = self.what
        return self


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (np.arange(20) < 3, "Says: selected_ must be a ranking, a list of columns from 0 to 19"),
        ([0.5, 1.5], "must be a ranking"),
        ([0, 0, 1], "best first, none twice"),
        ([0, -1], "must be a ranking"),
        ([0, 20], "must be a ranking"),
        ([[0, 1]], "has no ranking of the features for all labels together"),
        (None, "Says has no selected_ after fit: a ranking"),
    ],
)
def test_what_is_no_ranking_is_refused(what, said):
    loaded = LoadedData.of(read_source(data()))
    work = SplitWork(loaded, protocol().splits.splits(loaded.X, loaded.Y, "songs")[0])
    with pytest.raises(InputError, match=said):
        work.select(Says(what), 2, 0)


def test_parameters_that_no_later_run_could_compare_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"mine: its parameters cannot be compared .*lambda.*Define functions"):
        Study(protocol(methods=[("mine", Says(lambda X: X))], **SMALL), tmp_path).run()


def selector(folder, name, columns):
    """A class from a file, as it is after somebody changed that file."""
    path = folder / f"{name}.py"
    path.write_text(
        "from sklearn.base import BaseEstimator\n\n\nclass Mine(BaseEstimator):\n"
        f"    def fit(self, X, Y):\n        self.selected_ = {columns}\n        return self\n",
        encoding="utf-8",
    )
    module = types.ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), vars(module))
    return module.Mine()


def test_changed_code_of_a_selector_is_noticed(tmp_path, monkeypatch):
    import linecache

    name = "selector_of_a_user"
    monkeypatch.delitem(sys.modules, name, raising=False)
    first = protocol(methods=[("mine", selector(tmp_path, name, [0, 1]))], **SMALL)
    assert Study(first, tmp_path / "out").run().n_run == 4
    assert Study(protocol(methods=[("mine", selector(tmp_path, name, [0, 1]))], **SMALL), tmp_path / "out").run().n_run == 0
    linecache.clearcache()
    other = protocol(methods=[("mine", selector(tmp_path, name, [7, 8]))], **SMALL)
    with pytest.raises(StudyError, match=r"settings or code of mine or mlknn \(2 cells\)"):
        Study(other, tmp_path / "out").run()
    sys.modules.pop(name)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"convention": "mulan"}, r"the convention \(4 cells\)"),
        ({"classifiers": [{"name": "mlknn", "k": 5}]}, r"settings of jmi or mlknn \(2 cells\), settings of mim or"),
    ],
)
def test_what_changed_is_named(tmp_path, change, said):
    given = {**SMALL, "methods": ["jmi", "mim"], "classifiers": [{"name": "mlknn", "k": 3}]}
    Study(protocol(**given), tmp_path).run()
    with pytest.raises(StudyError, match=said):
        Study(protocol(**(given | change)), tmp_path).run()
