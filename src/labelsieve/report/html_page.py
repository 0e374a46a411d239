"""Report: one self-contained HTML file."""

import base64
import hashlib
import os
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import BinaryIO

from labelsieve.datasets.writers.atomic_file import write_files
from labelsieve.errors import InputError
from labelsieve.report.html import Html, joined, tag


@dataclass(frozen=True)
class Section:
    """A section of a report; ``name`` is its anchor."""

    name: str
    title: str
    body: Html


@dataclass(frozen=True)
class Report:
    """A report, ready to be written, from :func:`selection_report`, :func:`study_report` or :func:`replication_report`.

    Attributes
    ----------
    title : str
    lead : Html
        The main findings in a few sentences.
    sections : tuple of Section
    extra : str
        Name of a further style and script of this package.
    data : str
        JSON that this script reads.

    Examples
    --------
    >>> page = Report("Songs & more", tag("p", "Nothing yet."), ()).html()
    >>> "<title>Songs &amp; more</title>" in page, "https:" in page
    (True, False)
    """

    title: str
    lead: Html
    sections: tuple[Section, ...]
    extra: str = ""
    data: str = ""

    def html(self) -> str:
        """Return the page with inline style and script, and a security policy that blocks all other resources."""
        style, script = _asset("page.css"), _asset("page.js")
        if self.extra:
            style, script = f"{style}{_asset(f'{self.extra}.css')}", f"{script}{_asset(f'{self.extra}.js')}"
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
        body = tag(
            "body",
            tag("a", "Skip to the findings", class_="skip", href="#findings"),
            tag("header", tag("h1", self.title)),
            tag("nav", contents, aria_label="Sections"),
            tag("main", tag("div", self.lead, class_="lead"), *map(_section, self.sections), id="findings", tabindex="-1"),
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

        def write_page(raw: BinaryIO) -> None:
            raw.write(page)

        write_files([(target, write_page)])
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
