"""HTML pages without external resources: the frame of a report, elements, tables, and figures as inline SVG."""

import base64
import hashlib
import html
import io
import os
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from labelsieve.errors import InputError
from labelsieve.report.figures.style import COLORS, GRAY, off_screen, pyplot
from labelsieve.report.text import number, printable
from labelsieve.selection.storage import write_file

_VOID = frozenset({"br", "meta", "wbr"})
MAX_ROWS = 1000  # rows of a table; a page with more is slow on a phone
LONGEST_WORD = 40  # characters of a name that is not broken into lines
_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
# Colors of figures and the variables of page.css that replace them, on light and dark pages.
THEME = {color.lower(): f"--color-{index}" for index, color in enumerate(COLORS)}
THEME |= {"#000000": "--ink", "#ffffff": "--paper", GRAY: "--muted"}
PIXELS = 96  # of CSS in an inch
LARGEST, SMALLEST = 1.3, 0.8  # scale of figures relative to paper: on a wide page, and on a narrow one before it scrolls
_AFTER = re.compile(r"(?<=[_.:/+-])(?=.)")
_SIGNED = re.compile(r"(?<=\d) (?=%)|(?<=±) (?=\d)")
_COLOR = re.compile(r"#[0-9a-f]{6}\b")
_FAMILY = re.compile(r"font-family:[^;]*;?\s*")


class Html(str):
    """Markup that was built by :func:`tag` or is a constant of this library; any other text is escaped on insertion."""

    __slots__ = ()


@dataclass(frozen=True)
class Section:
    """A section of a report; ``name`` is its anchor."""

    name: str
    title: str
    body: Html


@dataclass(frozen=True)
class Report:
    """A report, ready to be written, from :func:`selection_report` or :func:`study_report`.

    Attributes
    ----------
    title : str
    lead : Html
        The main findings in a few sentences.
    sections : tuple of Section
    heading, source : str
        The heading of the page, if it is not the title, and a line above it that names the data.
    summary : str
        Markup of key figures, shown below the lead.
    style, script, data : str
        More CSS, more JavaScript, and JSON that this script reads from the element with the id ``data``.

    Examples
    --------
    >>> page = Report("Songs & more", tag("p", "Nothing yet."), ()).html()
    >>> "<title>Songs &amp; more</title>" in page, "https:" in page
    (True, False)
    """

    title: str
    lead: Html
    sections: tuple[Section, ...]
    heading: str = ""
    source: str = ""
    summary: str = ""
    style: str = ""
    script: str = ""
    data: str = ""

    def html(self) -> str:
        """Return the page with inline style and script, and a security policy that blocks all other resources."""
        style, script = _asset("page.css") + self.style, _asset("page.js") + self.script
        # Only this script may run: injected markup could not execute code.
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
        head = tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=policy),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="generator", content="labelsieve"),
            tag("title", self.title),
            tag("style", Html(style)),
        )
        contents = tag("ul", *(tag("li", tag("a", section.title, href=f"#{section.name}")) for section in self.sections))
        nav = tag("nav", contents, aria_label="Sections")
        source = tag("p", tag("strong", "labelsieve"), " · ", self.source, class_="source") if self.source else ""
        title = tag("h1", glued(self.heading or self.title))
        answer = [tag("div", self.lead, class_="lead"), Html(self.summary), nav]
        body = tag(
            "body",
            tag("a", "Skip to the findings", class_="skip", href="#findings"),
            tag("header", source, title),
            tag("main", *answer, *map(_section, self.sections), id="findings", tabindex="-1"),
            tag("footer", tag("p", _footer()), tag("p", id="said", class_="unseen", role="status")),
            tag("script", Html(self.data.replace("<", r"\u003c")), id="data", type="application/json") if self.data else "",
            tag("script", Html(script)),
        )
        return joined([Html("<!DOCTYPE html>\n"), tag("html", head, body, lang="en"), Html("\n")])

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to ``path`` atomically."""
        target = Path(path)
        if not target.parent.is_dir():
            raise InputError(f"{target}: there is no folder {target.parent}; create it first, or use another path.")
        if target.is_dir():
            raise InputError(f"{target}: this is a folder; pass the path of a file in it.")
        page = self.html().encode()

        write_file(target, page)
        return target


def _section(section: Section) -> Html:
    heading = f"{section.name}-heading"
    return tag("section", tag("h2", section.title, id=heading), section.body, id=section.name, aria_labelledby=heading)


def _footer() -> str:
    from labelsieve import __version__

    return f"Made by labelsieve {__version__}. This file is self-contained and makes no network requests."


@cache
def _asset(name: str) -> str:
    return files("labelsieve.report").joinpath(name).read_text(encoding="utf-8")


def escaped(text: object) -> Html:
    r"""Escape text for use in markup; invisible characters except line ends are written as escapes.

    >>> escaped("<script>alert(1)</script>\x07")
    '&lt;script&gt;alert(1)&lt;/script&gt;\\x07'
    """
    if isinstance(text, Html):
        return text
    return Html(html.escape("\n".join(printable(line) for line in str(text).split("\n")), quote=True))


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """Build an element. Attributes that are None or False are left out; ``class_`` is class, and ``_`` becomes ``-``.

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


def glued(text: str) -> Html:
    """Keep a number on one line with its percent sign, and with the ± before it.

    >>> glued("38 % (± 2) of R&D")
    '38&nbsp;% (±&nbsp;2) of R&amp;D'
    """
    return Html(_SIGNED.sub("&nbsp;", escaped(text)))


def breakable(name: str) -> Html:
    """Let a name be broken into lines after ``_ . : / - +`` only.

    >>> breakable("Mean_Acc.<b>")
    'Mean_<wbr>Acc.<wbr>&lt;b&gt;'
    """
    return joined([piece if index == 0 else joined([tag("wbr"), piece]) for index, piece in enumerate(_AFTER.split(name))])


def paragraph(*children: object) -> Html:
    """Build a paragraph; it is empty without text.

    >>> paragraph("Three features.")
    '<p>Three features.</p>'
    """
    return tag("p", *children) if any(map(str, children)) else Html("")


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, the number by which it is sorted, and whether it is the best of its row."""

    text: object
    value: float
    best: bool = False


def numeric(value: float, *, digits: int | None = None, best: bool = False) -> Cell:
    """Make a cell for a number, with ``digits`` decimals (default: four).

    >>> numeric(0.123456).text, numeric(1234, digits=0).text, numeric(float("nan")).text
    ('0.1235', '1,234', '-')
    """
    if not isfinite(value):
        return Cell("-" if value != value else "never", value)
    return Cell(number(value) if digits is None else f"{value:,.{digits}f}", value, best)


def table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[object]], *, name: int = 0, sort: bool = True) -> Html:
    """Build a table with a caption, whose heads sort it where scripts run, unless ``sort`` is false.

    A head that begins with ``>`` is for numbers. Cells are texts, markup or :class:`Cell`; column ``name`` has the names of the
    rows.

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


def facts(caption: str, rows: Sequence[tuple[object, object]]) -> Html:
    """Build a table of names and values, which cannot be sorted."""
    return table(caption, ["what", "value"], [[key, value] for key, value in rows], sort=False)


def folded(content: Html, summary: str, closed: bool) -> Html:
    """Fold content under its summary if ``closed``."""
    return tag("details", tag("summary", summary), content) if closed else content


def figure(draw: Callable[[], Any], *, name: str, title: str, description: str, caption: str = "") -> Html:
    """Draw a figure of the page, with matplotlib's default settings and without a window; ``name`` is unique in the page.

    The title and the description are the text alternatives for screen readers; the title is also shown, with the caption below
    the figure.
    """
    drawing = inline_svg(draw, name=name, title=title, description=description)
    text = tag("figcaption", tag("strong", title), f" {caption}" if caption else "")
    body = tag("div", drawing, class_="scroll", role="group", aria_label=title, tabindex="0")
    return tag("figure", body, text, id=name)


def inline_svg(draw: Callable[[], Any], *, name: str, title: str, description: str) -> Html:
    """Draw a figure as an SVG element without caption."""
    root = ElementTree.fromstring(_drawn(draw))
    for element in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(element)
    inches = float(root.get("width", "0").removesuffix("pt")) / 72
    for element in root.iter():
        _rename(element, name)
        _theme(element)
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title {name}-description")
    root.set("style", f"width: {PIXELS * LARGEST * inches:.0f}px; min-width: {PIXELS * SMALLEST * inches:.0f}px")
    for index, (part, key, text) in enumerate((("title", "title", title), ("desc", "description", description))):
        element = ElementTree.Element(f"{{{_SVG}}}{part}", id=f"{name}-{key}")
        element.text = printable(text)
        root.insert(index, element)
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    return Html(ElementTree.tostring(root, encoding="unicode"))


def _drawn(draw: Callable[[], Any]) -> str:
    plt = pyplot()
    settings = {key: value for key, value in plt.matplotlib.rcParamsDefault.items() if key != "backend"}
    settings |= {"svg.fonttype": "none", "svg.hashsalt": "labelsieve"}  # text stays text, and files are reproducible
    written = io.StringIO()
    with plt.matplotlib.rc_context(settings), off_screen(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the browser has more fonts
        drawing = draw().figure.figure
        drawing.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return written.getvalue()


def _rename(element: Element, name: str) -> None:
    """Make ids unique in the page, with their references."""
    for key, value in element.attrib.items():
        if key == "id":
            element.set(key, f"{name}-{value}")
        elif key in ("href", f"{{{_XLINK}}}href") and value.startswith("#"):
            element.set(key, f"#{name}-{value[1:]}")
        elif "url(#" in value:
            element.set(key, value.replace("url(#", f"url(#{name}-"))


def _theme(element: Element) -> None:
    """Replace colors by variables of the page, with the printed color as fallback, and drop fonts."""
    style = _FAMILY.sub("", element.get("style", ""))
    if element.get("fill", "").startswith("#"):  # variables are not allowed in this attribute
        style = f"fill: {element.attrib.pop('fill')}; {style}"
    if style:
        element.set("style", _COLOR.sub(lambda match: _variable(match.group()), style))


def _variable(color: str) -> str:
    return f"var({THEME[color]}, {color})" if color in THEME else color
