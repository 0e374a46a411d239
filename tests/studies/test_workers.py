"""Processes that cannot start are no failing cells."""

import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator

from labelsieve.studies import Study, StudyError, StudyResults
from tests.support.small_studies import ROOT, contents, data, protocol

SCRIPT = """
from sklearn.base import BaseEstimator
from labelsieve.studies import Study
from tests.support.small_studies import data, protocol

class Mine(BaseEstimator):
    def fit(self, X, Y):
        self.selected_ = [0, 1, 2, 3]
        return self

made = protocol(datasets=[data()], methods=[("mine", Mine())], splits="2x50%", baselines=[])
Study(made, {folder!r}).run(n_jobs=2)
"""


def test_a_class_that_other_processes_do_not_find_ends_the_run_and_no_cell_fails(tmp_path):
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(folder=str(tmp_path))], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert found.returncode == 1
    assert "StudyError: a process could not start; its error is printed above." in found.stderr
    assert contents(tmp_path) == [[], [], []]
    assert StudyResults(tmp_path).failures == []


def test_what_cannot_be_sent_to_processes_is_refused_in_words(tmp_path):
    class Inner(BaseEstimator):
        def fit(self, X, Y):
            self.selected_ = [0, 1, 2, 3]
            return self

    made = protocol(datasets=[data()], methods=[("inner", Inner())], splits="2x50%")
    with pytest.raises(StudyError, match=r"cannot be sent to other processes .*Inner"):
        Study(made, tmp_path).run(n_jobs=2)
    assert Study(made, tmp_path).run().n_failed == 0
