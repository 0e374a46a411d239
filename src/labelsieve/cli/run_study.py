"""Run a study from the command line: its options, the plan of a dry run, the run, and its outcome.

Also ``python -m replications`` and ``python -m leaderboard`` use it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from labelsieve.cli.options import PART, command_line, names_in
from labelsieve.errors import InputError
from labelsieve.report.text import printable, prose, tables

if TYPE_CHECKING:
    from labelsieve.studies import Outcome, Protocol, Study, StudyPlan, StudyResults
    from labelsieve.studies.protocol import Part
    from labelsieve.studies.results import FailedCell
    from labelsieve.studies.study import Changed as ChangedName

Changed = StrEnum("Changed", ["refuse", "rerun", "keep"])
OUT = "Folder of the study. A second run completes the missing cells."
JOBS = "Number of processes; -1: one per core."
DRY_RUN = "Count the cells that are stored and those that are left, and run nothing."
MAX_ERRORS = 3
RETRY = "Run failed cells again."
CHANGED = "Stored results of other data, settings or code: refuse to run, rerun them, or keep them."
DATASETS = "Run only these data sets of the protocol: comma-separated names or tags."
NAMES = "Run only these of the protocol: comma-separated names."
REPEATS = "Run only this number of first splits of every data set."
SHARD = "Run one part of several, such as 3/20, in a separate folder; python -m leaderboard merge merges the folders."
SKIP = "Skip a method on a data set if one of its stored selections exceeded a limit."


@dataclass(frozen=True)
class RunOptions:
    """Options that all commands which run a study share."""

    n_jobs: int = 1
    changed: Changed = Changed.refuse
    retry_failed: bool = False
    time_limit: float | None = None
    memory_limit: float | None = None

    @property
    def changed_name(self) -> "ChangedName":
        """The option as :meth:`labelsieve.studies.Study.run` takes it."""
        return cast("ChangedName", self.changed.value)


def run(study: "Study", options: RunOptions) -> "Outcome":
    """Run the missing cells of a study, after printing how many there are."""
    if options.n_jobs == 0:
        raise InputError("--n-jobs must not be 0; pass a number of processes, or -1 for one per core.")

    def announce(plan: "StudyPlan") -> None:
        print_changes(plan, options)
        typer.echo(f"labelsieve: {cells_in_words(plan)}", err=True)

    try:
        return study.run(
            n_jobs=options.n_jobs,
            time_limit=options.time_limit,
            memory_limit=options.memory_limit,
            changed=options.changed_name,
            retry_failed=options.retry_failed,
            on_plan=announce,
        )
    except KeyboardInterrupt:
        kept = f"interrupted. Finished cells are kept in {study.folder}"
        typer.echo(f"labelsieve: {kept}; to go on with the others: {command_line()}", err=True)
        raise typer.Exit(130) from None


def dry_run(study: "Study", options: RunOptions) -> "StudyPlan":
    """Plan a study and run nothing; notes go to standard error."""
    plan = study.plan(changed=options.changed_name, retry_failed=options.retry_failed)
    print_changes(plan, options)
    return plan


def print_changes(plan: "StudyPlan", options: RunOptions) -> None:
    """Print a note on stored cells of other data, splits, settings or code."""
    if plan.reasons:
        consequence = {"refuse": "", "rerun": "; they are run again", "keep": "; they are kept"}[options.changed.value]
        typer.echo(f"labelsieve: note: there are stored cells of before a change in {plan.changes()}{consequence}.", err=True)


def cells_in_words(plan: "StudyPlan") -> str:
    """Return how many cells there are to run, and how many are stored."""
    from labelsieve.studies.plan import STATES

    counts = {state: plan.count(state) for state in STATES}
    others = "".join(f", {count:,} {state}" for state, count in counts.items() if count and state != "missing")
    return f"{counts['missing']:,} of {len(plan.cells):,} cells to run{others}."


def plan_text(protocol: "Protocol", plan: "StudyPlan") -> str:
    """Return a plan as text: the protocol, the number of cells to run, and a table by data set and method."""
    head, *rows = plan_rows(plan)
    heads = [name if name in ("data set", "method") else f">{name}" for name in head]
    body = [[printable(row[0]), printable(row[1]), *(f"{count:,}" for count in row[2:])] for row in rows]
    return "\n\n".join([prose(f"{protocol!r}."), prose(cells_in_words(plan)), tables(heads, body)])


def plan_document(protocol: "Protocol", plan: "StudyPlan") -> dict[str, Any]:
    """Return a plan as a JSON document."""
    from labelsieve.studies.plan import STATES

    head, *rows = plan_rows(plan)
    return {
        "protocol": repr(protocol),
        "n_cells": len(plan.cells),
        **{f"n_{state}": plan.count(state) for state in STATES},
        "cells": [dict(zip((name.replace(" ", "_") for name in head), row, strict=True)) for row in rows],
    }


def plan_rows(plan: "StudyPlan") -> list[list[Any]]:
    """Return the numbers of cells of every data set and method as rows, with a head."""
    from labelsieve.studies.plan import STATES

    rows = [[*key, *(counts[state] for state in STATES)] for key, counts in plan.by_method().items()]
    return [["data set", "method", *STATES], *rows]


def end(outcomes: "dict[Path, Outcome]", results_of_runs: "Iterable[StudyResults]") -> None:
    """Print the outcome of every folder; exit with code 1 and the errors when cells failed."""
    for out, outcome in outcomes.items():
        known = f"{outcome.n_known:,} already stored" + (f", {outcome.n_stale:,} stale ones kept" if outcome.n_stale else "")
        typer.echo(f"labelsieve: {outcome.n_run:,} cells run, {known}, {outcome.n_failed:,} failed; all in {out}.", err=True)
        if outcome.n_stale:
            typer.echo(f"labelsieve: note: a change in {outcome.changes}; the cells of before were kept.", err=True)
    if any(outcome.n_failed for outcome in outcomes.values()):
        for line in failures_in_words([failure for results in results_of_runs for failure in results.failures]):
            typer.echo(f"labelsieve: {line}", err=True)
        typer.echo("labelsieve: --retry-failed runs failed cells again; the table 'cells' has every error.", err=True)
        raise typer.Exit(1)


def failures_in_words(failures: "Sequence[FailedCell]") -> list[str]:
    """Return the most frequent errors, each with its first cell.

    >>> from labelsieve.studies.results import FailedCell
    >>> failures_in_words([FailedCell("songs", split, "jmi", "mlknn", "ValueError: no") for split in (0, 1)])
    ['2 cells failed, songs, split 0, jmi with mlknn first: ValueError: no']
    """
    counts = Counter(failure.error for failure in failures)
    lines = []
    for error, count in counts.most_common(MAX_ERRORS):
        first = next(failure for failure in failures if failure.error == error)
        cell = f"{first.dataset}, split {first.split}, {first.method} with {first.classifier}"
        lines.append(
            printable(f"{f'1 cell failed, {cell}' if count == 1 else f'{count:,} cells failed, {cell} first'}: {error}")
        )
    more = len(counts) - MAX_ERRORS
    return [*lines, *([f"and {more:,} other {'errors' if more > 1 else 'error'}."] if more > 0 else [])]


@dataclass(frozen=True)
class PartOptions:
    """Options that choose the cells to run."""

    only_datasets: Annotated[str | None, typer.Option(help=DATASETS, rich_help_panel=PART)] = None
    only_methods: Annotated[str | None, typer.Option(help=NAMES, rich_help_panel=PART)] = None
    only_learners: Annotated[str | None, typer.Option(help=NAMES, rich_help_panel=PART)] = None
    repeats: Annotated[int | None, typer.Option(min=1, help=REPEATS, rich_help_panel=PART)] = None
    shard: Annotated[str | None, typer.Option(help=SHARD, rich_help_panel=PART)] = None
    skip_exceeded: Annotated[bool, typer.Option("--skip-exceeded", help=SKIP, rich_help_panel=PART)] = False

    def part(self) -> "Part":
        """Return the part of a study."""
        from labelsieve.studies.protocol import Part, read_shard

        return Part(
            datasets=names_in(self.only_datasets or ""),
            methods=names_in(self.only_methods or ""),
            classifiers=names_in(self.only_learners or ""),
            repeats=self.repeats,
            shard=None if self.shard is None else read_shard(self.shard),
            skip_exceeded=self.skip_exceeded,
        )
