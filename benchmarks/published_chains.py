"""What Sun and Kudo (2017) print in tables 3 to 6, for the data sets that are run here."""

from labelsieve.studies.published.occ_tables_printed import METHODS
from labelsieve.studies.published.occ_tables_printed import PUBLISHED as TABLES

MEASURES = tuple(TABLES)
DATASETS = ("emotions", "scene", "yeast", "birds", "genbase", "medical")


def published(name, method, measure):
    """The printed mean, or None where nothing is printed."""
    return TABLES[measure][name][METHODS.index(method)] if method in METHODS else None
