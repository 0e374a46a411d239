"""Bayesian chain classifiers: a maximum spanning tree of the labels (Zaragoza et al. 2011; BCC in Sun and Kudo 2017)."""

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError, is_whole
from labelsieve.labelspace.chain_order import Seed, seeded_generator
from labelsieve.labelspace.label_network import LabelNetwork
from labelsieve.labelspace.shared_information import Fixed, SharedInformation


def tree_network(
    shared: SharedInformation, *, given_features: bool = False, root: int | None = None, random_state: Seed = None
) -> LabelNetwork:
    r"""The maximum spanning tree, directed away from ``root``; every label but the root has one parent.

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
