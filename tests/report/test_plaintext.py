"""Tables that fit the terminal: headings broken at the ends of words, and several tables where one is too wide."""

import pytest

from labelsieve.report.plaintext import tables

METHODS = ["single-jmi", "joint-jmi", "group-jmi-rand", "group-jmi-rand-normalized", "mim", "ela-chi", "ami", "pmu", "scls"]
SETS = ["yeast", "recordings-of-birds-in-the-forest"]


def printed(monkeypatch, width, columns, rows):
    monkeypatch.setenv("COLUMNS", str(width))
    return tables(columns, rows).split("\n\n")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_every_row_of_a_wide_table_stays_on_one_line(monkeypatch, width):
    rows = [[name, *(f"0.{place}{place:03}*" for place in range(len(METHODS)))] for name in SETS]
    parts = printed(monkeypatch, width, ["data set", *(f">{name}" for name in METHODS)], rows)
    assert max(len(line) for part in parts for line in part.splitlines()) <= width
    for row in rows:
        found = [line.split() for part in parts for line in part.splitlines() if line.startswith(row[0])]
        assert [cell for line in found for cell in line[1:]] == row[1:]
        assert len(found) == len(parts)


def test_headings_are_whole_and_above_their_numbers(monkeypatch):
    (part,) = printed(monkeypatch, 80, ["data set", ">group-jmi-rand-normalized", ">mim"], [["yeast", "0.1000", "0.2000"]])
    lines = part.splitlines()
    assert [line.split() for line in lines[:3]] == [["group-jmi-"], ["rand-"], ["data", "set", "normalized", "mim"]]
    assert lines[2].index("normalized") + len("normalized") == lines[4].index("0.1000") + len("0.1000")


def test_a_table_that_fits_is_one(monkeypatch):
    assert len(printed(monkeypatch, 200, ["data set", *(f">{name}" for name in METHODS)], [["yeast", *["0.1"] * 9]])) == 1


def test_long_texts_are_folded_and_not_parted(monkeypatch):
    (part,) = printed(monkeypatch, 60, ["the paper says", "here", "why"], [["words " * 20, "holds", "words " * 10]])
    assert max(map(len, part.splitlines())) <= 60
    assert part.count("words") == 30
