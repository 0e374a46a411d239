"""Redundant features: not selected, with nearly the same information as a selected one."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends import CountingOptions, Feature, make_backend
from labelsieve.counting.backends.factory import DEFAULT_OPTIONS
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.joint_codes import constant_column
from labelsieve.errors import InputError
from labelsieve.tables.codes import Codes


class RedundantFeature(NamedTuple):
    r"""A feature that was not selected, and its similarity to a selected one.

    ``similarity`` is :math:`I(f; s) / H(f, s)`: 1 when each determines the other, 0 when they are independent. One minus
    it is a metric (Rajski 1961).
    """

    feature: int
    similarity: float


def redundant_features(
    codes: Codes, selected: NDArray[np.intp], options: CountingOptions = DEFAULT_OPTIONS, *, at_least: float = 0.9
) -> dict[int, list[RedundantFeature]]:
    """Redundant features of every selected feature, the most similar first.

    Cost: one pass over pairs of columns for each selected feature.

    >>> redundant_features(Codes.from_values([[0, 1, 0], [1, 0, 0], [0, 1, 1], [1, 0, 1]]), np.array([0]))
    {0: [RedundantFeature(feature=1, similarity=1.0)]}
    """
    if not 0 < at_least <= 1:
        raise InputError(f"at_least must be above 0 and at most 1, not {at_least!r}.")
    fixed = FixedPoint.for_rows(codes.n_rows)
    backend = make_backend(codes, constant_column(codes.n_rows), fixed, options)
    alone = fixed.top - backend.singles()[0]
    unselected = np.ones(codes.n_columns, dtype=bool)
    unselected[selected] = False
    redundant: dict[int, list[RedundantFeature]] = {}
    for feature in map(int, selected):
        together = fixed.top - backend.panel(Feature(feature), targets=slice(0)).pair
        shared = alone + alone[feature] - together
        similarity = np.divide(shared, together, out=np.zeros(len(alone)), where=together > 0)
        similar = np.flatnonzero(unselected & (similarity >= at_least))
        order = similar[np.argsort(-similarity[similar], kind="stable")]
        redundant[feature] = [RedundantFeature(int(column), float(similarity[column])) for column in order]
    return redundant
