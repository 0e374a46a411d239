"""The command line: parses, calls, prints. Nothing else in the library prints.

Commands import what they need: help comes at once, and Ctrl-C is heard while the rest loads.
"""

import errno
import inspect
import io
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from labelsieve.cli_compare import compare
from labelsieve.cli_datasets import FILE, LABELS, datasets_app
from labelsieve.cli_options import METHOD, TARGETS, check_counting, check_twins
from labelsieve.cli_report import REPORT, check_output, report, write_demo
from labelsieve.cli_study import study
from labelsieve.errors import InputError
from labelsieve.plaintext import broken_formula, listed, number, plain_table, printable, prose, text_of

if TYPE_CHECKING:
    from labelsieve.criteria import Criterion, Method
    from labelsieve.select_file import FileSelection

EXPLAINED = {"n_rows": 10_000, "n_features": 1_000, "n_targets": 50}
NAMES, FACTS = 12, 13  # how wide the first column is, in the catalogue and in the description of one criterion


class Commands(TyperGroup):
    """Turns what the library refuses into one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            from labelsieve.information.formula import FormulaError

            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        except (InputError, FormulaError, MemoryError, OSError) as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise  # whoever read the output has read enough; typer ends quietly
            typer.echo(f"labelsieve: {one_line(error)}", err=True)
            raise typer.Exit(2) from None


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,  # help is plain text, in pipes and elsewhere
    pretty_exceptions_enable=False,
)
app.add_typer(datasets_app, name="datasets")
app.command()(compare)
app.command()(study)
app.command()(report)
Format = StrEnum("Format", ["table", "json", "csv"])


def main() -> None:
    """Where the command ``labelsieve`` begins."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show must not end the run
    try:
        app(prog_name="labelsieve")
    except KeyboardInterrupt:  # outside of a command, where typer does not look
        sys.exit(130)


def one_line(error: BaseException) -> str:
    """What went wrong, in one line that names the file if there is one."""
    if isinstance(error, OSError) and error.filename is not None:
        return printable(f"{error.filename}: {error.strerror}")
    return printable(" ".join(str(error).split()) or "not enough memory")


def print_paragraphs(*paragraphs: str) -> None:
    """Print with empty lines between."""
    typer.echo("\n\n".join(paragraphs))


def print_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        from labelsieve import __version__

        typer.echo(f"labelsieve {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Choose the features that matter when every row has many labels."""


@app.command()
def demo(
    seed: Annotated[int, typer.Option(min=0, help="Another number makes other data.")] = 0,
    rows: Annotated[int, typer.Option(min=2, help="How many rows to make.")] = 2000,
    report: Annotated[Path, typer.Option(help=REPORT)] = Path("labelsieve-demo.html"),
    no_report: Annotated[bool, typer.Option("--no-report", help="Write none.")] = False,
) -> None:
    """Run every criterion on made-up data with a known answer, and write a report of one of them."""
    from labelsieve.demo import SHORT, run_demo

    if not no_report:
        check_output(report)
    result = run_demo(rows, seed)
    names, n_labels, n_right = result.data.feature_names, len(result.data.label_names), len(result.answer)
    kinds = plain_table()
    kinds.add_row("rel", "relevant: each tells about two labels")
    kinds.add_row("xor", "two that tell about a label, but only together")
    kinds.add_row("copy", "redundant: the relevant ones, measured less well")
    kinds.add_row("noise", "chance")
    table = plain_table("criterion", "chosen, in order", *(f">{short}" for short in SHORT.values()))
    for one in result.outcomes:
        shares = [result.share(one, kind) for kind in SHORT]
        table.add_row(one.criterion, " ".join(names[column] for column in one.chosen), *shares)
    print_paragraphs(
        prose(f"{rows:,} made-up rows with {n_labels} labels and {len(names)} features of four kinds:"),
        text_of(kinds),
        prose(
            f"Every criterion chooses {n_right}. The answer is all rel and xor; the last columns say how many of each it took."
        ),
        text_of(table),
        listed(*result.sentences(), "One made-up table does not say what is best for yours."),
    )
    if not no_report:
        write_demo(result, report)


@app.command()
def methods(name: Annotated[str | None, typer.Argument(help="One criterion, in detail.")] = None) -> None:
    """List the criteria: name, formula, paper."""
    from labelsieve.criteria import CATALOGUE, METHODS, criterion_named
    from labelsieve.discretize import DISCRETIZERS
    from labelsieve.recipes import PRESETS, recipe

    if name is not None and name.lower() in METHODS:
        describe_method(name.lower(), METHODS[name.lower()])
        return
    if name is not None:
        describe(recipe(PRESETS[name.lower()].criterion if name.lower() in PRESETS else name).criterion, name.lower())
        return
    table = plain_table("name", "formula, and the paper that it is from")
    for known in CATALOGUE:
        criterion = criterion_named(known)
        table.add_row(known, f"{broken_formula(criterion.score, NAMES)}\n{criterion.paper}")
    recipes = plain_table("name", "criterion", "targets", "bins", "paper")
    for known, one in PRESETS.items():
        rule = next(name for name, kind in DISCRETIZERS.items() if type(one.discretizer) is kind)
        bins = f"{one.discretizer.n_bins} {one.discretizer.closed}" if rule == "equal-width" else rule
        recipes.add_row(known, str(one.criterion), one.targets, bins, one.paper)
    others = plain_table("name", "without greedy search: in Python, by the selector named")
    for known, method in METHODS.items():
        others.add_row(known, f"{method.formula}\n{method.paper}; {method.selector}")
    print_paragraphs(
        text_of(table),
        text_of(others),
        prose("f: the candidate; s: each chosen feature; S: all of them as one; y, z: labels; pa: parents of y."),
        "Published methods: a criterion with the label space and the bins of its paper.",
        text_of(recipes),
        "More about one of them: labelsieve methods NAME",
    )


def describe_method(name: str, method: "Method") -> None:
    """Print all there is to know about a method that is no formula for the greedy search."""
    table = plain_table()
    table.add_row("formula", method.formula)
    table.add_row("from", method.paper)
    table.add_row("in Python", f"labelsieve.{method.selector}({name!r})")
    print_paragraphs(prose(f"{name}: {method.summary}"), text_of(table))


def describe(criterion: "Criterion", name: str) -> None:
    """Print all there is to know about one criterion, or about the one of a published method."""
    from labelsieve.recipes import PRESETS

    plan, own = criterion.plan, type(criterion)
    parameters = inspect.signature(own).parameters.values() if own.__init__ is not object.__init__ else ()
    first = "the same, with nothing chosen yet" if plan.first is None else broken_formula(plan.first, FACTS)
    table = plain_table()
    if name in PRESETS:
        one = PRESETS[name]
        table.add_row("method", f"{name}, {one.paper}")
        table.add_row("targets", one.targets)
        table.add_row("discretizer", str(one.discretizer))
    table.add_row("formula", broken_formula(plan.score, FACTS))
    table.add_row("first pick", first)
    table.add_row("parameters", ", ".join(f"{one.name}={one.default!r}" for one in parameters) or "none")
    table.add_row("paper", criterion.paper)
    counted = plan.explain(**EXPLAINED).splitlines()[1 if plan.first is None else 2 :]  # the formulas stand above
    print_paragraphs(
        prose(f"{criterion.name}: {(inspect.getdoc(own) or '').splitlines()[0]}"),
        text_of(table),
        "\n".join(["With {n_rows:,} rows, {n_features:,} features and {n_targets} labels:".format(**EXPLAINED), *counted]),
    )


@app.command()
def select(
    file: Annotated[Path, typer.Argument(help=FILE)],
    labels: Annotated[str | None, typer.Option(help=LABELS)] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many features to choose.")] = 10,
    method: Annotated[str, typer.Option(help=METHOD)] = "jmi",
    targets: Annotated[str, typer.Option(help=TARGETS)] = "auto",
    bins: Annotated[int | None, typer.Option(min=1, help="Equal-width bins of each feature; 5 unless told.")] = None,
    codes: Annotated[bool, typer.Option("--codes", help="No bins: features are text or whole numbers from 0.")] = False,
    output: Annotated[Path | None, typer.Option(help="Save the selection as .json, for Sieve.from_json.")] = None,
    format: Annotated[Format, typer.Option(help="What to print.")] = Format.table,
    n_jobs: Annotated[int | None, typer.Option(help="Threads; -1: all. The result does not depend on it.")] = None,
    twins: Annotated[float | None, typer.Option(help="List what was left out and is so similar (0 to 1) to a choice.")] = None,
) -> None:
    """Choose features of a table.

    Text in a feature column is numbered by its sorted values. Where a column has more different values than there are bins,
    those numbers are binned like any others; --bins with a larger number, or --codes, keeps the values apart.
    """
    n_bins: Any = check_counting(codes, bins, n_jobs)
    if format is Format.csv and twins is not None:
        raise InputError("--twins goes with --format table or json.")
    check_twins(twins)
    if output is not None and (output.suffix != ".json" or not output.parent.is_dir()):
        raise InputError(f"{output}: --output takes the name of a .json file in a folder that exists.")
    from labelsieve.select_file import select_file

    result = select_file(
        file, labels, method=method, n_features_to_select=k, targets=targets, n_bins=n_bins, twins=twins, n_jobs=n_jobs
    )
    for name, values in result.binned_text.items():
        note = f"{name!r} is text with {values} different values, in {result.n_bins} bins by the alphabet"
        typer.echo(f"labelsieve: note: {note}; --bins {values} or --codes keeps them apart.", err=True)
    if output is not None:
        result.sieve.to_json(output)
    if format is Format.table:
        show_selection(result, twins)
    else:
        typer.echo(result.to_json() if format is Format.json else result.to_csv(), nl=format is Format.json)


def show_selection(result: "FileSelection", twins: float | None) -> None:
    """Print a table of the chosen features and, if asked for, one of their twins."""
    label = "label" if len(result.labels) == 1 else "labels"
    head = (
        f"{result.method}: {len(result.choices)} of {result.n_features} features for {len(result.labels)} {label} "
        f"({result.targets}), from {result.n_rows:,} rows; scores in nats."
    )
    parts = result.parts if len(result.parts) > 1 else []  # a single part is the score itself
    table = plain_table(">rank", "feature", ">score", *(f">{part}" for part in parts))
    for one in result.choices:
        table.add_row(str(one.rank), printable(one.feature), *map(number, [one.score, *(one.parts[part] for part in parts)]))
    below: list[str] = []
    if twins is not None:
        alike = plain_table("chosen", "left out", ">similarity")
        for one in result.choices:
            for twin, similarity in one.twins.items():
                alike.add_row(printable(one.feature), printable(twin), number(similarity))
        below = [f"Left out, though similar to a chosen feature (at least {twins:g}; 1 tells the same):", text_of(alike)]
        if not alike.row_count:
            below = [f"No feature that was left out is similar to a chosen one (at least {twins:g})."]
    print_paragraphs(prose(head), text_of(table), *below)
