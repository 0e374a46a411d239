"""Sets of methods of which no two differ."""

import numpy as np
from numpy.typing import NDArray


def groups_without_differences(different: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """The largest sets of at least two methods in which no pair differs: maximal cliques, by Bron and Kerbosch (1973).

    For differences of average ranks these are runs of neighbors; Wilcoxon's test can give others. Cost: exponential in the
    worst case, less than a millisecond for the methods of a study.

    >>> groups_without_differences(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool))
    [(0, 1), (1, 2)]
    """
    n = len(different)
    alike = [{other for other in range(n) if other != own and not different[own, other]} for own in range(n)]
    found: list[tuple[int, ...]] = []

    def grow(clique: set[int], candidates: set[int], done: set[int]) -> None:
        if not candidates and not done:
            if len(clique) > 1:
                found.append(tuple(sorted(clique)))
            return
        pivot = max(candidates | done, key=lambda method: len(alike[method] & candidates))
        for method in sorted(candidates - alike[pivot]):
            grow(clique | {method}, candidates & alike[method], done & alike[method])
            candidates, done = candidates - {method}, done | {method}

    grow(set(), set(range(n)), set())
    return sorted(found)
