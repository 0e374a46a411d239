"""The directive ``replications``: what is replicated of each paper, from the archive of replicated values."""

import re
from collections import Counter, defaultdict
from html import escape
from pathlib import Path

from docutils.statemachine import StringList
from plain_text import plain
from sphinx.util.docutils import SphinxDirective

from labelsieve.report.figures.style import off_screen, pyplot
from replications import REPLICATIONS
from replications.archive import KEY, archived, read
from replications.campaign import fitting, groups_left, left_by_classifier
from replications.group_jmi import table2
from replications.mlinfogain import losses
from replications.mlqpfs import tables2to7
from replications.replication import GRADES
from replications.verdicts import CLAIM, coverage, reported_tables

LIST_MARKER = re.compile(r"^(?=(?:[-+*]|\w+[.)])(?:\s|$))")  # initials of authors and dashes would begin a list
ESCAPED = r"\\"
LEGEND = (
    "Colors compare our values with the printed ones: :within:`at most the printed standard deviation apart`, "
    ":near:`at most twice that`, or :beyond:`more`. Where a paper prints none, it is a tolerance: "
    f"{losses.NEAR:g} for Pereira et al., {table2.NEAR:g} ranks for Sechidis et al., and {tables2to7.CLOSE:g} "
    f"({tables2to7.TOLERANCE['coverage']:g} labels for coverage) for Soheili and Eftekhari Moghadam."
)
VERDICTS = {True: ":within:`holds`", False: ":beyond:`fails`", None: "undecided"}
FOLDER = Path("_static", "replications")  # of the figures, in the output
MOST_CLASSIFIERS = 20  # rows in the table of costs
HOURS = {"infogain-table3": 40}  # of a processor, for all cells of a study together


def lines(out):
    """Yield the overview of all papers; then for each its deviations, and for its studies settings, claims, tables and figures.

    Figures are written to the folder ``out``.
    """
    for grade in GRADES:
        yield from [f".. role:: {grade}", f"   :class: {grade}", ""]
    tables = {name: reported_tables(replication, archived(name)) for name, replication in REPLICATIONS.items()}
    counted = {name: coverage(REPLICATIONS[name], archived(name), tables[name]) for name in REPLICATIONS}
    yield from overview(counted)
    yield from [LEGEND, ""]
    papers = defaultdict(dict)
    for name, replication in REPLICATIONS.items():
        papers[replication.paper][name] = replication
    for paper, studies in papers.items():
        yield from [f".. rubric:: {plain(paper)}", "   :class: paper", "", "Where our values differ, and why:", ""]
        for topic, cause in next(iter(studies.values())).deviations.items():
            yield f"- **{plain(topic)}**: {plain(cause)}"
        yield ""
        for name, replication in studies.items():
            yield from study_lines(name, replication, counted[name], tables[name], out)


def study_lines(name, replication, found, tables, out):
    yield from [f".. _study-{name}:", "", f".. rubric:: {name}", "", f"{plain(replication.title)}.", ""]
    yield from [".. code-block:: console", "", f"   $ python -m replications {name} --data DIR --full", ""]
    for part, protocol in replication.protocols(full=True, sets=None, data_home=None).items():
        yield from [f"- ``{part}``: {plain(repr(protocol)).replace('Protocol: ', '')}", ""]
    yield from ["Assumptions where the paper leaves a setting open:", ""]
    for topic, assumption in replication.assumptions.items():
        yield from [f"- **{plain(topic)}**: {plain(assumption)}"]
    yield from ["", plain(archive_text(name, found)), ""]
    for table in sorted(tables, key=lambda table: table.columns[0] != CLAIM):
        if table.claims:
            yield from claim_lines(table)
        elif table.rows:
            yield from table_lines(table)
    yield from figure_lines(name, replication, out)
    yield from cost_lines(name)


def claim_lines(table):
    """Yield a sentence for each claim: the verdict, the claim, and our numbers."""
    yield from [f"**{plain(table.title)}.** {plain(table.summary)}", ""]
    for claim in table.claims:
        observed = "" if claim.observed == "-" else f" ({plain(claim.observed.rstrip('.'))})"
        yield f"- {VERDICTS[claim.holds]}: {plain(claim.text.rstrip('.'))}{observed}."
    yield ""


def figure_lines(name, replication, out):
    """Draw the figures of a study, and yield a folded part of the page that shows them."""
    results = archived(name)
    if replication.figures is None or not results:
        return
    with off_screen():
        drawn = replication.figures(results)
        for title, figure in drawn.items():
            if out is not None:
                (out / FOLDER).mkdir(parents=True, exist_ok=True)
                figure.savefig(out / FOLDER / f"{name}-{title}.svg")
            pyplot().close(figure)
    if not drawn:
        return
    yield from [".. raw:: html", "", f"   <details><summary>Figures of {name} ({len(drawn)})</summary>"]
    for title in drawn:
        source = f"../{FOLDER.as_posix()}/{name}-{title}.svg"
        words = escape(f"{title} of the paper, from our values")
        yield f'   <p>{escape(title)}</p><img src="{source}" alt="{words}" loading="lazy">'
    yield from ["   </details>", ""]


def cost_lines(name):
    """Yield the processor time of a study by classifier, spent and expected for what is left, the most expensive first."""
    columns, _ = read(name)
    if not columns:
        return
    seconds, counts = Counter(), Counter()
    for (*_, classifier), spent in seconds_of(columns).items():
        seconds[classifier] += spent
        counts[classifier] += 1
    groups = groups_left(name)
    left = left_by_classifier(groups)
    order = sorted({*seconds, *left}, key=lambda one: (left[one].seconds if one in left else 0.0, seconds[one]), reverse=True)
    headings = ["classifier", "cells", "processor seconds"]
    rows = [[one, f"{counts[one]:,}", f"{seconds[one]:,.0f}"] for one in order]
    yield from ["**Cost by classifier**, with the selections that it used.", ""]
    if left:
        headings += ["groups not run", "of these sampled", "processor hours that they need"]
        for row in rows:
            one = left.get(row[0])
            row += [f"{one.groups:,}", f"{one.sampled:,}", f"{one.seconds / 3600:,.2f}"] if one is not None else ["-", "-", "-"]
        yield from ["What is not run is estimated from finished cells that are similar, or from the size of the data.", ""]
        if name in HOURS:
            yield from [limit_text(HOURS[name], sum(seconds.values()), groups), ""]
    elif len(rows) > MOST_CLASSIFIERS:
        rest = order[MOST_CLASSIFIERS:]
        numbers = [f"{sum(each[one] for one in rest):,.0f}" for each in (counts, seconds)]
        rows = [*rows[:MOST_CLASSIFIERS], [f"{len(rest)} others", *numbers]]
    yield from list_table([headings, *rows], escape=True)


def limit_text(hours, spent, left):
    """Say how many of its processor hours a study has spent, and what would fit in the rest, as plain text."""
    seconds = sorted(one.seconds for one in left.values())
    n_fitting = fitting(left, 3600 * hours - spent)
    return (
        f"All cells of this study may take {hours} processor hours, the cheapest groups first; those of the archive took "
        f"{spent / 3600:.2f}. Of the {len(left):,} groups that are not run, {n_fitting:,} would fit in the rest, with "
        f"{sum(seconds[:n_fitting]) / 3600:,.1f} hours; the other {len(left) - n_fitting:,} would need "
        f"{sum(seconds[n_fitting:]) / 3600:,.0f} hours."
    )


def overview(counted):
    """Yield a table with a row for each study, and one with a row for each paper."""
    columns = (
        *("study", "groups of cells", "printed values replicated", "close to ours", "within the printed spread"),
        "claims: hold, fail, undecided",
    )
    rows = [(f":ref:`{name} <study-{name}>`", *counts(found)) for name, found in counted.items()]
    papers = defaultdict(list)
    for name, found in counted.items():
        papers[REPLICATIONS[name].paper].append(found)
    by_paper = [(plain(paper), *counts(*found)) for paper, found in papers.items()]
    yield from list_table([("paper", *columns[1:]), *by_paper, ("all", *counts(*counted.values()))])
    yield from ["By study:", ""]
    yield from list_table([columns, *rows])


def counts(*found):
    """Return the cells of a row of the overview."""

    def total(name):
        return sum(getattr(one, name) for one in found)

    def share(part, whole, none="-"):
        return f"{total(part):,} of {total(whole):,}" if total(whole) else none

    sampled = f"; {total('sampled'):,} more sampled" if total("sampled") else ""
    verdicts = ", ".join(str(total(name)) for name in ("holds", "fails", "undecided"))
    return (
        share("groups", "all_groups"),
        share("replicated", "printed", "figures only") + sampled,
        share("close", "replicated"),
        share("spread", "with_spread"),
        verdicts if verdicts != "0, 0, 0" else "-",
    )


def seconds_of(columns):
    """Return the processor seconds of every cell, with its selection."""
    keys = zip(*(columns[key] for key in KEY), strict=True)
    costs = zip(columns["cpu"], columns["selection_cpu"], strict=True)
    return {key: (cpu or 0.0) + (selection or 0.0) for key, (cpu, selection) in zip(keys, costs, strict=True)}


def archive_text(name, found):
    """Say what the archive has of a study, and what it cost."""
    columns, _ = read(name)
    if not columns:
        return "Nothing of this study is archived yet."
    seconds = seconds_of(columns)
    commits = ", ".join(sorted(set(columns["commit"])))
    return (
        f"Archived: {len(seconds):,} cells, {found.groups} of {found.all_groups} groups of cells with all their splits, "
        f"{sum(seconds.values()) / 3600:.2f} processor hours, computed by {commits}."
    )


def table_lines(table):
    """Yield a table with its title and summary; values are colored by their distance from the printed ones."""
    yield from [f"**{plain(table.title)}.** {plain(table.summary)}", ""]
    rows = [
        [graded(cell, table.grades.get((number, column))) for column, cell in enumerate(row)]
        for number, row in enumerate(table.rows)
    ]
    yield from list_table([[plain(column.removeprefix(">")) for column in table.columns], *rows])


def graded(cell, grade):
    text = plain(cell.strip())
    return f":{grade}:`{text}`" if grade else text


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
        out = Path(self.env.app.outdir) if self.env.app.builder.format == "html" else None
        self.content = StringList(list(lines(out)), source="python -m replications")
        return self.parse_content_to_nodes()


def setup(app):
    app.add_directive("replications", Replications)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
