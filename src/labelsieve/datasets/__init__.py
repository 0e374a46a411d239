from labelsieve.datasets.synthetic import KnownAnswer, make_known_answer
from labelsieve.datasets.tabular import LabelledTable, read_labelled_table

__all__ = ["KnownAnswer", "LabelledTable", "make_known_answer", "read_labelled_table"]
