"""Balanced k-means of labels: clusters of about equal size, of labels that co-occur."""

from heapq import heappush, heapreplace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.classifiers.weight_routing import Weights

ROUNDS = 10  # of assignment and update; few nodes need more


def balanced_clusters(
    labels: sp.csr_matrix, n_clusters: int, rng: np.random.Generator, weights: Weights = None
) -> list[NDArray[np.intp]]:
    r"""Columns of ``labels`` in ``k`` clusters (``n_clusters``) or fewer, each of :math:`\lceil q / k \rceil` labels at most.

    Balanced k-means [Tsoumakas, Katakis and Vlahavas 2008] by Euclidean distances of the columns, starting from random ones. A
    label goes to its nearest center; if that cluster is full, its farthest label moves on to its next nearest center, until all
    labels are assigned. Clusters and their members are in ascending order. ``weights`` are frequencies of the rows in the
    distances.

    Cost: ten rounds of ``n_clusters`` passes over the non-zeros, and ``n_rows * n_clusters`` numbers.

    >>> Y = sp.csr_matrix([[1, 0, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1]])
    >>> [cluster.tolist() for cluster in balanced_clusters(Y, 2, np.random.default_rng(0))]
    [[0, 2], [1, 3]]
    """
    vectors = sp.csr_matrix(labels.T).astype(np.float64)
    n_labels = vectors.shape[0]
    if n_labels <= n_clusters:
        return [np.array([label]) for label in range(n_labels)]
    capacity = -(-n_labels // n_clusters)
    centers = vectors[np.sort(rng.choice(n_labels, n_clusters, replace=False))].toarray()
    # Squared lengths, since the vectors hold 0 and 1.
    lengths = np.asarray(vectors.sum(axis=1)) if weights is None else (vectors @ weights)[:, np.newaxis]
    clusters = np.full(n_labels, -1)
    for _ in range(ROUNDS):
        counted = centers if weights is None else centers * weights
        distances = lengths - 2 * (vectors @ counted.T) + (counted * centers).sum(axis=1)
        before, clusters = clusters, _assign(distances, capacity)
        if (clusters == before).all():
            break
        members = sp.csr_matrix((np.ones(n_labels), (clusters, np.arange(n_labels))), shape=(n_clusters, n_labels))
        sizes = np.bincount(clusters, minlength=n_clusters)[:, np.newaxis]
        centers = np.where(sizes > 0, (members @ vectors).toarray() / np.maximum(1, sizes), centers)
    members_of = [np.flatnonzero(clusters == cluster) for cluster in range(n_clusters)]
    return sorted((members for members in members_of if len(members)), key=lambda members: int(members[0]))


def _assign(distances: NDArray[np.float64], capacity: int) -> NDArray[np.intp]:
    """The cluster of every label, with at most ``capacity`` labels in each."""
    preferences = np.argsort(distances, axis=1, kind="stable")
    n_tried = [0] * len(distances)  # preferences of each label that are used up
    heaps: list[list[tuple[float, int]]] = [[] for _ in range(distances.shape[1])]  # the farthest label first
    for label in range(len(distances)):
        unassigned: int | None = label
        while unassigned is not None:
            cluster = int(preferences[unassigned, n_tried[unassigned]])
            n_tried[unassigned] += 1
            entry = (-float(distances[unassigned, cluster]), -unassigned)
            if len(heaps[cluster]) < capacity:
                heappush(heaps[cluster], entry)
                unassigned = None
            elif entry > heaps[cluster][0]:
                unassigned = -heapreplace(heaps[cluster], entry)[1]
    clusters = np.empty(len(distances), dtype=np.intp)
    for cluster, members in enumerate(heaps):
        clusters[[-label for _, label in members]] = cluster
    return clusters
