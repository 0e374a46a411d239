"""The directive ``replications``: all replications, and the claims of the papers that hold."""

import json
import re
from pathlib import Path

from docutils.statemachine import StringList
from plain_text import plain
from sphinx.util.docutils import SphinxDirective

from replications import REPLICATIONS

CLAIMS = Path(__file__).parents[1] / "studies" / "claims.json"  # written by collect.py in the same folder


def lines():
    """Yield for each replication its title, paper, command, protocols, assumptions and claims."""
    found = json.loads(CLAIMS.read_text(encoding="utf-8"))
    yield from [".. list-table::", "   :header-rows: 1", "   :widths: auto", "", "   * - study", "     - claims that hold", ""]
    for name in REPLICATIONS:
        yield from [f"   * - :ref:`{name} <study-{name}>`", f"     - {plain(summary(found[name]['tables']))}"]
    yield ""
    for name, replication in REPLICATIONS.items():
        yield from [
            f".. _study-{name}:",
            "",
            f".. rubric:: {name}",
            "",
            f"{plain(replication.title)}.",
            "",
            f"Paper: {plain(replication.paper)}",
            "",
        ]
        yield from [".. code-block:: console", "", f"   $ python -m replications {name} --data DIR --full", ""]
        for part, protocol in replication.protocols(full=True, sets=None, data_home=None).items():
            yield from [f"- ``{part}``: {plain(repr(protocol)).replace('Protocol: ', '')}", ""]
        yield from ["Assumptions where the paper leaves a setting open:", ""]
        for topic, assumption in replication.assumptions.items():
            yield from [f"- **{plain(topic)}**: {plain(assumption)}"]
        yield from ["", f"Runs: {plain(found[name]['ran'])}", ""]
        for table in found[name]["tables"]:
            yield from claims(table)


def summary(tables):
    """Return the number of claims that hold in each table; tables without such a count are left out."""
    held = {
        table["title"].removeprefix("Claims").lstrip(", "): re.match(r"\d+ of \d+(?= claims)", table["summary"])
        for table in tables
    }
    counts = [f"{count[0]}{', ' if title else ''}{title}" for title, count in held.items() if count]
    return "; ".join(counts) or ("see below" if tables else "not run")


def claims(table):
    """Yield a table of claims with its title and summary."""
    yield from [f"**{plain(table['title'])}.** {plain(table['summary'])}", ""]
    yield from [".. list-table::", "   :header-rows: 1", "   :widths: auto", ""]
    for row in (table["columns"], *table["rows"]):
        for column, cell in enumerate(row):
            yield f"   {'* -' if column == 0 else '  -'} {plain(cell)}".rstrip()
    yield ""


class Replications(SphinxDirective):
    """``.. replications::``."""

    def run(self):
        self.env.note_reread()  # generated from the code, which Sphinx does not watch
        self.content = StringList(list(lines()), source="python -m replications")
        return self.parse_content_to_nodes()


def setup(app):
    app.add_directive("replications", Replications)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
