"""The command that runs a published study again: ``labelsieve study``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelsieve.cli_compare import CHANGED, DRY_RUN, JOBS, OUT, Changed, end, run
from labelsieve.errors import InputError
from labelsieve.plaintext import listed, prose, tables

if TYPE_CHECKING:
    from labelsieve.studies import StudyResults
    from labelsieve.studies.published import PublishedStudy


def study(
    name: Annotated[str | None, typer.Argument(help="A published study; without it they are listed.")] = None,
    out: Annotated[Path | None, typer.Option(help=f"{OUT} NAME-study unless told.")] = None,
    data: Annotated[Path | None, typer.Option(help="Where the data sets are, before $LABELSIEVE_DATA.")] = None,
    full: Annotated[bool, typer.Option("--full/--quick", help="As published, or a few repetitions on small sets.")] = False,
    sets: Annotated[str | None, typer.Option(help="Only these data sets, with commas.")] = None,
    jobs: Annotated[int, typer.Option(help=JOBS)] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help=DRY_RUN)] = False,
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Draw what the paper draws, as SVG files.")] = True,
    changed: Annotated[Changed, typer.Option(help=CHANGED)] = Changed.refuse,
) -> None:
    """Run a published study again, and print its numbers beside ours."""
    from labelsieve.studies import StudyResults
    from labelsieve.studies.published import PUBLISHED

    if name is None:
        typer.echo("\n".join(prose(f"{known}: {one.title}.") for known, one in PUBLISHED.items()))
        return
    if name not in PUBLISHED:
        raise InputError(f"there is no published study {name!r} here; there are {', '.join(PUBLISHED)}.")
    chosen = None if sets is None else [one.strip() for one in sets.split(",") if one.strip()]
    published, folder = PUBLISHED[name], out if out is not None else Path(f"{name}-study")
    outcomes = {}
    for part, protocol in published.protocols(full=full, sets=chosen, data_home=data).items():
        own = published.folder(folder, part)
        outcome = run(protocol, own, jobs, dry_run, {"changed": changed.value, "retry_failed": False})
        if outcome is not None:
            outcomes[own] = outcome
    if outcomes:
        results = {own.name: StudyResults(own) for own in outcomes}
        show(published, results)
        if figures and published.figures is not None:
            draw(published, results, folder)
    for own, outcome in outcomes.items():
        end(outcome, own)


def show(published: "PublishedStudy", results: "dict[str, StudyResults]") -> None:
    """Print what was published beside what came out here, and the choices that were made."""
    parts = [prose(published.title), prose(published.paper)]
    parts.append(listed(*(f"{name}: {reason}" for name, reason in published.choices.items())))
    for section in published.sections(results):
        parts += [prose(f"{section.title}:"), tables(section.columns, section.rows)]
        parts += [prose(section.verdict)] if section.verdict else []
    typer.echo("\n\n".join(parts))


def draw(published: "PublishedStudy", results: "dict[str, StudyResults]", folder: Path) -> None:
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
