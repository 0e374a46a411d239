"""The commands about data sets: ``labelsieve datasets ...``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from labelsieve.cli.options import Format, FormatOption, JsonOption, complete, emit, examples, with_options
from labelsieve.cli.read_options import FILE, FORMATS, ReadOptions, messages_as_options
from labelsieve.errors import InputError
from labelsieve.report.plaintext import listed, plain_table, printable, text_of

ENDINGS = ".arff, .parquet, .pq, .libsvm, .svm, .txt, .X.npz or .csv, and then .gz, .bz2, .xz or .zst to pack it."
datasets_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="List, fetch, describe and convert data sets.")


@datasets_app.callback()
def datasets() -> None:
    """List, fetch, describe and convert data sets."""


def catalog_names() -> list[str]:
    """Names for datasets fetch."""
    from labelsieve.datasets.catalog import catalog

    return list(catalog())


@datasets_app.command("list", epilog=examples("labelsieve datasets list", "labelsieve datasets list --format csv"))
def list_known(format: FormatOption = Format.table, json: JsonOption = False) -> None:
    """List the data sets of the catalog: size, papers, and location."""
    emit(format, json, table=catalog_table, document=catalog_documents, rows=catalog_rows)


def catalog_documents() -> list[dict[str, Any]]:
    """The catalog as data for programs."""
    from labelsieve.datasets.catalog import catalog
    from labelsieve.datasets.fetch import where

    names = ("name", "rows", "features", "labels", "task", "papers", "url")
    return [{name: getattr(entry, name) for name in names} | {"where": where(entry)} for entry in catalog().values()]


def catalog_rows() -> list[list[Any]]:
    """The same as rows, papers with blanks between them."""
    documents = catalog_documents()
    rows = [[*({**document, "papers": " ".join(document["papers"])}).values()] for document in documents]
    return [list(documents[0]), *rows]


def catalog_table() -> str:
    """The same for people."""
    from labelsieve.datasets.catalog import PAPERS, catalog
    from labelsieve.datasets.fetch import CACHE, FOLDER, cache_folder, where

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
    "fetch", epilog=examples("labelsieve datasets fetch yeast", "labelsieve datasets fetch yeast --data-home data")
)
def fetch_one(
    name: Annotated[str, typer.Argument(help="A name from datasets list.", autocompletion=complete(catalog_names))],
    folder: Annotated[
        Path | None, typer.Option("--data-home", "--folder", help="Look here first, instead of $LABELSIEVE_DATA.")
    ] = None,
) -> None:
    """Fetch a data set, from the network if necessary, and verify it against the catalog."""
    from labelsieve.datasets.catalog import catalog_entry
    from labelsieve.datasets.fetch import fetch, where
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
    epilog=examples("labelsieve datasets info emotions", "labelsieve datasets info songs.csv --labels 5 --json")
)
@with_options(ReadOptions)
def info(
    file: Annotated[Path, typer.Argument(help=FILE)],
    options: ReadOptions,
    format: FormatOption = Format.table,
    json: JsonOption = False,
) -> None:
    """Print statistics of a data set: size, labels or targets, and columns to check.

    Columns to check have missing cells, are nominal, constant or duplicates, or have about as many values as rows, like an id.
    """
    from labelsieve.cli.datasets_info import DatasetInfo

    found = DatasetInfo.of(options.load(file))
    emit(format, json, table=found.text, document=found.document, rows=found.rows)


@datasets_app.command(epilog=examples("labelsieve datasets convert emotions.arff.gz emotions.parquet"))
@with_options(ReadOptions)
def convert(
    file: Annotated[Path, typer.Argument(metavar="IN", help=FORMATS)],
    output: Annotated[Path, typer.Argument(metavar="OUT", help=ENDINGS)],
    options: ReadOptions,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")] = False,
) -> None:
    """Convert a data set to another format, given by the suffix of OUT.

    ARFF comes with its labels in an XML header next to it, and Parquet stores which columns are labels. libsvm (.txt: as in the
    extreme classification repository) and pairs of SciPy matrices (NAME.X.npz, NAME.Y.npz) keep no names, and CSV does not say
    which columns are labels: they are the last ones.
    """
    from labelsieve.datasets import save
    from labelsieve.datasets.writers.save import writer_for

    writer_for(output)  # an unknown ending, or a file in the way, is refused before a long file is read
    if output.exists() and not overwrite:
        raise InputError(f"{output}: this file exists already; choose another name, or pass --overwrite.")
    dataset = options.load(file, names=False)
    with messages_as_options():
        written = save(dataset, output, overwrite=overwrite)
    rows, features, targets = dataset.shape
    names = " and ".join(printable(str(path)) for path in written)
    typer.echo(f"{names}: {rows:,} rows, {features:,} features, {targets:,} labels.")
