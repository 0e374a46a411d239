"""Graphs of nearest neighbors and their Laplacian matrices."""

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph

from labelsieve.table_types import Matrix


def neighbor_graph(rows: Matrix, n_neighbors: int, *, binary: bool = False, metric: str = "euclidean") -> sp.csr_array:
    r"""Symmetric weights of rows of which one is among the nearest of the other.

    Weights are 1 for both directions and 1/2 for one (``binary``), or :math:`\exp(-\left\|x_i - x_j\right\|^2 / w^2)`, w being
    the mean distance of neighbors. There are at most as many neighbors as other rows. With the metric
    ``"precomputed"``, ``rows`` are distances.

    >>> neighbor_graph(np.array([[0.0], [1.0], [3.0]]), 1, binary=True).toarray()
    array([[0. , 1. , 0. ],
           [1. , 0. , 0.5],
           [0. , 0.5, 0. ]])
    """
    n_rows = rows.shape[0]
    n_neighbors = min(n_neighbors, n_rows - 1)
    if n_neighbors < 1:
        return sp.csr_array((n_rows, n_rows))
    mode = "connectivity" if binary else "distance"
    graph = sp.csr_array(kneighbors_graph(rows, n_neighbors, mode=mode, metric=metric))
    if binary:
        return sp.csr_array((graph + graph.T) / 2)
    scale = float(graph.data.mean())
    graph.data = np.exp(-((graph.data / scale) ** 2)) if scale > 0 else np.ones_like(graph.data)
    return sp.csr_array(graph.maximum(graph.T))


def laplacian(graph: sp.csr_array) -> sp.csr_array:
    """The diagonal matrix of the degrees minus the weights.

    >>> laplacian(sp.csr_array(np.array([[0.0, 2], [2, 0]]))).toarray()
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    return sp.csr_array(sp.diags_array(np.asarray(graph.sum(axis=1)).ravel()) - graph)
