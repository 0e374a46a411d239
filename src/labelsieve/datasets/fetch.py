"""Published data sets by their names: the catalog, and files in folders, in the package, in the cache or on the web."""

import csv
import difflib
import hashlib
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Unpack

from labelsieve.datasets.dataset import Dataset
from labelsieve.datasets.readers.files import read_pieces
from labelsieve.datasets.readers.labels import Labels
from labelsieve.datasets.readers.load import ReadOptions, load
from labelsieve.errors import DatasetError, one_of

PAPERS = {
    "sechidis2014": "Sechidis, Nikolaou, Brown 2014",
    "soheili": "Soheili, Eftekhari Moghadam",
    "pereira2015": "Pereira, Plastino, Zadrozny, Merschmann 2015",
    "sun2017": "Sun, Kudo 2017",
    "sechidis2019": "Sechidis and others 2019",
}
PACKED = (".gz", ".bz2", ".xz", ".zst")
FOLDER, CACHE = "LABELSIEVE_DATA", "LABELSIEVE_CACHE"
BUNDLED = Path(str(files("labelsieve.datasets")))
TIMEOUT = 30  # seconds without an answer


def fetch(
    name: str,
    *,
    part: Literal["train", "test", "train+test"] | None = None,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
    labels: Labels | None = None,
    return_X_y: bool = False,
    **options: Unpack[ReadOptions],
) -> Any:
    r"""Load a data set of the papers by its name.

    Each of its files is looked for in ``data_home`` or the folder that the variable ``LABELSIEVE_DATA`` names (there in a
    folder of the data set's name, or directly; compressed or not), in the package, then in the cache (the folder in
    ``LABELSIEVE_CACHE``, else the system's), and downloaded into the cache if it is in none of them. What is in the cache
    must have the checksum of the catalog; your own files are taken as they are.

    Cost: that of :func:`load`. The checksum of a file in the cache is computed once, by reading it; afterwards it is known as
    long as the size and the time of the last change of the file stay the same.

    Parameters
    ----------
    name : str
        See ``labelsieve datasets list`` or :func:`catalog`.
    part : {"train", "test", "train+test"}, default=None
        Only the rows of that part, where it was published, or those of both, the training rows first; by default all rows, in
        the order of the whole file, which may differ.
    data_home : path, default=None
        A folder to look in first, instead of ``LABELSIEVE_DATA``.
    download : bool, default=True
        False never uses the network.
    labels, return_X_y, **options
        As for :func:`load`; by default the labels of the catalog.

    Returns
    -------
    Dataset

    Raises
    ------
    DatasetError
        For an unknown name, and if a file is neither found nor can be downloaded; the message says where to put which file.

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
    if labels is None and entry.given != "file":
        labels = paths[-1] if entry.given == "header" else entry.labels
    dataset = load(paths[:-1] if entry.header else paths, labels, name=entry.name, **options)
    return (dataset.X, dataset.Y) if return_X_y else dataset


def load_or_fetch(path: str | os.PathLike[str], labels: Labels | None = None, **options: Unpack[ReadOptions]) -> Dataset:
    """Load a file or, where there is none and ``path`` is a plain word, fetch the data set of that name.

    This is what the commands do with a file; ``options`` are those of :func:`load`.

    >>> load_or_fetch("yeats")
    Traceback (most recent call last):
    labelsieve.errors.DatasetError: there is no data set named 'yeats'. Close to it: 'yeast'. ...
    """
    file, name = Path(path), os.fspath(path)
    if file.exists() or file.name != name or file.suffix:
        return load(path, labels, **options)
    fetched: Dataset = fetch(name, labels=labels, **options)
    return fetched


def load_tecator(*, return_X_y: bool = False) -> Any:
    """Load the Tecator data: near-infrared spectra of meat, and its contents of water, fat and protein.

    215 samples of finely chopped meat with 100 absorbances each, from 850 to 1050 nm, and three numeric targets in percent.
    Neighboring channels are nearly equal, so most features are redundant. The file is part of the package (68 kB);
    ``labelsieve select tecator`` reads it too.

    The data were recorded on a Tecator Infratec Food and Feed Analyzer. They are in the public domain and may be
    redistributed with the permission note of Tecator AB, which is the ``description`` of the data set; it asks to mention
    the instrument and the company in publications.

    Parameters
    ----------
    return_X_y : bool, default=False
        True returns the arrays ``X`` and ``Y`` instead.

    Returns
    -------
    Dataset

    References
    ----------
    Borggaard, C. and Thodberg, H. H. (1992). Optimal minimal neural interpretation of spectra. Analytical Chemistry
    64(5), 545-551.

    Examples
    --------
    >>> meat = load_tecator()
    >>> meat.shape, meat.label_names
    ((215, 100, 3), ('water', 'fat', 'protein'))
    >>> from labelsieve import Sieve
    >>> [meat.feature_names[column] for column in Sieve("jmi", n_features_to_select=3).fit(meat.X, meat.Y).selected_]
    ['absorbance_092', 'absorbance_002', 'absorbance_040']
    """
    return fetch("tecator", data_home=BUNDLED, download=False, return_X_y=return_X_y)


@dataclass(frozen=True)
class CatalogEntry:
    """An entry of the catalog: what is known about a data set.

    Attributes
    ----------
    name : str
        The name for :func:`fetch`.
    rows, features, labels : int
        The size of the data set.
    task : {"labels", "numbers"}
        Labels that are 0 or 1, or numeric targets.
    papers : tuple of str
        Who used it: short names of papers.
    files : tuple of str
        The files of all rows: one, or a train and a test part.
    given : {"header", "last", "file"}
        Where the labels are: named in the XML ``header``, in the last columns, or as the file itself says.
    header, train, test : str
        Further files; empty where there is none.
    origin : str
        The repository that the files came from.
    url : str
        The address of the folder of its files; empty where none is known.
    """

    name: str
    rows: int
    features: int
    labels: int
    task: Literal["labels", "numbers"]
    papers: tuple[str, ...]
    files: tuple[str, ...]
    given: Literal["header", "last", "file"]
    header: str
    train: str
    test: str
    origin: str
    url: str

    def needed(self, part: str | None = None) -> tuple[str, ...]:
        """List the data files of all rows, or of ``"train"``, ``"test"`` or ``"train+test"``; then the header, if any."""
        parts = {"train": self.train, "test": self.test}
        data = self.files if part is None else tuple(parts[name] for name in part.split("+"))
        if not all(data):
            raise DatasetError(f"{self.name} has no separate {part} part.", "Split it: see labelsieve.datasets.splits.")
        return data + ((self.header,) if self.header else ())


@cache
def catalog() -> Mapping[str, CatalogEntry]:
    """Return all data sets that :func:`labelsieve.datasets.fetch` knows, by name.

    >>> yeast = catalog()["yeast"]
    >>> yeast.rows, yeast.features, yeast.labels, yeast.files
    (2417, 103, 14, ('yeast.arff',))
    """
    entries = {}
    for row in csv.DictReader(_text("catalog.csv").splitlines()):
        facts: dict[str, Any] = {key: int(row[key]) for key in ("rows", "features", "labels")}
        facts |= {key: tuple(row[key].split()) for key in ("papers", "files")}
        entries[row["name"]] = CatalogEntry(**{**row, **facts})
    return MappingProxyType(entries)


def catalog_entry(name: str) -> CatalogEntry:
    """Find the data set of this name, in upper or lower case.

    >>> catalog_entry("cal500").name
    'CAL500'
    >>> catalog_entry("yeats")
    Traceback (most recent call last):
    labelsieve.errors.DatasetError: there is no data set named 'yeats'. Close to it: 'yeast'. ...
    """
    known = {entry.lower(): entry for entry in catalog()}
    if name.lower() in known:
        return catalog()[known[name.lower()]]
    near = [known[match] for match in difflib.get_close_matches(name.lower(), known, n=3, cutoff=0.6)]
    close = f" Close to it: {', '.join(map(repr, near))}." if near else ""
    raise DatasetError(
        f"there is no data set named {name!r}.{close}",
        "`labelsieve datasets list` shows all of them. Is the path of a file of your own right?",
    )


def where(entry: CatalogEntry, data_home: str | os.PathLike[str] | None = None) -> Literal["folder", "package", "cache", ""]:
    """Say where all files of a data set are; empty if some are missing. Nothing is read, so damage is not seen."""
    missing = set(entry.needed())
    folders: dict[Literal["folder", "package", "cache"], Path | None]
    folders = {"folder": data_folder(data_home), "package": BUNDLED, "cache": cache_folder()}
    for name, folder in folders.items():
        missing -= {file for file in missing if folder is not None and any(find_file(entry, file, folder))}
        if not missing:
            return name
    return ""


def _path(entry: CatalogEntry, file: str, folder: Path | None, download: bool) -> Path:
    if folder is not None and (found := next(find_file(entry, file, folder), None)):
        return found
    if bundled := next(find_file(entry, file, BUNDLED), None):
        return bundled
    cache = cache_folder()
    cached = list(find_file(entry, file, cache))
    if sound := next((path for path in cached if _is_verified(entry, path)), None):
        return sound
    damaged = ", and the one in the cache is damaged" if cached else ""
    if not download:
        raise _absent(entry, file, cache, f"is not here{damaged}")
    if not entry.url:
        raise _absent(entry, file, cache, f"is not here{damaged}, and no address to download it from is known")
    return _download(entry, file, cache)


def find_file(entry: CatalogEntry, file: str, folder: Path) -> Iterator[Path]:
    """Find the file, packed or not, in ``folder/NAME`` and in ``folder`` itself."""
    plain = unpacked_name(file)
    for directory in (folder / entry.name, folder):
        yield from (path for packing in ("", *PACKED) if (path := directory / f"{plain}{packing}").is_file())


def _is_verified(entry: CatalogEntry, path: Path) -> bool:
    """Return whether a file of the cache is sound; a small file next to it keeps the answer while the file does not change."""
    state = path.stat()
    mark = f"{_checksum(entry, path)} {state.st_size} {state.st_mtime_ns}\n"
    known = path.with_name(f"{path.name}.verified")
    try:
        if known.read_text(encoding="ascii", errors="replace") == mark:
            return True
    except OSError:  # not verified before
        pass
    if not is_sound(entry, path):
        return False
    with suppress(OSError):  # a cache that cannot be written to: the file is read again the next time
        known.write_text(mark, encoding="ascii")
    return True


def is_sound(entry: CatalogEntry, path: Path) -> bool:
    """Return whether the unpacked content of a file has the checksum of the catalog. Reads the whole file."""
    try:
        digest = hashlib.sha256()
        for piece in read_pieces(path):
            digest.update(piece)
    except DatasetError:  # a damaged archive
        return False
    return digest.hexdigest() == _checksum(entry, path)


def _checksum(entry: CatalogEntry, path: Path) -> str:
    return checksums()[f"{entry.name}/{unpacked_name(path.name)}"]


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
        f"Put it into {cache / entry.name}, or into a folder that data_home= or the variable {FOLDER} names. "
        f"It comes from {source}.",
        file,
    )


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path | None:
    """Return ``data_home``, else the folder that $LABELSIEVE_DATA names, else None."""
    named = data_home if data_home is not None else os.environ.get(FOLDER)
    return Path(named).expanduser() if named else None


def cache_folder() -> Path:
    """Return the folder that $LABELSIEVE_CACHE names, else the cache folder of the system."""
    if named := os.environ.get(CACHE):
        return Path(named).expanduser()
    import pooch

    return Path(pooch.os_cache("labelsieve"))


@cache
def checksums() -> Mapping[str, str]:
    """Return the sha256 of each file's unpacked content, by ``"name/file"``."""
    lines = (line.split() for line in _text("catalog.sha256").splitlines())
    return MappingProxyType({file: digest for digest, file in lines})


def unpacked_name(file: str) -> str:
    """Remove the ending of a packed file from its name.

    >>> unpacked_name("Imdb.arff.bz2")
    'Imdb.arff'
    """
    return next((file.removesuffix(packing) for packing in PACKED if file.endswith(packing)), file)


def _text(file: str) -> str:
    return files("labelsieve.datasets").joinpath(file).read_text(encoding="utf-8")
