"""Chain orders: in which order labels come."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes
from labelsieve.counting.row_weights import RowWeights
from labelsieve.errors import InputError
from labelsieve.labelspace.shared_information import SharedInformation


def information_order(shared: SharedInformation, *, second_term: bool = True) -> list[int]:
    r"""The order of Sun and Kudo (2017), algorithm 2: each label where those before it tell most about it.

    The first is the label with the largest :math:`\sum_j \sum_m I(Y; Y_j \mid X_m)`; then always the one with the largest

    .. math:: \sum_{k} \Big[ \frac1d \sum_m I(Y; Y_{\pi(k)} \mid X_m)
              + \frac{1}{k - 1} \sum_{l < k} I(Y_{\pi(k)}; Y_{\pi(l)} \mid Y) \Big]

    over the places ``k`` that are taken (eq. 47); ``second_term=False`` leaves out the second sum, as the paper's
    experiments do. Ties go to the lowest label. Labels with one value alone come last, by number: they tell nothing.

    Cost: q panels of d by q/2 tables; the second term adds q panels of q by q tables.
    """
    assert shared.X is not None
    n_features = shared.X.n_columns
    given_features = shared.given_features()
    varying = np.flatnonzero(~shared.constant)
    closed = np.where(shared.constant, -np.inf, 0.0)
    order: list[int] = []
    scores = np.zeros(shared.n_labels)
    if len(varying):
        root = int(varying[given_features[varying].sum(axis=1).argmax()])
        order.append(root)
    while len(order) < len(varying):
        newest = order[-1]
        closed[newest] = -np.inf
        scores += shared.fixed.information(given_features[:, newest]) / n_features
        if second_term and len(order) > 1:
            among = shared.given_label(newest, slice(None))[:, order[:-1]].sum(axis=1)
            scores += shared.fixed.information(among) / (len(order) - 1)
        order.append(int((scores + closed).argmax()))
    return [*order, *map(int, np.flatnonzero(shared.constant))]


def frequency_order(Y: Codes, weights: RowWeights | None = None) -> list[int]:
    """The most frequent label first: the one with most rows, or most weight, where it is not 0.

    >>> frequency_order(Codes.from_values([[0, 1], [0, 1], [1, 1]]))
    [1, 0]
    """
    of_rows: NDArray[Any] = np.ones(Y.n_rows, dtype=np.int64) if weights is None else weights.values.astype(np.int64)
    counts = np.array([of_rows[Y.column(label) > 0].sum() for label in range(Y.n_columns)])
    return [int(label) for label in np.argsort(-counts, kind="stable")]


def random_order(n_labels: int, random_state: Any = None) -> list[int]:
    """Any order as likely as any other; ``random_state`` is a seed or a ``numpy.random.Generator``.

    >>> random_order(5, 0) == random_order(5, 0)
    True
    """
    return [int(label) for label in generator(random_state).permutation(n_labels)]


def generator(random_state: Any) -> np.random.Generator:
    """A generator from a seed, a generator, or None for another one every time."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(
            f"random_state must be None, a whole number from 0 or a numpy.random.Generator, not {random_state!r}."
        ) from None
