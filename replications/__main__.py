"""The command line of the replications: ``python -m replications`` in the root of a checkout."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from labelsieve.cli import plain_messages, quiet_pipes, start
from labelsieve.cli.options import Format, FormatOption, JsonOption, asked_format, command_line, emit, examples, names_in
from labelsieve.cli.report import check_output, print_path, require_matplotlib
from labelsieve.cli.run_study import CHANGED, DRY_RUN, JOBS, OUT, RETRY, Changed, RunOptions, end, plan_document, plan_text, run
from labelsieve.cli.run_study import dry_run as plan_only
from labelsieve.errors import InputError, unknown_name
from labelsieve.report.text import listed, prose, tables
from labelsieve.studies import Study, StudyResults
from labelsieve.studies.store import FILE
from replications import REPLICATIONS, Replication
from replications.page import replication_report
from replications.verdicts import reported_tables

PROGRAM = "python -m replications"
REPORT = "Write an HTML report of the results that are stored in --out, and run nothing."


class Command(TyperCommand):
    """A command whose messages are plain."""

    def make_context(self, *arguments: Any, **keywords: Any) -> Any:
        with quiet_pipes():  # help is printed here
            return super().make_context(*arguments, **keywords)

    def invoke(self, ctx: Any) -> Any:
        with plain_messages():
            return super().invoke(ctx)


app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


@app.command(
    cls=Command,
    epilog=examples(
        PROGRAM,
        f"{PROGRAM} group-jmi-table2 --dry-run",
        f"{PROGRAM} group-jmi-table2 --full",
        f"{PROGRAM} group-jmi-table2 --report table2.html",
    ),
)
def replicate(
    name: Annotated[str | None, typer.Argument(help="Name of a replication; without it all are listed.")] = None,
    out: Annotated[Path | None, typer.Option(help=f"{OUT} Default: NAME-study.")] = None,
    data: Annotated[
        Path | None, typer.Option("--data-home", "--data", help="Folder of the data sets; default: $LABELSIEVE_DATA.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full/--quick", help="The published settings, or a few repetitions on small data sets.")
    ] = False,
    sets: Annotated[str | None, typer.Option(help="Only these data sets, comma-separated.")] = None,
    jobs: Annotated[int, typer.Option("--n-jobs", "--jobs", help=JOBS)] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help=DRY_RUN)] = False,
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Draw the figures of the paper as SVG files.")] = True,
    report: Annotated[Path | None, typer.Option(help=REPORT)] = None,
    changed: Annotated[Changed, typer.Option(help=CHANGED)] = Changed.refuse,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help=RETRY)] = False,
    format: FormatOption = Format.table,
    json: JsonOption = False,
) -> None:
    """Replicate a published experiment, and print published and replicated values."""
    format = asked_format(format, json)
    if name is None:
        list_replications(format)
        return
    if name not in REPLICATIONS:
        raise unknown_name("replication", name, REPLICATIONS)
    if format is Format.csv:
        raise InputError("--format csv: a replication has several tables; use json.")
    replication, folder = REPLICATIONS[name], out if out is not None else Path(f"{name}-study")
    if report is not None:
        write_report(replication, folder, report)
        return
    wanted = None if sets is None else names_in(sets)
    options = RunOptions(jobs, changed, retry_failed)
    studies = {
        part: Study(protocol, folder / part)
        for part, protocol in replication.protocols(full=full, sets=wanted, data_home=data).items()
    }
    if dry_run:
        plans = {part: (study.protocol, plan_only(study, options)) for part, study in studies.items()}
        emit(
            format,
            False,
            table=lambda: "\n\n".join(plan_text(*plan) for plan in plans.values()),
            document=lambda: {part: plan_document(*plan) for part, plan in plans.items()},
        )
        return
    outcomes = {folder / part: run(study, options) for part, study in studies.items()}
    results = {path.name: StudyResults(path) for path in outcomes}
    if outcomes:
        emit(
            format,
            False,
            table=lambda: replication_text(replication, results),
            document=lambda: replication_document(replication, results),
        )
        if figures and replication.figures is not None:
            draw(replication, results, folder)
    end(outcomes, results.values())


def list_replications(format: Format) -> None:
    """Print the names and titles of all replications."""
    known = [{"name": name, "title": entry.title, "paper": entry.paper} for name, entry in REPLICATIONS.items()]
    emit(
        format,
        False,
        table=lambda: "\n".join(prose(f"{entry['name']}: {entry['title']}.") for entry in known),
        document=lambda: known,
        rows=lambda: [["name", "title", "paper"], *(list(entry.values()) for entry in known)],
    )


def write_report(replication: Replication, folder: Path, path: Path) -> None:
    """Write the report of the results that a replication has in its folder."""
    check_output(path)
    require_matplotlib()
    parts = [part for part in replication.protocols(full=True, sets=None, data_home=None) if (folder / part / FILE).exists()]
    if not parts:
        raise InputError(f"{folder}: there are no results of {replication.name}; run it first, or name its folder with --out.")
    results = {part: StudyResults(folder / part) for part in parts}
    print_path(replication_report(replication, results, command=command_line()).write(path))


def replication_document(replication: Replication, results: dict[str, StudyResults]) -> dict[str, Any]:
    """Return the published numbers and ours as a JSON document."""
    result_tables = []
    for table in reported_tables(replication, results):
        names = [column.removeprefix(">") for column in table.columns]
        rows = [list(row) for row in table.rows]
        result_tables.append({"title": table.title, "columns": names, "rows": rows, "summary": table.summary})
    head = {"name": replication.name, "title": replication.title, "paper": replication.paper}
    return {**head, "assumptions": dict(replication.assumptions), "tables": result_tables}


def replication_text(replication: Replication, results: dict[str, StudyResults]) -> str:
    """Return the published numbers next to ours, and the assumptions, as text."""
    blocks = [prose(replication.title), prose(replication.paper)]
    blocks.append(listed(*(f"{name}: {reason}" for name, reason in replication.assumptions.items())))
    for table in reported_tables(replication, results):
        blocks += [prose(f"{table.title}:"), tables(table.columns, table.rows)]
        blocks += [prose(table.summary)] if table.summary else []
    return "\n\n".join(blocks)


def draw(replication: Replication, results: dict[str, StudyResults], folder: Path) -> None:
    """Write the figures to the folder; print their paths, or that matplotlib is missing."""
    assert replication.figures is not None
    try:
        require_matplotlib()
    except InputError as error:
        typer.echo(f"labelsieve: note: no figures. {error}", err=True)
        return
    for name, figure in replication.figures(results).items():
        path = folder / f"{name}.svg"
        figure.savefig(path)
        typer.echo(f"labelsieve: {path} written.", err=True)


if __name__ == "__main__":
    start(app, PROGRAM)
