"""HOMER: a tree over the labels, with a small multi-label problem at each of its nodes."""

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import _fit_context, clone
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed

from labelsieve.classifiers.balanced_k_means import balanced_clusters
from labelsieve.classifiers.base_classifier import MultiLabelClassifier, base_has
from labelsieve.classifiers.binary_relevance import BinaryRelevance
from labelsieve.classifiers.weight_routing import Weights, fit_weighted
from labelsieve.labelspace.base_space import random_generator


@dataclass(frozen=True)
class Node:
    """Clusters of labels; ``children[c]`` is the place of cluster ``c``'s own node in the list of nodes, None for one label."""

    clusters: list[NDArray[np.intp]]
    children: list[int | None]
    rows: NDArray[np.intp]  # the training rows with any of the labels; all of them at the root
    model: Any = None


class HOMER(MultiLabelClassifier):
    """Hierarchy of multi-label classifiers [Tsoumakas, Katakis and Vlahavas 2008].

    Labels are clustered into ``n_children`` groups of about the same size, each group again, and so on down to single labels
    (balanced k-means). At each node a classifier tells which clusters a row has any label of, learned from the rows that have a
    label of the node; a row goes down into the clusters that are predicted for it.

    Parameters
    ----------
    base : classifier
        Of two classes, used by binary relevance at the nodes; or a multi-label classifier of this package, used as it is.
    n_children : int
        Clusters of a node, at most.
    random_state : int, RandomState or None
        Of the clusterings; seeds of ``base`` are its own.
    n_jobs : int, optional
        Nodes learned at a time.

    Attributes
    ----------
    nodes_ : list
        Each with the clusters of labels that it tells apart, the first is the root.

    Notes
    -----
    ``predict_proba`` multiplies the probabilities down the tree. ``predict`` goes down by the predictions at the nodes, so a
    label may be predicted whose product is below a half.

    Cost: about ``n_labels / (n_children - 1)`` nodes, each one fit on the rows with its labels; a prediction visits only the
    nodes that rows come to.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "base": [HasMethods(["fit", "predict"])],
        "n_children": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(self, base: Any, *, n_children: int = 3, random_state: Any = None, n_jobs: int | None = None) -> None:
        self.base = base
        self.n_children = n_children
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree, then learn its nodes.

        ``sample_weight`` has a number for every row, 0 to leave it out: how often it counts, in the distances between labels
        and for ``base``, which must take weights.
        """
        X, labels, weights = self._read_weighted(X, y, sample_weight)
        nodes = grow(labels.tocsc(), self.n_children, random_generator(self.random_state), weights)
        base = self.base if isinstance(self.base, MultiLabelClassifier) else BinaryRelevance(self.base)
        by_label = labels.tocsc()
        models = Parallel(n_jobs=self.n_jobs)(delayed(_fit_node)(base, X, by_label, node, weights) for node in nodes)
        self.nodes_ = [Node(node.clusters, node.children, node.rows, model) for node, model in zip(nodes, models, strict=True)]
        return self

    def _present(self, X: Any) -> NDArray[np.bool_]:
        X = self._read_queries(X)
        present = np.zeros((X.shape[0], self.n_labels_), dtype=bool)
        waiting = [(0, np.arange(X.shape[0]))]
        while waiting:
            place, rows = waiting.pop()
            node = self.nodes_[place]
            if node.model is None or len(rows) == 0:
                continue
            found = node.model._present(X if len(rows) == X.shape[0] else X[rows])
            for cluster, child, column in zip(node.clusters, node.children, found.T, strict=True):
                if child is None:
                    present[rows[column], cluster[0]] = True
                else:
                    waiting.append((child, rows[column]))
        return present

    def _label_probabilities(self, X: Any) -> NDArray[np.float64]:
        X = self._read_queries(X)
        probabilities = np.zeros((X.shape[0], self.n_labels_))
        waiting = [(0, np.ones(X.shape[0]))]
        while waiting:
            place, reached = waiting.pop()
            node = self.nodes_[place]
            if node.model is None:
                continue
            found = node.model._label_probabilities(X) * reached[:, np.newaxis]
            for cluster, child, column in zip(node.clusters, node.children, found.T, strict=True):
                if child is None:
                    probabilities[:, cluster[0]] = column
                else:
                    waiting.append((child, column))
        return probabilities

    @available_if(base_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of every label: shape (n_rows, n_labels). When Y was one column, of its two values."""
        return super().predict_proba(X)


def grow(labels: sp.csc_matrix, n_clusters: int, rng: np.random.Generator, weights: Weights = None) -> list[Node]:
    """The nodes of the tree, without their models."""
    nodes: list[Node] = []
    waiting: list[tuple[NDArray[np.intp], list[int | None], int]] = [(np.arange(labels.shape[1]), [None], 0)]
    while waiting:
        members, above, place = waiting.pop(0)
        above[place] = len(nodes)
        own = labels[:, members]
        rows = np.unique(own.indices) if nodes else np.arange(labels.shape[0])
        counted = None if weights is None else weights[rows]
        clusters = [members[some] for some in balanced_clusters(sp.csr_matrix(own)[rows], n_clusters, rng, counted)]
        node = Node(clusters, [None] * len(clusters), rows)
        nodes.append(node)
        waiting += [(cluster, node.children, c) for c, cluster in enumerate(clusters) if len(cluster) > 1]
    return nodes


def _meta_labels(labels: sp.csc_matrix, node: Node) -> Iterator[sp.csc_matrix]:
    """Of every cluster: whether a row of the node has any of its labels."""
    for cluster in node.clusters:
        some = np.asarray(labels[:, cluster].sum(axis=1)).ravel()[node.rows] > 0
        yield sp.csc_matrix(some[:, np.newaxis].astype(np.uint8))


def _fit_node(base: Any, X: Any, labels: sp.csc_matrix, node: Node, weights: Weights) -> Any:
    """The classifier of a node; None where no training row has any of its labels."""
    if len(node.rows) == 0:
        return None
    meta = sp.hstack(list(_meta_labels(labels, node)), format="csr")
    own = X if len(node.rows) == X.shape[0] else X[node.rows]
    return fit_weighted(clone(base), own, meta, None if weights is None else weights[node.rows])
