"""The page of extreme label sets shows the tables of the stored results."""

import csv
from pathlib import Path

import pytest

from benchmarks import vocabulary

ROOT = Path(vocabulary.__file__).parents[1]


def results(name):
    with (ROOT / "benchmarks" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


@pytest.mark.parametrize("measure", ["P@1", "PSP@3"])
@pytest.mark.parametrize(("name", "n_sizes"), [("vocabulary.csv", 6), ("vocabulary_confirmation.csv", 4)])
def test_tables_of_the_page_are_those_of_the_stored_results(name, n_sizes, measure):
    page = (ROOT / "docs" / "scale" / "extreme_labels.md").read_text(encoding="utf-8").splitlines()
    rows = results(name)
    lines = vocabulary.table(rows, measure).splitlines()
    assert len(lines) == 2 + n_sizes * len({row[0] for row in rows}) > 2
    assert [line for line in lines if line not in page] == []


def test_intervals_are_those_of_the_corrected_t_test():
    mean, half = vocabulary.interval([0.1, 0.2, 0.3, 0.2, 0.2], ratio=0.5)
    assert mean == pytest.approx(0.2)
    assert half == pytest.approx(2.7764451 * (0.005 * (1 / 5 + 0.5)) ** 0.5)
