r"""Parents for k-dependence classifier chains (Sun and Kudo 2017, section 4.2).

In chain order, label :math:`j` takes up to k parents among the labels before it, one after the other, each the one with the
largest

.. math:: I(Y_l; Y_j) + \frac{1}{|Pa_j|} \sum_{p \in Pa_j} I(Y_j; Y_p \mid Y_l)

(eq. 33). k = 0 is binary relevance, k = q - 1 a classifier chain.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from labelsieve.errors import InputError, is_whole, one_of
from labelsieve.labelspace.shared_information import Fixed, SharedInformation

Rounding = Literal["up", "nearest"]
ROUNDINGS = ("up", "nearest")
BLOCK_BYTES = 2**27  # of the panels that a block of labels shares


def n_parents(k: Any, n_labels: int, rounding: Rounding = "up") -> int:
    """At most how many parents: ``k`` itself if whole, else that fraction of the labels.

    ``rounding="nearest"`` is what the authors' program does.

    >>> n_parents(3, 6), n_parents(0.7, 6), n_parents(0.7, 6, "nearest")
    (3, 5, 4)
    """
    one_of(rounding, "rounding", ROUNDINGS)
    if is_whole(k) and k >= 0:
        return int(k)
    if not isinstance(k, float | np.floating) or not 0 <= k <= 1:
        raise InputError(f"k must be a whole number of parents from 0, or a fraction of the labels from 0.0 to 1.0, not {k!r}.")
    exact = round(float(k) * n_labels, 9)  # 0.07 of 100 is 7, whatever the last bit says
    return math.ceil(exact) if rounding == "up" else math.floor(exact + 0.5)


def kcc_parents(shared: SharedInformation, order: Sequence[int], k: int) -> list[list[int]]:
    """Up to ``k`` parents of every label, in order of choice; all labels before it, in chain order, where there is no choice.

    Ties go to the label that comes first in the order. Labels with one value alone have no parents and are nobody's.

    Cost: a block of labels shares the panels of its parents, so there are at most q panels of q by b tables for each block of
    b labels, in all q^3 tables; fewer for small k. Memory: 128 MB.
    """
    parents: list[list[int]] = [[] for _ in order]
    chain = [label for label in order if not shared.constant[label]]
    for place, label in enumerate(chain):
        if 0 < place <= k:
            parents[label] = chain[:place]
    if k == 0 or k >= len(chain):
        return parents
    # Neighboring labels share panels: a slice of targets must be a range.
    choosing = sorted(chain[k + 1 :])
    place_of = {label: place for place, label in enumerate(chain)}
    width = max(1, BLOCK_BYTES // (8 * shared.n_labels**2))
    for start in range(0, len(choosing), width):
        block = choosing[start : start + width]
        chosen = _choose(shared, np.array(chain), block, [place_of[label] for label in block], k)
        for label, mine in zip(block, chosen, strict=True):
            parents[label] = mine
    return parents


def _choose(shared: SharedInformation, chain: Any, block: list[int], places: list[int], k: int) -> list[list[int]]:
    """Parents of some labels, step by step for all of them; candidates down, in chain order, labels across."""
    targets = slice(block[0], block[-1] + 1)
    columns = np.array(block) - block[0]
    relevance = shared.mutual[np.ix_(chain, block)]
    closed = np.arange(len(chain))[:, np.newaxis] >= np.array(places)
    among = np.zeros_like(relevance)
    panels: dict[int, Fixed] = {}
    chosen: list[list[int]] = [[] for _ in block]
    for step in range(k):
        # Times the number of parents, so that whole numbers stay whole.
        scores = np.where(closed, np.iinfo(np.int64).min, max(1, step) * relevance + among)
        best = scores.argmax(axis=0)
        for column, place in enumerate(best):
            parent = int(chain[place])
            chosen[column].append(parent)
            closed[place, column] = True
            if step + 1 < k:
                if parent not in panels:
                    panels[parent] = shared.given_label(parent, targets)[np.ix_(chain, columns)]
                among[:, column] += panels[parent][:, column]
    return chosen
