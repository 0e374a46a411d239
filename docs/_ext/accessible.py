"""Names for elements that the theme and the gallery leave without one, and places where long names in tables may break."""

import re
from pathlib import Path

SEARCH = re.compile(r'(<button[^>]*search-button-field[^>]*) aria-label="Search"')
FORMULA_HEAD = re.compile(r'<th class="(head[^"]*)"><p>(<math.*?</math>)</p></th>')
SUMMARY = re.compile(r'(<a[^>]* class="(?:current )?reference internal"[^>]*>([^<]*)</a>\s*<details[^>]*>\s*<summary)>')
THUMBNAIL = re.compile(
    r'(<p><a class="reference internal" href="[^"]*")(><span class="doc">([^<]*)</span></a></p>\s*<div class="sphx-glr)'
)
TAGS = re.compile(r"<[^>]*>")
CELL = re.compile(r"<td[^>]*>.*?</td>", re.DOTALL)
CODE = re.compile(r'<span class="pre">[^<]*</span>')
# A long name in a cell breaks after punctuation and between words, not within a word.
BREAK = re.compile(r"(?<=\w[_./:(=,-])(?=[\w\"'&])(?![^<>]*>)|(?<=[a-z])(?=[A-Z])")
EMPTY_HEAD = re.compile(r'<th class="head[^"]*"(?: [^>]*)?>(?:<p></p>)?</th>')


def improve(page):
    """The page with names: the search button is read as written, folded lists get the name of their page."""
    page = SEARCH.sub(r"\1", page)
    page = SUMMARY.sub(lambda found: f'{found[1]} aria-label="Pages of {found[2]}">', page)
    page = THUMBNAIL.sub(lambda found: f'{found[1]} aria-label="{found[3]}"{found[2]}', page)
    page = FORMULA_HEAD.sub(spoken_head, page)
    page = CELL.sub(lambda cell: CODE.sub(lambda code: BREAK.sub("<wbr>", code[0]), cell[0]), page)
    return EMPTY_HEAD.sub("<td></td>", page)


def spoken_head(found):
    """A heading that is a formula, with the formula as text for screen readers."""
    name, formula = found[1], found[2]
    spoken = TAGS.sub("", formula)
    return f'<th class="{name}"><span class="visually-hidden">{spoken}</span><p aria-hidden="true">{formula}</p></th>'


def improve_pages(app, error):
    if error is None and app.builder.format == "html":
        for path in Path(app.outdir).rglob("*.html"):
            before = path.read_text(encoding="utf-8")
            after = improve(before)
            if after != before:
                path.write_text(after, encoding="utf-8")


def setup(app):
    app.connect("build-finished", improve_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
