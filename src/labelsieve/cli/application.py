"""The application: its verbs with their examples, messages and exit codes, and the verb ``demo``.

Only the command line prints. A verb imports what it needs when it runs, so that help comes at once and Ctrl-C works while the
rest loads.
"""

import csv
import errno
import io
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperGroup

from labelsieve.cli.compare import compare
from labelsieve.cli.datasets import datasets_app
from labelsieve.cli.discover import discover
from labelsieve.cli.methods import methods
from labelsieve.cli.options import HelpByPurpose, command_line, examples
from labelsieve.cli.report import REPORT, check_output, report, write_demo
from labelsieve.cli.select import select
from labelsieve.errors import InputError, MissingTargetWarning
from labelsieve.report.text import listed, plain_table, printable, prose, text_of

if TYPE_CHECKING:
    from labelsieve.datasets import SyntheticData

REAL_SHOWN = 5  # features of the real data that the demo shows
CODES = "Exit codes: 0, success; 1, some cells of a study failed; 2, invalid usage, data or settings; 130, interrupted."


@contextmanager
def plain_messages() -> Iterator[None]:
    """Print errors of the library in one line, end with their exit code, and print warnings as notes."""
    from labelsieve.formula import FormulaError

    try:
        with quiet_pipes(), warnings.catch_warnings():
            warnings.showwarning = cast(Any, Notes().show)
            yield
    except KeyboardInterrupt:
        typer.echo(f"labelsieve: interrupted. To start again: {command_line()}", err=True)
        raise typer.Exit(130) from None
    except (InputError, FormulaError, MemoryError, OSError) as error:
        typer.echo(f"labelsieve: {one_line(error)}", err=True)
        raise typer.Exit(2) from None


@contextmanager
def quiet_pipes() -> Iterator[None]:
    """End with exit code 0 when the reader of the output closes the pipe, as ``head`` does."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EPIPE:
            raise
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):  # what is left in their buffers must not fail at the end of the program
            if isinstance(stream, io.TextIOWrapper):
                os.dup2(nowhere, stream.fileno())
        raise SystemExit(0) from None


ORDER = ("select", "report", "discover", "compare", "methods", "datasets", "demo")


class Commands(TyperGroup):
    """A group of commands, listed in the order of their use, whose errors and warnings are printed in one line each.

    Commands of other programs keep the order in which they were added.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))

    def make_context(self, *arguments: Any, **keywords: Any) -> Any:
        with quiet_pipes():  # help is printed here
            return super().make_context(*arguments, **keywords)

    def invoke(self, ctx: Any) -> Any:
        with plain_messages():
            return super().invoke(ctx)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    epilog=CODES,
    rich_markup_mode=None,  # help is plain text, in pipes and elsewhere
    pretty_exceptions_enable=False,
)
app.add_typer(datasets_app, name="datasets")
app.command(
    cls=HelpByPurpose, epilog=examples("labelsieve methods", "labelsieve methods ela-chi", "labelsieve methods --json")
)(methods)
app.command(
    cls=HelpByPurpose,
    epilog=examples(
        "labelsieve select tecator",
        "labelsieve select songs.csv --labels calm,happy,sad -k 10",
        "labelsieve select songs.csv --labels 5 --criterion relieff:n_neighbors=20 --json",
        "labelsieve select songs.csv --labels 5 --criterion cmim -k permutation:alpha=0.01",
        "labelsieve select songs.csv --labels 5 --labelwise -k g-test",
        "labelsieve select songs.csv --labels 5 --auto --time-budget 60",
    ),
)(select)
app.command(
    cls=HelpByPurpose,
    epilog=examples(
        "labelsieve discover emotions --fdr 0.05",
        "labelsieve discover patients.csv --labels 5 --strata site --groups patient --json",
        "labelsieve discover patients.csv --labels 5 --null conditional --out figures --format csv",
    ),
)(discover)
app.command(
    cls=HelpByPurpose,
    epilog=examples(
        "labelsieve compare emotions yeast --methods jmi,scls,ela-chi --out study --dry-run",
        "labelsieve compare songs.csv --labels 5 --methods jmi,relieff:n_neighbors=20 -k 1..20 --out study",
        "labelsieve compare protocol.toml --out study --json",
    ),
)(compare)
app.command(
    cls=HelpByPurpose,
    epilog=examples(
        "labelsieve report songs.csv --labels 5 --criterion mrmr -k 12 -o songs.html", "labelsieve report study/ -o study.html"
    ),
)(report)


def main() -> None:
    """Run the command ``labelsieve``."""
    start(app, "labelsieve")


def start(commands: typer.Typer, program: str) -> None:
    """Run a command line; ``program`` is how it is called, for help and messages."""
    sys.argv[0] = program
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show must not end the run
    try:
        commands(prog_name=program)
    except KeyboardInterrupt:  # outside of a command, where typer does not look
        sys.exit(130)


def one_line(error: BaseException) -> str:
    """Return the message of an error in one line, with the name of the file if it has one."""
    if isinstance(error, OSError) and error.filename is not None:
        return printable(f"{error.filename}: {error.strerror}")
    return printable(" ".join(str(error).split()) or "not enough memory")


NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?")
# A column of a file is known by its name alone: X, Y and numbers of columns are those of the Python interface.
COLUMN = re.compile(r"\b[XY], column \d+ \(((['\"]).*?\2)\)")


class Notes:
    """Print warnings as notes, without the line of code that they came from.

    A note is printed once, although some warnings are repeated for every classifier that is fitted. Of notes that differ only
    in their numbers, the first three are printed.
    """

    MOST_SIMILAR = 3

    def __init__(self) -> None:
        self._shown: dict[str, set[str]] = {}
        self._missing_labels = False

    def show(self, message: Warning | str, category: type[Warning] = UserWarning, *_: object, **__: object) -> None:
        """Print a warning; this method replaces ``warnings.showwarning``."""
        if issubclass(category, MissingTargetWarning):  # both the reader and the selector tell of missing labels
            if self._missing_labels:
                return
            self._missing_labels = True
        note = COLUMN.sub(r"column \1", printable(" ".join(str(message).split())))
        similar = self._shown.setdefault(NUMBER.sub("0", note), set())
        if note not in similar and len(similar) <= self.MOST_SIMILAR:
            similar.add(note)
            text = note if len(similar) <= self.MOST_SIMILAR else "more of the same with other numbers, which are not shown."
            typer.echo(f"labelsieve: note: {text}", err=True)


def print_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        from labelsieve import __version__

        typer.echo(f"labelsieve {__version__}")
        raise typer.Exit


def save_synthetic(data: "SyntheticData", path: Path) -> None:
    """Write synthetic data to a CSV file, features first, and replace one that exists."""
    if path.suffix.lower() != ".csv":
        raise InputError(f"{path}: --data takes the name of a .csv file.")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*data.feature_names, *data.label_names])
        writer.writerows([*features, *labels] for features, labels in zip(data.X.tolist(), data.Y.tolist(), strict=True))


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Select features of data with several labels or several numeric targets.

    Begin with: labelsieve select FILE --labels NAMES
    """


@app.command(cls=HelpByPurpose, epilog=examples("labelsieve demo", "labelsieve demo --n-rows 500 --random-state 1"))
def demo(
    seed: Annotated[int, typer.Option("--random-state", "--seed", min=0, help="Seed of the data.")] = 0,
    rows: Annotated[int, typer.Option("--n-rows", "--rows", min=2, help="Number of rows to generate.")] = 2000,
    report: Annotated[Path, typer.Option(help=REPORT)] = Path("labelsieve-demo.html"),
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.")] = False,
    data: Annotated[Path | None, typer.Option(help="Also write the data, as a .csv file for select.")] = None,
) -> None:
    """Run all criteria on synthetic data, the default on real data.

    The relevant features of the synthetic data are known. The real data are spectra of meat, which come with the package. An
    HTML report of the synthetic data is written, too.
    """
    from labelsieve.studies.demo import SHORT, run_demo

    if not no_report:
        check_output(report)
    result = run_demo(rows, seed)
    if data is not None:
        save_synthetic(result.data, data)
    names, n_labels, n_right = result.data.feature_names, len(result.data.label_names), len(result.relevant)
    kinds = plain_table()
    kinds.add_row("rel", "relevant: each is informative about two labels")
    kinds.add_row("xor", "synergistic: two that are informative about a label only jointly")
    kinds.add_row("copy", "redundant: noisy copies of the relevant features")
    kinds.add_row("noise", "irrelevant")
    table = plain_table("criterion", "selected, in order", *(f">{short}" for short in SHORT.values()))
    for outcome in result.outcomes:
        shares = [result.share(outcome, kind) for kind in SHORT]
        table.add_row(outcome.criterion, " ".join(names[column] for column in outcome.selected), *shares)
    paragraphs = (
        prose(f"{rows:,} synthetic rows with {n_labels} labels and {len(names)} features of four kinds:"),
        text_of(kinds),
        prose(
            f"Every criterion selects {n_right} features; hybrid is the default. The relevant ones are rel and xor; "
            "the last columns count selections by kind."
        ),
        text_of(table),
        listed(*result.sentences(), "One synthetic table does not show which criterion is best for your data."),
    )
    typer.echo("\n\n".join(paragraphs))
    typer.echo("\n" + "\n\n".join(real_data()))
    if not no_report:
        write_demo(result, report)


def real_data() -> list[str]:
    """Return what the demo says about real data: the verdict, and the first features."""
    from labelsieve.report.text import percent, points
    from labelsieve.studies.demo import real_selection

    selection = real_selection()
    assert selection.explained is not None
    table = plain_table(">rank", "feature", ">explained", ">gain")
    for feature in selection.selected[:REAL_SHOWN]:
        gain = f"{'* ' if feature.signal else ''}{points(feature.gain or 0.0)}"
        table.add_row(str(feature.rank), feature.feature, percent(feature.explained or 0.0), gain)
    what = f"{selection.n_rows:,} real spectra of meat with {selection.n_features} channels, and the contents of water, fat and"
    return [
        prose(f"{what} protein to predict. The default method: {selection.explained.verdict}"),
        text_of(table),
        prose(
            f"These are the first {REAL_SHOWN} channels; explained: in rows that were not used to select; "
            "*: distinguishable from noise. All of them: labelsieve select tecator"
        ),
    ]
