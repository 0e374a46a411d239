from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labelsieve.metrics import MEASURES
from labelsieve.metrics import rankings as label_ranks
from tests.support import reference_measures as references
from tests.support.measure_strategies import predictions

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
                options | {"count_from": start, "normalize": by}
                for options, start, by in product(found, (0, 1), (None, "q", "q-1"))
            ]
        return found
    if name == "precision_at_k":
        return [{"k": k, "normalize": normalize} for k in (1, 3, 5) for normalize in (False, True)]
    if name == "ndcg_at_k":
        return [{"k": k, "zero_division": value} for k in (1, 3, 5) for value in (0.0, 1.0)]
    return [{"zero_division": 0.0}, {"zero_division": 1.0}] if "f1" in name or name == "example_accuracy" else [{}]


def test_every_measure_has_a_reference():
    assert all(hasattr(references, name) for name in MEASURES)


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_every_measure_equals_its_reference_under_every_option(name, data):
    Y, predicted, weights = data.draw(predictions(MEASURES[name].needs))
    for options in variants(name):
        expected = getattr(references, name)(Y.tolist(), predicted.tolist(), weights.tolist(), **options)
        assert MEASURES[name].function(Y, predicted, sample_weight=weights, **options) == pytest.approx(expected, abs=1e-12), (
            options
        )


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_sparse_tables_and_blocks_change_nothing(name, data, monkeypatch):
    Y, predicted, weights = data.draw(predictions(MEASURES[name].needs))
    function = MEASURES[name].function
    for options in variants(name)[:3]:
        expected = function(Y, predicted, sample_weight=weights, **options)
        monkeypatch.setattr(label_ranks, "BLOCK", 2)
        for truth, found in product((Y, sp.csr_array(Y), sp.coo_matrix(Y)), (predicted, sp.csc_array(predicted))):
            assert function(truth, found, sample_weight=weights, **options) == pytest.approx(expected, abs=1e-12)
        monkeypatch.undo()


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_row_of_weight_three_is_three_rows(name, data):
    Y, predicted, _ = data.draw(predictions(MEASURES[name].needs))
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(Y), max_size=len(Y)).filter(any)))
    repeated = np.repeat(np.arange(len(Y)), weights)
    function = MEASURES[name].function
    assert function(Y, predicted, sample_weight=weights) == pytest.approx(function(Y[repeated], predicted[repeated]), abs=1e-9)


def test_left_out_cases_do_not_count():
    Y, P = [[1, 0], [0, 0]], [[1, 0], [0, 0]]
    for name in ("example_accuracy", "example_f1", "macro_f1", "micro_f1"):
        assert MEASURES[name].function(Y, P, zero_division=float("nan")) == 1.0
        assert np.isnan(MEASURES[name].function([[0]], [[0]], zero_division=np.nan))
