from labelsieve.datasets.catalog import CatalogEntry, catalog
from labelsieve.datasets.chunked_table import ChunkedTable
from labelsieve.datasets.dataset import Dataset
from labelsieve.datasets.describe import (
    ColumnDescription,
    Description,
    TargetDescription,
    describe,
    describe_columns,
    describe_targets,
)
from labelsieve.datasets.fetch import fetch, load_or_fetch, load_tecator
from labelsieve.datasets.frame_numbers import to_numbers
from labelsieve.datasets.readers.load import load
from labelsieve.datasets.synthetic.extreme_labels import ExtremeLabels, make_extreme
from labelsieve.datasets.synthetic.feature_roles import Role, SyntheticData, make_feature_roles
from labelsieve.datasets.synthetic.sparse_text import SyntheticText
from labelsieve.datasets.writers.save import save
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
    "SyntheticText",
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
    "save",
    "to_numbers",
]
