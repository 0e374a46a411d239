from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.dataset import Dataset
from labelsieve.errors import InputError


@dataclass(frozen=True, eq=False)
class Description:
    r"""What papers say about a multi-label data set.

    Attributes
    ----------
    n_rows, n_features, n_labels : int
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
