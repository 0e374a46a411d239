"""The command line of the leaderboard: ``python -m leaderboard`` in the root of a checkout."""

from pathlib import Path
from typing import Annotated

import typer

from labelsieve.cli import Commands, start
from labelsieve.cli.options import command_line, examples, names_in
from labelsieve.cli.report import check_output, print_path
from labelsieve.cli.run_study import DATASETS, NAMES
from labelsieve.report.text import plain_table, prose, text_of
from labelsieve.statistics import critical_difference
from labelsieve.studies import Study
from labelsieve.studies.protocol import Part
from leaderboard.board import (
    export_results,
    exported_folders,
    import_results,
    merge_results,
    read_board,
    stored_board,
    study_folders,
)
from leaderboard.page import leaderboard_report
from leaderboard.places import (
    Placement,
    check_same_rows,
    load_selector,
    noise_shares,
    own_protocols,
    placement,
    restricted,
    with_selector,
)

PROGRAM = "python -m leaderboard"
N_NEIGHBORS = 5  # above and below the place of a selector that are printed

FOLDER = "Folder of labelsieve compare: a study, or several studies in folders below it."
RESULTS = f"{FOLDER} Or the folder of exported files."
SOME_DATASETS = "Comma-separated names or tags; default: all."
LEARNERS = "Comma-separated names; default: all but those that ran with few selectors."
MEASURE = "For data sets with labels; default: the first of the protocol."
FILES = "Folder of the Parquet files, or of one folder for every study."

app = typer.Typer(
    cls=Commands, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False
)


@app.callback()
def leaderboard() -> None:
    """Publish a large comparison of selectors, merge its parts, and rank a custom selector in it."""


@app.command(epilog=examples(f"{PROGRAM} page board -o leaderboard.html"))
def page(
    folder: Annotated[Path, typer.Argument(help=RESULTS)],
    output: Annotated[Path, typer.Option("--output", "-o", help="Output file; an existing file is replaced.")] = Path(
        "leaderboard.html"
    ),
) -> None:
    """Write the results as one HTML file.

    It ranks, compares and draws for any choice of data sets, learner and measure.
    """
    check_output(output)
    with stored_board(folder) as path:
        board = read_board(path)
    print_path(leaderboard_report(board, command=command_line()).write(output))


@app.command(epilog=examples(f"{PROGRAM} ranks board --only-datasets development --measure macro_f1 --against cmim"))
def ranks(
    folder: Annotated[Path, typer.Argument(help=RESULTS)],
    datasets: Annotated[str | None, typer.Option("--only-datasets", help=SOME_DATASETS)] = None,
    learners: Annotated[str | None, typer.Option("--only-learners", help=LEARNERS)] = None,
    measure: Annotated[str | None, typer.Option(help=MEASURE)] = None,
    against: Annotated[str, typer.Option(help="Selector that the others are compared with.")] = "random",
) -> None:
    """Print average ranks, and compare one selector with all others.

    The critical difference of Nemenyi's test is printed, too.
    """
    with stored_board(folder) as path:
        board = restricted(read_board(path), names_in(datasets), names_in(learners))
    found = placement(board, against, measure=measure)
    typer.echo(placement_text(found, found.n_ranked))
    if len(found.datasets) > 1:
        critical = critical_difference(found.n_ranked, len(found.datasets))
        text = f"Learners: {', '.join(board.learners)}. Critical difference of average ranks (Nemenyi, 5 %): {critical:.2f}."
        typer.echo(f"\n{prose(text)}")


@app.command(epilog=examples(f"{PROGRAM} merge board shard1 shard2 shard3"))
def merge(
    folder: Annotated[Path, typer.Argument(help=f"{FOLDER} It is created if it does not exist.")],
    others: Annotated[list[Path], typer.Argument(help="Folders whose results are added to it, such as those of shards.")],
) -> None:
    """Merge the results of several folders.

    If several have a cell, that of the first folder is kept.
    """
    for other in others:
        for name, path in study_folders(other).items():
            n_added = merge_results(folder / name if name else folder, [path])
            typer.echo(f"{path}: {n_added:,} cells added.")


@app.command(epilog=examples(f"{PROGRAM} export board leaderboard/results"))
def export(
    folder: Annotated[Path, typer.Argument(help=FOLDER)], output: Annotated[Path, typer.Argument(help="Folder to write to.")]
) -> None:
    """Write the results as Parquet files.

    There is a file of values, of cells and of selections for every study. This needs pyarrow.
    """
    for name, path in study_folders(folder).items():
        for written in export_results(path, output / name if name else output):
            typer.echo(f"{written}: {written.stat().st_size / 2**20:.2f} MB")


@app.command("import", epilog=examples(f"{PROGRAM} import leaderboard/results board"))
def import_(
    files: Annotated[Path, typer.Argument(help=FILES)],
    folder: Annotated[Path, typer.Argument(help="Folder of the study to write, for labelsieve compare to continue.")],
) -> None:
    """Read the files of export, to continue the study.

    labelsieve compare then continues where they ended. This needs pyarrow.
    """
    for name, path in exported_folders(files).items():
        n_cells = import_results(path, folder / name if name else folder)
        typer.echo(f"{folder / name if name else folder}: {n_cells:,} cells.")


@app.command(epilog=examples(f"{PROGRAM} add my_selector.py --board leaderboard/results --out mine"))
def add(
    file: Annotated[Path, typer.Argument(help="Python file with the class of a selector: fit(X, Y) sets selected_.")],
    out: Annotated[Path, typer.Option(help="Folder for the results; a second run completes the missing cells.")],
    board: Annotated[Path, typer.Option(help="Folder of the leaderboard, or of its exported files.")] = Path(
        "leaderboard/results"
    ),
    name: Annotated[str | None, typer.Option("--class", help="Class of the selector, if the file has several.")] = None,
    datasets: Annotated[str | None, typer.Option("--only-datasets", help=DATASETS)] = None,
    learners: Annotated[str | None, typer.Option("--only-learners", help=NAMES)] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Run only this number of first splits of every data set.")] = 1,
    measure: Annotated[str | None, typer.Option(help=MEASURE)] = None,
) -> None:
    """Evaluate a custom selector, and print its rank.

    Only the new selector is run, on the splits of the leaderboard. It is compared with the stored results of the same splits.
    """
    selector = load_selector(file, name)
    label = type(selector).__name__
    with stored_board(board) as folder:
        part = Part(datasets=names_in(datasets), classifiers=names_in(learners), repeats=repeats)
        for study, protocol in part.of(own_protocols(folder, label, selector)).items():
            outcome = Study(protocol, out / study if study else out).run(changed="rerun")
            typer.echo(f"labelsieve: {study or out}: {outcome.n_run:,} cells run, {outcome.n_failed:,} failed.", err=True)
        check_same_rows(folder, out)
        joined = with_selector(read_board(folder, repeats=repeats), read_board(out, repeats=repeats), label)
    typer.echo(placement_text(placement(joined, label, measure=measure)))


@app.command(epilog=examples(f"{PROGRAM} noise leaderboard/noise-results"))
def noise(folder: Annotated[Path, typer.Argument(help=RESULTS)]) -> None:
    """Print how many of the first features are noise.

    These are columns that were added to the data. Their share among the first 5, 10, 20 and 40 features is printed for every
    selector.
    """
    with stored_board(folder) as path:
        shares = noise_shares(path)
    table = plain_table("selector", ">irrelevant", ">corrupted", ">data sets")
    for name, (irrelevant, corrupted, count) in shares.items():
        table.add_row(name, f"{100 * irrelevant:.1f} %", f"{100 * corrupted:.1f} %", str(count))
    typer.echo(text_of(table))


def placement_text(found: Placement, n_neighbors: int = N_NEIGHBORS) -> str:
    """Return the place of a selector, and its comparison with those next to it."""
    first, last = max(0, found.place - 1 - n_neighbors), found.place - 1 + n_neighbors
    table = plain_table("selector", ">average rank", ">wins", ">losses", ">better", ">equivalent", ">worse")
    for index, other in enumerate(found.others[first:last], first):
        if index == found.place - 1:
            table.add_row(f"{found.name} <", f"{found.average_rank:.2f}", *[""] * 5)
        odds = other.posterior
        shares = ["-"] * 3 if odds is None else [f"{share:.2f}" for share in (odds.first, odds.same, odds.second)]
        table.add_row(other.name, f"{other.average_rank:.2f}", str(other.wins), str(other.losses), *shares)
    if found.place - 1 >= min(last, len(found.others)):
        table.add_row(f"{found.name} <", f"{found.average_rank:.2f}", *[""] * 5)
    head = f"{found.name}: place {found.place} of {found.n_ranked}, average rank {found.average_rank:.2f}"
    notes = (
        f"Wins and losses of {found.name} against each selector, over {len(found.datasets)} data sets; then the probabilities "
        "that it is better, practically equivalent (within 0.01) and worse, by a Bayesian signed-rank test."
    )
    return "\n\n".join([prose(f"{head} over {len(found.datasets)} data sets."), text_of(table), prose(notes)])


if __name__ == "__main__":
    start(app, PROGRAM)
