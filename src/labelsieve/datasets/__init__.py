"""Data sets: files, frames and names of published sets come in, a :class:`Dataset` or a :class:`ChunkedTable` goes out.

Start reading in ``readers/load.py`` (:func:`load`) or, for tables that do not fit into memory, in ``chunked_table.py``. The
module ``splits`` separates training from test rows.
"""

from labelsieve.datasets.chunked_table import ChunkedTable
from labelsieve.datasets.dataset import Dataset, to_numbers
from labelsieve.datasets.describe import (
    ColumnDescription,
    Description,
    TargetDescription,
    describe,
    describe_columns,
    describe_targets,
)
from labelsieve.datasets.fetch import CatalogEntry, catalog, fetch, load_or_fetch, load_tecator
from labelsieve.datasets.readers.load import load
from labelsieve.datasets.synthetic import ExtremeLabels, Role, SyntheticData, make_extreme, make_feature_roles
from labelsieve.errors import DatasetError, DatasetWarning

__all__ = [
    "CatalogEntry",
    "ChunkedTable",
    "ColumnDescription",
    "Dataset",
    "DatasetError",
    "DatasetWarning",
    "Description",
    "ExtremeLabels",
    "Role",
    "SyntheticData",
    "TargetDescription",
    "catalog",
    "describe",
    "describe_columns",
    "describe_targets",
    "fetch",
    "load",
    "load_or_fetch",
    "load_tecator",
    "make_extreme",
    "make_feature_roles",
    "to_numbers",
]
