"""The commands about data sets: ``labelsieve datasets ...``."""

from pathlib import Path
from typing import Annotated

import typer

from labelsieve.plaintext import plain_table, printable, text_of

LABELS = "N: the last N columns; -N: the first N; names with commas; an XML header. Not needed where the file says."
datasets_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look at data sets.")


@datasets_app.callback()
def datasets() -> None:
    """Look at data sets."""


@datasets_app.command()
def info(
    file: Annotated[Path, typer.Argument(help="ARFF (Mulan, MEKA), Matlab, libsvm, CSV or Parquet, maybe packed.")],
    labels: Annotated[str | None, typer.Option(help=LABELS)] = None,
) -> None:
    """Print the statistics of a data set: size, labels per row, imbalance."""
    from labelsieve.datasets import describe, load
    from labelsieve.datasets.any_file import label_option

    dataset = load(file, label_option(labels))
    facts = describe(dataset)
    table = plain_table("statistic", ">value")
    for name, value in (
        ("rows", f"{facts.n_rows:,}"),
        ("features", f"{facts.n_features:,}"),
        ("cells of X that are not 0", f"{100 * facts.x_density:.2f} %"),
        ("labels", f"{facts.n_labels:,}"),
        ("labels per row (cardinality)", f"{facts.cardinality:.3f}"),
        ("density", f"{facts.density:.4f}"),
        ("distinct label rows", f"{facts.n_distinct:,}"),
        ("mean imbalance (meanIR)", f"{facts.mean_imbalance:.3f}"),
        ("its variation (CVIR)", f"{facts.imbalance_variation:.3f}"),
        ("SCUMBLE", f"{facts.scumble:.4f}"),
    ):
        table.add_row(name, value)
    typer.echo(f"{printable(dataset.name)}\n\n{text_of(table)}")
