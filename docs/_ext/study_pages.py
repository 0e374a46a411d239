"""The directive ``replications``: what is replicated of each paper, from the archive of replicated values."""

import re
from collections import defaultdict

from docutils.statemachine import StringList
from plain_text import plain
from sphinx.util.docutils import SphinxDirective

from replications import REPLICATIONS
from replications.archive import KEY, archived, read
from replications.verdicts import CLAIM, coverage, reported_tables

LIST_MARKER = re.compile(r"^(?=(?:[-+*]|\w+[.)])(?:\s|$))")  # initials of authors and dashes would begin a list
ESCAPED = r"\\"


def lines():
    """Yield the overview of all papers, and for each study its settings, its claims and its tables."""
    counted = {name: coverage(replication, archived(name)) for name, replication in REPLICATIONS.items()}
    yield from overview(counted)
    for name, replication in REPLICATIONS.items():
        yield from [f".. _study-{name}:", "", f".. rubric:: {name}", "", f"{plain(replication.title)}.", ""]
        yield from [f"Paper: {plain(replication.paper)}", ""]
        yield from [".. code-block:: console", "", f"   $ python -m replications {name} --data DIR --full", ""]
        for part, protocol in replication.protocols(full=True, sets=None, data_home=None).items():
            yield from [f"- ``{part}``: {plain(repr(protocol)).replace('Protocol: ', '')}", ""]
        yield from ["Assumptions where the paper leaves a setting open:", ""]
        for topic, assumption in replication.assumptions.items():
            yield from [f"- **{plain(topic)}**: {plain(assumption)}"]
        yield from ["", plain(archive_text(name, counted[name])), ""]
        tables = reported_tables(replication, archived(name))
        for table in sorted(tables, key=lambda table: table.columns[0] != CLAIM):
            if table.rows:
                yield from table_lines(table)


def overview(counted):
    """Yield a table with a row for each study, and one with a row for each paper."""
    columns = ("study", "groups of cells", "printed values replicated", "close to ours", "claims: hold, fail, undecided")
    rows = [(f":ref:`{name} <study-{name}>`", *counts(found)) for name, found in counted.items()]
    yield from list_table([columns, *rows])
    papers = defaultdict(list)
    for name, found in counted.items():
        papers[REPLICATIONS[name].paper].append(found)
    yield from ["By paper:", ""]
    yield from list_table([("paper", *columns[1:]), *((plain(paper), *counts(*found)) for paper, found in papers.items())])


def counts(*found):
    """Return the cells of a row of the overview."""

    def total(name):
        return sum(getattr(one, name) for one in found)

    printed = f"{total('replicated')} of {total('printed')}" if total("printed") else "figures only"
    close = f"{total('close')} of {total('replicated')}" if total("replicated") else "-"
    verdicts = ", ".join(str(total(name)) for name in ("holds", "fails", "undecided"))
    return f"{total('groups')} of {total('all_groups')}", printed, close, verdicts if verdicts != "0, 0, 0" else "-"


def archive_text(name, found):
    """Say what the archive has of a study, and what it cost."""
    columns, _ = read(name)
    if not columns:
        return "Nothing of this study is archived yet."
    cells = set(zip(*(columns[key] for key in KEY), strict=True))
    seconds = dict(
        zip(
            zip(*(columns[key] for key in KEY), strict=True),
            zip(columns["cpu"], columns["selection_cpu"], strict=True),
            strict=True,
        )
    )
    hours = sum((cpu or 0.0) + (selection or 0.0) for cpu, selection in seconds.values()) / 3600
    commits = ", ".join(sorted(set(columns["commit"])))
    return (
        f"Archived: {len(cells):,} cells, {found.groups} of {found.all_groups} groups of cells with all their splits, "
        f"{hours:.2f} processor hours, computed by {commits}."
    )


def table_lines(table):
    """Yield a table with its title and summary."""
    yield from [f"**{plain(table.title)}.** {plain(table.summary)}", ""]
    yield from list_table([[column.removeprefix(">") for column in table.columns], *table.rows], escape=True)


def list_table(rows, escape=False):
    """Yield rows of text, of which the first is the heading, as a list table."""
    yield from [".. list-table::", "   :header-rows: 1", "   :widths: auto", ""]
    for row in rows:
        for column, cell in enumerate(row):
            text = plain(cell.strip()) if escape else cell
            yield f"   {'* -' if column == 0 else '  -'} {LIST_MARKER.sub(ESCAPED, text)}".rstrip()
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
