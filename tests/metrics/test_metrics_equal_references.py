from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labelsieve.metrics import MEASURES
from labelsieve.metrics import label_ranks as places_module
from tests.support import reference_measures as measure_twins
from tests.support.measure_strategies import judged

TIES = {
    "ranking_loss": ("worst", "half", "best", "earlier", "later"),
    "one_error": ("worst", "half", "best", "earlier", "later"),
    "coverage": ("worst", "earlier", "later"),
    "average_precision": ("worst", "earlier", "later"),
}


def variants(name):
    """Every combination of a measure's options."""
    if name in TIES:
        found = [{"ties": ties, "rows": rows} for ties, rows in product(TIES[name], ("informative", "all"))]
        if name == "coverage":
            found = [
                how | {"count_from": start, "normalize": by} for how, start, by in product(found, (0, 1), (None, "q", "q-1"))
            ]
        return found
    return [{"zero_division": 0.0}, {"zero_division": 1.0}] if "f1" in name or name == "example_accuracy" else [{}]


def test_every_measure_has_a_twin():
    assert all(hasattr(measure_twins, name) for name in MEASURES)


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_measure_equals_its_twin_under_every_option(name, data):
    Y, answer, weights = data.draw(judged(MEASURES[name].needs))
    for how in variants(name):
        expected = getattr(measure_twins, name)(Y.tolist(), answer.tolist(), weights.tolist(), **how)
        assert MEASURES[name].function(Y, answer, sample_weight=weights, **how) == pytest.approx(expected, abs=1e-12), how


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_sparse_tables_and_blocks_change_nothing(name, data, monkeypatch):
    Y, answer, weights = data.draw(judged(MEASURES[name].needs))
    function = MEASURES[name].function
    for how in variants(name)[:3]:
        expected = function(Y, answer, sample_weight=weights, **how)
        monkeypatch.setattr(places_module, "_BLOCK", 2)
        for truth, found in product((Y, sp.csr_array(Y), sp.coo_matrix(Y)), (answer, sp.csc_array(answer))):
            assert function(truth, found, sample_weight=weights, **how) == pytest.approx(expected, abs=1e-12)
        monkeypatch.undo()


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_row_of_weight_three_is_three_rows(name, data):
    Y, answer, _ = data.draw(judged(MEASURES[name].needs))
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(Y), max_size=len(Y)).filter(any)))
    repeated = np.repeat(np.arange(len(Y)), weights)
    function = MEASURES[name].function
    assert function(Y, answer, sample_weight=weights) == pytest.approx(function(Y[repeated], answer[repeated]), abs=1e-9)


def test_left_out_cases_do_not_count():
    Y, P = [[1, 0], [0, 0]], [[1, 0], [0, 0]]
    for name in ("example_accuracy", "example_f1", "macro_f1", "micro_f1"):
        assert MEASURES[name].function(Y, P, zero_division=float("nan")) == 1.0
        assert np.isnan(MEASURES[name].function([[0]], [[0]], zero_division=np.nan))
