"""Measures of the best k labels: sparse scores, propensities, and very many labels."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from labelsieve import InputError
from labelsieve.metrics import (
    average_precision,
    evaluate,
    get_scorer,
    inverse_propensities,
    ndcg_at_k,
    precision_at_k,
    psndcg_at_k,
    psp_at_k,
    ranking_loss,
)
from labelsieve.metrics import rankings as label_ranks
from tests.support import reference_measures as references
from tests.support.measure_strategies import predictions

Y = np.array([[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0]])
SCORES = np.array([[0.9, 0.5, 0.0, 0.2], [0.3, 0.2, 0.1, 0.0], [0.5, 0.0, 0.0, 0.0]])


@settings(max_examples=30, deadline=None)
@given(predictions("scores"), st.sampled_from([1, 2, 5]), st.booleans(), st.data())
def test_propensity_scored_measures_equal_their_references(given_data, k, normalize, data):
    truth, scores, weights = given_data
    counts = data.draw(st.lists(st.sampled_from([0.5, 1.0, 3.0, 8.0]), min_size=truth.shape[1], max_size=truth.shape[1]))
    for name, function in (("psp_at_k", psp_at_k), ("psndcg_at_k", psndcg_at_k)):
        expected = getattr(references, name)(truth.tolist(), scores.tolist(), counts, weights.tolist(), k, normalize)
        for form in (np.asarray, sp.csr_array):
            found = function(form(truth), form(scores), counts, k=k, normalize=normalize, sample_weight=weights)
            assert found == pytest.approx(expected, abs=1e-12)


def test_equal_propensities_are_precision():
    assert psp_at_k(Y, SCORES, np.ones(4), k=2, normalize=False) == precision_at_k(Y, SCORES, k=2)
    assert psp_at_k(Y, SCORES, np.ones(4), k=2) == precision_at_k(Y, SCORES, k=2, normalize=True)


def test_propensities_are_those_of_the_paper():
    rng = np.random.default_rng(0)
    labels = (rng.random((500, 7)) < np.geomspace(0.5, 0.002, 7)).astype(int)
    for A, B in ((0.55, 1.5), (0.5, 0.4), (0.6, 2.6)):
        expected = references.inverse_propensities(labels.tolist(), A, B)
        assert inverse_propensities(labels, A=A, B=B) == pytest.approx(expected)
        assert inverse_propensities(sp.csc_array(labels), A=A, B=B) == pytest.approx(expected)


def test_scikit_learn_has_the_same_ndcg():
    rng = np.random.default_rng(1)
    truth, scores = (rng.random((60, 9)) < 0.3).astype(int), rng.random((60, 9))
    truth[:3] = 0
    for k in (1, 3, 9, 20):
        assert ndcg_at_k(truth, scores, k=k, zero_division=0.0) == pytest.approx(ndcg_score(truth, scores, k=k))


def test_labels_that_are_not_stored_are_never_hit_by_luck():
    few = sp.csr_array(([0.5], ([0], [3])), shape=(1, 1000))
    truth = sp.csr_array(([1, 1], ([0, 0], [0, 3])), shape=(1, 1000))
    assert precision_at_k(truth, few, k=5) == 0.2
    assert np.isnan(ndcg_at_k(sp.csr_array((1, 1000)), few, zero_division=np.nan))


@settings(max_examples=30, deadline=None)
@given(predictions("scores"), st.sampled_from([1, 7, 2**20]))
def test_ranks_of_sparse_scores_equal_those_of_dense_ones(given_data, block):
    truth, scores, weights = given_data
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_ranks, "BLOCK", block)
        for measure in (ranking_loss, average_precision, precision_at_k):
            expected = measure(truth, scores, sample_weight=weights)
            assert measure(sp.csr_array(truth), sp.csr_array(scores), sample_weight=weights) == pytest.approx(expected)


def test_half_a_million_labels_take_memory_for_what_is_stored():
    n, q, rng = 2000, 500_000, np.random.default_rng(0)
    rows = np.repeat(np.arange(n), 10)
    scores, other = (sp.coo_array((rng.random(10 * n), (rows, rng.integers(0, q, 10 * n))), shape=(n, q)) for _ in range(2))
    truth = ((scores + other).tocsr() > 0.8).astype(np.uint8)
    tracemalloc.start()
    values = precision_at_k(truth, scores), psp_at_k(truth, scores, np.ones(q)), ndcg_at_k(truth, scores)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert all(0 <= value <= 1 for value in values)
    assert most < 60e6  # a dense table of bytes would take a gigabyte


def test_scorers_take_k_and_evaluate_leaves_the_choice():
    assert "precision_at_k" not in evaluate(Y, scores=SCORES)
    assert repr(get_scorer("precision_at_k", k=1)) == "get_scorer('precision_at_k', k=1)"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: precision_at_k(Y, SCORES, k=0), "k must be a whole number from 1"),
        (lambda: ndcg_at_k(Y, SCORES, zero_division=0.5), "zero_division must be"),
        (lambda: psp_at_k(Y, SCORES, [1, 2]), "for each of the 4 labels"),
        (lambda: psp_at_k(Y, SCORES, [1, 2, np.nan, 1]), "for each of the 4 labels"),
        (lambda: inverse_propensities(Y, A=-1), "A and B must be finite"),
    ],
)
def test_wrong_options_are_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()
