"""What to know about each column before selecting: missing cells, levels, constants, ids, duplicates; and targets."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.counting.nominal_levels import ID_LEVELS
from labelsieve.datasets.dataset import Dataset, Kind


@dataclass(frozen=True)
class ColumnDescription:
    """A feature.

    Attributes
    ----------
    name : str
    kind : {"numeric", "nominal"}
    n_levels : int
        Different values, without missing ones.
    n_missing : int
    constant : bool
        All cells are equal; a missing cell is not equal to another value.
    id_like : bool
        A nominal column with more than 20 levels, and more than half as many as rows; or a numeric one of more than 20 whole
        numbers, one for every row.
    duplicate_of : str or None
        The first column with the same cells.
    """

    name: str
    kind: Kind
    n_levels: int
    n_missing: int
    constant: bool
    id_like: bool
    duplicate_of: str | None


@dataclass(frozen=True)
class TargetDescription:
    """A target: a label of 0 and 1, one of several classes, or numeric.

    Attributes
    ----------
    name : str
    kind : {"label", "class", "numeric"}
    n_levels : int
        Different values, without missing ones.
    n_missing : int
    minimum, mean, maximum : float
        Of its numbers; NaN for classes.
    """

    name: str
    kind: Literal["label", "class", "numeric"]
    n_levels: int
    n_missing: int
    minimum: float
    mean: float
    maximum: float


def describe_columns(dataset: Dataset) -> list[ColumnDescription]:
    """Describe every feature of a data set.

    Cost: the values of each column are sorted once.

    Examples
    --------
    >>> X = np.array([[0.5, 1, 1], [np.nan, 1, 1], [2, 1, 1]])
    >>> data = Dataset(X, np.ones((3, 1), np.uint8), ("tempo", "loud", "copy"), ("y",), ("numeric",) * 3)
    >>> for column in describe_columns(data):
    ...     print(column.name, column.n_levels, column.n_missing, column.constant, column.duplicate_of)
    tempo 2 1 False None
    loud 1 0 True None
    copy 1 0 True loud
    """
    seen: dict[bytes, str] = {}
    found = []
    n_rows = dataset.n_rows
    for name, kind, (cells, rows) in zip(dataset.feature_names, dataset.feature_kinds, _columns(dataset.X), strict=True):
        missing = np.isnan(cells)
        present = cells[~missing]
        values = np.unique(present)
        n_levels = len(values) + int(len(cells) < n_rows)  # zeros that are not stored
        n_missing = int(np.count_nonzero(missing))
        whole = kind == "numeric" and n_levels == n_rows and bool((values == np.rint(values)).all())
        many = kind == "nominal" and 2 * n_levels > n_rows - n_missing
        content = hashlib.blake2b(np.where(missing, np.nan, cells + 0.0).tobytes() + rows.tobytes() + kind.encode()).digest()
        first = seen.setdefault(content, name)
        found.append(
            ColumnDescription(
                name=name,
                kind=kind,
                n_levels=n_levels,
                n_missing=n_missing,
                constant=n_levels + (n_missing > 0) <= 1,
                id_like=n_levels > ID_LEVELS and (whole or many),
                duplicate_of=None if first == name else first,
            )
        )
    return found


def describe_targets(dataset: Dataset) -> list[TargetDescription]:
    """Describe every target of a data set.

    Examples
    --------
    >>> data = Dataset(np.eye(3), np.array([[1.5], [2], [4]]), ("a", "b", "c"), ("yield",), ("numeric",) * 3)
    >>> [(target.kind, target.n_levels, target.mean) for target in describe_targets(data)]
    [('numeric', 3, 2.5)]
    """
    found = []
    for name, (stored, _) in zip(dataset.label_names, _columns(dataset.Y), strict=True):
        n_missing = int(np.count_nonzero(np.isnan(stored)))
        present = stored[~np.isnan(stored)]
        n_zeros = dataset.n_rows - len(stored)
        values = np.unique(np.append(present, 0.0) if n_zeros else present)
        is_class = name in dataset.label_categories
        label = not is_class and bool(np.isin(values, (0.0, 1.0)).all())
        low, high = (float("nan"),) * 2 if is_class or not len(values) else (float(values[0]), float(values[-1]))
        mean = float("nan") if is_class or not len(values) else float(present.sum() / (len(present) + n_zeros))
        found.append(
            TargetDescription(
                name, "class" if is_class else "label" if label else "numeric", len(values), n_missing, low, mean, high
            )
        )
    return found


def _columns(table: object) -> Iterator[tuple[NDArray[np.float64], NDArray[Any]]]:
    """The stored cells of every column and, of a sparse table, their rows."""
    if not sparse.issparse(table):
        for column in np.asarray(table).T:
            yield column.astype(np.float64), np.empty(0, np.int32)
        return
    columns = sparse.csc_array(table, dtype=np.float64, copy=True)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    for start, end in zip(columns.indptr[:-1], columns.indptr[1:], strict=True):
        yield columns.data[start:end], columns.indices[start:end].astype(np.int32)
