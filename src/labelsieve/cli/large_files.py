"""``select --memory-limit`` and ``--dask``: files that are read by columns, because the whole table would not fit."""

from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelsieve.errors import ClusterError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labelsieve.cli.select_options import SelectOptions
    from labelsieve.datasets import ChunkedTable

MEMORY_LIMIT = (
    "Memory for the selection, such as 2GB: Parquet files, a folder of them, or a file of CSV, ARFF or libsvm whose table is "
    "larger are read by columns."
)
DASK = "Count on the workers of the Dask scheduler at this address, such as tcp://host:8786; the file is read by columns."
CACHE_FOLDER = (
    "With --memory-limit or --dask: encoded columns stay in this folder, and a selection that was stopped continues from them."
)

CONNECT_SECONDS = 10


def large_table(
    path: Path, options: "SelectOptions", memory_limit: str | None, cache_folder: Path | None, *, always: bool = False
) -> "ChunkedTable | None":
    """The file as a table that is read by columns; None if all of it fits into the limit, unless ``always``."""
    from labelsieve.datasets import ChunkedTable
    from labelsieve.datasets.chunk_files import pyarrow_dataset
    from labelsieve.datasets.readers.memory_budget import CELL, read_size

    limit = None if memory_limit is None else read_size(memory_limit, "--memory-limit")
    parquet = path.is_dir() or _is_parquet(path)
    if parquet:
        dataset = pyarrow_dataset(path)
        size = CELL * dataset.count_rows() * len(dataset.schema)
    else:  # a cell of a text file has two bytes at least
        size = CELL // 2 * path.stat().st_size if path.is_file() else 0
    if not always and not path.is_dir() and (limit is None or size <= limit):
        return None
    for name, default in (("strings", "error"), ("missing_labels", "error"), ("label_separator", None)):
        if getattr(options, name) != default:
            raise InputError(f"--{name.replace('_', '-')} is for files that fit into memory; raise --memory-limit.")
    chosen: dict[str, Any] = {"memory_limit": limit, "cache_folder": cache_folder}
    if parquet:
        return ChunkedTable.from_parquet(path, options.labels, **chosen)
    if path.suffix.lower() == ".arff":
        return ChunkedTable.from_arff(path, options.labels, **chosen)
    if options.labels is None and _is_libsvm(path):
        return ChunkedTable.from_libsvm(path, **chosen)
    if path.suffix.lower() != ".csv":
        raise InputError(
            f"{path}: only files of Parquet, CSV (.csv), ARFF (.arff) and libsvm (without --labels) are read by columns, which "
            "--dask and --memory-limit need."
        )
    if options.labels is None:
        raise InputError(f"{path}: --labels is needed.")
    return ChunkedTable.from_csv(path, options.labels, **chosen)


def fit_large(table: "ChunkedTable", options: "SelectOptions", *, on_cluster: bool = False) -> Any:
    """The selector, fitted on the table."""
    selector = options.make_selector()
    if on_cluster and "backend" in selector.get_params(deep=False):
        selector.set_params(backend="dask")
    if not getattr(selector, "_takes_chunks", False):
        raise InputError(f"{options.criterion}: this method needs the whole table in memory; raise --memory-limit.")
    return selector.fit(table)


@contextmanager
def cluster(address: str | None) -> "Iterator[Any]":
    """A client of the Dask scheduler at ``address``; None without one."""
    if address is None:
        yield None
        return
    if find_spec("distributed") is None:
        raise InputError("--dask needs Dask: pip install 'labelsieve[dask]'")
    distributed = import_module("distributed")
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(f"--dask {address}: no scheduler answers there ({error}). Start one: dask scheduler") from error
    with client:
        yield client


def _is_libsvm(path: Path) -> bool:
    from labelsieve.datasets.readers.libsvm import LOOK, is_libsvm

    with path.open("rb") as file:
        return is_libsvm(file.read(LOOK))


def _is_parquet(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"
