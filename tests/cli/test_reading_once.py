"""``labelsieve select`` and ``report`` read their file, targets and label sets once, and learn bins once per selection."""

from collections import Counter
from importlib import import_module

import pytest

from labelsieve.discretize import EqualFrequency
from labelsieve.tables import problem
from tests.support.command_line import run, table_fixtures

frame, file = table_fixtures(200)


@pytest.fixture
def calls(monkeypatch):
    """Counts the calls of everything that looks at what a user passed, or that learns bins from it."""
    counts = Counter()

    def count(place, name):
        function = getattr(place, name)

        def counted(*given, **options):
            counts[name] += 1
            return function(*given, **options)

        monkeypatch.setattr(place, name, counted)

    count(import_module("labelsieve.datasets.readers.load"), "open_content")
    for name in ("read_table", "read_target_columns", "read_label_sets"):
        count(problem, name)
    count(EqualFrequency, "_cut")
    return counts


@pytest.mark.parametrize("method", ["hybrid", "cmim"])
@pytest.mark.parametrize("count", [("-k", 3), ()], ids=["3", "auto"])
def test_a_selection_reads_everything_once(file, calls, method, count):
    result = run("select", file, "--labels", 5, "--criterion", method, *count)
    assert result.exit_code == 0, result.output
    # Bins are learned for the selection and, from their rows alone, for each of the five folds of the explained share.
    assert calls == {"open_content": 1, "read_table": 1, "read_target_columns": 1, "read_label_sets": 1, "_cut": 6}


def test_a_report_reads_everything_once(file, calls, tmp_path):
    pytest.importorskip("matplotlib", reason="a report has figures")
    result = run("report", file, "--labels", 5, "-k", 3, "--stability", 0, "-o", tmp_path / "report.html")
    assert result.exit_code == 0, result.output
    assert calls == {"open_content": 1, "read_table": 1, "read_target_columns": 1, "read_label_sets": 1, "_cut": 6}
