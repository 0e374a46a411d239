from labelsieve.datasets.any_file import read_any_file
from labelsieve.datasets.catalogue import CatalogueEntry, catalogue
from labelsieve.datasets.dataset import Dataset
from labelsieve.datasets.errors import DatasetError
from labelsieve.datasets.fetch import fetch
from labelsieve.datasets.load import load
from labelsieve.datasets.save import save
from labelsieve.datasets.statistics import Description, describe
from labelsieve.datasets.synthetic import KnownAnswer, make_known_answer
from labelsieve.datasets.tabular import LabelledTable, read_labelled_table
from labelsieve.datasets.text_truth import TextTruth
from labelsieve.datasets.truth import Role, Truth, make_truth

__all__ = [
    "CatalogueEntry",
    "Dataset",
    "DatasetError",
    "Description",
    "KnownAnswer",
    "LabelledTable",
    "Role",
    "TextTruth",
    "Truth",
    "catalogue",
    "describe",
    "fetch",
    "load",
    "make_known_answer",
    "make_truth",
    "read_any_file",
    "read_labelled_table",
    "save",
]
