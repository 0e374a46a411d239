"""The label network as plain lists: which targets each target depends on."""

from typing import Any

import numpy as np

from labelsieve.errors import InputError, is_whole


def check_parents(parents: Any, n_targets: int) -> list[list[int]] | None:
    """Parents of every target as lists of target numbers, each named once.

    >>> check_parents([[], [0], [0, 1, 0]], 3)
    [[], [0], [0, 1]]
    """
    if parents is None:
        return None
    if len(parents) != n_targets:
        raise InputError(f"parents has {len(parents)} lists for {n_targets} targets; give one list, maybe empty, for each.")
    lists = []
    for target, some in enumerate(parents):
        if not isinstance(some, list | tuple | np.ndarray):
            raise InputError(f"parents[{target}] is {some!r}; give a list of targets, maybe empty, for each target.")
        for parent in some:
            if not is_whole(parent) or not 0 <= int(parent) < n_targets or parent == target:
                raise InputError(f"parents[{target}] holds {parent!r}; parents are other targets, from 0 to {n_targets - 1}.")
        lists.append(list(dict.fromkeys(map(int, some))))
    return lists
