"""The statistics of a published comparison, from its printed numbers."""

import numpy as np
import pytest

from labelsieve.statistics import average_ranks, compare, critical_difference, friedman
from tests.support.printed_tables import METHODS, TABLES

# Table 7 prints 25.017, 3.967, 3.273 and 5.052: computed, it seems, from numbers with more digits and so other ties.
RECOMPUTED = {"exact match": 23.803, "Hamming score": 4.125, "macro-F1": 3.345, "micro-F1": 4.553}
PRINTED_RANKS = {
    "exact match": [5.231, 2.731, 3.808, 6.692, 5.231, 1.846, 2.462],
    "micro-F1": [4.423, 3.115, 4.385, 6.077, 4.346, 2.769, 2.885],
}


@pytest.mark.parametrize("measure", TABLES)
def test_friedmans_statistic_of_the_printed_numbers(measure):
    found = friedman(TABLES[measure])
    assert found.f == pytest.approx(RECOMPUTED[measure], abs=5e-4)
    assert found.degrees == (6, 72)
    assert found.p_value < 0.05, "the paper's conclusion"


@pytest.mark.parametrize("measure", PRINTED_RANKS)
def test_average_ranks_are_nearly_the_printed_ones(measure):
    found = average_ranks(TABLES[measure], lower_is_better=False)
    assert found == pytest.approx(PRINTED_RANKS[measure], abs=0.16)


def test_the_papers_verdict_on_exact_match():
    """oCC and EoCC do better than the others except ECC and EBCC."""
    found = compare(TABLES["exact match"], lower_is_better=False, methods=METHODS)
    names = np.array(METHODS)
    for own in ("oCC", "EoCC"):
        assert set(names[found.different[METHODS.index(own)]]) == {"BR", "MDDM", "LLSF"}
    assert found.critical_difference == critical_difference(7, 13) == pytest.approx(2.498, abs=1e-3)
    best = {METHODS[method] for method in found.groups[0]}
    assert best == {"oCC", "EoCC", "ECC", "EBCC"}
