"""The report of a replication: published numbers next to ours, the claims of the paper, and the assumptions."""

import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from labelsieve.report.figures.style import off_screen, pyplot
from labelsieve.report.html import Cell, Html, Report, Section, facts, figure, joined, paragraph, table, tag
from labelsieve.report.provenance import citation_section
from labelsieve.report.study_page import datasets_table, kept_and_failed, reproduction
from replications.verdicts import CLAIM, reported_tables

if TYPE_CHECKING:
    from labelsieve.studies import StudyResults
    from replications import Replication, ResultTable


def replication_report(
    replication: "Replication", results: "Mapping[str, StudyResults]", *, command: str | None = None
) -> Report:
    """Make the report of a replication (``python -m replications NAME``): claims, published and replicated values, figures.

    Parameters
    ----------
    replication : Replication
        One of :data:`replications.REPLICATIONS`.
    results : mapping
        The results of each part of the study.
    command : str, default=None
        The command that made the report, to be shown.

    Returns
    -------
    Report

    Examples
    --------
    >>> from replications import Replication
    >>> paper = Replication("table1", "Smith 1999", "A. Smith.", {"k": "7."}, lambda **_: {}, lambda results: [])
    >>> [section.title for section in replication_report(paper, {}).sections]
    ['Assumptions', 'How to cite']
    """
    tables = reported_tables(replication, results)
    claims = [table for table in tables if table.columns[0] == CLAIM]
    numbers = [table for table in tables if table.columns[0] != CLAIM]
    assumptions = facts("Settings that the paper leaves open", list(replication.assumptions.items()))
    sections = [
        Section("claims", "Claims of the paper", joined(map(_table, claims))),
        Section("numbers", "Published numbers and ours", joined(map(_table, numbers))),
        Section("figures", "Figures", _figures(replication, results)),
        Section("assumptions", "Assumptions", assumptions),
        Section(
            "data", "Data sets", joined(datasets_table(study, _part_name(part, results)) for part, study in results.items())
        ),
        Section("cite", "How to cite", citation_section("the paper")),
        Section("reproduce", "How to reproduce", _reproduction(results, command)),
    ]
    notes = [kept_and_failed(study) for study in results.values()]
    lead = joined([paragraph(replication.paper), *(paragraph(f"{table.title}: {table.summary}") for table in claims), *notes])
    return Report(replication.title, lead, tuple(section for section in sections if section.body))


def _table(result: "ResultTable") -> Html:
    """Return a table with its summary."""
    numeric = [column.startswith(">") for column in result.columns]
    rows = [
        [Cell(text, _value(text)) if right else text for text, right in zip(row, numeric, strict=True)] for row in result.rows
    ]
    return joined([table(result.title, result.columns, rows), paragraph(result.summary)])


def _value(text: str) -> float:
    """Return the number at the start of a text, as sort key.

    >>> _value("0.21*"), _value("1,234 s"), _value("-")
    (0.21, 1234.0, nan)
    """
    match = re.match(r"[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", text.strip())
    return float(match.group().replace(",", "")) if match else float("nan")


def _figures(replication: "Replication", results: "Mapping[str, StudyResults]") -> Html:
    if replication.figures is None:
        return Html("")
    with off_screen():
        drawn = replication.figures(results)
    words, pieces = "The figure of the paper, with the results of these runs.", []
    for number, (name, drawing) in enumerate(drawn.items()):
        title = f"{replication.name}, {name}."
        pieces.append(figure(partial(drawn.get, name), name=f"figure-{number}", title=title, description=words, caption=words))
        pyplot().close(drawing)
    return joined(pieces)


def _part_name(part: str, results: "Mapping[str, StudyResults]") -> str:
    return f" of {part}" if len(results) > 1 else ""


def _reproduction(results: "Mapping[str, StudyResults]", command: str | None) -> Html:
    if len(results) == 1:
        return reproduction(next(iter(results.values())), command)
    pieces = [paragraph("Made by this command:"), tag("pre", command, tabindex="0")] if command else []
    return joined(
        [*pieces, *(tag("details", tag("summary", part), reproduction(study, None)) for part, study in results.items())]
    )
