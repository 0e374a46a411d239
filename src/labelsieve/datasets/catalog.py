"""The data sets of the papers, by name: their sizes, who used them, their files, and where those can be had.

The facts are in ``catalog.csv``, one line for a data set, and the checksums of the files' content (unpacked) in
``catalog.sha256``. Both were taken from files that were loaded and counted. The addresses are those of the repositories
that these files came from; none was tried from here when the list was made. A checksum stands behind each of them, so what
is downloaded is either the same file or refused.
"""

import csv
import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

from labelsieve.errors import DatasetError

PAPERS = {
    "sechidis2014": "Sechidis, Nikolaou, Brown 2014",
    "soheili": "Soheili, Eftekhari Moghadam",
    "pereira2015": "Pereira, Plastino, Zadrozny, Merschmann 2015",
    "sun2017": "Sun, Kudo 2017",
    "sechidis2019": "Sechidis and others 2019",
}
PACKED = (".gz", ".bz2", ".xz", ".zst")


@dataclass(frozen=True)
class CatalogEntry:
    """What is known about a data set.

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
        """The data files of all rows, or of ``"train"``, ``"test"`` or ``"train+test"``; then the header, if there is one."""
        parts = {"train": self.train, "test": self.test}
        data = self.files if part is None else tuple(parts[name] for name in part.split("+"))
        if not all(data):
            raise DatasetError(f"{self.name} has no separate {part} part.", "Split it: see labelsieve.datasets.splits.")
        return data + ((self.header,) if self.header else ())


@cache
def catalog() -> Mapping[str, CatalogEntry]:
    """All data sets that :func:`labelsieve.datasets.fetch` knows, by name.

    >>> yeast = catalog()["yeast"]
    >>> yeast.rows, yeast.features, yeast.labels, yeast.files
    (2417, 103, 14, ('yeast.arff',))
    """
    entries = {}
    for row in csv.DictReader(_text("catalog.csv").splitlines()):
        facts = {key: int(row[key]) for key in ("rows", "features", "labels")}
        lists = {key: tuple(row[key].split()) for key in ("papers", "files")}
        entries[row["name"]] = CatalogEntry(**{**row, **facts, **lists})  # type: ignore[arg-type]
    return MappingProxyType(entries)


@cache
def checksums() -> Mapping[str, str]:
    """The sha256 of each file's unpacked content, by ``"name/file"``."""
    lines = (line.split() for line in _text("catalog.sha256").splitlines())
    return MappingProxyType({file: digest for digest, file in lines})


def catalog_entry(name: str) -> CatalogEntry:
    """The data set of this name, whatever its capitals.

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


def unpacked_name(file: str) -> str:
    """The name of a file without that of its packing.

    >>> unpacked_name("Imdb.arff.bz2")
    'Imdb.arff'
    """
    return next((file.removesuffix(packing) for packing in PACKED if file.endswith(packing)), file)


def _text(file: str) -> str:
    return files("labelsieve.datasets").joinpath(file).read_text(encoding="utf-8")
