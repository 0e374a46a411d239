"""The command that runs a replication of a published experiment: ``labelsieve study``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelsieve.cli.options import Format, FormatOption, JsonOption, asked_format, complete, emit, names_in
from labelsieve.cli.run_study import CHANGED, DRY_RUN, JOBS, OUT, RETRY, Changed, RunOptions, end, prepare, run
from labelsieve.errors import InputError, unknown_name
from labelsieve.report.text import listed, prose, tables

if TYPE_CHECKING:
    from labelsieve.replications import Replication
    from labelsieve.studies import StudyResults


def replication_names() -> list[str]:
    """Return the names of the replications."""
    from labelsieve.replications import REPLICATIONS

    return list(REPLICATIONS)


def study(
    name: Annotated[
        str | None,
        typer.Argument(help="Name of a replication; without it all are listed.", autocompletion=complete(replication_names)),
    ] = None,
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
    changed: Annotated[Changed, typer.Option(help=CHANGED)] = Changed.refuse,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help=RETRY)] = False,
    format: FormatOption = Format.table,
    json: JsonOption = False,
) -> None:
    """Replicate a published experiment, and print published and replicated values."""
    from labelsieve.replications import REPLICATIONS
    from labelsieve.studies import StudyResults
    from labelsieve.studies.records import REPLICATION_FACT
    from labelsieve.studies.store import StudyStore

    format = asked_format(format, json)
    if name is None:
        _list_replications(format)
        return
    if name not in REPLICATIONS:
        raise unknown_name("replication", name, REPLICATIONS)
    if format is Format.csv:
        raise InputError("--format csv: a replication has several tables; use json.")
    wanted = None if sets is None else names_in(sets)
    replication, folder = REPLICATIONS[name], out if out is not None else Path(f"{name}-study")
    options = RunOptions(jobs, changed, retry_failed)
    outcomes, costs = {}, {}
    for part, protocol in replication.protocols(full=full, sets=wanted, data_home=data).items():
        prepared = prepare(protocol, folder / part, options)
        if dry_run:
            costs[part] = prepared
        else:
            outcomes[folder / part] = run(prepared)
            with StudyStore(folder / part) as store:
                store.set_fact(REPLICATION_FACT, replication.name)
    if costs:
        text = "\n\n".join(cost.text for cost in costs.values())
        emit(format, False, table=lambda: text, document=lambda: {part: cost.document for part, cost in costs.items()})
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


def _list_replications(format: Format) -> None:
    from labelsieve.replications import REPLICATIONS

    known = [{"name": name, "title": entry.title, "paper": entry.paper} for name, entry in REPLICATIONS.items()]
    emit(
        format,
        False,
        table=lambda: "\n".join(prose(f"{entry['name']}: {entry['title']}.") for entry in known),
        document=lambda: known,
        rows=lambda: [["name", "title", "paper"], *(list(entry.values()) for entry in known)],
    )


def replication_document(replication: "Replication", results: "dict[str, StudyResults]") -> dict[str, Any]:
    """Return the published numbers and ours as a JSON document."""
    result_tables = []
    for table in replication.result_tables(results):
        names = [column.removeprefix(">") for column in table.columns]
        rows = [list(row) for row in table.rows]
        result_tables.append({"title": table.title, "columns": names, "rows": rows, "summary": table.summary})
    head = {"name": replication.name, "title": replication.title, "paper": replication.paper}
    return {**head, "assumptions": dict(replication.assumptions), "tables": result_tables}


def replication_text(replication: "Replication", results: "dict[str, StudyResults]") -> str:
    """Return the published numbers next to ours, and the assumptions, as text."""
    blocks = [prose(replication.title), prose(replication.paper)]
    blocks.append(listed(*(f"{name}: {reason}" for name, reason in replication.assumptions.items())))
    for table in replication.result_tables(results):
        blocks += [prose(f"{table.title}:"), tables(table.columns, table.rows)]
        blocks += [prose(table.summary)] if table.summary else []
    return "\n\n".join(blocks)


def draw(replication: "Replication", results: "dict[str, StudyResults]", folder: Path) -> None:
    """Write the figures to the folder; print their paths, or that matplotlib is missing."""
    assert replication.figures is not None
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        typer.echo("labelsieve: note: no figures without matplotlib; pip install matplotlib.", err=True)
        return
    for name, figure in replication.figures(results).items():
        path = folder / f"{name}.svg"
        figure.savefig(path)
        typer.echo(f"labelsieve: {path} written.", err=True)
