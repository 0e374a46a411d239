"""The first principal components of the features, in three levels: a few variables in place of many features."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, svds

from labelsieve.counting.codes import Codes
from labelsieve.counting.cut_points import apply_cuts, cut_by_values
from labelsieve.counting.number_table import NumberTable, read_table
from labelsieve.counting.row_weights import quantize
from labelsieve.errors import InputError, whole_number
from labelsieve.table_types import TableLike, is_sparse

DENSE_SIDE, DENSE_CELLS = 256, 2**24  # up to here a full decomposition is cheap

Real = NDArray[np.float64]


def principal_components(X: TableLike, n_components: int = 1, *, weights: Real | None = None) -> Real:
    """Scores of the rows of ``X`` on its first principal components, shape ``(n_rows, n_components)``.

    Centered, not scaled. The sign is such that the largest loading is positive. ``weights`` are frequencies of rows. If there
    are fewer components than requested, there are fewer columns.

    Cost: a few dozen products of ``X`` with a vector for each component; sparse input stays sparse.

    >>> principal_components([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]]).round(6)
    array([[-2.],
           [ 0.],
           [ 2.]])
    """
    table = read_table(X)
    values: Any = table.sparse if table.dense is None else table.dense.astype(np.float64, copy=False)
    n_rows, n_columns = values.shape
    if not np.isfinite(values.data if table.dense is None else values).all():
        raise InputError("X has values that are not finite; fill them or drop their rows before principal components.")
    n_components = min(whole_number(n_components, "n_components", 1, 2**31), n_rows, n_columns)
    if not (values.max(axis=0) != values.min(axis=0)).sum():  # all columns are constant
        return np.zeros((n_rows, n_components))
    row_weights = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
    mean = np.asarray(values.T @ row_weights).ravel() / row_weights.sum()
    root = np.sqrt(row_weights)
    small = min(n_rows, n_columns) <= DENSE_SIDE and n_rows * n_columns <= DENSE_CELLS
    if small or n_components == min(n_rows, n_columns):
        dense = values.toarray() if is_sparse(values) else values
        centered = dense - mean
        if weights is not None:
            centered *= root[:, np.newaxis]
        _, _, loadings = np.linalg.svd(centered, full_matrices=False)
        loadings = loadings[:n_components]
    else:
        operator = LinearOperator(
            (n_rows, n_columns),
            matvec=lambda v: root * (values @ np.ravel(v) - mean @ np.ravel(v)),
            rmatvec=lambda u: values.T @ (root * np.ravel(u)) - mean * (root @ np.ravel(u)),
            dtype=np.float64,
        )
        # The default start vector is random; a constant one fails, since columns are centered.
        start = np.random.default_rng(0).normal(size=min(n_rows, n_columns))
        _, sizes, loadings = svds(operator, k=n_components, v0=start, return_singular_vectors="vh")
        loadings = loadings[np.argsort(-sizes)]
    largest = np.abs(loadings).argmax(axis=1)
    loadings = loadings * np.where(loadings[np.arange(len(loadings)), largest] < 0, -1.0, 1.0)[:, np.newaxis]
    scores: Real = np.asarray(values @ loadings.T) - mean @ loadings.T
    return scores


def three_levels(values: Real, *, factor: float = 1.0, weights: Real | None = None) -> Codes:
    r"""Codes of values below, within and above :math:`\mu \pm` ``factor`` :math:`\sigma` (Sun and Kudo 2017, section 7.1).

    Levels are closed on the left; :math:`\sigma` divides by N - 1. The authors' program has ``factor=0.5``.

    >>> three_levels(np.array([[0.0], [4.0], [5.0], [6.0], [10.0]])).column(0)
    array([0, 1, 1, 1, 2], dtype=uint16)
    """
    table = NumberTable(np.asfortranarray(values), None)
    rows = None if weights is None else quantize(np.asarray(weights, dtype=np.float64))
    return apply_cuts(table, cut_by_values(table, "mean-std", 3, factor=factor, weights=rows))
