"""Figures as SVG inside the page: names stay text, colors follow the page, and a title says what is seen."""

import io
import re
import warnings
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree  # writes; what it reads is our own

from labelsieve.report.figures.figure_style import COLORS, GRAY, off_screen, pyplot
from labelsieve.report.html import Html, tag
from labelsieve.report.plaintext import printable

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
# Colors of figures and the variables of page.css that stand for them, on a light page and on a dark one.
THEME = {"#000000": "--ink", "#ffffff": "--paper", GRAY: "--muted"}
THEME |= {color.lower(): f"--color-{place}" for place, color in enumerate(COLORS) if color not in THEME}
PIXELS = 96  # of CSS, in an inch
LARGEST, SMALLEST = 1.3, 0.8  # times the size on paper: on a wide page, and on a narrow one before it scrolls
_COLOR = re.compile(r"#[0-9a-f]{6}\b")
_FAMILY = re.compile(r"font-family:[^;]*;?\s*")


def figure(draw: Callable[[], Any], *, name: str, title: str, description: str, caption: str = "") -> Html:
    """A figure of the page.

    Parameters
    ----------
    draw : callable
        Makes the axes; called with matplotlib's own settings, whatever the user's are, and away from any window.
    name : str
        Unique in the page, for its anchor.
    title, description : str
        What is seen, for those who do not see it; the title is shown, too.
    caption : str
        More, below the figure.
    """
    drawing = inline_svg(draw, name=name, title=title, description=description)
    text = tag("figcaption", tag("strong", title), f" {caption}" if caption else "")
    body = tag("div", drawing, class_="scroll", role="group", aria_label=title, tabindex="0")
    return tag("figure", body, text, id=name)


def inline_svg(draw: Callable[[], Any], *, name: str, title: str, description: str) -> Html:
    """The SVG element alone."""
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
    for place, (part, text) in enumerate((("title", title), ("desc", description))):
        element = ElementTree.Element(f"{{{_SVG}}}{part}", id=f"{name}-{'title' if part == 'title' else 'description'}")
        element.text = printable(text)
        root.insert(place, element)
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    return Html(ElementTree.tostring(root, encoding="unicode"))


def _drawn(draw: Callable[[], Any]) -> str:
    plt = pyplot()
    settings = {key: value for key, value in plt.matplotlib.rcParamsDefault.items() if key != "backend"}
    settings |= {"svg.fonttype": "none", "svg.hashsalt": "labelsieve"}  # text as text, and the same file every time
    written = io.StringIO()
    with plt.matplotlib.rc_context(settings), off_screen(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the reader's browser has more fonts
        made = draw().figure.figure
        made.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return written.getvalue()


def _rename(element: Any, name: str) -> None:
    """Make ids unique in the page, and what points to them."""
    for key, value in element.attrib.items():
        if key == "id":
            element.set(key, f"{name}-{value}")
        elif key in ("href", f"{{{_XLINK}}}href") and value.startswith("#"):
            element.set(key, f"#{name}-{value[1:]}")
        elif "url(#" in value:
            element.set(key, value.replace("url(#", f"url(#{name}-"))


def _theme(element: Any) -> None:
    """Colors by variables that the page sets, with the printed color behind them; fonts as the page has them."""
    style = _FAMILY.sub("", element.get("style", ""))
    if element.get("fill", "").startswith("#"):  # variables have no meaning in this attribute
        style = f"fill: {element.attrib.pop('fill')}; {style}"
    if style:
        element.set("style", _COLOR.sub(lambda found: _variable(found.group()), style))


def _variable(color: str) -> str:
    return f"var({THEME[color]}, {color})" if color in THEME else color
