"""Running a study, or a part of it, from the command line: its options, its cost, the run, and its outcome."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from labelsieve.cli.options import command_line, names_in
from labelsieve.errors import InputError
from labelsieve.progress import duration
from labelsieve.report.text import plain_table, printable, prose, text_of

if TYPE_CHECKING:
    from labelsieve.studies import Estimate, Outcome, Protocol, Study, StudyResults
    from labelsieve.studies.protocol import Part
    from labelsieve.studies.records import FailedCell
    from labelsieve.studies.steps import StudyPlan
    from labelsieve.studies.study import Changed as ChangedName

Changed = StrEnum("Changed", ["refuse", "rerun", "keep"])
NO_ESTIMATE = "Do not estimate the cost before the run."
OUT = "Folder of the study. A second run completes the missing cells."
JOBS = "Number of processes; -1: one per core."
DRY_RUN = "Estimate the cost and run nothing."
MAX_ERRORS = 3
RETRY = "Run failed cells again."
CHANGED = "Stored results of other data, settings or code: refuse to run, rerun them, or keep them."
DATASETS = "Run only these data sets of the protocol: comma-separated names or tags."
NAMES = "Run only these of the protocol: comma-separated names."
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
    estimate: bool = True

    @property
    def changed_name(self) -> "ChangedName":
        """The value for :meth:`labelsieve.studies.Study.run`."""
        return cast("ChangedName", self.changed.value)


@dataclass(frozen=True)
class PreparedStudy:
    """A study with its estimated cost: as a sentence, as text, and as a JSON document."""

    study: "Study"
    options: RunOptions
    cost: str
    text: str
    document: dict[str, Any]


def prepare(protocol: "Protocol", out: Path, options: RunOptions) -> PreparedStudy:
    """Plan the missing cells and estimate their cost; notes go to standard error."""
    from joblib import effective_n_jobs

    from labelsieve.studies import Estimate, Study, estimate
    from labelsieve.studies.estimate import ESTIMATE_METHOD

    if options.n_jobs == 0:
        raise InputError("--n-jobs must not be 0; pass a number of processes, or -1 for one per core.")
    study = Study(protocol, out)
    plan = study.plan(changed=options.changed_name, retry_failed=options.retry_failed)
    cost = estimate(protocol, plan) if options.estimate else Estimate(plan.n_cells, plan.n_missing, 0.0, 0.0, {}, ())
    processes = min(effective_n_jobs(options.n_jobs), max(1, len(plan.batches)))
    sentence = f"{cost.n_missing:,} of {cost.n_cells:,} cells to run"
    if cost.n_missing and options.estimate:
        bound, time = "at least" if cost.n_timed_out else "about", duration(60 * cost.minutes / processes)
        sentence += f", {bound} {time} in {processes} {'process' if processes == 1 else 'processes'}, "
        sentence += f"{cost.memory_mb:,.0f} MB of data in each"
    sentence += "."
    for note in _notes(cost, plan, options.changed):
        typer.echo(f"labelsieve: note: {note}", err=True)
    table = plain_table("method", ">minutes on one core")
    for name, minutes in cost.by_method.items():
        table.add_row(printable(name), f"{minutes:.2f}")
    document = {"protocol": repr(protocol), "n_cells": cost.n_cells, "n_missing": cost.n_missing}
    document |= {"minutes": cost.minutes / processes, "processes": processes, "memory_mb": cost.memory_mb}
    document |= {"minutes_by_method": cost.by_method, "problems": list(cost.problems), "timed_out_trials": cost.n_timed_out}
    text = "\n\n".join([prose(f"{protocol!r}."), prose(sentence), text_of(table), prose(ESTIMATE_METHOD)])
    return PreparedStudy(study, options, sentence, text, document)


def _notes(cost: "Estimate", plan: "StudyPlan", changed: Changed) -> list[str]:
    from labelsieve.studies.probe import MAX_SECONDS

    notes = [f"the probe of {printable(problem)}" for problem in cost.problems]
    if cost.n_timed_out:
        notes.append(f"{cost.n_timed_out:,} trials were stopped after {MAX_SECONDS:g} s, so the study will take longer.")
    if plan.reasons:
        consequence = {"refuse": "", "rerun": "; they are run again", "keep": "; they are kept"}[changed.value]
        notes.append(f"there are stored cells of before a change in {plan.changes()}{consequence}.")
    return notes


def run(prepared: PreparedStudy) -> "Outcome":
    """Print the estimated cost and run the study."""
    typer.echo(f"labelsieve: {prepared.cost}", err=True)
    options = prepared.options
    try:
        return prepared.study.run(
            n_jobs=options.n_jobs,
            time_limit=options.time_limit,
            memory_limit=options.memory_limit,
            changed=options.changed_name,
            retry_failed=options.retry_failed,
        )
    except KeyboardInterrupt:
        kept = f"interrupted. Finished cells are kept in {prepared.study.folder}"
        typer.echo(f"labelsieve: {kept}; to go on with the others: {command_line()}", err=True)
        raise typer.Exit(130) from None


def end(outcomes: "dict[Path, Outcome]", results_of_runs: "Iterable[StudyResults]") -> None:
    """Print the outcome and the time of every folder; exit with code 1 and the errors when cells failed."""
    for out, outcome in outcomes.items():
        _print_outcome(outcome, out)
    if any(outcome.n_failed for outcome in outcomes.values()):
        for line in failures_in_words([failure for results in results_of_runs for failure in results.failures]):
            typer.echo(f"labelsieve: {line}", err=True)
        typer.echo("labelsieve: --retry-failed runs failed cells again; the table 'cells' has every error.", err=True)
        raise typer.Exit(1)


def failures_in_words(failures: "Sequence[FailedCell]") -> list[str]:
    """Return the most frequent errors, each with its first cell.

    >>> from labelsieve.studies.records import FailedCell
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


def _print_outcome(outcome: "Outcome", out: Path) -> None:
    from labelsieve.studies.records import profile_of

    known = f"{outcome.n_known:,} already stored" + (f", {outcome.n_stale:,} stale ones kept" if outcome.n_stale else "")
    typer.echo(f"labelsieve: {outcome.n_run:,} cells run, {known}, {outcome.n_failed:,} failed; all in {out}.", err=True)
    profile = profile_of(out)
    shares = ", ".join(f"{kind} {100 * profile.share(kind):.1f} %" for kind, seconds in profile.total.items() if seconds > 0)
    typer.echo(f"labelsieve: time of all cells: {shares or 'none'}.", err=True)
    if outcome.n_stale:
        typer.echo(f"labelsieve: note: a change in {outcome.changes}; the cells of before were kept.", err=True)


@dataclass(frozen=True)
class PartOptions:
    """Options that choose the cells to run."""

    only_datasets: Annotated[str | None, typer.Option(help=DATASETS)] = None
    only_methods: Annotated[str | None, typer.Option(help=NAMES)] = None
    only_learners: Annotated[str | None, typer.Option(help=NAMES)] = None
    repeats: Annotated[int | None, typer.Option(min=1, help="Run only this number of first splits of every data set.")] = None
    shard: Annotated[str | None, typer.Option(help=SHARD)] = None
    skip_exceeded: Annotated[bool, typer.Option("--skip-exceeded", help=SKIP)] = False

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
