"""Figures as inline SVG: names stay text, colors follow the page, and title and description are accessible."""

import io
import re
import warnings
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree  # parses only SVG that was drawn here
from xml.etree.ElementTree import Element

from labelsieve.report.figures.style import COLORS, GRAY, off_screen, pyplot
from labelsieve.report.html import Html, tag
from labelsieve.report.plaintext import printable

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
# Colors of figures and the variables of page.css that replace them, on light and dark pages.
THEME = {"#000000": "--ink", "#ffffff": "--paper", GRAY: "--muted"}
THEME |= {color.lower(): f"--color-{index}" for index, color in enumerate(COLORS) if color not in THEME}
PIXELS = 96  # of CSS, in an inch
LARGEST, SMALLEST = 1.3, 0.8  # times the size on paper: on a wide page, and on a narrow one before it scrolls
_COLOR = re.compile(r"#[0-9a-f]{6}\b")
_FAMILY = re.compile(r"font-family:[^;]*;?\s*")


def figure(draw: Callable[[], Any], *, name: str, title: str, description: str, caption: str = "") -> Html:
    """Return a figure of the page.

    Parameters
    ----------
    draw : callable
        Makes the axes; called with matplotlib's default settings and without a window.
    name : str
        Unique in the page, for its anchor.
    title, description : str
        Text alternatives for screen readers; the title is also shown.
    caption : str, default=""
        Further text below the figure.
    """
    drawing = inline_svg(draw, name=name, title=title, description=description)
    text = tag("figcaption", tag("strong", title), f" {caption}" if caption else "")
    body = tag("div", drawing, class_="scroll", role="group", aria_label=title, tabindex="0")
    return tag("figure", body, text, id=name)


def inline_svg(draw: Callable[[], Any], *, name: str, title: str, description: str) -> Html:
    """Return the SVG element without caption."""
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
