"""Running a study from the command line: what it will cost, running it, how it went."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from labelsieve.errors import InputError
from labelsieve.progress import duration
from labelsieve.report.plaintext import plain_table, printable, prose, text_of

if TYPE_CHECKING:
    from labelsieve.studies import Outcome, Protocol, Study, StudyResults

Changed = StrEnum("Changed", ["refuse", "rerun", "keep"])
OUT = "The folder of the study. Running again goes on with what is missing there."
JOBS = "Processes; -1: one for each core."
DRY_RUN = "Say what it would cost, and run nothing."
MOST_ERRORS = 3
RETRY = "Run cells again that failed."
CHANGED = "What to do with results of other data, settings or code: refuse, rerun them, or keep them beside new ones."


@dataclass(frozen=True)
class Prepared:
    """A study that can be run, and what it will cost: in a sentence, as text, and for programs."""

    study: "Study"
    said: str
    text: str
    document: dict[str, Any]


def prepare(protocol: "Protocol", out: Path, jobs: int, *, changed: Any, retry_failed: bool) -> Prepared:
    """Find out what is missing and what it will cost; notes go to standard error."""
    from joblib import effective_n_jobs

    from labelsieve.studies import Study, estimate
    from labelsieve.studies.execution.estimate import HOW
    from labelsieve.studies.execution.probe import LONGEST

    if jobs == 0:
        raise InputError("--n-jobs must not be 0; give a number of processes, or -1 for one for each core.")
    study = Study(protocol, out)
    todo, _ = study.plan(changed=changed, retry_failed=retry_failed)
    cost = estimate(protocol, todo)
    processes = min(effective_n_jobs(jobs), max(1, len(todo.batches)))
    time = duration(60 * cost.minutes / processes)
    about = "at least" if cost.n_given_up else "about"
    said = f"{cost.n_missing:,} of {cost.n_cells:,} cells to run"
    if cost.n_missing:
        said += f", {about} {time} in {processes} {'process' if processes == 1 else 'processes'}, "
        said += f"{cost.memory_mb:,.0f} MB of data in each"
    said += "."
    notes = [f"note: the probe of {printable(one)}" for one in cost.problems]
    if cost.n_given_up:
        notes.append(f"note: {cost.n_given_up:,} tries took more than {LONGEST:g} s and were given up, so it will take longer.")
    if todo.reasons:
        becomes = {"refuse": "", "rerun": "; they are run again", "keep": "; they are kept"}[changed]
        notes.append(f"note: since cells were stored there is a change in {todo.changes()}{becomes}.")
    for note in notes:
        typer.echo(f"labelsieve: {note}", err=True)
    table = plain_table("method", ">minutes on one core")
    for name, spent in cost.by_method.items():
        table.add_row(printable(name), f"{spent:.2f}")
    document = {"protocol": repr(protocol), "n_cells": cost.n_cells, "n_missing": cost.n_missing}
    document |= {"minutes": cost.minutes / processes, "processes": processes, "memory_mb": cost.memory_mb}
    document |= {"minutes_by_method": cost.by_method, "problems": list(cost.problems), "tries_given_up": cost.n_given_up}
    text = "\n\n".join([prose(f"{protocol!r}."), prose(said), text_of(table), prose(HOW)])
    return Prepared(study, said, text, document)


def run(prepared: Prepared, jobs: int, how: dict[str, Any]) -> "Outcome":
    """Say what it will cost, and run it."""
    typer.echo(f"labelsieve: {prepared.said}", err=True)
    return prepared.study.run(n_jobs=jobs, **how)


def end(outcomes: "dict[Path, Outcome]", found: "Iterable[StudyResults]") -> None:
    """Say how it went and where the time went, for every folder; exit code 1 when cells failed in any, with their errors."""
    for out, outcome in outcomes.items():
        _tell(outcome, out)
    if any(outcome.n_failed for outcome in outcomes.values()):
        for line in failures_in_words([row for results in found for row in results.failures]):
            typer.echo(f"labelsieve: {line}", err=True)
        typer.echo("labelsieve: --retry-failed runs failed cells again; the table 'cells' has every error.", err=True)
        raise typer.Exit(1)


def failures_in_words(failures: Sequence[tuple[Any, ...]]) -> list[str]:
    """The errors that most cells failed with, each once, with the first cell that did.

    >>> failures_in_words([("songs", 0, "jmi", "mlknn", "ValueError: no"), ("songs", 1, "jmi", "mlknn", "ValueError: no")])
    ['2 cells failed, songs, split 0, jmi with mlknn first: ValueError: no']
    """
    counts = Counter(row[-1] for row in failures)
    lines = []
    for error, count in counts.most_common(MOST_ERRORS):
        dataset, split, method, classifier, _ = next(row for row in failures if row[-1] == error)
        cell = f"{dataset}, split {split}, {method} with {classifier}"
        first = f"1 cell failed, {cell}" if count == 1 else f"{count:,} cells failed, {cell} first"
        lines.append(printable(f"{first}: {error}"))
    more = len(counts) - MOST_ERRORS
    return [*lines, *([f"and {more:,} other {'errors' if more > 1 else 'error'}."] if more > 0 else [])]


def _tell(outcome: "Outcome", out: Path) -> None:
    from labelsieve.studies.results.profile import profile_of

    there = f"{outcome.n_known:,} were there" + (f", {outcome.n_stale:,} are kept" if outcome.n_stale else "")
    said = f"{outcome.n_run:,} cells run, {there}, {outcome.n_failed:,} failed; all in {out}."
    typer.echo(f"labelsieve: {said}", err=True)
    profile = profile_of(out)
    shares = ", ".join(f"{kind} {100 * profile.share(kind):.1f} %" for kind, spent in profile.total.items() if spent > 0)
    typer.echo(f"labelsieve: time of all cells: {shares or 'none'}.", err=True)
    if outcome.n_stale:
        typer.echo(f"labelsieve: note: a change in {outcome.changes}; those cells are as they were.", err=True)
