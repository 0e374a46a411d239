"""Building HTML in which text cannot become markup: everything is escaped that was not built here."""

import html
from collections.abc import Iterable

from labelsieve.report.plaintext import printable

_VOID = frozenset({"br", "meta"})


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
