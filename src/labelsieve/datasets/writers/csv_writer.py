"""CSV with a header row: features first, then labels."""

import csv
import io
from typing import BinaryIO

import numpy as np
from scipy import sparse

from labelsieve.datasets.dataset_error import DatasetError
from labelsieve.datasets.readers.text_columns import MISSING
from labelsieve.datasets.writers.arff_writer import BLOCK, number_texts
from labelsieve.datasets.writers.save_check import CheckedDataset


def write_csv(data: CheckedDataset, raw: BinaryIO) -> None:
    """Write all cells; those of nominal columns by their values. What would be read as something else is refused."""
    _refuse_what_reads_otherwise(data)
    text = io.TextIOWrapper(raw, encoding="utf-8", newline="", write_through=True)
    try:
        # Quotes at the start: whatever the first name is, the file looks like CSV and like no other format.
        csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow([column.name for column in data.columns])
        writer = csv.writer(text, lineterminator="\n")
        step = max(1, BLOCK // len(data.columns))
        for start in range(0, data.X.shape[0], step):
            parts = [cells[start : start + step] for cells in (data.X, data.Y)]
            cells = np.hstack([part.toarray() if sparse.issparse(part) else part for part in parts])
            texts = []
            for position, column in enumerate(data.columns):
                if column.values is None:
                    texts.append(number_texts(cells[:, position], ""))
                else:
                    codes = np.where(np.isnan(cells[:, position]), -1, cells[:, position]).astype(np.int64)
                    words = [*column.values, ""]
                    texts.append([words[code] for code in codes.tolist()])
            writer.writerows(zip(*texts, strict=True))
    finally:
        text.detach()


def _refuse_what_reads_otherwise(data: CheckedDataset) -> None:
    names = [column.name for column in data.columns]
    for name in names:
        if not name or name != name.strip() or any(mark in name for mark in "\r\n"):
            raise _refusal(f"the name {name!r} is empty, has blanks at an end or a line break", data)
    if len(names) - 1 < max("".join(names).count(mark) for mark in ";\t"):
        raise _refusal("the names have more semicolons or tabs than there are commas between them", data)
    for column in data.columns:
        for value in column.values or ():
            if value in MISSING or value != value.strip() or any(mark in value for mark in "\r\n"):
                raise _refusal(f"{column.name!r} has the value {value!r}, a word for missing or with blanks at an end", data)


def _refusal(problem: str, data: CheckedDataset) -> DatasetError:
    return DatasetError(f"{problem}, which CSV cannot keep.", file=data.file, remedy="Rename it, or save as ARFF or Parquet.")
