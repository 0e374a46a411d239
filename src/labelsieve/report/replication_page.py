"""The report of a published study that was run again: its numbers beside ours, its claims, and the choices it left open."""

import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from labelsieve.report.figures.figure_style import off_screen, pyplot
from labelsieve.report.html import Html, joined, paragraph, tag
from labelsieve.report.html_page import Report, Section
from labelsieve.report.html_tables import Cell, facts, table
from labelsieve.report.methods_section import citation_section
from labelsieve.report.study_page import again, datasets_table, reservations
from labelsieve.report.svg import figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from labelsieve.replications import Replication
    from labelsieve.replications import Section as Printed
    from labelsieve.studies import StudyResults

CLAIM = "claim"  # how the first column of a table of claims is headed


def published_report(published: "Replication", results: "Mapping[str, StudyResults]", *, command: str | None = None) -> Report:
    """What ``labelsieve study NAME`` prints and draws, as a page: claims, printed numbers beside ours, figures, choices.

    Parameters
    ----------
    published : Replication
        One of :data:`labelsieve.replications.REPLICATIONS`.
    results : mapping
        Of each part of the study its results.
    command : str, optional
        The command that made the report, to be shown.

    Returns
    -------
    Report

    Examples
    --------
    >>> from labelsieve.replications import Replication, Section as Printed
    >>> tables = [Printed("Table 1", ("data set", ">printed", ">ours"), [("yeast", "0.20", "0.21")], "Near.")]
    >>> paper = Replication("one", "Nobody 1999", "A. Nobody.", {"k": "7."}, lambda **_: {}, lambda results: tables)
    >>> [section.title for section in published_report(paper, {}).sections]
    ['Published numbers beside ours', 'What the paper leaves open', 'How to cite']
    """
    printed = published.sections(results)
    claims = [one for one in printed if one.columns[0] == CLAIM]
    numbers = [one for one in printed if one.columns[0] != CLAIM]
    sections = [
        Section("claims", "What the paper says", joined(map(_shown, claims))),
        Section("numbers", "Published numbers beside ours", joined(map(_shown, numbers))),
        Section("figures", "Figures", _figures(published, results)),
        Section("choices", "What the paper leaves open", facts("Choices that were made", list(published.choices.items()))),
        Section("data", "Data sets", joined(datasets_table(one, _of(part, results)) for part, one in results.items())),
        Section("cite", "How to cite", citation_section("the paper")),
        Section("reproduce", "How to reproduce", _again(results, command)),
    ]
    notes = [reservations(one) for one in results.values()]
    lead = joined([paragraph(published.paper), *(paragraph(f"{one.title}: {one.verdict}") for one in claims), *notes])
    return Report(published.title, lead, tuple(one for one in sections if one.body))


def _shown(section: "Printed") -> Html:
    """A table as the terminal has it, and what it says."""
    numeric = [column.startswith(">") for column in section.columns]
    rows = [
        [Cell(text, _value(text)) if right else text for text, right in zip(row, numeric, strict=True)] for row in section.rows
    ]
    return joined([table(section.title, section.columns, rows), paragraph(section.verdict)])


def _value(text: str) -> float:
    """The number that a text begins with, to sort by.

    >>> _value("0.21*"), _value("1,234 s"), _value("-")
    (0.21, 1234.0, nan)
    """
    found = re.match(r"[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", text.strip())
    return float(found.group().replace(",", "")) if found else float("nan")


def _figures(published: "Replication", results: "Mapping[str, StudyResults]") -> Html:
    if published.figures is None:
        return Html("")
    with off_screen():
        drawn = published.figures(results)
    words, pieces = "What the paper draws, with the results of these runs.", []
    for place, (name, own) in enumerate(drawn.items()):
        how = {"name": f"figure-{place}", "title": f"{published.name}, {name}.", "description": words, "caption": words}
        pieces.append(figure(partial(_given, own), **how))
        pyplot().close(own)
    return joined(pieces)


def _given(drawn: "Figure") -> "Figure":
    return drawn


def _of(part: str, results: "Mapping[str, StudyResults]") -> str:
    return f" of {part}" if len(results) > 1 else ""


def _again(results: "Mapping[str, StudyResults]", command: str | None) -> Html:
    if len(results) == 1:
        return again(next(iter(results.values())), command)
    pieces = [paragraph("Made by this command:"), tag("pre", command, tabindex="0")] if command else []
    return joined([*pieces, *(tag("details", tag("summary", part), again(one, None)) for part, one in results.items())])
