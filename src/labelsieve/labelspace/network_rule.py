"""Rules that learn a label network: information between labels, an order of the labels, and the parents of each.

Start with :class:`NetworkRule`; :func:`find_parents` resolves what users may pass as ``parents=``.
"""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.base import BaseEstimator

from labelsieve.counting.backends import Target, make_backend
from labelsieve.counting.backends.factory import DEFAULT_OPTIONS, CountingOptions
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.errors import InputError, is_whole, one_of, require_same_rows, whole_number
from labelsieve.labelspace.label_network import LabelNetwork, check_parents, checked_order
from labelsieve.tables.codes import Codes, bin_by_values
from labelsieve.tables.frames import NumberTable, read_table
from labelsieve.tables.targets import known_classes, n_target_rows
from labelsieve.tables.types import CompressedMatrix, Matrix, TableLike, TargetsLike, WeightsLike, is_sparse
from labelsieve.tables.weights import RowWeights, quantize, weigh

Real = NDArray[np.float64]
Fixed = NDArray[np.int64]
Seed = int | np.random.Generator | None
Rounding = Literal["up", "nearest"]

ROUNDINGS = ("up", "nearest")
PARENTS = ("kcc", "tree", "preceding", "none")
ORDERS = ("sun-kudo", "information", "frequency", "random", "given")
NETWORKS = ("kcc", "tree", "preceding")  # rules that parents= accepts by name
PANEL_BYTES = 2**26  # of one slice of a panel
BLOCK_BYTES = 2**27  # of the panels that a block of labels shares
MANY = 2**10  # additional terms that the fixed point allows beyond the sum over the targets
DENSE_SIDE, DENSE_CELLS = 256, 2**24  # up to here a full decomposition is cheap


@dataclass(eq=False, repr=False)
class NetworkRule(BaseEstimator):
    """A rule for the order of the labels and for their parents (Sun and Kudo 2017; Zaragoza et al. 2011).

    Parameters
    ----------
    parents : {"kcc", "tree", "preceding", "none"}, default="kcc"
        ``"kcc"``: up to ``k`` earlier labels, selected greedily (eq. 33); ``"tree"``: one, by a maximum spanning tree;
        ``"preceding"``: all earlier labels; ``"none"``: no parents.
    k : int or float, default=0.8
        For ``"kcc"``: the largest number of parents, or a fraction of the labels. The paper uses 0.8.
    rounding : {"up", "nearest"}, default="up"
        Rounding of that fraction; the paper rounds up, the authors' program to the nearest number.
    order : {"sun-kudo", "information", "frequency", "random", "given"} or sequence of int, default="sun-kudo"
        ``"information"`` is algorithm 2 with eq. 47 as printed, over all features; ``"sun-kudo"`` is the variant of the paper's
        experiments: the first principal component alone and no second term. ``"frequency"``: the most frequent label first;
        ``"random"``: a random order; ``"given"``: the order of the columns; or a custom order. A tree defines its order itself.
    n_components : int, default=None
        For ``"information"``: the number of principal components, in three levels, used in place of all features.
    factor : float, default=1.0
        The levels of components are cut at mean +- ``factor`` standard deviations; the authors' program uses 0.5.
    second_term : bool, default=True
        For ``"information"``: whether to include the second term of eq. 47.
    edge_weight : {"labels", "given-features"}, default="labels"
        For ``"tree"``: information of two labels, or conditional on the features, summed over them.
    root : int, default=None
        Root of the tree; None: a random label.
    random_state : int or numpy.random.Generator, default=None
        For random orders and roots. Selectors have seed 0 where it is None, so that the same data give the same selection.

    Notes
    -----
    A label with the same value in every row is uninformative: it comes last, has no parents, and no label has it as a parent.

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
    order  label  parents
        1  2      -
        2  0      2
        3  1      0
    """

    parents: Literal["kcc", "tree", "preceding", "none"] = "kcc"
    _: KW_ONLY
    k: float = 0.8
    rounding: Rounding = "up"
    order: Any = "sun-kudo"
    n_components: int | None = None
    factor: float = 1.0
    second_term: bool = True
    edge_weight: Literal["labels", "given-features"] = "labels"
    root: int | None = None
    random_state: Seed = None

    def learn(
        self,
        X: TableLike | Codes | None,
        Y: TargetsLike | Codes,
        *,
        codes: TableLike | Codes | None = None,
        sample_weight: WeightsLike = None,
        n_jobs: int | None = None,
    ) -> LabelNetwork:
        """Learn the network of the labels ``Y``.

        ``X`` are the features as numbers, for principal components; ``codes`` the same features as codes, for information
        conditional on features (default: ``X`` itself, which must then hold codes). Both may be None for rules without
        features.
        """
        rows, weights = (None, None) if sample_weight is None else weigh(sample_weight, n_target_rows(Y), "plugin")
        labels = known_classes(Y, "a label network", rows)
        values = None if X is None else numbers(X)
        features = values if codes is None else Codes.from_values(codes, what="codes")
        if rows is not None:
            values = None if values is None else values[np.flatnonzero(rows)]
            features = features.take_rows(rows) if isinstance(features, Codes) else values
        return self.learn_from_codes(values, features, labels, CountingOptions(weights=weights, n_jobs=n_jobs))

    def learn_from_codes(
        self,
        X: Matrix | None,
        codes: Matrix | Codes | None,
        Y: Codes,
        options: CountingOptions = DEFAULT_OPTIONS,
    ) -> LabelNetwork:
        """Learn the network from labels that are codes, on rows of positive weight."""
        one_of(self.parents, "parents", PARENTS)
        one_of(self.rounding, "rounding", ROUNDINGS)
        one_of(self.edge_weight, "edge_weight", ("labels", "given-features"))
        if self.parents == "tree":
            given = self.edge_weight == "given-features"
            features = self._features(X, codes, Y, options.weights, self.n_components) if given else None
            shared = SharedInformation(Y, features, options)
            network = tree_network(shared, given_features=given, root=self.root, random_state=self.random_state)
            return LabelNetwork(network.order, network.parents, Y.names)
        shared = SharedInformation(Y, None, options)
        order = self._order(X, codes, Y, options)
        k = {"kcc": n_parents(self.k, Y.n_columns, self.rounding), "preceding": Y.n_columns, "none": 0}[self.parents]
        return LabelNetwork(tuple(order), tuple(map(tuple, kcc_parents(shared, order, k))), Y.names)

    def _order(self, X: Matrix | None, codes: Matrix | Codes | None, Y: Codes, options: CountingOptions) -> list[int]:
        """Order the labels by the rule ``order``."""
        if not isinstance(self.order, str):
            return list(checked_order(self.order, Y.n_columns))
        one_of(self.order, "order", ORDERS)
        if self.order == "given":
            return list(range(Y.n_columns))
        if self.order == "frequency":
            return frequency_order(Y, options.weights)
        if self.order == "random":
            return random_order(Y.n_columns, self.random_state)
        preset = self.order == "sun-kudo"
        features = self._features(X, codes, Y, options.weights, 1 if preset else self.n_components)
        return information_order(SharedInformation(Y, features, options), second_term=self.second_term and not preset)

    def _features(
        self, X: Matrix | None, codes: Matrix | Codes | None, Y: Codes, weights: RowWeights | None, n_components: int | None
    ) -> Codes:
        """Return the features that labels are conditioned on: all, or their first principal components."""
        table = codes if n_components is None else X
        if table is None:
            raise InputError(f"NetworkRule(parents={self.parents!r}, order={self.order!r}) needs the features: pass X.")
        if n_components is None or isinstance(table, Codes):
            features = Codes.from_values(table)
        else:
            row_weights = None if weights is None else weights.values / weights.unit
            components = principal_components(table, n_components, weights=row_weights)
            features = three_levels(components, factor=self.factor, weights=row_weights)
        require_same_rows(features.n_rows, Y.n_rows)
        return features


def find_parents(
    parents: object,
    X: TableLike | Codes | None,
    codes: Codes,
    Y: Codes,
    options: CountingOptions = DEFAULT_OPTIONS,
) -> tuple[list[list[int]] | None, LabelNetwork | None]:
    """Resolve ``parents=`` to lists of the parents of every target, and to a network if they are one.

    ``parents`` are lists, a network, a rule, the name of a rule, or None: no parents. A rule learns from ``X``, ``codes`` and
    ``Y``.

    >>> Y = Codes.from_values([[0, 1], [1, 0], [0, 1]])
    >>> find_parents([[], [0]], None, Y, Y)[0]
    [[], [0]]
    >>> find_parents(NetworkRule("preceding", order="given"), None, Y, Y)[1]
    LabelNetwork(order=(0, 1), parents=((), (0,)), names=None)
    """
    if parents is None:
        return None, None
    rule = NetworkRule(parents) if isinstance(parents, str) else parents
    if isinstance(rule, NetworkRule):
        values = X if X is None else numbers(X)
        rule = rule.learn_from_codes(values, codes, Y, options)
    if not isinstance(rule, LabelNetwork):
        return check_parents(rule, Y.n_columns), None
    if rule.n_labels != Y.n_columns:
        raise InputError(
            f"parents is a network of {rule.n_labels} labels for {Y.n_columns} targets; learn it from the same targets."
        )
    return rule.to_lists(), rule


def numbers(X: TableLike | Codes) -> NDArray[Any] | CompressedMatrix:
    """Read features as an array or a CSR matrix of numbers."""
    if isinstance(X, Codes):
        return X.to_dense()
    table = read_table(X)
    return table.sparse.tocsr() if table.dense is None else table.dense


class SharedInformation:
    """Information between the labels of ``Y``: alone, given another label, or given the features ``X``.

    Memory: the tables of label pairs, 8 q^2 bytes, and slices of panels of 64 MB.
    """

    def __init__(self, Y: Codes, X: Codes | None = None, options: CountingOptions = DEFAULT_OPTIONS) -> None:
        self.Y, self.X, self._options = Y, X, options
        n_features = 1 if X is None else X.n_columns
        fewer, more = sorted((n_features, Y.n_columns))
        n_targets = more * (1 + fewer // MANY)
        self.fixed = FixedPoint.for_data(Y.n_rows, options.weights, n_targets=n_targets, estimator=options.estimator)
        self._labels = make_backend(Y, Y, self.fixed, options)
        self._singles = self._labels.singles()[0]

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return self.Y.n_columns

    @cached_property
    def constant(self) -> NDArray[np.bool_]:
        """Mask of the constant labels: without positives, or without negatives."""
        constant: NDArray[np.bool_] = self._singles == self.fixed.top
        return constant

    @cached_property
    def _pairs(self) -> Fixed:
        return self._labels.pairs()

    @cached_property
    def mutual(self) -> Fixed:
        """I(a; b) of all pairs of labels, shape ``(q, q)``; the diagonal is the entropy. Cost: one panel."""
        return self._pairs - self._singles[:, np.newaxis] - (self._singles - self.fixed.top)

    def given_label(self, label: int, targets: slice) -> Fixed:
        """Return I(label; target | given) in shape ``(q, t)``: the given label down, the targets across.

        Cost: one panel of q by t tables.
        """
        panel = self._labels.panel(Target(label), targets=targets)
        information: Fixed = panel.triple - self._pairs[:, targets]
        information -= (panel.pair - self._singles)[:, np.newaxis]
        return information

    def given_features(self) -> Fixed:
        """Return the sum of I(a; b | x) over the features, shape ``(q, q)``. Cost: q panels of d by q/2 tables on average."""
        assert self.X is not None
        features = make_backend(self.X, self.Y, self.fixed, self._options)
        n_labels, of_features = self.n_labels, int(features.singles()[0].sum())
        slices = _slices(0, n_labels, self.X.n_columns)
        of_pairs = np.concatenate([features.pairs(targets=part).sum(axis=0) for part in slices])
        total = np.zeros((n_labels, n_labels), dtype=np.int64)
        for label in map(int, np.flatnonzero(~self.constant)):
            for part in _slices(label + 1, n_labels, self.X.n_columns):
                panel = features.panel(Target(label), targets=part)
                total[label, part] = panel.triple.sum(axis=0) - of_pairs[part] - (int(panel.pair.sum()) - of_features)
        return total + total.T


def _slices(first: int, last: int, n_features: int) -> list[slice]:
    """Divide a range of targets so that a panel of a slice has no more than ``PANEL_BYTES``."""
    width = max(1, PANEL_BYTES // (8 * n_features))
    return [slice(start, min(last, start + width)) for start in range(first, last, width)]


def information_order(shared: SharedInformation, *, second_term: bool = True) -> list[int]:
    r"""Order labels as Sun and Kudo (2017), algorithm 2: the next label has the most information about those before it.

    The first is the label with the largest :math:`\sum_j \sum_m I(Y; Y_j \mid X_m)`; then always the one with the largest

    .. math:: \sum_{k} \Big[ \frac{1}{d} \sum_m I(Y; Y_{\pi(k)} \mid X_m)
              + \frac{1}{k - 1} \sum_{l < k} I(Y_{\pi(k)}; Y_{\pi(l)} \mid Y) \Big]

    over the positions ``k`` that are filled (eq. 47); ``second_term=False`` leaves out the second sum, as the paper's
    experiments do. Ties go to the lowest label. Constant labels are uninformative and come last, by index.

    Cost: q panels of d by q/2 tables; the second term adds q panels of q by q tables.
    """
    assert shared.X is not None
    n_features = shared.X.n_columns
    given_features = shared.given_features()
    varying = np.flatnonzero(~shared.constant)
    penalty = np.where(shared.constant, -np.inf, 0.0)  # of labels that cannot be next
    order: list[int] = []
    scores = np.zeros(shared.n_labels)
    if len(varying):
        root = int(varying[given_features[varying].sum(axis=1).argmax()])
        order.append(root)
    while len(order) < len(varying):
        newest = order[-1]
        penalty[newest] = -np.inf
        scores += shared.fixed.information(given_features[:, newest]) / n_features
        if second_term and len(order) > 1:
            among = shared.given_label(newest, slice(None))[:, order[:-1]].sum(axis=1)
            scores += shared.fixed.information(among) / (len(order) - 1)
        order.append(int((scores + penalty).argmax()))
    return [*order, *map(int, np.flatnonzero(shared.constant))]


def frequency_order(Y: Codes, weights: RowWeights | None = None) -> list[int]:
    """Order labels by descending frequency: the number of rows, or their weight, where the label is not 0.

    >>> frequency_order(Codes.from_values([[0, 1], [0, 1], [1, 1]]))
    [1, 0]
    """
    row_weights: NDArray[np.int64] = np.ones(Y.n_rows, dtype=np.int64) if weights is None else weights.values.astype(np.int64)
    counts = np.array([row_weights[Y.column(label) > 0].sum() for label in range(Y.n_columns)])
    return [int(label) for label in np.argsort(-counts, kind="stable")]


def random_order(n_labels: int, random_state: Seed = None) -> list[int]:
    """Order labels at random; ``random_state`` is a seed or a ``numpy.random.Generator``.

    >>> random_order(5, 0) == random_order(5, 0)
    True
    """
    return [int(label) for label in seeded_generator(random_state).permutation(n_labels)]


def seeded_generator(random_state: Seed) -> np.random.Generator:
    """Make a generator from a seed, a generator, or None for a different one every time."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(
            f"random_state must be None, a whole number from 0 or a numpy.random.Generator, not {random_state!r}."
        ) from None


def n_parents(k: object, n_labels: int, rounding: Rounding = "up") -> int:
    """Return the largest number of parents: ``k`` if it is an integer, else that fraction of the labels.

    The authors' program has ``rounding="nearest"``.

    >>> n_parents(3, 6), n_parents(0.7, 6), n_parents(0.7, 6, "nearest")
    (3, 5, 4)
    """
    one_of(rounding, "rounding", ROUNDINGS)
    if is_whole(k) and k >= 0:
        return int(k)
    if not isinstance(k, float | np.floating) or not 0 <= k <= 1:
        raise InputError(f"k must be a whole number of parents from 0, or a fraction of the labels from 0.0 to 1.0, not {k!r}.")
    exact = round(float(k) * n_labels, 9)  # 0.07 of 100 is 7, in spite of binary fractions
    return math.ceil(exact) if rounding == "up" else math.floor(exact + 0.5)


def kcc_parents(shared: SharedInformation, order: Sequence[int], k: int) -> list[list[int]]:
    r"""Select parents for k-dependence classifier chains (Sun and Kudo 2017, section 4.2), in order of selection.

    In chain order, up to ``k`` parents of label :math:`j` are selected greedily among the labels before it: each is the one
    with the largest

    .. math:: I(Y_l; Y_j) + \frac{1}{|Pa_j|} \sum_{p \in Pa_j} I(Y_j; Y_p \mid Y_l)

    (eq. 33). k = 0 is binary relevance, k = q - 1 a classifier chain; the first ``k`` labels have all labels before them as
    parents.

    Ties go to the label that is first in the order. Constant labels have no parents and are no parents.

    Cost: a block of labels shares the panels of its parents, so there are at most q panels of q by b tables for each block of
    b labels, in all q^3 tables; fewer for small k. Memory: 128 MB.
    """
    parents: list[list[int]] = [[] for _ in order]
    chain = [label for label in order if not shared.constant[label]]
    for position, label in enumerate(chain):
        if 0 < position <= k:
            parents[label] = chain[:position]
    if k == 0 or k >= len(chain):
        return parents
    # Neighboring labels share panels: a slice of targets must be a range.
    with_candidates = sorted(chain[k + 1 :])
    position_of = {label: position for position, label in enumerate(chain)}
    width = max(1, BLOCK_BYTES // (8 * shared.n_labels**2))
    for start in range(0, len(with_candidates), width):
        block = with_candidates[start : start + width]
        selected = _select_parents(shared, np.array(chain), block, [position_of[label] for label in block], k)
        for label, of_label in zip(block, selected, strict=True):
            parents[label] = of_label
    return parents


def _select_parents(
    shared: SharedInformation, chain: NDArray[np.int64], block: list[int], positions: list[int], k: int
) -> list[list[int]]:
    """Select the parents of a block of labels, one for each label at a time.

    Candidates are in rows, in chain order, and labels in columns.
    """
    targets = slice(block[0], block[-1] + 1)
    columns = np.array(block) - block[0]
    relevance = shared.mutual[np.ix_(chain, np.array(block))]
    excluded = np.arange(len(chain))[:, np.newaxis] >= np.array(positions)
    among = np.zeros_like(relevance)
    panels: dict[int, Fixed] = {}
    selected: list[list[int]] = [[] for _ in block]
    for step in range(k):
        # Multiplied by the number of parents, so that all numbers stay integers.
        scores = np.where(excluded, np.iinfo(np.int64).min, max(1, step) * relevance + among)
        best = scores.argmax(axis=0)
        for column, position in enumerate(best):
            parent = int(chain[position])
            selected[column].append(parent)
            excluded[position, column] = True
            if step + 1 < k:
                if parent not in panels:
                    panels[parent] = shared.given_label(parent, targets)[np.ix_(chain, columns)]
                among[:, column] += panels[parent][:, column]
    return selected


def tree_network(
    shared: SharedInformation, *, given_features: bool = False, root: int | None = None, random_state: Seed = None
) -> LabelNetwork:
    r"""Find the maximum spanning tree, directed away from ``root``; every label but the root has one parent.

    Bayesian chain classifiers: Zaragoza et al. (2011), BCC in Sun and Kudo (2017).
    The weight of an edge is :math:`I(Y_a; Y_b)`, or :math:`\sum_m I(Y_a; Y_b \mid X_m)` with ``given_features``. ``root`` is a
    label, or None for a random one. The order is that of Prim's algorithm, ties to the lowest label. Constant labels come last,
    without parents or children.

    Cost: one panel of q by q tables, or q of d by q/2 given the features; then q^2 steps.
    """
    varying = np.flatnonzero(~shared.constant)
    constant = [int(label) for label in np.flatnonzero(shared.constant)]
    rng = seeded_generator(random_state)
    if root is None:
        root = int(rng.choice(varying)) if len(varying) else None
    elif not is_whole(root) or not 0 <= int(root) < shared.n_labels:
        raise InputError(f"root must be a label from 0 to {shared.n_labels - 1}, or None for a random one, not {root!r}.")
    elif shared.constant[int(root)]:
        raise InputError(f"root: label {root} has the same value in every row, so no label depends on it; use another root.")
    weights = shared.given_features() if given_features else shared.mutual
    order, parents = _grow(weights, None if root is None else int(root), shared.constant)
    return LabelNetwork((*order, *constant), tuple(map(tuple, parents)))


def _grow(weights: Fixed, root: int | None, constant: NDArray[np.bool_]) -> tuple[list[int], list[list[int]]]:
    """Grow the tree from ``root`` by Prim's algorithm; returns the order of the labels and the parents of each."""
    parents: list[list[int]] = [[] for _ in range(len(weights))]
    if root is None:
        return [], parents
    order = [root]
    outside = ~constant
    outside[root] = False
    nearest = np.full(len(weights), root)
    best = weights[:, root].copy()
    while outside.any():
        label = int(np.where(outside, best, np.iinfo(np.int64).min).argmax())
        parents[label] = [int(nearest[label])]
        order.append(label)
        outside[label] = False
        closer = weights[:, label] > best
        nearest[closer] = label
        np.maximum(best, weights[:, label], out=best)
    return order, parents


def principal_components(X: TableLike, n_components: int = 1, *, weights: Real | None = None) -> Real:
    """Compute the scores of the rows of ``X`` on its first principal components, shape ``(n_rows, n_components)``.

    Centered, not scaled. The sign is such that the largest loading is positive. ``weights`` are frequencies of rows. If there
    are fewer components than requested, there are fewer columns.

    Cost: a few dozen products of ``X`` with a vector for each component; sparse input stays sparse.

    >>> principal_components([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]]).round(6)
    array([[-2.],
           [ 0.],
           [ 2.]])
    """
    table = read_table(X)
    values: Any = table.sparse if table.dense is None else table.dense.astype(np.float64, copy=False)
    n_rows, n_columns = values.shape
    if not np.isfinite(values.data if table.dense is None else values).all():
        raise InputError("X has values that are not finite; fill them or drop their rows before principal components.")
    n_components = min(whole_number(n_components, "n_components", 1, 2**31), n_rows, n_columns)
    if not (values.max(axis=0) != values.min(axis=0)).sum():  # all columns are constant
        return np.zeros((n_rows, n_components))
    row_weights = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
    mean = np.asarray(values.T @ row_weights).ravel() / row_weights.sum()
    root = np.sqrt(row_weights)
    small = min(n_rows, n_columns) <= DENSE_SIDE and n_rows * n_columns <= DENSE_CELLS
    if small or n_components == min(n_rows, n_columns):
        dense = values.toarray() if is_sparse(values) else values
        centered = dense - mean
        if weights is not None:
            centered *= root[:, np.newaxis]
        _, _, loadings = np.linalg.svd(centered, full_matrices=False)
        loadings = loadings[:n_components]
    else:
        operator = LinearOperator(
            (n_rows, n_columns),
            matvec=lambda v: root * (values @ np.ravel(v) - mean @ np.ravel(v)),
            rmatvec=lambda u: values.T @ (root * np.ravel(u)) - mean * (root @ np.ravel(u)),
            dtype=np.float64,
        )
        # The default start vector is random; a constant one fails, since columns are centered.
        start = np.random.default_rng(0).normal(size=min(n_rows, n_columns))
        _, sizes, loadings = svds(operator, k=n_components, v0=start, return_singular_vectors="vh")
        loadings = loadings[np.argsort(-sizes)]
    largest = np.abs(loadings).argmax(axis=1)
    loadings = loadings * np.where(loadings[np.arange(len(loadings)), largest] < 0, -1.0, 1.0)[:, np.newaxis]
    scores: Real = np.asarray(values @ loadings.T) - mean @ loadings.T
    return scores


def three_levels(values: Real, *, factor: float = 1.0, weights: Real | None = None) -> Codes:
    r"""Encode values as below, within and above :math:`\mu \pm` ``factor`` :math:`\sigma` (Sun and Kudo 2017, section 7.1).

    Levels are closed on the left; :math:`\sigma` divides by N - 1. The authors' program has ``factor=0.5``.

    >>> three_levels(np.array([[0.0], [4.0], [5.0], [6.0], [10.0]])).column(0)
    array([0, 1, 1, 1, 2], dtype=uint16)
    """
    table = NumberTable(np.asfortranarray(values), None)
    rows = None if weights is None else quantize(np.asarray(weights, dtype=np.float64))
    return bin_by_values(table, "mean-std", 3, factor=factor, weights=rows)
