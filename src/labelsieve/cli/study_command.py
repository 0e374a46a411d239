"""The command that runs a published study again: ``labelsieve study``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelsieve.cli.options import Format, FormatOption, JsonOption, asked_format, complete, emit, names_in
from labelsieve.cli.run_study import CHANGED, DRY_RUN, JOBS, OUT, RETRY, Changed, end, prepare, run
from labelsieve.errors import InputError
from labelsieve.report.plaintext import listed, prose, tables

if TYPE_CHECKING:
    from labelsieve.replications import Replication
    from labelsieve.studies import StudyResults


def study_names() -> list[str]:
    """Names for study."""
    from labelsieve.replications import REPLICATIONS

    return list(REPLICATIONS)


def study(
    name: Annotated[
        str | None,
        typer.Argument(help="A published study; without it they are listed.", autocompletion=complete(study_names)),
    ] = None,
    out: Annotated[Path | None, typer.Option(help=f"{OUT} NAME-study unless told.")] = None,
    data: Annotated[
        Path | None, typer.Option("--data-home", "--data", help="Where the data sets are, before $LABELSIEVE_DATA.")
    ] = None,
    full: Annotated[bool, typer.Option("--full/--quick", help="As published, or a few repetitions on small sets.")] = False,
    sets: Annotated[str | None, typer.Option(help="Only these data sets, with commas.")] = None,
    jobs: Annotated[int, typer.Option("--n-jobs", "--jobs", help=JOBS)] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help=DRY_RUN)] = False,
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Draw what the paper draws, as SVG files.")] = True,
    changed: Annotated[Changed, typer.Option(help=CHANGED)] = Changed.refuse,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help=RETRY)] = False,
    format: FormatOption = Format.table,
    json: JsonOption = False,
) -> None:
    """Run a published study again, and print its numbers beside ours."""
    from labelsieve.replications import REPLICATIONS
    from labelsieve.studies import StudyResults
    from labelsieve.studies.store.store import Store

    format = asked_format(format, json)
    if name is None:
        listed_studies = [{"name": known, "title": one.title, "paper": one.paper} for known, one in REPLICATIONS.items()]
        emit(
            format,
            False,
            table=lambda: "\n".join(prose(f"{one['name']}: {one['title']}.") for one in listed_studies),
            document=lambda: listed_studies,
            rows=lambda: [["name", "title", "paper"], *(list(one.values()) for one in listed_studies)],
        )
        return
    if name not in REPLICATIONS:
        raise InputError(f"there is no published study {name!r} here; there are {', '.join(REPLICATIONS)}.")
    if format is Format.csv:
        raise InputError("--format csv: a study has several tables; use json.")
    chosen = None if sets is None else names_in(sets)
    published, folder = REPLICATIONS[name], out if out is not None else Path(f"{name}-study")
    outcomes, costs = {}, {}
    how = {"changed": changed.value, "retry_failed": retry_failed}
    for part, protocol in published.protocols(full=full, sets=chosen, data_home=data).items():
        own = published.folder(folder, part)
        prepared = prepare(protocol, own, jobs, changed=changed.value, retry_failed=retry_failed)
        if dry_run:
            costs[own.name] = prepared
        else:
            outcomes[own] = run(prepared, jobs, how)
            with Store(own) as store:
                store.note("published", published.name)
    if costs:
        text = "\n\n".join(one.text for one in costs.values())
        emit(format, False, table=lambda: text, document=lambda: {part: one.document for part, one in costs.items()})
    results = {own.name: StudyResults(own) for own in outcomes}
    if outcomes:
        emit(format, False, table=lambda: shown(published, results), document=lambda: documented(published, results))
        if figures and published.figures is not None:
            draw(published, results, folder)
    end(outcomes, results.values())


def documented(published: "Replication", results: "dict[str, StudyResults]") -> dict[str, Any]:
    """What was published beside what came out here, for programs."""
    sections = []
    for one in published.sections(results):
        names = [column.removeprefix(">") for column in one.columns]
        sections.append({"title": one.title, "columns": names, "rows": [list(row) for row in one.rows], "verdict": one.verdict})
    head = {"name": published.name, "title": published.title, "paper": published.paper, "choices": dict(published.choices)}
    return {**head, "sections": sections}


def shown(published: "Replication", results: "dict[str, StudyResults]") -> str:
    """What was published beside what came out here, and the choices that were made, for people."""
    parts = [prose(published.title), prose(published.paper)]
    parts.append(listed(*(f"{name}: {reason}" for name, reason in published.choices.items())))
    for section in published.sections(results):
        parts += [prose(f"{section.title}:"), tables(section.columns, section.rows)]
        parts += [prose(section.verdict)] if section.verdict else []
    return "\n\n".join(parts)


def draw(published: "Replication", results: "dict[str, StudyResults]", folder: Path) -> None:
    """Write the figures beside the results; say so, or that matplotlib is not there."""
    assert published.figures is not None
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        typer.echo("labelsieve: note: no figures without matplotlib; pip install matplotlib.", err=True)
        return
    for name, figure in published.figures(results).items():
        path = folder / f"{name}.svg"
        figure.savefig(path)
        typer.echo(f"labelsieve: {path} written.", err=True)
