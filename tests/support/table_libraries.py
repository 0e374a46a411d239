"""Tests with only some of the libraries that parse tables."""

from importlib.util import find_spec

from labelsieve.datasets import dataset
from labelsieve.datasets.readers import csv as csv_table
from labelsieve.datasets.readers import parquet

LIBRARIES = ("pyarrow", "pandas", "polars")


def install_only(monkeypatch, *installed):
    """Hide the libraries that parse tables, other than ``installed``."""

    def found(package):
        return None if package in LIBRARIES and package not in installed else find_spec(package)

    for module in (csv_table, parquet, dataset):
        monkeypatch.setattr(module, "find_spec", found)
