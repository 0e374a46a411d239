"""The command that compares methods on one's own data: ``labelsieve compare``."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelsieve.cli_datasets import FILE, LABELS
from labelsieve.errors import InputError
from labelsieve.plaintext import plain_table, printable, prose, tables, text_of

if TYPE_CHECKING:
    from labelsieve.studies import Outcome, Protocol, StudyResults

Changed = StrEnum("Changed", ["refuse", "rerun", "keep"])
OUT = "The folder of the study. Running again goes on with what is missing there."
JOBS = "Processes; -1: one for each core."
DRY_RUN = "Say what it would cost, and run nothing."
CHANGED = "What to do with results of other data, settings or code: refuse, rerun them, or keep them beside new ones."
DATA = f"{FILE} Or one .toml file, which says everything."


def compare(
    data: Annotated[list[str], typer.Argument(help=DATA)],
    out: Annotated[Path, typer.Option(help=OUT)],
    methods: Annotated[str | None, typer.Option(help="Names with commas; see labelsieve methods.")] = None,
    labels: Annotated[str | None, typer.Option(help=LABELS)] = None,
    k: Annotated[str | None, typer.Option("--k", "-k", help="How many features: 1..50, 5,10,20, or shares: 10%,20%.")] = None,
    splits: Annotated[str | None, typer.Option(help="30x50%, 10-fold, or either after 'stratified'.")] = None,
    classifier: Annotated[str | None, typer.Option(help="mlknn, brknn, iblr or knn; mlknn:k=7 sets a parameter.")] = None,
    measures: Annotated[str | None, typer.Option(help="Names with commas, such as hamming_loss,macro_f1.")] = None,
    baselines: Annotated[str | None, typer.Option(help="random,all unless told; none takes them out.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of splits and of methods that draw.")] = None,
    jobs: Annotated[int, typer.Option(help=JOBS)] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help=DRY_RUN)] = False,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for one selection or evaluation.")] = None,
    memory_limit: Annotated[float | None, typer.Option(help="MB for the same (Linux).")] = None,
    changed: Annotated[Changed, typer.Option(help=CHANGED)] = Changed.refuse,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run cells again that failed.")] = False,
) -> None:
    """Compare methods on data sets: select inside every split, judge, and keep every result.

    Killed at any moment, the same command goes on where it was.
    """
    from labelsieve.studies import Protocol, StudyResults

    given: dict[str, Any] = {
        "methods": methods,
        "n_features": k,
        "splits": splits,
        "classifiers": classifier,
        "measures": measures,
    }
    given |= {"baselines": baselines, "seed": seed, "labels": labels}
    told = {name: value for name, value in given.items() if value is not None}
    if data[0].endswith(".toml"):
        if told or len(data) > 1:
            raise InputError(
                f"{data[0]}: this file says everything; leave out other data sets and {', '.join(told) or 'files'}."
            )
        protocol = Protocol.from_toml(data[0])
    else:
        protocol = from_options(data, told)
    how = {"time_limit": time_limit, "memory_limit": memory_limit, "changed": changed.value, "retry_failed": retry_failed}
    outcome = run(protocol, out, jobs, dry_run, how)
    if outcome is not None:
        show_ranks(protocol, StudyResults(out))
        end(outcome, out)


def from_options(data: list[str], told: dict[str, Any]) -> "Protocol":
    """A protocol of what was typed."""
    from labelsieve.datasets.any_file import label_option
    from labelsieve.studies import Protocol
    from labelsieve.studies.sources import read_source

    if "methods" not in told:
        raise InputError("--methods: which ones? Names with commas, such as jmi,scls; labelsieve methods lists them.")
    settings = {key: value for key, value in told.items() if key != "labels"}
    labels = {} if "labels" not in told else {"labels": label_option(told["labels"])}
    sources = [{"name": read_source(one).name, "path": one, **labels} for one in data]
    for name in ("methods", "measures", "baselines"):
        if name in settings:
            settings[name] = [one.strip() for one in settings[name].split(",") if one.strip()]
    if settings.get("baselines") == ["none"]:
        settings["baselines"] = []
    if "classifiers" in settings:
        settings["classifiers"] = [read_classifier_option(one) for one in settings["classifiers"].split(",")]
    return Protocol(sources, settings.pop("methods"), **settings)


def read_classifier_option(text: str) -> dict[str, Any]:
    """What is typed for a classifier.

    >>> read_classifier_option("mlknn:k=7:s=0.5")
    {'name': 'mlknn', 'k': 7, 's': 0.5}
    """
    name, *parameters = text.strip().split(":")
    settings: dict[str, Any] = {"name": name}
    for parameter in parameters:
        key, sign, value = parameter.partition("=")
        if not sign or not key.isidentifier():
            raise InputError(f"--classifier {text}: parameters look like mlknn:k=7.")
        try:
            settings[key] = int(value)
        except ValueError:
            try:
                settings[key] = float(value)
            except ValueError:
                settings[key] = value
    return settings


def run(protocol: "Protocol", out: Path, jobs: int, dry_run: bool, how: dict[str, Any]) -> "Outcome | None":
    """Say what it will cost, and run it; None when that was all that was asked for."""
    from joblib import effective_n_jobs

    from labelsieve.studies import Study, estimate
    from labelsieve.studies.estimate import HOW

    if jobs == 0:
        raise InputError("--jobs must not be 0; give a number of processes, or -1 for one for each core.")
    study = Study(protocol, out)
    todo, _ = study.plan(retry_failed=how["retry_failed"])
    cost = estimate(protocol, todo)
    processes = min(effective_n_jobs(jobs), max(1, len(todo.batches)))
    said = f"{cost.n_missing:,} of {cost.n_cells:,} cells to run, about {minutes(cost.minutes / processes)} in {processes} "
    said += f"{'process' if processes == 1 else 'processes'}, {cost.memory_mb:,.0f} MB of data in each."
    notes = [f"note: the probe of {printable(one)}" for one in cost.problems]
    if todo.stale_cells:
        notes.append(f"note: since {len(todo.stale_cells):,} stored cells were made there is a change in {todo.changes()}.")
    for note in notes:
        typer.echo(f"labelsieve: {note}", err=True)
    if dry_run:
        table = plain_table("method", ">minutes on one core")
        for name, spent in cost.by_method.items():
            table.add_row(printable(name), f"{spent:.2f}")
        typer.echo("\n\n".join([prose(f"{protocol!r}."), prose(said), text_of(table), prose(HOW)]))
        return None
    typer.echo(f"labelsieve: {said}", err=True)
    return study.run(n_jobs=jobs, **how)


def minutes(time: float) -> str:
    """A time in words.

    >>> minutes(0.2), minutes(42.4), minutes(300)
    ('12 s', '42 minutes', '5.0 hours')
    """
    return f"{max(1, round(time * 60))} s" if time < 1.5 else f"{time:.0f} minutes" if time < 90 else f"{time / 60:.1f} hours"


def show_ranks(protocol: "Protocol", results: "StudyResults") -> None:
    """Print, for every classifier and measure, average ranks and means, the best marked."""
    sets = [source.name for source in protocol.datasets if source.name in results.datasets]
    methods = [one.name for one in protocol.methods if one.name in results.methods]
    parts = []
    for classifier in (one.name for one in protocol.classifiers if one.name in results.classifiers):
        for measure in (one for one in protocol.measures if one in results.measures):
            grid = results.means(measure, classifier)
            way = "lower" if grid.lower_is_better else "higher"
            head = f"{measure}, {classifier}: means over the numbers of features and splits, {way} is better; *: the best."
            best, rows = grid.winners(), []
            for name in sets:
                cells = [f"{grid.value(name, one):.4f}{'*' if one in best.get(name, ()) else ' '}" for one in methods]
                rows.append([printable(name), *cells])
            parts += [prose(head), tables(["data set", *(f">{printable(name)}" for name in methods)], rows)]
            own = [one for one in methods if one not in protocol.baselines]
            if len(sets) > 1 and len(own) > 1:
                ranks = results.ranks(measure, classifier, methods=own)
                wins = ", ".join(f"{one} {count}" for one, count in ranks.wins().items())
                parts.append(prose(f"First by rank over the numbers of features: {wins}."))
    if results.mixed:
        parts.append(prose(f"These numbers are of more than one kind of {' and '.join(results.mixed)}: some were kept."))
    typer.echo("\n\n".join(parts))


def end(outcome: "Outcome", out: Path) -> None:
    """Say how it went; exit code 1 when cells failed."""
    said = f"{outcome.n_run:,} cells run, {outcome.n_known:,} were there, {outcome.n_failed:,} failed; all in {out}."
    typer.echo(f"labelsieve: {said}", err=True)
    if outcome.n_stale:
        typer.echo(f"labelsieve: note: a change in {outcome.changes}; those cells are as they were.", err=True)
    if outcome.n_failed:
        typer.echo("labelsieve: why cells failed is in the table 'cells'; --retry-failed runs them again.", err=True)
        raise typer.Exit(1)
