"""Tables that fit the terminal: headings broken at the ends of words, and several tables where one is too wide."""

import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labelsieve.report.text import long_form, plain_table, prose, tables, text_of

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


def test_a_cell_of_several_lines_is_wrapped_line_by_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    table = plain_table("name", "formula and paper")
    table.add_row("mrmr", "sum_y(I(f, y))\nPeng, Long and Ding 2005, equation 8")
    assert text_of(table).splitlines()[2:] == ["mrmr   sum_y(I(f, y))", "       Peng, Long and Ding 2005,", "       equation 8"]


WORDS = st.text("abcdefghij", min_size=1, max_size=16)
NUMBERS = st.floats(-1e6, 1e6).map(lambda value: f"{value:.4f}")
ALL_WIDTHS = pytest.mark.parametrize("width", [40, 80, 120])


@ALL_WIDTHS
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=st.data())
def test_no_number_and_no_word_is_cut_at_any_width(monkeypatch, width, case):
    """Every number and word of every cell is in the text as it is, and no line is longer than the terminal is wide."""
    kinds = case.draw(st.lists(st.booleans(), min_size=1, max_size=9))
    heads = [f">{case.draw(WORDS)}" if number else case.draw(WORDS) for number in kinds]
    texts = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
    rows = case.draw(
        st.lists(
            st.tuples(texts, *(NUMBERS if number else texts for number in kinds)),
            min_size=1,
            max_size=4,
            unique_by=lambda row: row[0],
        )
    )
    monkeypatch.setenv("COLUMNS", str(width))
    table = plain_table("name", *heads)
    for row in rows:
        table.add_row(*row)
    words = [*rows, *([head.removeprefix(">")] for head in heads)]
    for text in (tables(["name", *heads], rows), text_of(table), long_form(table)):
        assert max(map(len, text.splitlines())) <= width
        tokens = Counter(re.split(r":?\s+", text))
        for word, count in Counter(word for row in words for cell in row for word in cell.split()).items():
            assert tokens[word] >= count, text


@ALL_WIDTHS
def test_a_wide_table_gets_its_long_form(monkeypatch, width):
    names = [f"method-{number}" for number in range(12)]
    monkeypatch.setenv("COLUMNS", str(width))
    table = plain_table("data set", *(f">{name}" for name in names))
    table.add_row("yeast", *(f"0.{number:04}" for number in range(12)))
    lines = text_of(table).splitlines()
    long = ["data set: yeast", *(f"  {name}: 0.{number:04}" for number, name in enumerate(names))]
    assert lines == long


@pytest.mark.parametrize("width", range(20, 60))
def test_a_sign_stays_on_the_line_of_its_number(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    text = prose("6 of 7 features explain 56 % (± 7) of the targets, 2 points more than all 7 (54 %).")
    assert not re.search(r"±$|^%", text, flags=re.MULTILINE)
    assert max(map(len, text.splitlines())) <= width
