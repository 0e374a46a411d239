"""The directive ``published-studies``: the replications of ``labelsieve study`` and the claims that hold."""

import json
import re
from pathlib import Path

from docutils.statemachine import StringList
from plain_text import plain
from sphinx.util.docutils import SphinxDirective

from labelsieve.replications import REPLICATIONS

CLAIMS = Path(__file__).parents[1] / "studies" / "claims.json"  # written by collect.py in the same folder


def lines():
    """For each replication: title, paper, command, protocols, unspecified settings, claims."""
    found = json.loads(CLAIMS.read_text(encoding="utf-8"))
    yield from [".. list-table::", "   :header-rows: 1", "   :widths: auto", "", "   * - study", "     - claims that hold", ""]
    for name in REPLICATIONS:
        yield from [f"   * - :ref:`{name} <study-{name}>`", f"     - {plain(summary(found[name]['sections']))}"]
    yield ""
    for name, study in REPLICATIONS.items():
        yield from [
            f".. _study-{name}:",
            "",
            f".. rubric:: {name}",
            "",
            f"{plain(study.title)}.",
            "",
            f"Paper: {plain(study.paper)}",
            "",
        ]
        yield from [".. code-block:: console", "", f"   $ labelsieve study {name} --data DIR --full", ""]
        for part, protocol in study.protocols(full=True, sets=None, data_home=None).items():
            yield from [f"- ``{part}``: {plain(repr(protocol)).replace('Protocol: ', '')}", ""]
        yield from ["Settings that the paper does not specify:", ""]
        for setting, value in study.choices.items():
            yield from [f"- **{plain(setting)}**: {plain(value)}"]
        yield from ["", f"Runs: {plain(found[name]['ran'])}", ""]
        for section in found[name]["sections"]:
            yield from claims(section)


def summary(sections):
    """The number of claims that hold in each table."""
    held = {
        section["title"].removeprefix("Claims").lstrip(", "): re.match(r"\d+ of \d+(?= claims)", section["verdict"])
        for section in sections
    }
    summaries = [f"{count[0]}{', ' if title else ''}{title}" for title, count in held.items() if count]
    return "; ".join(summaries) or ("see below" if sections else "not run")


def claims(section):
    """A table of claims, under its title and with its verdict."""
    yield from [f"**{plain(section['title'])}.** {plain(section['verdict'])}", ""]
    yield from [".. list-table::", "   :header-rows: 1", "   :widths: auto", ""]
    for row in (section["columns"], *section["rows"]):
        for column, cell in enumerate(row):
            yield f"   {'* -' if column == 0 else '  -'} {plain(cell)}".rstrip()
    yield ""


class PublishedStudies(SphinxDirective):
    """``.. published-studies::``."""

    def run(self):
        self.env.note_reread()  # generated from the code, which Sphinx does not watch
        self.content = StringList(list(lines()), source="labelsieve study")
        return self.parse_content_to_nodes()


def setup(app):
    app.add_directive("published-studies", PublishedStudies)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
