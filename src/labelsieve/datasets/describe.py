"""Statistics of data sets, of their features and of their targets."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.dataset import Dataset, Kind
from labelsieve.errors import InputError
from labelsieve.tables.nominal import ID_LEVELS


@dataclass(frozen=True, eq=False)
class Description:
    r"""The statistics by which papers describe a multi-label data set.

    Attributes
    ----------
    n_rows, n_features, n_labels : int
        The size of the data set.
    cardinality, density : float
        Labels per row, and that as a fraction of all labels.
    n_distinct : int
        Distinct labelsets, the empty one included.
    x_density : float
        Fraction of the cells of X that are not 0; a missing value is not 0.
    imbalance : ndarray of float, shape (n_labels,)
        IRLbl: how many times more often the most frequent label occurs. Infinite for a label that never does.
    mean_imbalance : float
        MeanIR, over the labels that occur.
    imbalance_variation : float
        CVIR: the standard deviation (with :math:`q - 1`) of IRLbl as a fraction of its mean, over the labels that occur.
    scumble : float
        Charte et al. (2019): :math:`1 - \bar g_i / \bar a_i` averaged over the rows, where :math:`g_i` and :math:`a_i` are the
        geometric and the arithmetic mean of IRLbl of the row's labels; 0 for a row without labels. High when rare labels
        come along with frequent ones.
    """

    n_rows: int
    n_features: int
    n_labels: int
    cardinality: float
    density: float
    n_distinct: int
    x_density: float
    imbalance: NDArray[np.float64]
    mean_imbalance: float
    imbalance_variation: float
    scumble: float


def describe(dataset: Dataset) -> Description:
    """Measure a data set with labels of 0 and 1.

    Cost: one pass over the cells that are not 0.

    Examples
    --------
    >>> Y = np.array([[1, 1], [1, 0], [0, 0]], np.uint8)
    >>> found = describe(Dataset(np.eye(3), Y, ("a", "b", "c"), ("y", "z"), ("numeric",) * 3))
    >>> found.cardinality, found.n_distinct, found.imbalance
    (1.0, 3, array([1., 2.]))
    """
    if dataset.Y.dtype != np.uint8:
        name = dataset.name or "this data set"
        raise InputError(f"{name} has numeric targets or classes, and these are statistics of 0/1 labels.")
    n, d, q = dataset.shape
    Y = sparse.csr_array(dataset.Y)
    Y.eliminate_zeros()
    Y.sort_indices()
    counts = np.bincount(Y.indices, minlength=q).astype(np.float64)
    most = counts.max(initial=0)
    imbalance = np.divide(most, counts, out=np.full(q, np.inf), where=counts > 0)
    occurring = imbalance[counts > 0]
    mean = float(occurring.mean()) if len(occurring) else float("nan")
    deviation = float(occurring.std(ddof=1)) if len(occurring) > 1 else 0.0
    stored = dataset.X if isinstance(dataset.X, np.ndarray) else dataset.X.data
    rows = {Y.indices[start:end].tobytes() for start, end in zip(Y.indptr[:-1], Y.indptr[1:], strict=True)}
    return Description(
        n_rows=n,
        n_features=d,
        n_labels=q,
        cardinality=Y.nnz / n,
        density=Y.nnz / n / q,
        n_distinct=len(rows),
        x_density=np.count_nonzero(stored) / (n * d),
        imbalance=imbalance,
        mean_imbalance=mean,
        imbalance_variation=deviation / mean,
        scumble=_scumble(Y, imbalance),
    )


def _scumble(Y: sparse.csr_array, imbalance: NDArray[np.float64]) -> float:
    lengths = np.diff(Y.indptr)
    row = np.repeat(np.arange(len(lengths)), lengths)
    ratios = imbalance[Y.indices]
    labeled = lengths > 0
    many = lengths[labeled]
    arithmetic = np.bincount(row, ratios, minlength=len(lengths))[labeled] / many
    geometric = np.exp(np.bincount(row, np.log(ratios), minlength=len(lengths))[labeled] / many)
    return float((1 - geometric / arithmetic).sum() / len(lengths))


@dataclass(frozen=True)
class ColumnDescription:
    """Statistics of a feature: its kind, missing cells, distinct values, and whether it looks like an id or a copy.

    Attributes
    ----------
    name, kind : str, {"numeric", "nominal"}
        The name and kind of the feature.
    n_levels : int
        Different values, without missing ones.
    n_missing : int
        Number of missing cells.
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
    """What is in a target: a label of 0 and 1, one of several classes, or numeric.

    Attributes
    ----------
    name, kind : str, {"label", "class", "numeric"}
        The name and kind of the target.
    n_levels : int
        Different values, without missing ones.
    n_missing : int
        Number of missing cells.
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
    """Iterate over the stored cells of every column and, of a sparse table, their rows."""
    if not sparse.issparse(table):
        for column in np.asarray(table).T:
            yield column.astype(np.float64), np.empty(0, np.int32)
        return
    columns = sparse.csc_array(table, dtype=np.float64, copy=True)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    for start, end in zip(columns.indptr[:-1], columns.indptr[1:], strict=True):
        yield columns.data[start:end], columns.indices[start:end].astype(np.int32)
