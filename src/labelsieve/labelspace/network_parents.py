"""Parents of labels: those of k-dependence classifier chains, and a maximum spanning tree."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError, is_whole, one_of
from labelsieve.labelspace.chain_order import Seed, seeded_generator
from labelsieve.labelspace.label_network import LabelNetwork
from labelsieve.labelspace.shared_information import Fixed, SharedInformation

Rounding = Literal["up", "nearest"]
ROUNDINGS = ("up", "nearest")
BLOCK_BYTES = 2**27  # of the panels shared by a block of labels


def n_parents(k: object, n_labels: int, rounding: Rounding = "up") -> int:
    """The largest number of parents: ``k`` if it is an integer, else that fraction of the labels.

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
    r"""Parents for k-dependence classifier chains (Sun and Kudo 2017, section 4.2), in order of selection.

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
    """Parents of a block of labels, step by step for all of them; candidates in rows, in chain order, labels in columns."""
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
    r"""The maximum spanning tree, directed away from ``root``; every label but the root has one parent.

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
