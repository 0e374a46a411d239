"""Checks of a data set before it is written, so that it can be read again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labelsieve.datasets.dataset import Dataset
from labelsieve.datasets.readers.column_table import Column, check_names
from labelsieve.datasets.readers.target_columns import one_comes_first
from labelsieve.errors import DatasetError, some_of
from labelsieve.table_types import Matrix

EXACT = 2**53  # whole numbers up to this are floats too


@dataclass(frozen=True, eq=False)
class CheckedDataset:
    """A data set as it is written: cells in float64, X a csr_array or an ndarray, Y likewise; features first, then labels."""

    dataset: Dataset
    features: tuple[Column, ...]
    labels: tuple[Column, ...]
    X: Matrix
    Y: Matrix
    file: Path

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.features + self.labels

    @property
    def binary(self) -> bool:
        """True when every label is 0 or 1."""
        stored = self.Y if isinstance(self.Y, np.ndarray) else self.Y.data
        return not self.dataset.label_categories and bool(np.isin(stored, (0.0, 1.0)).all())


def check_dataset(dataset: Dataset, file: Path) -> CheckedDataset:
    """The data set in the form in which it is written; a DatasetError says what is wrong with it."""
    features = _columns(dataset.feature_names, dataset.categories, "feature", file)
    labels = _columns(dataset.label_names, dataset.label_categories, "label", file)
    check_names(features + labels, file)
    nominal = ["numeric" if column.values is None else "nominal" for column in features]
    if list(dataset.feature_kinds) != nominal:
        raise DatasetError("feature_kinds and categories do not agree.", "Nominal features have categories.", file)
    for column in labels:
        if column.values is not None and one_comes_first(column.values) is not None:
            raise DatasetError(f"label {column.name!r} has categories that mean no and yes.", "Give it as 0 and 1.", file)
    X, Y = _cells(dataset.X, features, "X", file), _cells(dataset.Y, labels, "Y", file)
    if X.shape[0] != Y.shape[0] or not X.shape[0]:
        raise DatasetError(f"X has {X.shape[0]} rows and Y has {Y.shape[0]}.", "Both need the same, not 0.", file)
    if np.isnan(Y if isinstance(Y, np.ndarray) else Y.data).any():
        raise DatasetError("a label is missing (NaN in Y).", "Fill it, or leave out the row.", file)
    return CheckedDataset(dataset, features, labels, X, Y, file)


def _columns(names: Sequence[str], categories: Mapping[str, tuple[str, ...]], what: str, file: Path) -> tuple[Column, ...]:
    if not names:
        raise DatasetError(f"there is no {what}.", file=file)
    if unknown := [name for name in categories if name not in set(names)]:
        raise DatasetError(f"there are categories of {some_of(unknown)}, which is no {what}.", file=file)
    for name, values in categories.items():
        if not values or len(set(values)) < len(values):
            raise DatasetError(f"{what} {name!r} has no categories, or one of them twice.", file=file)
    texts = [*names, *(value for values in categories.values() for value in values)]
    for text in texts:
        try:
            if "\0" in text:
                raise ValueError
            text.encode()
        except ValueError:
            raise DatasetError(f"{text!r} holds a NUL character or half of a surrogate pair.", "Rename it.", file) from None
    return tuple(Column(name, tuple(categories[name]) if name in categories else None) for name in names)


def _cells(values: Any, columns: tuple[Column, ...], what: str, file: Path) -> Matrix:
    scattered = sparse.issparse(values)
    values = values if scattered else np.asarray(values)
    if values.ndim != 2 or values.shape[1] != len(columns):
        raise DatasetError(f"{what} has the shape {values.shape}, and there are {len(columns)} names.", file=file)
    stored = values.data if scattered else values
    whole = values.dtype.kind in "biu" and (not stored.size or max(abs(int(stored.min())), abs(int(stored.max()))) <= EXACT)
    if not whole and values.dtype not in (np.float16, np.float32, np.float64):
        raise DatasetError(f"{what} holds {values.dtype} numbers that are no 64-bit floats.", "Convert it.", file)
    if scattered:
        values = sparse.csr_array(values, dtype=np.float64, copy=True)
        values.sum_duplicates()
        values.eliminate_zeros()
    else:
        values = values.astype(np.float64)
    checked: Matrix = values
    _check_codes(checked, columns, file)
    return checked


def _check_codes(values: Matrix, columns: tuple[Column, ...], file: Path) -> None:
    """Refuse cells of nominal columns that are no codes of its values."""
    many = np.array([0 if column.values is None else len(column.values) for column in columns])
    if not isinstance(values, np.ndarray):
        nominal = many[values.indices] > 0
        cells, positions = values.data[nominal], values.indices[nominal]
    else:
        rows = values[:, many > 0]
        cells, positions = rows.ravel(), np.tile(np.flatnonzero(many), len(rows))
    wrong = ~np.isnan(cells) & ((cells != np.rint(cells)) | (cells < 0) | (cells >= many[positions]))
    if wrong.any():
        column = columns[positions[np.flatnonzero(wrong)[0]]]
        raise DatasetError(
            f"{column.name!r} has {len(column.values or ())} categories, and a cell that is no code of them.",
            "Cells of nominal columns count from 0.",
            file,
        )
