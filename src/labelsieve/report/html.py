"""Building HTML in which text cannot become markup, and sortable tables that work with screen readers and keyboards."""

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

from labelsieve.report.plaintext import number, printable

_VOID = frozenset({"br", "meta"})
MAX_ROWS = 1000  # of a table; a page with more is slow on a phone
LONGEST_WORD = 40  # characters of a name that is not broken into lines


class Html(str):
    """Markup that was built by :func:`tag` or is a constant of this library; any other text is escaped on insertion."""

    __slots__ = ()


def escaped(text: object) -> Html:
    r"""Return text as markup. Invisible characters except line ends are written as escapes.

    >>> escaped("<script>alert(1)</script>\x07")
    '&lt;script&gt;alert(1)&lt;/script&gt;\\x07'
    """
    if isinstance(text, Html):
        return text
    return Html(html.escape("\n".join(printable(line) for line in str(text).split("\n")), quote=True))


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """Return an element. Attributes that are None or False are left out; ``class_`` is class, and ``_`` becomes ``-``.

    >>> tag("td", "a < b", class_="name", data_value=3)
    '<td class="name" data-value="3">a &lt; b</td>'
    >>> tag("ul", *(tag("li", one) for one in "ab"))
    '<ul><li>a</li><li>b</li></ul>'
    """
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escaped(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(children)}</{name}>")


def joined(children: Iterable[object], between: str = "") -> Html:
    """Concatenate pieces; text that is not markup is escaped.

    >>> joined(["a & b", tag("b", "c")], ", ")
    'a &amp; b, <b>c</b>'
    """
    return Html(escaped(between).join(escaped(child) for child in children))


def paragraph(*children: object) -> Html:
    """Return a paragraph; empty without text.

    >>> paragraph("Three features.")
    '<p>Three features.</p>'
    """
    return tag("p", *children) if any(map(str, children)) else Html("")


@dataclass(frozen=True)
class Cell:
    """Text, its sort key, and whether it is the best of its row."""

    text: object
    value: float
    best: bool = False


def numeric(value: float, *, digits: int | None = None, best: bool = False) -> Cell:
    """Return a cell for a number, with ``digits`` decimals (default: four significant decimals).

    >>> numeric(0.123456).text, numeric(1234, digits=0).text, numeric(float("nan")).text
    ('0.1235', '1,234', '-')
    """
    if not isfinite(value):
        return Cell("-" if value != value else "never", value)
    return Cell(number(value) if digits is None else f"{value:,.{digits}f}", value, best)


def table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[object]], *, name: int = 0, sort: bool = True) -> Html:
    """Return a table with a caption.

    Parameters
    ----------
    caption : str
    columns : sequence of str
        Headings; one that begins with ``>`` is for numbers.
    rows : sequence of sequences
        Texts, markup or :class:`Cell`.
    name : int, default=0
        The column with the names of the rows.
    sort : bool, default=True
        Whether headings are buttons that sort, where scripts run.

    Examples
    --------
    >>> '<th scope="row">tempo</th>' in table("Chosen", ["feature", ">score"], [["tempo", numeric(0.5)]])
    True
    """
    head = tag("tr", *(_heading(column) for column in columns))
    shown = rows[:MAX_ROWS]
    body = (tag("tr", *(_cell(cell, column == name) for column, cell in enumerate(row))) for row in shown)
    sortable = sort and len(shown) > 1
    element = tag(
        "table", tag("caption", caption), tag("thead", head), tag("tbody", *body), class_="sortable" if sortable else None
    )
    left = len(rows) - len(shown)
    more = paragraph(f"The first {len(shown):,} of {len(rows):,} rows.") if left else ""
    # Wide tables scroll sideways, also by keyboard: hence the tabindex and the label of the group.
    return Html(tag("div", element, class_="scroll", role="group", aria_label=caption, tabindex="0") + more)


def folded(content: Html, summary: str, closed: bool) -> Html:
    """Return content, folded under its summary if ``closed``."""
    return tag("details", tag("summary", summary), content) if closed else content


def facts(caption: str, rows: Sequence[tuple[object, object]]) -> Html:
    """Return a table of names and values, without sorting."""
    return table(caption, ["what", "value"], [[key, value] for key, value in rows], sort=False)


def _heading(column: str) -> Html:
    right = column.startswith(">")
    return tag("th", column.removeprefix(">"), scope="col", class_="number" if right else None)


def _cell(cell: object, names_row: bool) -> Html:
    if isinstance(cell, Cell):
        # Not only by font weight: screen readers read the word.
        text = tag("strong", cell.text, tag("span", " (best)", class_="unseen")) if cell.best else escaped(cell.text)
        return tag("td", text, class_="number", data_value=repr(float(cell.value)).replace("inf", "Infinity"))
    words = [] if isinstance(cell, Html) else str(cell).split()
    look = "long" if max(map(len, words), default=0) > LONGEST_WORD else None  # may be wrapped anywhere
    return tag("th", cell, scope="row", class_=look) if names_row else tag("td", cell, class_=look)
