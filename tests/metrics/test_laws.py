"""What holds for every measure whatever the data."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve.metrics import MEASURES, average_precision, coverage, one_error, ranking_loss, rrmse
from labelsieve.metrics import rankings as label_ranks
from labelsieve.metrics.arrays import TrueLabels
from tests.support.measure_strategies import predictions

OF_LABELS = [name for name, measure in MEASURES.items() if measure.needs != "numbers"]
STRICT = {"ranking_loss", "one_error", "coverage", "average_precision"}
fast = settings(max_examples=30, deadline=None)


@pytest.mark.parametrize("name", MEASURES)
@fast
@given(data=st.data())
def test_values_stay_in_their_range(name, data):
    Y, answer, weights = data.draw(predictions(MEASURES[name].needs))
    value = MEASURES[name].function(Y, answer, sample_weight=weights)
    highest = {"coverage": Y.shape[1] - 1, "rrmse": np.inf}.get(name, 1)
    assert isinstance(value, float)
    assert 0 <= value <= highest + 1e-12


@pytest.mark.parametrize("name", MEASURES)
@fast
@given(data=st.data())
def test_order_of_rows_and_of_labels_does_not_matter(name, data):
    Y, answer, weights = data.draw(predictions(MEASURES[name].needs))
    rows = data.draw(st.permutations(range(Y.shape[0])))
    labels = data.draw(st.permutations(range(Y.shape[1])))
    function = MEASURES[name].function
    moved = function(Y[rows][:, labels], answer[rows][:, labels], sample_weight=weights[rows])
    assert moved == pytest.approx(function(Y, answer, sample_weight=weights), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", MEASURES)
@fast
@given(data=st.data())
def test_nothing_beats_the_truth(name, data):
    measure = MEASURES[name]
    Y, answer, weights = data.draw(predictions(measure.needs))
    how = {"rows": "informative"} if name in STRICT else {"normalize": True} if name == "precision_at_k" else {}
    perfect = measure.function(Y, Y, sample_weight=weights, **how)
    found = measure.function(Y, answer, sample_weight=weights, **how)
    if measure.lower_is_better:
        assert found >= perfect - 1e-12
    else:
        assert found <= perfect + 1e-12
    if name != "coverage":
        assert perfect == pytest.approx(0 if measure.lower_is_better else 1)


@fast
@given(predictions("scores"))
def test_a_tie_costs_between_the_best_and_the_worst_order(given_data):
    Y, scores, weights = given_data
    for measure in (ranking_loss, one_error):
        best, half, worst, earlier, later = (
            measure(Y, scores, ties=ties, sample_weight=weights) for ties in ("best", "half", "worst", "earlier", "later")
        )
        assert best - 1e-12 <= min(half, earlier, later)
        assert max(half, earlier, later) <= worst + 1e-12
    both_ways = ranking_loss(Y, scores, ties="earlier") + ranking_loss(Y, scores, ties="later")
    assert both_ways / 2 == pytest.approx(ranking_loss(Y, scores, ties="half"))


@fast
@given(predictions("scores"), st.floats(0.5, 4), st.integers(-8, 8))
def test_only_the_order_of_scores_matters(given_data, factor, shift):
    Y, scores, _ = given_data
    for measure in (ranking_loss, one_error, coverage):
        assert measure(Y, scores * factor + shift) == measure(Y, scores)


@fast
@given(predictions("numbers"))
def test_relative_error_does_not_depend_on_the_unit(given_data):
    Y, P, weights = given_data
    value = rrmse(Y, P, sample_weight=weights)
    assert rrmse(Y * 8 - 16, P * 8 - 16, sample_weight=weights) == pytest.approx(value, rel=1e-9)


@fast
@given(predictions("numbers"))
def test_answering_the_mean_is_worth_one_for_targets_that_vary(given_data):
    Y, _, _ = given_data
    values = rrmse(Y, np.tile(Y.mean(axis=0), (len(Y), 1)), multioutput="raw_values")
    assert values[np.ptp(Y, axis=0) > 0] == pytest.approx(1.0)


@pytest.mark.parametrize("name", OF_LABELS)
@fast
@given(data=st.data())
def test_labels_that_were_read_before_give_the_same_numbers(name, data):
    Y, answer, weights = data.draw(predictions(MEASURES[name].needs))
    function = MEASURES[name].function
    for truth in (TrueLabels.of(Y), TrueLabels.of(sp.csr_array(Y))):
        for sample_weight in (None, weights):  # the second call finds what the first one sorted
            assert function(truth, answer, sample_weight=sample_weight) == function(Y, answer, sample_weight=sample_weight)


def test_other_scores_and_other_ties_are_sorted_anew():
    truth, scores, others = TrueLabels.of([[1, 0]]), np.array([[0.5, 0.5]]), np.array([[0.5, 0.4]])
    ties = ("worst", "best", "half")
    assert [ranking_loss(truth, scores, ties=one) for one in ties] == [1, 0, 0.5]
    assert [ranking_loss(truth, one) for one in (others, scores)] == [0, 1]


def test_places_by_comparing_and_by_sorting_are_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    Y, scores = rng.uniform(size=(200, 12)) < 0.2, rng.integers(0, 6, (200, 12)) / 5
    few = [measure(Y, scores) for measure in (ranking_loss, coverage, average_precision, one_error)]
    monkeypatch.setattr(label_ranks, "_FEW", 0)
    assert [measure(Y, scores) for measure in (ranking_loss, coverage, average_precision, one_error)] == pytest.approx(few)
