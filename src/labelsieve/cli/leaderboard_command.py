"""The commands of a leaderboard: ``labelsieve leaderboard page``, ``merge``, ``export``, ``import`` and ``add``."""

from pathlib import Path
from typing import Annotated

import typer

from labelsieve.cli.options import command_line, examples
from labelsieve.cli.report_command import check_output, print_path

FOLDER = "Folder of labelsieve compare: a study, or several studies in folders below it."
FILES = "Folder of the Parquet files, or of one folder for every study."

leaderboard_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@leaderboard_app.callback()
def leaderboard() -> None:
    """Publish a large comparison of selectors, join its parts, and place a selector of your own in it."""


@leaderboard_app.command(epilog=examples("labelsieve leaderboard page board -o leaderboard.html"))
def page(
    folder: Annotated[Path, typer.Argument(help=FOLDER)],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write it; it replaces a file there.")] = Path(
        "leaderboard.html"
    ),
) -> None:
    """Write the results as one HTML file that ranks, compares and draws for any choice of data sets, learner and measure."""
    from labelsieve.report import leaderboard_report
    from labelsieve.studies.leaderboard import read_board

    check_output(output)
    print_path(leaderboard_report(read_board(folder), command=command_line()).write(output))


@leaderboard_app.command(epilog=examples("labelsieve leaderboard merge board shard1 shard2 shard3"))
def merge(
    folder: Annotated[Path, typer.Argument(help=f"{FOLDER} It is created if it does not exist.")],
    others: Annotated[list[Path], typer.Argument(help="Folders whose results are added to it, such as those of shards.")],
) -> None:
    """Join results that were run into folders of their own; those of the first folder are kept where several have a cell."""
    from labelsieve.studies.leaderboard import merge as merge_stores
    from labelsieve.studies.leaderboard import study_folders

    for other in others:
        for name, path in study_folders(other).items():
            n_added = merge_stores(folder / name if name else folder, [path])
            typer.echo(f"{path}: {n_added:,} cells added.")


@leaderboard_app.command(epilog=examples("labelsieve leaderboard export board leaderboard/results"))
def export(
    folder: Annotated[Path, typer.Argument(help=FOLDER)], output: Annotated[Path, typer.Argument(help="Folder to write to.")]
) -> None:
    """Write the results as Parquet files: values, cells and selections of every study; needs pyarrow."""
    from labelsieve.studies.leaderboard import export_results, study_folders

    for name, path in study_folders(folder).items():
        for written in export_results(path, output / name if name else output):
            typer.echo(f"{written}: {written.stat().st_size / 2**20:.2f} MB")


@leaderboard_app.command("import", epilog=examples("labelsieve leaderboard import leaderboard/results board"))
def import_(
    files: Annotated[Path, typer.Argument(help=FILES)],
    folder: Annotated[Path, typer.Argument(help="Folder of the study to write, for labelsieve compare to continue.")],
) -> None:
    """Read the files of export, so that labelsieve compare continues where they ended; needs pyarrow."""
    from labelsieve.studies.leaderboard import exported_folders, import_results

    for name, path in exported_folders(files).items():
        n_cells = import_results(path, folder / name if name else folder)
        typer.echo(f"{folder / name if name else folder}: {n_cells:,} cells.")
