"""The verb ``report``: write a selection or a study as one HTML file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelsieve.cli.options import OUTPUT, command_line, require_writable, with_options
from labelsieve.cli.select import REDUNDANT, Fitted, SelectOptions
from labelsieve.errors import InputError

if TYPE_CHECKING:
    from labelsieve.report import Report
    from labelsieve.studies.demo import Demo

WHAT = "A file of data or the name of a data set, to select from as labelsieve select does; or the folder of a study."
CONFIDENCE = "Confidence level of the limits of information and of ranks; 0 omits them."
REPORT = "Where to write the report."


@with_options(SelectOptions)
def report(
    what: Annotated[Path, typer.Argument(help=WHAT)],
    options: SelectOptions,
    output: Annotated[
        Path, typer.Option("--output", "-o", help=f"{REPORT} It replaces a file there.", rich_help_panel=OUTPUT)
    ] = Path("report.html"),
    redundant: Annotated[float, typer.Option(help=REDUNDANT, rich_help_panel=OUTPUT)] = 0.9,
    stability: Annotated[
        int,
        typer.Option(
            min=0,
            help="Number of resamples of the rows for the stability of the selection; 0 omits it.",
            rich_help_panel=OUTPUT,
        ),
    ] = 20,
    confidence: Annotated[float, typer.Option(help=CONFIDENCE, rich_help_panel=OUTPUT)] = 0.95,
    seed: Annotated[
        int, typer.Option("--random-state", "--seed", min=0, help="Seed of the resamples.", rich_help_panel=OUTPUT)
    ] = 0,
) -> None:
    """Write a selection or a study as one HTML file.

    The file has tables, figures and citations, and needs no network. The options of a selection do not apply to a study.
    """
    if not 0 < redundant <= 1:
        raise InputError("--redundant takes a number above 0 and at most 1.")
    if stability == 1:
        raise InputError("--stability: one resample cannot be compared; give 2 or more, or 0.")
    if not 0 <= confidence < 1:
        raise InputError("--confidence takes a number below 1, such as 0.95; 0 leaves confidence limits out.")
    check_output(output)
    require_matplotlib()
    if what.is_dir():
        page = study_page(what)
    else:
        settings = {"redundant": redundant, "resamples": stability, "confidence": confidence or None, "random_state": seed}
        page = selection_page(options.fit(what), what.name, **settings)
    print_path(page.write(output))


def selection_page(fitted: Fitted, name: str, **settings: Any) -> "Report":
    """Return the report of a selection; settings are those of :func:`labelsieve.report.selection_report`."""
    from labelsieve.report import selection_report

    selector, problem, data = fitted
    return selection_report(
        selector,
        problem,
        names=data.feature_names,
        label_names=data.label_names,
        data_name=name,
        command=command_line(),
        **settings,
    )


def study_page(folder: Path) -> "Report":
    """Return the report of the study in a folder; the error for a folder without one names folders below it that have one."""
    from labelsieve.report import study_report
    from labelsieve.studies import StudyResults
    from labelsieve.studies.store import FILE

    parts = sorted(path.parent for path in folder.glob(f"*/{FILE}"))
    if parts and not (folder / FILE).exists():
        raise InputError(f"{folder}: this study has parts; give one of {', '.join(map(str, parts))}.")
    return study_report(StudyResults(folder), name=folder.resolve().name, command=command_line())


def write_demo(result: "Demo", path: Path) -> None:
    """Write the report of the default method on the data of the demo; print a note if matplotlib is missing."""
    try:
        require_matplotlib()
    except InputError as error:
        typer.echo(f"labelsieve: note: no report. {error}", err=True)
        return
    from labelsieve.selectors.sieve import Sieve
    from labelsieve.tables.problem import read

    problem = read(result.data.X, result.data.Y)
    sieve = Sieve(n_features_to_select=len(result.relevant)).fit(problem)
    page = selection_page(Fitted(sieve, problem, result.data), "the demo", redundant=0.2, resamples=20)
    print_path(page.write(path))


def require_matplotlib() -> None:
    """Raise an error in one line if matplotlib is not installed."""
    from labelsieve.report.figures.style import pyplot

    try:
        pyplot()
    except ImportError as error:
        raise InputError(str(error)) from None


def check_output(path: Path) -> None:
    """Refuse a path that cannot be written, before anything is computed."""
    if path.suffix.lower() not in (".html", ".htm") or not path.parent.is_dir() or path.is_dir():
        raise InputError(f"{path}: a report is a .html file in a folder that exists.")
    require_writable(path.parent)


def print_path(path: Path) -> None:
    """Print where the report is."""
    typer.echo(f"labelsieve: report written to {path.resolve()}", err=True)
