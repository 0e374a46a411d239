"""What a comparison prints: tables of means by classifier and measure, and the time by method and phase."""

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import typer

from labelsieve.cli.options import Format, emit
from labelsieve.report.plaintext import plain_table, printable, prose, tables, text_of

if TYPE_CHECKING:
    from labelsieve.studies import Outcome, Protocol, StudyResults

NARROW = {"selection": "select", "training": "train", "prediction": "predict", "training and prediction": "train+predict"}


class MeanTable(TypedDict):
    """Means of a measure over the numbers of features and splits, by data set and method."""

    classifier: str
    measure: str
    lower_is_better: bool
    means: dict[str, dict[str, float]]
    best: dict[str, list[str]]
    notes: dict[str, str]
    first_by_rank: dict[str, int]
    n_ranked: int
    n_tied_for_first: int


def print_means(protocol: "Protocol", results: "StudyResults", outcome: "Outcome", format: Format) -> None:
    """Print means with the best marked, and counts of first ranks, in the requested format."""
    mean_tables = [mean_table(protocol, results, *pair) for pair in evaluated_pairs(protocol, results)]

    def document() -> dict[str, Any]:
        cells = {"run": outcome.n_run, "known": outcome.n_known, "failed": outcome.n_failed, "stale": outcome.n_stale}
        keys = ("data_set", "split", "method", "classifier", "error")
        failures = [dict(zip(keys, failure, strict=True)) for failure in results.failures]
        return {"cells": cells, "mixed": list(results.mixed), "failures": failures, "results": mean_tables}

    def rows() -> list[list[Any]]:
        head = ["classifier", "measure", "data set", "method", "mean"]
        body = [
            [table["classifier"], table["measure"], name, method, value]
            for table in mean_tables
            for name, values in table["means"].items()
            for method, value in values.items()
        ]
        return [head, *body]

    emit(format, False, table=lambda: means_text(mean_tables, list(results.mixed)), document=document, rows=rows)


def evaluated_pairs(protocol: "Protocol", results: "StudyResults") -> list[tuple[str, str]]:
    """Return the classifiers and measures with results, in the order of the protocol, then the average of the classifiers."""
    from labelsieve.studies.protocol import AVERAGE

    classifiers = [classifier.name for classifier in protocol.classifiers if classifier.name in results.classifiers]
    classifiers += [AVERAGE] if len(classifiers) > 1 else []
    return [(classifier, measure) for classifier in classifiers for measure in protocol.measures if measure in results.measures]


def mean_table(protocol: "Protocol", results: "StudyResults", classifier: str, measure: str) -> MeanTable:
    """Return means over the numbers of features and splits, the best of every data set, and counts of first ranks."""
    sets = [source.name for source in protocol.datasets if source.name in results.datasets]
    methods = [method.name for method in protocol.methods if method.name in results.methods]
    grid = results.means(measure, classifier)
    compared = [method for method in methods if method not in protocol.baselines]
    first, ranked = {}, {}
    if len(sets) > 1 and len(compared) > 1:
        ranks = results.ranks(measure, classifier, methods=compared)
        first, ranked = ranks.wins(), ranks.winners()
    best = grid.winners()
    return {
        "classifier": classifier,
        "measure": measure,
        "lower_is_better": grid.lower_is_better,
        "means": {name: {method: grid.value(name, method) for method in methods} for name in sets},
        "best": {name: list(best.get(name, ())) for name in sets},
        "notes": {
            f"{method} on {name}": grid.note(name, method) for name in sets for method in methods if grid.note(name, method)
        },
        "first_by_rank": first,
        "n_ranked": len(ranked),
        "n_tied_for_first": sum(len(winners) > 1 for winners in ranked.values()),
    }


def means_text(mean_tables: list[MeanTable], mixed: list[str]) -> str:
    """Return the tables of means as text, the best marked."""
    from labelsieve.studies.protocol import AVERAGE

    blocks = [] if mean_tables else [prose("No cell has a result.")]
    for table in mean_tables:
        better = "lower" if table["lower_is_better"] else "higher"
        learner = "average of the classifiers" if table["classifier"] == AVERAGE else table["classifier"]
        head = f"{table['measure']}, {learner}: means over the numbers of features and splits, {better} is better; "
        methods = list(next(iter(table["means"].values()), {}))
        rows = []
        for name, values in table["means"].items():
            marks = {method: "*" if method in table["best"][name] else " " for method in values}
            cells = ["- " if isnan(value) else f"{value:.4f}{marks[method]}" for method, value in values.items()]
            rows.append([printable(name), *cells])
        blocks += [prose(f"{head}*: the best."), tables(["data set", *(f">{printable(name)}" for name in methods)], rows)]
        if table["notes"]:
            notes = "; ".join(f"{cell}: {note}" for cell, note in table["notes"].items())
            blocks.append(prose(f"Not compared, as splits are missing: {notes}."))
        if table["first_by_rank"]:
            wins = ", ".join(f"{method} {count}" for method, count in table["first_by_rank"].items())
            blocks.append(
                prose(f"First by rank over the numbers of features, of {table['n_ranked']} data sets: {wins}.{_ties(table)}")
            )
    if mixed:
        blocks.append(prose(f"These results differ in {' and '.join(mixed)}: some were kept from before a change."))
    return "\n\n".join(blocks)


def _ties(table: MeanTable) -> str:
    """A sentence about data sets with several first methods; empty without them."""
    tied = table["n_tied_for_first"]
    where = "one of them" if tied == 1 else f"{tied} of them"
    return f" On {where} several methods share the first rank, and each of them is counted." if tied else ""


def print_profile(out: Path) -> None:
    """Print the seconds of every method by phase."""
    from labelsieve.studies.results import profile_of

    head, *rows = profile_of(out).rows()
    table = plain_table(head[0], *(f">{NARROW.get(name, name)}" for name in head[1:]))
    for row in rows:
        table.add_row(*map(printable, row))
    typer.echo("\n".join(["", prose("Seconds of all stored cells, and their shares:"), "", text_of(table)]), err=True)
