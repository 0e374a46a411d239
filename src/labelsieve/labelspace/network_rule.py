"""NetworkRule: how to learn a label network from data."""

from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

from labelsieve.counting.backends.factory import DEFAULT_OPTIONS, CountingOptions
from labelsieve.counting.codes import Codes
from labelsieve.counting.number_table import read_table
from labelsieve.counting.row_weights import RowWeights, weigh
from labelsieve.counting.targets import read_targets
from labelsieve.errors import InputError, one_of
from labelsieve.labelspace.chain_order import frequency_order, information_order, random_order
from labelsieve.labelspace.chain_tree import tree_network
from labelsieve.labelspace.kcc import ROUNDINGS, Rounding, kcc_parents, n_parents
from labelsieve.labelspace.label_network import LabelNetwork, checked_order
from labelsieve.labelspace.principal_components import principal_components, three_levels
from labelsieve.labelspace.shared_information import SharedInformation

PARENTS = ("kcc", "tree", "preceding", "none")
ORDERS = ("sun-kudo", "information", "frequency", "random", "given")


class NetworkRule(BaseEstimator):  # type: ignore[misc]
    """How labels are put in order and which of them become parents (Sun and Kudo 2017; Zaragoza et al. 2011).

    Parameters
    ----------
    parents : {"kcc", "tree", "preceding", "none"}
        Up to ``k`` earlier labels, chosen greedily (eq. 33); one each, the tree of largest weight; all earlier labels; or none.
    k : int or float
        For ``"kcc"``: at most how many parents, or what fraction of the labels. The paper's is 0.8.
    rounding : {"up", "nearest"}
        Of that fraction; the paper rounds up, the authors' program to the nearest number.
    order : {"sun-kudo", "information", "frequency", "random", "given"} or sequence of int
        ``"information"`` is algorithm 2 with eq. 47 as printed, over all features; ``"sun-kudo"`` what the paper's experiments
        use of it: the first principal component alone and no second term. Or the most frequent first, any order, the labels
        as they stand, or these. A tree has its own order.
    n_components : int, optional
        For ``"information"``: that many principal components, in three levels, instead of all features.
    factor : float
        The levels of components are parted at mean +- ``factor`` standard deviations; the authors' program has 0.5.
    second_term : bool
        For ``"information"``: with or without the second term of eq. 47.
    edge_weight : {"labels", "given-features"}
        For ``"tree"``: information of two labels, or given the features, added over them.
    root : int, optional
        Of the tree; None is a random one.
    random_state : int or numpy.random.Generator, optional
        For random orders and roots.

    Notes
    -----
    A label with the same value in every row tells nothing: it comes last, has no parents, and is nobody's.

    Cost in tables, for d features and q labels: ``"information"`` d q^2 / 2, and q^3 more for the second term; ``"kcc"`` up to
    q^3; ``"tree"`` q^2. For 983 labels, 500 features and 16,105 rows each takes seconds.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> first = X[:, 0] > 0
    >>> Y = np.column_stack([first ^ (rng.random(300) < 0.1), rng.random(300) < 0.5, first])
    >>> print(NetworkRule(k=1).learn(X, Y))
    place  label  parents
        1  2      -
        2  0      2
        3  1      0
    """

    def __init__(
        self,
        parents: Literal["kcc", "tree", "preceding", "none"] = "kcc",
        *,
        k: float = 0.8,
        rounding: Rounding = "up",
        order: Any = "sun-kudo",
        n_components: int | None = None,
        factor: float = 1.0,
        second_term: bool = True,
        edge_weight: Literal["labels", "given-features"] = "labels",
        root: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.parents = parents
        self.k = k
        self.rounding = rounding
        self.order = order
        self.n_components = n_components
        self.factor = factor
        self.second_term = second_term
        self.edge_weight = edge_weight
        self.root = root
        self.random_state = random_state

    def learn(self, X: Any, Y: Any, *, codes: Any = None, sample_weight: Any = None, n_jobs: int | None = None) -> LabelNetwork:
        """The network of the labels ``Y``.

        ``X`` are numbers, for principal components; ``codes`` the same features as codes, for all that conditions on features
        (by default ``X`` itself, which must then hold codes). Both may be None for rules that do not look at features.
        """
        labels = read_targets(Y, "classes").classes
        rows, weights = weigh(sample_weight, labels.n_rows, "plugin")
        values = None if X is None else numbers(X)
        features: Any = values if codes is None else Codes.from_values(codes, what="codes")
        if rows is not None:
            labels = labels.take_rows(rows)
            values = None if values is None else values[np.flatnonzero(rows)]
            features = values if codes is None else features.take_rows(rows)
        return self.learn_from_codes(values, features, labels, CountingOptions(weights=weights, n_jobs=n_jobs))

    def learn_from_codes(
        self,
        X: Any,
        codes: Any,
        Y: Codes,
        options: CountingOptions = DEFAULT_OPTIONS,
    ) -> LabelNetwork:
        """The same for labels that are codes already, and rows that count."""
        one_of(self.parents, "parents", PARENTS)
        one_of(self.rounding, "rounding", ROUNDINGS)
        one_of(self.edge_weight, "edge_weight", ("labels", "given-features"))
        weights = options.weights
        if self.parents == "tree":
            given = self.edge_weight == "given-features"
            features = self._features(X, codes, Y, weights, self.n_components) if given else None
            shared = SharedInformation(Y, features, options)
            network = tree_network(shared, given_features=given, root=self.root, random_state=self.random_state)
            return LabelNetwork(network.order, network.parents, Y.names)
        shared = SharedInformation(Y, None, options)
        order = self._order(X, codes, Y, options)
        k = {"kcc": n_parents(self.k, Y.n_columns, self.rounding), "preceding": Y.n_columns, "none": 0}[self.parents]
        return LabelNetwork(tuple(order), tuple(map(tuple, kcc_parents(shared, order, k))), Y.names)

    def _order(self, X: Any, codes: Any, Y: Codes, options: CountingOptions) -> list[int]:
        weights = options.weights
        if not isinstance(self.order, str):
            return list(checked_order(self.order, Y.n_columns))
        one_of(self.order, "order", ORDERS)
        if self.order == "given":
            return list(range(Y.n_columns))
        if self.order == "frequency":
            return frequency_order(Y, weights)
        if self.order == "random":
            return random_order(Y.n_columns, self.random_state)
        preset = self.order == "sun-kudo"
        features = self._features(X, codes, Y, weights, 1 if preset else self.n_components)
        return information_order(SharedInformation(Y, features, options), second_term=self.second_term and not preset)

    def _features(self, X: Any, codes: Any, Y: Codes, weights: RowWeights | None, n_components: int | None) -> Codes:
        """What labels are conditioned on: all features, or their first components."""
        if X is None and codes is None:
            raise InputError(f"NetworkRule(parents={self.parents!r}, order={self.order!r}) looks at the features: give X.")
        if n_components is None:
            features = Codes.from_values(codes)
        else:
            share = None if weights is None else weights.values / weights.unit
            features = three_levels(principal_components(X, n_components, weights=share), factor=self.factor, weights=share)
        if features.n_rows != Y.n_rows:
            raise InputError(f"X has {features.n_rows} rows and Y has {Y.n_rows}; they must be the same rows.")
        return features


def numbers(X: Any) -> Any:
    """An array or a sparse matrix of numbers that takes rows by number."""
    if isinstance(X, Codes):
        return X.to_dense()
    table = read_table(X)
    return table.sparse.tocsr() if table.dense is None else table.dense
