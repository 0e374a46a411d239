"""How far a symmetric matrix bends down."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

Array = NDArray[np.float64]

_LARGEST_EXACT = 128  # rows up to which all eigenvalues are computed
_STEPS = 60  # of Lanczos' method beyond
_NOTHING = 1e-9  # what is left when the steps have spanned all there is


def smallest_eigenvalue(matrix: Array) -> float:
    """Of a symmetric matrix; of a large one Lanczos' estimate, which is never below it.

    Cost: the cube of a small size; of a large one 60 products with a vector.

    >>> round(smallest_eigenvalue(np.array([[1.0, 2.0], [2.0, 1.0]])), 12)
    -1.0
    """
    n = len(matrix)
    if n <= _LARGEST_EXACT:
        return float(np.linalg.eigvalsh(matrix)[0])
    vectors, diagonal, beside = np.zeros((_STEPS, n)), [], []
    vector = np.cos(np.arange(n) + 1.0)  # leans towards no feature
    for step in range(_STEPS):
        vectors[step] = vector / np.linalg.norm(vector)
        vector = matrix @ vectors[step]
        diagonal.append(float(vector @ vectors[step]))
        for _ in range(2):  # twice is enough to stay orthogonal
            vector -= vectors[: step + 1].T @ (vectors[: step + 1] @ vector)
        beside.append(float(np.linalg.norm(vector)))
        if beside[-1] <= _NOTHING:
            break
    return float(eigh_tridiagonal(diagonal, beside[:-1], select="i", select_range=(0, 0))[0][0])
