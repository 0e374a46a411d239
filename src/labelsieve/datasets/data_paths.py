"""Where the files of a data set of the catalog are: in a folder of the user's, in the cache, or not here."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from labelsieve.datasets.catalog import PACKED, CatalogEntry, checksums, unpacked_name
from labelsieve.datasets.dataset_error import DatasetError
from labelsieve.datasets.readers.file_bytes import read_bytes

FOLDER, CACHE = "LABELSIEVE_DATA", "LABELSIEVE_CACHE"


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path | None:
    """``data_home``, else the folder that $LABELSIEVE_DATA names, else None."""
    named = data_home if data_home is not None else os.environ.get(FOLDER)
    return Path(named).expanduser() if named else None


def cache_folder() -> Path:
    """The folder that $LABELSIEVE_CACHE names, else the cache folder of the system."""
    if named := os.environ.get(CACHE):
        return Path(named).expanduser()
    import pooch

    return Path(pooch.os_cache("labelsieve"))


def find_file(entry: CatalogEntry, file: str, folder: Path) -> Iterator[Path]:
    """The file, packed or not, in ``folder/NAME`` and in ``folder`` itself."""
    plain = unpacked_name(file)
    for directory in (folder / entry.name, folder):
        yield from (path for packing in ("", *PACKED) if (path := directory / f"{plain}{packing}").is_file())


def where(entry: CatalogEntry, data_home: str | os.PathLike[str] | None = None) -> Literal["folder", "cache", ""]:
    """Where all files of a data set are; empty if some are missing. Nothing is read, so damage is not seen."""
    folder, cache = data_folder(data_home), cache_folder()
    missing = [file for file in entry.needed() if folder is None or not any(find_file(entry, file, folder))]
    if not missing:
        return "folder"
    return "cache" if all(any(find_file(entry, file, cache)) for file in missing) else ""


def is_sound(entry: CatalogEntry, path: Path) -> bool:
    """Whether the unpacked content of a file has the checksum that the catalog has for it. Reads the whole file."""
    try:
        digest = hashlib.sha256(read_bytes(path)).hexdigest()
    except DatasetError:  # a damaged archive
        return False
    return digest == checksums()[f"{entry.name}/{unpacked_name(path.name)}"]
