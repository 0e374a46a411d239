"""Features and labels of a file of any format, with the options of a command line."""

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from labelsieve.datasets.catalog import catalog_entry
from labelsieve.datasets.dataset import Dataset
from labelsieve.datasets.fetch import fetch
from labelsieve.datasets.parquet_metadata import Note, read_note
from labelsieve.datasets.readers.load import load
from labelsieve.datasets.readers.tabular import CSV, PARQUET, LabeledTable, read_labeled_table
from labelsieve.errors import InputError


def read_any_file(path: str | os.PathLike[str], labels: str | None = None) -> LabeledTable:
    r"""Read CSV and Parquet with their text columns, and every other format through :func:`load`.

    ``labels`` is a count (``"6"``: the last six columns, ``"-6"``: the first six), names with commas between them, or a
    Mulan XML header; None where the file or an XML beside it says which they are. In place of a file, a name of the catalog
    will do.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "songs.arff")
    >>> _ = file.write_text("@relation 'songs: -C -1'\n@attribute tempo numeric\n@attribute calm {0,1}\n@data\n98,1\n160,0\n")
    >>> read_any_file(file).label_names
    ('calm',)
    """
    name = Path(path).name.lower()
    note = _note(path) if name.endswith(PARQUET) else None
    told = (labels or "").endswith(".xml") or (note is not None and (labels is None or note.sparse))
    if name.endswith(CSV + PARQUET) and not told:
        if labels is None:
            raise InputError(f"{path}: which columns are labels? Give their number or names (--labels).")
        return read_labeled_table(path, labels)
    dataset = load_or_fetch(path, labels)
    return LabeledTable(dataset.X, dataset.Y, dataset.feature_names, dataset.label_names)


def _note(path: str | os.PathLike[str]) -> Note | None:
    """What labelsieve noted in the schema of a Parquet file; None where that cannot be read, which others will say."""
    if find_spec("pyarrow") is None:
        return None
    try:
        return read_note(import_module("pyarrow.parquet").read_schema(path).metadata)
    except (OSError, ValueError):
        return None


def load_or_fetch(path: str | os.PathLike[str], labels: Any = None, **options: Any) -> Dataset:
    """Load a file or, where there is none and its name is a plain word, fetch the data set of that name.

    ``labels`` are as they are typed, or as :func:`load` wants them; ``options`` are of both.

    >>> load_or_fetch("yeats")
    Traceback (most recent call last):
    labelsieve.datasets.dataset_error.DatasetError: there is no data set named 'yeats'. Close to it: 'yeast'. ...
    """
    chosen, word = label_option(labels) if isinstance(labels, str) else labels, os.fspath(path)
    if Path(path).exists() or Path(path).name != word or Path(path).suffix:
        loaded: Dataset = load(path, chosen, **options)
        return loaded
    entry = catalog_entry(word)
    told: dict[str, Any] = options if chosen is None else {**options, "labels": chosen}
    dataset: Dataset = fetch(entry.name, **told)
    return dataset


def label_option(labels: str | None) -> int | str | list[str] | None:
    """What is typed for labels, as :func:`load` wants it.

    >>> label_option("-6"), label_option("calm, sad"), label_option("songs.xml")
    (-6, ['calm', 'sad'], 'songs.xml')
    """
    if labels is None or labels.endswith(".xml"):
        return labels
    try:
        return int(labels)
    except ValueError:
        return [part.strip() for part in labels.split(",") if part.strip()]
