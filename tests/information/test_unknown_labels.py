"""Measures of codes with missing cells in ``Y``: those of the known rows, or a refusal."""

from dataclasses import replace

import numpy as np
import pytest

from labelsieve import InputError
from labelsieve.information import (
    Codes,
    conditional_mutual_information,
    entropy,
    joint_entropy,
    joint_mutual_information,
    mutual_information,
)
from tests.support.random_tables import many_levels_table

X, Z = many_levels_table(1, 90, [2, 5, 3]), many_levels_table(2, 90, [3])
TABLE = many_levels_table(3, 90, [2, 3])
UNKNOWN = np.random.default_rng(0).random(TABLE.shape) < 0.3
Y = Codes(
    90,
    np.array([3, 4], dtype=np.uint32),
    dense=np.where(UNKNOWN, [2, 3], TABLE).astype(np.uint8),
    missing=np.array([True, True]),
)


@pytest.mark.parametrize("estimator", ["plugin", "miller-madow", "shrinkage"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("measure", [mutual_information, conditional_mutual_information, joint_mutual_information])
def test_information_about_a_label_is_that_of_its_known_rows(measure, estimator, weighted):
    others = () if measure is mutual_information else (Z,)
    weights = np.arange(90) % 3 + 1.0 if weighted else np.ones(90)
    ours = measure(X, Y, *others, estimator=estimator, sample_weight=weights)
    for label in range(2):
        known = ~UNKNOWN[:, label]
        tables = [X[known], TABLE[known][:, [label]], *(Z[known] for _ in others)]
        expected = measure(*tables, estimator=estimator, sample_weight=weights[known])
        assert ours[:, [label]] == pytest.approx(expected, abs=1e-9)


def test_measures_that_are_not_of_the_known_rows_are_refused():
    with pytest.raises(InputError, match="Y has missing cells"):
        joint_entropy(X, Y)
    with pytest.raises(InputError, match="X has missing cells"):
        entropy(Y)
    with pytest.raises(InputError, match="Z has missing cells"):
        conditional_mutual_information(X, TABLE, replace(Y))
