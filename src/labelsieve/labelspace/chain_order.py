"""Orders of the labels in a classifier chain."""

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes
from labelsieve.counting.row_weights import RowWeights
from labelsieve.errors import InputError
from labelsieve.labelspace.shared_information import SharedInformation

Seed = int | np.random.Generator | None


def information_order(shared: SharedInformation, *, second_term: bool = True) -> list[int]:
    r"""The order of Sun and Kudo (2017), algorithm 2: the next label is the one with the most information in those before it.

    The first is the label with the largest :math:`\sum_j \sum_m I(Y; Y_j \mid X_m)`; then always the one with the largest

    .. math:: \sum_{k} \Big[ \frac1d \sum_m I(Y; Y_{\pi(k)} \mid X_m)
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
    """Labels by descending frequency: the number of rows, or their weight, where the label is not 0.

    >>> frequency_order(Codes.from_values([[0, 1], [0, 1], [1, 1]]))
    [1, 0]
    """
    row_weights: NDArray[np.int64] = np.ones(Y.n_rows, dtype=np.int64) if weights is None else weights.values.astype(np.int64)
    counts = np.array([row_weights[Y.column(label) > 0].sum() for label in range(Y.n_columns)])
    return [int(label) for label in np.argsort(-counts, kind="stable")]


def random_order(n_labels: int, random_state: Seed = None) -> list[int]:
    """A uniformly random order; ``random_state`` is a seed or a ``numpy.random.Generator``.

    >>> random_order(5, 0) == random_order(5, 0)
    True
    """
    return [int(label) for label in seeded_generator(random_state).permutation(n_labels)]


def seeded_generator(random_state: Seed) -> np.random.Generator:
    """A generator from a seed, a generator, or None for a different one every time."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(
            f"random_state must be None, a whole number from 0 or a numpy.random.Generator, not {random_state!r}."
        ) from None
