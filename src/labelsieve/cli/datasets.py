"""The verb ``datasets``: list, fetch and describe data sets."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from labelsieve.cli.options import (
    FILE,
    Format,
    FormatOption,
    HelpByPurpose,
    JsonOption,
    ReadOptions,
    complete,
    emit,
    examples,
    with_options,
)
from labelsieve.report.text import listed, plain_table, printable, prose, tables, text_of

if TYPE_CHECKING:
    from labelsieve.datasets import ColumnDescription, Dataset, Description, TargetDescription

datasets_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="List, fetch and describe data sets.")


@datasets_app.callback()
def datasets() -> None:
    """List, fetch and describe data sets."""


def catalog_names() -> list[str]:
    """Return the names of the catalog, for shell completion."""
    from labelsieve.datasets.fetch import catalog

    return list(catalog())


@datasets_app.command(
    "list", cls=HelpByPurpose, epilog=examples("labelsieve datasets list", "labelsieve datasets list --format csv")
)
def list_known(format: FormatOption = Format.table, json: JsonOption = False) -> None:
    """List the data sets of the catalog: size, papers, and location."""
    emit(format, json, table=catalog_table, document=catalog_documents, rows=catalog_rows)


def catalog_documents() -> list[dict[str, Any]]:
    """Return the catalog as plain values, for JSON."""
    from labelsieve.datasets.fetch import catalog, where

    names = ("name", "rows", "features", "labels", "task", "papers", "url")
    return [{name: getattr(entry, name) for name in names} | {"where": where(entry)} for entry in catalog().values()]


def catalog_rows() -> list[list[Any]]:
    """Return the catalog as rows for CSV, with blanks between the papers of a data set."""
    documents = catalog_documents()
    rows = [[*({**document, "papers": " ".join(document["papers"])}).values()] for document in documents]
    return [list(documents[0]), *rows]


def catalog_table() -> str:
    """Return the catalog as a table of text with its legend."""
    from labelsieve.datasets.fetch import CACHE, FOLDER, PAPERS, cache_folder, catalog, where

    number = {paper: str(index) for index, paper in enumerate(PAPERS, 1)}
    table = plain_table("name", ">rows", ">features", ">labels", "task", "papers", "where")
    for entry in catalog().values():
        sizes = (f"{size:,}" for size in (entry.rows, entry.features, entry.labels))
        papers = " ".join(number[paper] for paper in entry.papers)
        table.add_row(entry.name, *sizes, entry.task, papers or "-", where(entry) or ("-" if entry.url else "manual"))
    cache = f"cache: {printable(str(cache_folder()))} (${CACHE} names another)."
    locations = f"folder: the one that ${FOLDER} names; package: installed with labelsieve; {cache}"
    signs = "-: to be downloaded; manual: no address is known, and datasets fetch NAME says which files to put where."
    papers = listed(*(f"{number[paper]}: {text}" for paper, text in PAPERS.items()))
    return f"{text_of(table)}\n\n{papers}\n\n{locations}\n{signs}"


@datasets_app.command(
    "fetch",
    cls=HelpByPurpose,
    epilog=examples("labelsieve datasets fetch yeast", "labelsieve datasets fetch yeast --data-home data"),
)
def fetch_one(
    name: Annotated[str, typer.Argument(help="A name from datasets list.", autocompletion=complete(catalog_names))],
    folder: Annotated[
        Path | None, typer.Option("--data-home", "--folder", help="Look here first, instead of $LABELSIEVE_DATA.")
    ] = None,
) -> None:
    """Fetch a data set from a folder or the network, and verify it."""
    from labelsieve.datasets.fetch import catalog_entry, fetch, where
    from labelsieve.errors import DatasetError

    entry = catalog_entry(name)
    if not where(entry, folder) and entry.url:
        typer.echo(f"labelsieve: downloading {' '.join(entry.needed())} from {entry.url}", err=True)
    dataset = fetch(entry.name, data_home=folder)
    expected = (entry.rows, entry.features, entry.labels)
    if dataset.shape != expected:
        sizes = "{:,} rows, {:,} features and {:,} labels"
        raise DatasetError(
            f"{entry.name} has {sizes.format(*dataset.shape)}, and the catalog says {sizes.format(*expected)}.",
            remedy="Is it another version? `datasets info` and `select` take it as it is.",
        )
    rows, features, labels = expected
    typer.echo(f"{entry.name}: {rows:,} rows, {features:,} features, {labels:,} {entry.task} ({where(entry, folder)}).")


@datasets_app.command(
    cls=HelpByPurpose,
    epilog=examples("labelsieve datasets info emotions", "labelsieve datasets info songs.csv --labels 5 --json"),
)
@with_options(ReadOptions)
def info(
    file: Annotated[Path, typer.Argument(help=FILE)],
    options: ReadOptions,
    format: FormatOption = Format.table,
    json: JsonOption = False,
) -> None:
    """Print the size of a data set, its labels, and columns to check.

    Columns to check have missing cells, are nominal, constant or duplicates, or have about as many values as rows, like an id.
    """
    found = DatasetInfo.of(options.load(file))
    emit(format, json, table=found.text, document=found.document, rows=found.rows)


NAMED = 10  # columns that are named in the text; JSON names all
SHOWN = 50  # targets in the text


@dataclass(frozen=True, eq=False)
class DatasetInfo:
    """The statistics of a data set: ``labels`` if all targets are labels of 0 and 1, otherwise ``targets``."""

    dataset: "Dataset"
    labels: "Description | None"
    targets: "list[TargetDescription]"
    columns: "list[ColumnDescription]"

    @classmethod
    def of(cls, dataset: "Dataset") -> "DatasetInfo":
        """Compute the statistics of a data set."""
        from labelsieve.datasets import describe, describe_columns, describe_targets

        binary = dataset.Y.dtype == np.uint8
        targets = [] if binary else describe_targets(dataset)
        return cls(dataset, describe(dataset) if binary else None, targets, describe_columns(dataset))

    def sizes(self) -> dict[str, int | float]:
        """Return the numbers of rows, features and targets, and the statistics of 0/1 labels."""
        if self.labels is not None:
            return {name: value for name, value in vars(self.labels).items() if isinstance(value, int | float)}
        return dict(zip(("n_rows", "n_features", "n_labels"), self.dataset.shape, strict=True))

    def findings(self) -> dict[str, dict[str, Any]]:
        """Return the columns that a user should check, by kind of the finding."""
        return {
            "missing": {column.name: column.n_missing for column in self.columns if column.n_missing},
            "nominal": {column.name: column.n_levels for column in self.columns if column.kind == "nominal"},
            "constant": {column.name: column.n_levels for column in self.columns if column.constant},
            "id_like": {column.name: column.n_levels for column in self.columns if column.id_like},
            "duplicate": {column.name: column.duplicate_of for column in self.columns if column.duplicate_of is not None},
        }

    def document(self) -> dict[str, Any]:
        """Return all statistics as plain values, for JSON."""
        document: dict[str, Any] = {"name": self.dataset.name, **self.sizes(), "columns": self.findings()}
        return document | ({"targets": [asdict(target) for target in self.targets]} if self.targets else {})

    def rows(self) -> list[list[Any]]:
        """Return all statistics as rows for CSV: the name of a statistic, or a finding with its column, and the value."""
        rows: list[list[Any]] = [["statistic", "value"], ["name", self.dataset.name], *map(list, self.sizes().items())]
        for kind, found in self.findings().items():
            rows += [[f"{kind}: {name}", value] for name, value in found.items()]
        return rows + [[f"{target.kind} target: {target.name}", target.n_levels] for target in self.targets]

    def text(self) -> str:
        """Return all statistics as tables of text."""
        parts = [printable(self.dataset.name), self._statistics(), self._targets(), self._columns()]
        return "\n\n".join(part for part in parts if part)

    def _statistics(self) -> str:
        n_rows, n_features, n_labels = self.dataset.shape
        table = plain_table("statistic", ">value")
        table.add_row("rows", f"{n_rows:,}")
        table.add_row("features", f"{n_features:,}")
        if self.labels is None:
            table.add_row("targets", f"{n_labels:,}")
            return text_of(table)
        for name, value in (
            ("nonzero cells of X", f"{100 * self.labels.x_density:.2f} %"),
            ("labels", f"{self.labels.n_labels:,}"),
            ("labels per row (cardinality)", f"{self.labels.cardinality:.3f}"),
            ("density", f"{self.labels.density:.4f}"),
            ("distinct labelsets", f"{self.labels.n_distinct:,}"),
            ("mean imbalance (meanIR)", f"{self.labels.mean_imbalance:.3f}"),
            ("its variation (CVIR)", f"{self.labels.imbalance_variation:.3f}"),
            ("SCUMBLE", f"{self.labels.scumble:.4f}"),
        ):
            table.add_row(name, value)
        return text_of(table)

    def _targets(self) -> str:
        if not self.targets:
            return ""
        heads = ["target", "kind", ">values", ">missing", ">minimum", ">mean", ">maximum"]
        rows = [
            [
                printable(target.name),
                target.kind,
                f"{target.n_levels:,}",
                f"{target.n_missing:,}",
                *("-" if value != value else f"{value:.5g}" for value in (target.minimum, target.mean, target.maximum)),
            ]
            for target in self.targets[:SHOWN]
        ]
        more = len(self.targets) - SHOWN
        return tables(heads, rows) + (f"\n\n{more:,} more targets; --json lists all." if more > 0 else "")

    def _columns(self) -> str:
        found = self.findings()
        if not any(found.values()):
            return prose("Columns: no missing cells; all are numeric, and none is constant, like an id, or a duplicate.")
        n_missing = sum(found["missing"].values())
        table = plain_table("columns", ">number", "names")
        table.add_row(f"with missing cells ({n_missing:,})", *_named(found["missing"], "{name} ({value:,})"))
        table.add_row("nominal", *_named(found["nominal"], "{name} ({value:,} levels)"))
        table.add_row("constant", *_named(found["constant"], "{name}"))
        table.add_row("like an id", *_named(found["id_like"], "{name} ({value:,} values)"))
        table.add_row("duplicate", *_named(found["duplicate"], "{name} (of {value})"))
        return text_of(table)


def _named(found: dict[str, Any], form: str) -> tuple[str, str]:
    """Return the number of columns with a finding, and the names of the first ones."""
    names = [printable(form.format(name=name, value=value)) for name, value in list(found.items())[:NAMED]]
    more = [f"and {len(found) - NAMED:,} more"] if len(found) > NAMED else []
    return f"{len(found):,}", ", ".join([*names, *more]) or "-"
