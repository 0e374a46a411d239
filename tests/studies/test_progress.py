"""Progress on a terminal: how far a study is, and how long it will take; silence elsewhere."""

import io
import re
import subprocess
import sys
import threading

from labelsieve import progress
from labelsieve.progress import progress_bar
from labelsieve.studies import Study
from tests.support.small_studies import data, protocol


class Terminal(io.StringIO):
    def isatty(self):
        return True

    def lines(self):
        """The lines that were shown, without colors and cursor movements."""
        plain = re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", self.getvalue())
        return [line.strip() for line in re.split(r"[\r\n]+", plain) if line.strip()]


def shown_at_once(monkeypatch):
    """A terminal as standard error; not a fixture, as pytest replaces standard error between fixtures and tests."""
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    return screen


def test_bar_of_a_study_says_how_much_time_is_left(tmp_path, monkeypatch):
    terminal = shown_at_once(monkeypatch)
    Study(protocol(datasets=[data()], methods=["jmi"], baselines=[]), tmp_path).run(
        on_cell=lambda *_: progress._display.refresh()
    )
    lines = [line for line in terminal.lines() if line.startswith("study: cells")]
    assert any(re.search(r" 1/6 \d+ s left$", line) for line in lines)
    assert any(" 6/6 " in line for line in lines)
    assert progress._display is None


def test_bars_within_bars_are_lines_of_one_display(monkeypatch):
    terminal = shown_at_once(monkeypatch)
    with progress_bar("outer") as outer:
        outer(1, 2)
        with progress_bar("inner [b]") as inner:
            inner(3, 7)
            progress._display.refresh()
        assert len(progress._display.tasks) == 1
    assert {"1/2", "3/7"} <= {word for line in terminal.lines() for word in line.split()}
    assert any(line.startswith("inner [b]") for line in terminal.lines())


def test_display_ends_with_the_last_bar_of_any_thread(monkeypatch):
    shown_at_once(monkeypatch)
    opened, closed = threading.Event(), threading.Event()

    def other():
        with progress_bar("of a thread") as show:
            show(1, 2)
            opened.set()
            closed.wait(10)

    thread = threading.Thread(target=other)
    with progress_bar("first") as show:
        show(1, 2)
        thread.start()
        opened.wait(10)
    assert [task.description for task in progress._display.tasks] == ["of a thread"]
    closed.set()
    thread.join()
    assert progress._display is None


def test_nothing_is_printed_where_nobody_looks(tmp_path, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    Study(protocol(datasets=[data()], methods=["jmi"], baselines=[]), tmp_path).run()
    assert screen.getvalue() == ""


def test_what_ends_within_two_seconds_shows_nothing(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with progress_bar("short") as show:
        show(1, 2)
    assert screen.getvalue() == ""


def test_rich_is_loaded_for_a_bar_that_is_shown_only():
    script = "import sys; from labelsieve.progress import progress_bar\nwith progress_bar('a') as show: show(1, 2)\n"
    script += "print('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "False\n"
