"""Scaling of features before a learner sees them, fitted on training rows only."""

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from labelsieve.counting.sparse_format import check_sparse
from labelsieve.names import unknown_name

Scale = Literal["standard", "minmax"]
SCALES = ("standard", "minmax")
NONE = "none"  # None in files and on the command line


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
