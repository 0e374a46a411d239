"""Building markup: text stays text, whatever it holds."""

import pytest

from labelsieve.report.html import MAX_ROWS, Cell, Html, escaped, joined, numeric, paragraph, table, tag
from tests.support.report_pages import EVIL, Page


@pytest.mark.parametrize("name", EVIL)
def test_any_name_is_one_text_in_content_and_in_attributes(name):
    page = Page(tag("p", name, title=name))
    ((attributes, text),) = page.all("p")
    assert len(page.elements) == 1
    assert attributes["title"] == text
    assert all(character.isprintable() for character in text)
    text.encode()


def test_only_what_was_built_is_markup():
    assert joined([tag("b", "<"), "<b>"]) == "<b>&lt;</b>&lt;b&gt;"
    assert isinstance(escaped("x"), Html)
    assert not isinstance(str(tag("b", "x")) + "<i>", Html), "text that is added to markup makes it text"
    assert paragraph("", "") == ""


def test_attributes_may_be_bare_or_left_out():
    assert tag("details", open=True, id=None, hidden=False, aria_label="a") == '<details open aria-label="a"></details>'


def test_tables_say_what_their_cells_are():
    text = table("Songs", ["name", ">score"], [["<b>", numeric(0.5, best=True)], ["other", numeric(float("nan"))]])
    page = Page(text)
    assert page.all("caption") == [({}, "Songs")]
    assert [attributes["scope"] for attributes, _ in page.all("th")] == ["col", "col", "row", "row"]
    assert [attributes["data-value"] for attributes, _ in page.all("td")] == ["0.5", "nan"]
    assert page.all("td")[0][1] == "0.5000 (best)"
    assert page.all("table")[0][0]["class"] == "sortable"
    assert page.all("div")[0][0]["tabindex"] == "0"


def test_long_tables_say_what_is_missing():
    rows = [[f"row {place}", Cell("1", 1.0)] for place in range(MAX_ROWS + 5)]
    page = Page(table("Many", ["name", ">one"], rows))
    assert len(page.all("tr")) == MAX_ROWS + 1
    assert page.all("p")[0][1] == "The first 1,000 of 1,005 rows."
