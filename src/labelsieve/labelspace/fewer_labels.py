"""Approximations for very many labels: frequent labels, a random sample of the labels, or clusters of them."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.errors import InputError, whole_number
from labelsieve.labelspace.base import EncodedTargets, Labelsets, LabelSpace, Produces, RandomState, Weights, random_generator
from labelsieve.labelspace.transformations import nonempty_labelsets
from labelsieve.tables.codes import Codes
from labelsieve.tables.targets import TargetTable

Real = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class Frequent(LabelSpace):
    r"""The labels that at least ``min_count`` rows have, each as a separate variable; rarer ones are left out.

    .. math:: 0 \le \sum_l I(X; Y_l) - \sum_{l \text{ kept}} I(X; Y_l) \le \sum_{l \text{ left out}} H(Y_l)

    The same holds for information that is conditioned on selected features. The bound is ``omitted_entropy_`` of the selector:
    scores that differ by more are in the same order for all labels.

    Parameters
    ----------
    min_count : int, default=3
        The smallest number of rows (or sum of their sample weights) of a label that is kept.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> encoded = Frequent(min_count=2).encode(read_targets([[1, 1], [1, 0], [0, 0], [0, 0]]))
    >>> encoded.codes.n_columns, round(encoded.omitted_entropy, 3)
    (1, 0.562)
    """

    name = "frequent"

    produces: ClassVar[Produces] = "some targets"

    _: KW_ONLY
    min_count: int = 3

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """Keep the frequent labels, and bound the information about the others."""
        least = whole_number(self.min_count, "min_count", 1, 2**31)
        counts = nonempty_labelsets(targets, self.name, one_variable=False).counts(weights)
        kept = counts >= least
        if not kept.any():
            raise InputError(f"frequent: no label has {least:,} rows; the most frequent one has {counts.max():,.0f}.")
        share = counts / _total(targets, weights)
        return EncodedTargets(
            targets.codes.take_columns(np.flatnonzero(kept)), omitted_entropy=float(_entropy(share[~kept]).sum())
        )


@dataclass(eq=False, repr=False)
class Sampled(LabelSpace):
    r"""A simple random sample of the labels, each as a separate variable.

    With ``m`` of ``q`` labels, :math:`\frac{q}{m} \sum_{l \in \text{sample}} I(X; Y_l)` is an unbiased estimate of the sum over
    all labels, for a selection that does not depend on the sample. ``relevance_error_`` of the selector is the estimated
    standard error of this estimate for every feature alone.

    Parameters
    ----------
    n_labels : int, default=1000
        Labels that are drawn without replacement; all if there are fewer.
    random_state : int, RandomState instance or None, default=0
        The seed; None draws other labels each time.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> Sampled(n_labels=2).encode(read_targets([[0, 1, 1], [1, 0, 1]])).codes
    Codes(2 rows, 2 columns, 2 levels, dense)
    """

    name = "sampled"

    produces: ClassVar[Produces] = "some targets"

    _: KW_ONLY
    n_labels: int = 1000
    random_state: RandomState = 0

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """Draw a sample of the labels, in random order."""
        size = self.n_variables(targets.n_columns)
        drawn = random_generator(self.random_state).choice(targets.n_columns, size=size, replace=False)
        return EncodedTargets(targets.codes.take_columns(drawn), sampled_from=targets.n_columns)

    def n_variables(self, n_targets: int) -> int:
        """Return the number of variables for ``n_targets`` targets."""
        return min(n_targets, whole_number(self.n_labels, "n_labels", 1, 2**31))


@dataclass(eq=False, repr=False)
class Clusters(LabelSpace):
    r"""Clusters of labels: one variable for each, which is 1 in the rows with a label of the cluster.

    The most frequent labels are the centers. Every other label joins the center with the largest cosine similarity of their
    columns, in a tie the more frequent center; labels that have no row in common with a center are left out. With the labels
    :math:`Y_C` of a cluster and its variable :math:`Z_C`,

    .. math:: 0 \le \sum_C I(X; Y_C) - \sum_C I(X; Z_C) \le \sum_C \sum_{l \in C} H(Y_l \mid Z_C),

    since :math:`Z_C` is a function of :math:`Y_C`. The right side plus the entropies of the labels that are left out is
    ``omitted_entropy_`` of the selector.

    Parameters
    ----------
    n_clusters : int, default=1000
        The number of clusters; fewer if there are fewer labels.

    Notes
    -----
    Cost: proportional to the number of pairs of a label and a center in the same row.

    Examples
    --------
    >>> from labelsieve.labelspace import read_targets
    >>> Y = read_targets([[1, 0, 1], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 0]])
    >>> Clusters(n_clusters=2).encode(Y).codes.to_dense().T.tolist()
    [[1, 1, 0, 0, 0], [0, 0, 1, 1, 0]]
    """

    name = "clusters"

    produces: ClassVar[Produces] = "groups"

    _: KW_ONLY
    n_clusters: int = 1000

    def encode(self, targets: TargetTable, weights: Weights = None) -> EncodedTargets:
        """Encode the variables of the clusters, from the most frequent center down."""
        labels = nonempty_labelsets(targets, self.name, one_variable=False)
        counts, total = labels.counts(weights), _total(targets, weights)
        centers = np.argsort(-counts, kind="stable")[: self.n_variables(labels.n_labels)]
        cluster = _nearest(labels, centers, counts, weights)
        rows, of_label = labels.rows[cluster[labels.labels] >= 0], labels.labels[cluster[labels.labels] >= 0]
        ones = np.ones(len(rows), dtype=np.uint8)
        members = sp.coo_array((ones, (rows, cluster[of_label])), shape=(labels.n_rows, len(centers))).tocsc()
        members.data[:] = 1
        of_rows = np.ones(labels.n_rows) if weights is None else weights
        of_cluster = (of_rows @ members)[cluster]  # of the label's cluster; of labels left out, replaced below
        within = np.divide(counts, of_cluster, out=np.zeros_like(counts), where=(cluster >= 0) & (of_cluster > 0))
        omitted = np.where(cluster >= 0, of_cluster / total * _entropy(within), _entropy(counts / total))
        return EncodedTargets(Codes.from_values(members), omitted_entropy=float(omitted.sum()))

    def n_variables(self, n_targets: int) -> int:
        """Return the number of variables for ``n_targets`` targets."""
        return min(n_targets, whole_number(self.n_clusters, "n_clusters", 1, 2**31))


def _nearest(labels: Labelsets, centers: NDArray[np.int64], counts: Real, weights: Weights) -> NDArray[np.int64]:
    """Find the cluster of every label; -1: none."""
    values = np.ones(len(labels.rows)) if weights is None else weights[labels.rows]
    shape = labels.n_rows, labels.n_labels
    present = sp.csr_array((values > 0, (labels.rows, labels.labels)), shape=shape, dtype=np.float64)
    weighted = sp.csr_array((values, (labels.rows, labels.labels)), shape=shape)
    common = (weighted.T.tocsr() @ present[:, centers]).tocoo()
    is_common = common.data > 0
    label, center = common.coords[0][is_common], common.coords[1][is_common]
    cosine = common.data[is_common] / np.sqrt(counts[centers[center]])  # times the root of the label's own count
    order = np.lexsort((center, -cosine, label))
    first = order[np.flatnonzero(np.diff(label[order], prepend=-1))]
    cluster = np.full(labels.n_labels, -1, dtype=np.int64)
    cluster[label[first]] = center[first]
    cluster[centers] = np.arange(len(centers))
    return cluster


def _entropy(share: Real) -> Real:
    """Return the entropy of events with these probabilities, in nats."""
    from scipy.special import entr  # loaded late, as scipy.stats elsewhere

    return np.asarray(entr(share) + entr(1 - share), dtype=np.float64)


def _total(targets: TargetTable, weights: Weights) -> float:
    return float(targets.n_rows if weights is None else weights.sum())
