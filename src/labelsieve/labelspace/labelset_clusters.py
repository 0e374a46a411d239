"""Clusters of label rows around medoids."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.targets import TargetTable
from labelsieve.errors import InputError
from labelsieve.labelspace.base_space import Weights

MAX_ROWS = 2500  # that the medoids are looked for among: every row of the papers' data sets, and 25 MB of distances


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct rows of some targets in ascending order, so that the order of the data does not matter.

    Attributes
    ----------
    points : ndarray of float
        Coordinates with squared Euclidean distance = Hamming distance of the classes + that of the standardized numbers.
    only_classes : bool
        There are no numbers: the squared distance is the distance itself.
    counts : ndarray of float
        Rows, or sum of weights, of each.
    number : ndarray of int
        Of every row, which of the distinct ones it is.
    """

    points: NDArray[np.floating]
    only_classes: bool
    counts: NDArray[np.float64]
    number: NDArray[np.int64]

    def distances(self, some: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.floating]:
        """Hamming for classes, Euclidean for numbers, and the root of the sum of Hamming and squared Euclidean for both."""
        a, b = self.points[some], self.points[others]
        lengths = np.einsum("ij,ij->i", a, a)[:, np.newaxis] + np.einsum("ij,ij->i", b, b)
        squared: NDArray[np.floating] = np.maximum(lengths - 2 * (a @ b.T), 0)
        return squared if self.only_classes else np.sqrt(squared)


def distinct_rows(classes: NDArray[Any], targets: TargetTable, columns: NDArray[np.int64], weights: Weights) -> DistinctRows:
    r"""The distinct rows of some columns; ``classes`` are the targets' classes as an array, made once for many groups.

    Categories become one coordinate for each level, of length :math:`1/\sqrt2`, so that two that differ are 1 apart.
    """
    real = targets.is_number[columns]
    numbers = targets.numbers[:, (np.cumsum(targets.is_number) - 1)[columns[real]]]
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
    return DistinctRows(points, not real.any(), counts, number)


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


def medoid_clusters(rows: DistinctRows, n_clusters: int, rng: np.random.Generator, max_rows: int) -> NDArray[np.int64]:
    """The cluster of every row, by k-medoids; where there are no more distinct rows than clusters, each is one.

    FasterPAM (Schubert and Rousseeuw 2021) from the package ``kmedoids``, which knows no weights: distinct rows are repeated as
    often as they occur. With more than ``max_rows`` rows the medoids are looked for among a random sample of that many, drawn
    without replacement (by weight when weights are not whole), and every row goes to its nearest medoid. Cost:
    ``max_rows**2`` distances.
    """
    n_distinct = len(rows.counts)
    if n_distinct <= n_clusters:
        return rows.number
    times = _sample(rows.counts, rng, max_rows)
    drawn = np.flatnonzero(times)
    seed = int(rng.integers(2**31))
    if len(drawn) <= n_clusters:
        medoids = drawn
    else:
        distances = rows.distances(drawn, drawn)
        repeated = np.repeat(np.arange(len(drawn)), times[drawn])
        if len(repeated) > len(drawn):
            distances = distances[np.ix_(repeated, repeated)]
        found = _package().fasterpam(np.ascontiguousarray(distances), n_clusters, random_state=seed, n_cpu=1)
        medoids = np.sort(drawn[repeated[found.medoids.astype(np.int64)]])
    clusters = np.empty(n_distinct, dtype=np.int64)
    for start in range(0, n_distinct, 8192):  # a slice of the distances at a time
        some = np.arange(start, min(n_distinct, start + 8192))
        clusters[some] = rows.distances(some, medoids).argmin(axis=1)
    return clusters[rows.number]


def _sample(counts: NDArray[np.float64], rng: np.random.Generator, max_rows: int) -> NDArray[np.int64]:
    """How often each distinct row is taken: as often as it occurs, or as a random sample of the rows has it."""
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
