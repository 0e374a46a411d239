"""Clusters of labelsets around medoids."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.resources import n_threads
from labelsieve.counting.target_table import TargetTable

MAX_ROWS = 2500  # points of the search of medoids

Weights = NDArray[np.float64] | None
Groups = Sequence[tuple[NDArray[np.int64], int]]


def medoid_clusters(
    targets: TargetTable,
    groups: Groups,
    weights: Weights,
    *,
    max_rows: int = MAX_ROWS,
    seeds: NDArray[np.uint64] | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.uint16]:
    r"""The cluster of every row in every group of targets, by k-medoids; shape (number of rows, number of groups).

    The distance is the Hamming distance for classes and the Euclidean distance of standardized values for numeric targets; in a
    group of both it is the root of Hamming plus squared Euclidean. Clusters minimize the sum of the distances of the rows to
    the nearest of ``k`` labelsets, the medoids. The search starts with the greedy choice of one medoid after the other (BUILD,
    Kaufman and Rousseeuw 1990), and exchanges a medoid for another labelset as long as that lowers the sum (FasterPAM, Schubert
    and Rousseeuw 2021). Ties go to the first labelset in ascending order, so neither the order of the rows nor the number of
    threads matters. With no more labelsets than clusters, each labelset is a cluster. Clusters are numbered by ascending
    medoids.

    Distinct labelsets are the points of the search, weighted by their number of rows. If there are more than ``max_rows``,
    the points are the labelsets of a random sample of that many rows, drawn without replacement, or by weight if the
    weights are not whole numbers. Among more than 1,280 labelsets of classes, two rounds of exchanges try a few hundred as
    medoids: those with the smallest summed distance to all rows and 64 random ones, then those with the smallest summed
    distance within each cluster. After a sample and after each round, medoids move to the best labelset of their cluster among
    all rows as long as that lowers the sum. Only the two samples depend on ``seeds``.

    Parameters
    ----------
    targets : TargetTable
    groups : sequence of (ndarray of int, int)
        The columns, ascending, and the number of clusters of each group.
    weights : ndarray of float or None
        Sample weights.
    max_rows : int, default=2500
        The largest number of points of a search.
    seeds : ndarray of uint64, default=None
        A seed for each group; None: zeros.
    n_jobs : int, default=None
        Number of threads for the groups.

    Notes
    -----
    Cost of a group with ``m`` distinct labelsets: ``m`` look-ups, and Hamming distances of up to ``max_rows`` points to at most
    1,280 others, 64 labels in one operation. A group with numeric targets, with more than 16 clusters, or with labelsets of
    more than 1,023 labels takes ``max_rows**2`` distances of 8 bytes, 50 MB by default.
    """
    categories = bool((targets.classes.levels[~targets.is_numeric] > 2).any())
    bits, first_bit = _bits(targets, categories)
    number_column = np.cumsum(targets.is_numeric) - 1
    of_bits, of_numbers = [], []
    for columns, _ in groups:
        real = targets.is_numeric[columns]
        of_numbers.append(number_column[columns[real]])
        columns = columns[~real]
        of_bits.append(
            np.concatenate([np.arange(first_bit[c], first_bit[c + 1]) for c in columns] or [columns])
            if categories
            else first_bit[columns]
        )
    clusters = np.empty((targets.n_rows, len(groups)), dtype=np.uint16, order="F")
    core.cluster_labelsets(
        bits,
        _standardized(targets.numbers, weights),
        None if weights is None else np.ascontiguousarray(weights, dtype=np.float64),
        *_as_lists(of_bits),
        *_as_lists(of_numbers),
        np.array([n_clusters for _, n_clusters in groups], dtype=np.uint32),
        max_rows,
        0.5 if categories else 1.0,
        np.zeros(len(groups), dtype=np.uint64) if seeds is None else seeds,
        n_threads(n_jobs),
        clusters,
    )
    return clusters


def _bits(targets: TargetTable, categories: bool) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Rows of bits, the first in the highest place, and the first bit of each target.

    One bit for each label; with ``categories``, one for each class of all targets, so that different classes differ in two.
    """
    codes = targets.classes.to_dense()
    n_bits = np.where(targets.is_numeric, 0, targets.classes.levels.astype(np.int64) if categories else 1)
    first = np.concatenate([[0], np.cumsum(n_bits)])
    is_set = codes[:, ~targets.is_numeric] if targets.is_numeric.any() else codes
    if categories:
        columns = np.repeat(np.arange(targets.n_columns), n_bits)
        is_set = codes[:, columns] == np.arange(first[-1]) - first[columns]
    n_words = -(-is_set.shape[1] // 64)
    packed = np.zeros((targets.n_rows, 8 * n_words), dtype=np.uint8)
    packed[:, : -(-is_set.shape[1] // 8)] = np.packbits(is_set.astype(bool, copy=False), axis=1)
    return packed.view(">u8").astype(np.uint64).reshape(targets.n_rows, n_words), first


def _standardized(numbers: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    if numbers.shape[1] == 0:
        return np.asfortranarray(numbers)
    centered = numbers - np.average(numbers, axis=0, weights=weights)
    spread = np.sqrt(np.average(centered**2, axis=0, weights=weights))
    return np.asfortranarray(np.divide(centered, spread, out=np.zeros_like(centered), where=spread > 0) + 0.0)


def _as_lists(lists: list[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    starts = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    return starts, np.concatenate([*lists, np.zeros(0, dtype=np.int64)]).astype(np.uint32)
