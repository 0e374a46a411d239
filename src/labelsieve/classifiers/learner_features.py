"""Features and targets as learners need them: numbers without gaps, and a column for every class."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.counting.cut_points import require_finite
from labelsieve.counting.number_table import NumberTable, read_table
from labelsieve.counting.sparse_format import check_sparse
from labelsieve.counting.target_table import TargetTable
from labelsieve.errors import InputError, unknown_name
from labelsieve.table_types import TableLike, is_sparse

MAX_INDICATORS = 20  # columns of a nominal feature, for its most frequent levels
LARGEST_DENSE = 2**25  # cells of a sparse matrix that is made dense: most learners are much faster then

Real = NDArray[np.float64]
Scale = Literal["standard", "minmax"]
SCALES = ("standard", "minmax")
NONE = "none"  # None in files and on the command line


class LearnerFeatures:
    """Features as columns of numbers: a nominal feature has an indicator for each of its most frequent levels.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.0, 2.5, None], "color": ["red", "blue", "green"]})
    >>> LearnerFeatures(frame).columns([1, 0])
    (array([[0. , 0. , 1. , 1. ],
           [1. , 0. , 0. , 2.5],
           [0. , 1. , 0. , nan]]), array([3, 4]))
    """

    def __init__(self, X: TableLike) -> None:
        self._table: NumberTable = read_table(X, allow_missing=True)
        require_finite(self._table, allow_missing=True)
        self.n_features = self._table.shape[1]

    def columns(self, features: Sequence[int]) -> tuple[Real, NDArray[np.intp]]:
        """Columns of these features side by side, and their number up to every feature. Missing cells are NaN."""
        blocks = [self._columns_of(int(feature)) for feature in features]
        return np.column_stack(blocks), np.cumsum([block.shape[1] for block in blocks], dtype=np.intp)

    def everything(self) -> Any:
        """Columns of all features; a large sparse matrix stays sparse."""
        if self._table.dense is None:
            rows = self._table.sparse.tocsr().astype(np.float64)
            return rows.toarray() if rows.shape[0] * rows.shape[1] <= LARGEST_DENSE else rows
        if not self._table.nominal:
            return np.asarray(self._table.dense, dtype=np.float64)
        return self.columns(range(self.n_features))[0]

    @property
    def has_gaps(self) -> bool:
        """Whether some feature is nominal or has missing cells, so that methods that calculate refuse the table."""
        values = self._table.sparse.data if self._table.dense is None else self._table.dense
        return bool(self._table.nominal) or bool(np.isnan(values).any())

    def _columns_of(self, feature: int) -> Real:
        values = np.asarray(self._table.column(feature), dtype=np.float64)
        if feature not in self._table.nominal:
            return values[:, np.newaxis]
        levels, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        if len(levels) <= 2:  # the second level against the first
            return np.where(np.isnan(values), np.nan, values == levels[-1])[:, np.newaxis] if len(levels) else values[:, None]
        kept = np.sort(levels[np.argsort(-counts, kind="stable")[:MAX_INDICATORS]])
        indicators: Real = (values[:, np.newaxis] == kept).astype(np.float64)
        return indicators


def scaled_rows(scale: Scale | None, train: Any, test: Any) -> tuple[Any, Any]:
    """Training and test rows, scaled by the training rows; missing cells get their means.

    >>> scaled_rows("standard", np.array([[1.0], [3.0], [np.nan]]), np.array([[np.nan], [5.0]]))[1]
    array([[0.],
           [3.]])
    """
    train, test = scaled(scale, train, test)
    if is_sparse(train):
        for table in (train, test):
            table.data[np.isnan(table.data)] = 0.0
        return train, test
    known = ~np.isnan(train)
    means = np.where(known, train, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, train, means), np.where(np.isnan(test), means, test)


def learner_targets(targets: TargetTable) -> tuple[NDArray[Any], bool]:
    """Targets for learners, and whether they are numeric: numbers, or indicators of classes.

    A target of classes 0 and 1 is a column, any other has a column for each class; so has one that is the only target, because
    a ranking of a single label is always right.

    >>> from labelsieve.labelspace import read_targets
    >>> learner_targets(read_targets(["rock", "folk", "rock"]))
    (array([[0, 1],
           [1, 0],
           [0, 1]]), False)
    """
    if targets.is_numeric.all():
        return targets.numbers, True
    if targets.is_numeric.any():
        n_numeric = int(targets.is_numeric.sum())
        raise InputError(
            f"Predictions of all targets are evaluated by one measure, and {n_numeric} of {targets.n_columns} targets "
            "are numeric, the others classes; select for each kind by itself, or pass target_type."
        )
    columns = []
    for column in range(targets.n_columns):
        codes = targets.classes.column(column)
        classes = np.unique(codes)
        if targets.n_columns > 1 and set(classes.tolist()) <= {0, 1}:
            columns.append(codes[:, np.newaxis])
        else:
            columns.append(codes[:, np.newaxis] == classes)
    return np.column_stack(columns).astype(np.intp), False


def read_scale(given: object) -> Scale | None:
    """Validate the name of a scale; ``"none"`` is None.

    >>> read_scale("minmax"), read_scale("none")
    ('minmax', None)
    """
    if given is None or given == NONE:
        return None
    if not isinstance(given, str) or given not in SCALES:
        raise unknown_name("scale", given, (*SCALES, NONE))
    return given  # type: ignore[return-value]


def scaled(scale: Scale | None, train: Any, *others: Any) -> tuple[Any, ...]:
    """Scale tables by the columns of ``train``: its means and deviations, or its ranges.

    Parameters
    ----------
    scale : {"standard", "minmax", None}
        "standard": columns of ``train`` get mean 0 and variance 1. "minmax": they get the range from 0 to 1. A constant column
        is only shifted. None: tables are returned as they are.
    train, *others : array, data frame or sparse matrix
        Missing values stay missing.

    Returns
    -------
    tuple
        One table for each. Sparse tables stay sparse, so they are not shifted: "standard" divides by the deviations, which
        gives the same distances between rows, and "minmax" by the largest absolute values.

    Examples
    --------
    >>> scaled("minmax", np.array([[0.0], [4.0]]), np.array([[5.0]]))
    (array([[0.],
           [1.]]), array([[1.25]]))
    """
    if scale is None:
        return (train, *others)
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler  # loaded late: most uses need no scaler

    for table in (train, *others):
        check_sparse(table, "X")
    if sp.issparse(train):
        scaler = StandardScaler(with_mean=False) if scale == "standard" else MaxAbsScaler()
    else:
        scaler = StandardScaler() if scale == "standard" else MinMaxScaler()
    tables = [
        table.astype(np.float64) if sp.issparse(table) else np.asarray(table, dtype=np.float64) for table in (train, *others)
    ]
    scaler.fit(tables[0])
    return tuple(scaler.transform(table) for table in tables)
