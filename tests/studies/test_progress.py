"""A study on a terminal says how far it is and how long it will take."""

import io
import re

from labelsieve import progress
from labelsieve.studies import Study
from tests.support.small_studies import data, protocol


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bar_of_a_study_says_how_much_time_is_left(tmp_path, monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "REFRESH", 0.0)
    Study(protocol(datasets=[data()], methods=["jmi"], baselines=[]), tmp_path).run()
    lines = [line for line in screen.getvalue().split("\r") if line.startswith("study: cells [")]
    assert " left" not in lines[0], "nothing is known before the first cell"
    assert re.fullmatch(r"study: cells \[#{5}\.{25}\] 1/6, 1 s left \x1b\[K", lines[1])
    assert " 6/6, " in lines[-1]


def test_nothing_is_printed_where_nobody_looks(tmp_path, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    Study(protocol(datasets=[data()], methods=["jmi"], baselines=[]), tmp_path).run()
    assert screen.getvalue() == ""
