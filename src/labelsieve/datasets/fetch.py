"""Data sets by name: from a folder of the user's, from the cache, or from where the files are published."""

import logging
import os
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from labelsieve.datasets.catalog import CatalogEntry, catalog_entry, checksums, unpacked_name
from labelsieve.datasets.data_paths import FOLDER, cache_folder, data_folder, find_file, is_sound
from labelsieve.datasets.dataset import Dataset
from labelsieve.datasets.dataset_error import DatasetError
from labelsieve.datasets.readers.label_columns import Labels
from labelsieve.datasets.readers.load import load
from labelsieve.errors import one_of

TIMEOUT = 30  # seconds without an answer


def fetch(
    name: str,
    *,
    part: Literal["train", "test", "train+test"] | None = None,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
    **options: Any,
) -> Any:
    r"""Load a data set of the papers by its name.

    Each of its files is looked for in ``data_home`` or the folder that the variable ``LABELSIEVE_DATA`` names (there in a
    folder of the data set's name, or loose; packed or not), then in the cache (the folder in ``LABELSIEVE_CACHE``, else the
    system's), and downloaded into the cache if it is in neither. What is in the cache must have the checksum of the
    catalog; your own files are taken as they are.

    Cost: that of :func:`load`; files in the cache are read twice.

    Parameters
    ----------
    name : str
        See ``labelsieve datasets list`` or :func:`catalog`.
    part : {"train", "test", "train+test"}, optional
        Only the rows of that part, where it was published, or those of both, the training rows first; by default all rows in
        the order of the whole file, which may be another.
    data_home : path, optional
        A folder to look in first, instead of ``LABELSIEVE_DATA``.
    download : bool
        False never asks the network.
    **options
        For :func:`load`.

    Returns
    -------
    Dataset
        What :func:`load` returns.

    Raises
    ------
    DatasetError
        For an unknown name, and where a file is not here and cannot be had; the message says where to put which file.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> head = "@relation slump\n@attribute cement numeric\n@attribute slump numeric\n@attribute flow numeric\n"
    >>> _ = (folder / "slump.arff").write_text(head + "@attribute strength numeric\n@data\n273,23,62,34.99\n")
    >>> fetch("slump", data_home=folder).label_names
    ('slump', 'flow', 'strength')
    """
    entry = catalog_entry(name)
    if part is not None:
        one_of(part, "part", ("train", "test", "train+test"))
    paths = [_path(entry, file, data_folder(data_home), download) for file in entry.needed(part)]
    if entry.given != "file":
        options.setdefault("labels", paths[-1] if entry.given == "header" else entry.labels)
    data = paths[:-1] if entry.header else paths
    return load(data, name=entry.name, **options)


def load_or_fetch(path: str | os.PathLike[str], labels: Labels | None = None, **options: Any) -> Dataset:
    """Load a file or, where there is none and ``path`` is a plain word, fetch the data set of that name.

    This is what the commands do with a file; ``options`` are those of :func:`load`.

    >>> load_or_fetch("yeats")
    Traceback (most recent call last):
    labelsieve.datasets.dataset_error.DatasetError: there is no data set named 'yeats'. Close to it: 'yeast'. ...
    """
    file, name = Path(path), os.fspath(path)
    if file.exists() or file.name != name or file.suffix:
        loaded: Dataset = load(path, labels, **options)
        return loaded
    if labels is not None:
        options["labels"] = labels
    fetched: Dataset = fetch(catalog_entry(name).name, **options)
    return fetched


def _path(entry: CatalogEntry, file: str, folder: Path | None, download: bool) -> Path:
    if folder is not None and (own := next(find_file(entry, file, folder), None)):
        return own
    cache = cache_folder()
    cached = list(find_file(entry, file, cache))
    if sound := next((path for path in cached if is_sound(entry, path)), None):
        return sound
    damaged = ", and the one in the cache is damaged" if cached else ""
    if not download:
        raise _absent(entry, file, cache, f"is not here{damaged}")
    if not entry.url:
        raise _absent(entry, file, cache, f"is not here{damaged}, and no address to download it from is known")
    return _download(entry, file, cache)


def _download(entry: CatalogEntry, file: str, cache: Path) -> Path:
    pooch = import_module("pooch")
    target = cache / entry.name / file
    plain = unpacked_name(file)
    known = f"sha256:{checksums()[f'{entry.name}/{plain}']}" if file == plain else None  # known is that of the content
    if known is None:
        target.unlink(missing_ok=True)  # it was looked at, and is damaged
    log = pooch.get_logger()
    level, _ = log.level, log.setLevel(logging.WARNING)
    try:
        got = pooch.retrieve(
            entry.url + file, known, fname=file, path=target.parent, downloader=pooch.HTTPDownloader(timeout=TIMEOUT)
        )
    except (OSError, ValueError) as error:  # no connection, no such page, full disk; another checksum
        raise _absent(entry, file, cache, f"is not here and could not be downloaded ({_reason(error)})") from error
    finally:
        log.setLevel(level)
    if known is None and not is_sound(entry, Path(got)):
        Path(got).unlink()
        raise _absent(entry, file, cache, "is not here, and what was downloaded has another checksum")
    return Path(got)


def _reason(error: Exception) -> str:
    if not isinstance(error, OSError):
        return "its content has another checksum"
    return " ".join(str(error).split())[:200] if error.errno is not None else type(error).__name__


def _absent(entry: CatalogEntry, file: str, cache: Path, problem: str) -> DatasetError:
    source = f"{entry.url}{file}" if entry.url else entry.origin
    return DatasetError(
        f"{problem} (data set {entry.name!r}).",
        file=file,
        remedy=f"Put it into {cache / entry.name}, or into a folder that data_home= or the variable {FOLDER} names. "
        f"It comes from {source}.",
    )
