"""HOMER: a tree of label clusters, with a small multi-label problem at each node."""

from dataclasses import KW_ONLY, dataclass
from heapq import heappush, heapreplace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.parallel import Parallel, delayed

from labelsieve.classifiers.base import MetaClassifier, MultiLabelClassifier, Weights, fit_weighted
from labelsieve.classifiers.binary_relevance import BinaryRelevance
from labelsieve.labelspace.base import RandomState, random_generator
from labelsieve.parameters import AT_LEAST_TWO, PREDICTOR, REQUIRED, checked_meta_fit, parameter
from labelsieve.tables.types import Matrix, TableLike, TargetsLike, WeightsLike


@dataclass(eq=False, repr=False)
class HOMER(MetaClassifier):
    """Hierarchy of multi-label classifiers [Tsoumakas, Katakis and Vlahavas 2008].

    Labels are clustered into ``n_children`` groups of about equal size, each group again, and so on down to single labels
    (balanced k-means). The classifier of a node predicts in which clusters a row has any label; it is fitted on the rows with a
    label of the node. A row descends into the clusters that are predicted for it.

    Parameters
    ----------
    base : classifier
        A binary classifier for binary relevance at the nodes; or a multi-label classifier of this package.
    n_children : int, default=3
        The largest number of clusters of a node.
    random_state : int, RandomState instance or None, default=None
        Seed of the clusterings; ``base`` keeps its own.
    n_jobs : int, default=None
        Nodes fitted in parallel.

    Attributes
    ----------
    nodes_ : list
        The nodes with their clusters of labels; the first is the root.

    Notes
    -----
    ``predict_proba`` multiplies the probabilities along the tree. ``predict`` follows the predictions at the nodes, so a
    predicted label may have a product below a half.

    Cost: about ``n_labels / (n_children - 1)`` nodes, each one fit on the rows with its labels; a prediction visits only the
    nodes that rows reach.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> Y = np.column_stack([X[:, 0] > 1, X[:, 0] > 3, X[:, 0] < 3, X[:, 0] < 4]).astype(int)
    >>> model = HOMER(DecisionTreeClassifier(random_state=0), n_children=2, random_state=0).fit(X, Y)
    >>> [cluster.tolist() for cluster in model.nodes_[0].clusters]
    [[0, 1], [2, 3]]
    >>> model.predict([[2.2], [7.0]])
    array([[1, 0, 1, 1],
           [1, 1, 0, 0]])
    """

    base: BaseEstimator = parameter(REQUIRED, PREDICTOR)
    _: KW_ONLY
    n_children: int = parameter(3, AT_LEAST_TWO)
    random_state: RandomState = None
    n_jobs: int | None = None

    @checked_meta_fit
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Grow the tree, then fit its nodes.

        ``sample_weight`` are frequencies of the rows, in the distances between labels and for ``base``, which must accept
        weights.
        """
        X, labels, weights = self._read(X, y, sample_weight)
        by_label = labels.tocsc()
        nodes = grow(by_label, self.n_children, random_generator(self.random_state), weights)
        base = self.base if isinstance(self.base, MultiLabelClassifier) else BinaryRelevance(self.base)
        models = Parallel(n_jobs=self.n_jobs)(delayed(_fit_node)(base, X, by_label, node, weights) for node in nodes)
        self.nodes_ = [Node(node.clusters, node.children, node.rows, model) for node, model in zip(nodes, models, strict=True)]
        return self

    def _present(self, X: TableLike) -> NDArray[np.bool_]:
        X = self._read_queries(X)
        present = np.zeros((X.shape[0], self.n_labels_), dtype=bool)
        queue = [(0, np.arange(X.shape[0]))]
        while queue:
            index, rows = queue.pop()
            node = self.nodes_[index]
            if node.model is None or len(rows) == 0:
                continue
            predicted = node.model._present(X if len(rows) == X.shape[0] else X[rows])
            for cluster, child, column in zip(node.clusters, node.children, predicted.T, strict=True):
                if child is None:
                    present[rows[column], cluster[0]] = True
                else:
                    queue.append((child, rows[column]))
        return present

    def _label_probabilities(self, X: TableLike) -> NDArray[np.float64]:
        X = self._read_queries(X)
        probabilities = np.zeros((X.shape[0], self.n_labels_))
        queue = [(0, np.ones(X.shape[0]))]
        while queue:
            index, reached = queue.pop()
            node = self.nodes_[index]
            if node.model is None:
                continue
            of_clusters = node.model._label_probabilities(X) * reached[:, np.newaxis]
            for cluster, child, column in zip(node.clusters, node.children, of_clusters.T, strict=True):
                if child is None:
                    probabilities[:, cluster[0]] = column
                else:
                    queue.append((child, column))
        return probabilities


@dataclass(frozen=True)
class Node:
    """A node of the tree: clusters of labels; ``children[c]`` is the node of cluster ``c``, None for a single label."""

    clusters: list[NDArray[np.intp]]
    children: list[int | None]
    rows: NDArray[np.intp]  # the training rows with any of the labels; at the root, all rows
    model: BaseEstimator | None = None


def grow(labels: sp.csc_matrix, n_clusters: int, rng: np.random.Generator, weights: Weights = None) -> list[Node]:
    """Cluster the labels down to single ones, and return the nodes of the tree without their models."""
    nodes: list[Node] = []
    queue: list[tuple[NDArray[np.intp], list[int | None], int]] = [(np.arange(labels.shape[1]), [None], 0)]
    while queue:
        members, siblings, index = queue.pop(0)
        siblings[index] = len(nodes)
        columns = labels[:, members]
        rows = np.unique(columns.indices) if nodes else np.arange(labels.shape[0])
        row_weights = None if weights is None else weights[rows]
        found = balanced_clusters(sp.csr_matrix(columns)[rows], n_clusters, rng, row_weights)
        clusters = [members[cluster] for cluster in found]
        node = Node(clusters, [None] * len(clusters), rows)
        nodes.append(node)
        queue += [(cluster, node.children, c) for c, cluster in enumerate(clusters) if len(cluster) > 1]
    return nodes


def _fit_node(base: BaseEstimator, X: Matrix, labels: sp.csc_matrix, node: Node, weights: Weights) -> Any:
    """Fit the classifier of a node; None if no training row has any of its labels."""
    if len(node.rows) == 0:
        return None
    # For every cluster, whether each row of the node has any of its labels.
    has_any = [np.asarray(labels[:, cluster].sum(axis=1))[node.rows] > 0 for cluster in node.clusters]
    meta = sp.csr_matrix(np.hstack(has_any).astype(np.uint8))
    rows = X if len(node.rows) == X.shape[0] else X[node.rows]
    return fit_weighted(clone(base), rows, meta, None if weights is None else weights[node.rows])


ROUNDS = 10  # of assignment and update; few nodes need more


def balanced_clusters(
    labels: sp.csr_matrix, n_clusters: int, rng: np.random.Generator, weights: Weights = None
) -> list[NDArray[np.intp]]:
    r"""Cluster the columns of ``labels`` into at most ``n_clusters`` :math:`= k` sets of at most :math:`\lceil q / k \rceil`.

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
    """Assign every label to a cluster, with at most ``capacity`` labels in each."""
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
