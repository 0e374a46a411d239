"""Clusters of labelsets around medoids."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.target_table import TargetTable
from labelsieve.errors import InputError
from labelsieve.labelspace.base_space import Weights

MAX_ROWS = 2500  # in the search of medoids: all rows of the papers' data sets, and 25 MB of distances


@dataclass(frozen=True, eq=False)
class DistinctLabelsets:
    """Distinct labelsets of some targets in ascending order, so that the order of the rows does not matter.

    Attributes
    ----------
    points : ndarray of float
        Coordinates with squared Euclidean distance = Hamming distance of the classes + that of the standardized numbers.
    only_classes : bool
        No target is numeric: then the squared distance is used as the distance.
    counts : ndarray of float
        Number of rows, or sum of weights, of each labelset.
    number : ndarray of int
        Index of the labelset of every row.
    """

    points: NDArray[np.floating]
    only_classes: bool
    counts: NDArray[np.float64]
    number: NDArray[np.int64]

    def distances(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.floating]:
        """Hamming for classes, Euclidean for numbers, and the root of the sum of Hamming and squared Euclidean for both."""
        a, b = self.points[first], self.points[second]
        lengths = np.einsum("ij,ij->i", a, a)[:, np.newaxis] + np.einsum("ij,ij->i", b, b)
        squared: NDArray[np.floating] = np.maximum(lengths - 2 * (a @ b.T), 0)
        return squared if self.only_classes else np.sqrt(squared)


def distinct_labelsets(
    classes: NDArray[np.integer], targets: TargetTable, columns: NDArray[np.int64], weights: Weights
) -> DistinctLabelsets:
    r"""The distinct labelsets of some columns; ``classes`` are the targets' classes as an array, shared by many groups.

    Categories become one coordinate for each level, of length :math:`1/\sqrt2`, so that different ones have distance 1.
    """
    real = targets.is_numeric[columns]
    numbers = targets.numbers[:, (np.cumsum(targets.is_numeric) - 1)[columns[real]]]
    levels = targets.classes.levels[columns[~real]]
    if not real.any() and (levels <= 2).all():
        packed = np.ascontiguousarray(np.packbits(classes[:, columns].astype(bool), axis=1))
        rows = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first, number = np.unique(rows, return_index=True, return_inverse=True)
        points: NDArray[np.floating] = classes[first][:, columns].astype(np.float32)  # whole numbers: exact
    else:
        table = np.column_stack([classes[:, columns[~real]], numbers])
        distinct, number = np.unique(table, axis=0, return_inverse=True)
        number = number.reshape(-1)
        points = _coordinates(distinct, levels, _counts(number, weights))
    counts = _counts(number, weights)
    return DistinctLabelsets(points, not real.any(), counts, number)


def _counts(number: NDArray[np.int64], weights: Weights) -> NDArray[np.float64]:
    return np.bincount(number, weights=weights).astype(np.float64)


def _coordinates(
    distinct: NDArray[np.float64], levels: NDArray[np.uint32], counts: NDArray[np.float64]
) -> NDArray[np.floating]:
    columns: list[NDArray[np.float64]] = []
    for values, n_levels in zip(distinct.T, levels, strict=False):  # the classes come first
        columns += [(values == level) * 0.5**0.5 for level in range(n_levels)]
    for values in distinct.T[len(levels) :]:
        mean = np.average(values, weights=counts)
        spread = np.sqrt(np.average((values - mean) ** 2, weights=counts))
        columns.append((values - mean) / spread if spread > 0 else np.zeros(len(values)))
    return np.column_stack(columns)


def medoid_clusters(
    labelsets: DistinctLabelsets, n_clusters: int, rng: np.random.Generator, max_rows: int
) -> NDArray[np.int64]:
    """The cluster of every row, by k-medoids; with no more labelsets than clusters, each labelset is a cluster.

    FasterPAM (Schubert and Rousseeuw 2021) from the package ``kmedoids``, which has no weights: labelsets are repeated as often
    as they occur. With more than ``max_rows`` rows the medoids are searched in a random sample of that many rows, drawn without
    replacement (by weight if weights are not whole numbers), and every row goes to its nearest medoid. Cost: ``max_rows**2``
    distances.
    """
    n_distinct = len(labelsets.counts)
    if n_distinct <= n_clusters:
        return labelsets.number
    times = _sample(labelsets.counts, rng, max_rows)
    drawn = np.flatnonzero(times)
    seed = int(rng.integers(2**31))
    if len(drawn) <= n_clusters:
        medoids = drawn
    else:
        distances = labelsets.distances(drawn, drawn)
        repeated = np.repeat(np.arange(len(drawn)), times[drawn])
        if len(repeated) > len(drawn):
            distances = distances[np.ix_(repeated, repeated)]
        found = _package().fasterpam(np.ascontiguousarray(distances), n_clusters, random_state=seed, n_cpu=1)
        medoids = np.sort(drawn[repeated[found.medoids.astype(np.int64)]])
    clusters = np.empty(n_distinct, dtype=np.int64)
    for start in range(0, n_distinct, 8192):  # a slice of the distances at a time
        block = np.arange(start, min(n_distinct, start + 8192))
        clusters[block] = labelsets.distances(block, medoids).argmin(axis=1)
    return clusters[labelsets.number]


def _sample(counts: NDArray[np.float64], rng: np.random.Generator, max_rows: int) -> NDArray[np.int64]:
    """The number of rows of each labelset, in all rows or in a random sample of them."""
    whole = bool(np.all(counts == np.floor(counts)))
    if whole and counts.sum() <= max_rows:
        return counts.astype(np.int64)
    if whole and counts.sum() < 10**9:
        return rng.multivariate_hypergeometric(counts.astype(np.int64), max_rows, method="marginals")
    return rng.multinomial(max_rows, counts / counts.sum())


def _package() -> Any:
    try:
        import kmedoids
    except ImportError:
        raise InputError("Groups of targets are clustered with the package kmedoids: pip install labelsieve[group].") from None
    return kmedoids
