"""Where scikit-learn has a measure, ours is the same number under the options named "scikit-learn"."""

import numpy as np
import pytest
import sklearn.metrics as theirs
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from labelsieve.metrics import MEASURES, convention_options, rrmse
from tests.support.measure_strategies import predictions

SAME = {
    "hamming_loss": lambda Y, P, w: theirs.hamming_loss(Y, P, sample_weight=w),
    "subset_loss": lambda Y, P, w: theirs.zero_one_loss(Y, P, sample_weight=w),
    "exact_match": lambda Y, P, w: theirs.accuracy_score(Y, P, sample_weight=w),
    "example_accuracy": lambda Y, P, w: theirs.jaccard_score(Y, P, average="samples", zero_division=0, sample_weight=w),
    "example_f1": lambda Y, P, w: theirs.f1_score(Y, P, average="samples", zero_division=0, sample_weight=w),
    "macro_f1": lambda Y, P, w: theirs.f1_score(Y, P, average="macro", zero_division=0, sample_weight=w),
    "micro_f1": lambda Y, P, w: theirs.f1_score(Y, P, average="micro", zero_division=0, sample_weight=w),
    "ranking_loss": lambda Y, S, w: theirs.label_ranking_loss(Y, S, sample_weight=w),
    "coverage": lambda Y, S, w: theirs.coverage_error(Y, S, sample_weight=w),
    "average_precision": lambda Y, S, w: theirs.label_ranking_average_precision_score(Y, S, sample_weight=w),
}


@pytest.mark.parametrize("name", SAME)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_measure_equals_scikit_learns(name, data):
    Y, answer, weights = data.draw(predictions(MEASURES[name].needs))
    assume(Y.shape[1] > 1)  # scikit-learn takes one column for something else
    ours = MEASURES[name].function(Y, answer, sample_weight=weights, **convention_options(name, "scikit-learn"))
    assert ours == pytest.approx(SAME[name](Y, answer, weights), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("zero_division", [0.0, 1.0, np.nan])
@settings(max_examples=30, deadline=None)
@given(data=predictions("labels"))
def test_f1_of_nothing_is_what_scikit_learn_says(zero_division, data):
    Y, P, _ = data
    assume(Y.shape[1] > 1)
    for name, average in {"example_f1": "samples", "macro_f1": "macro", "micro_f1": "micro"}.items():
        expected = theirs.f1_score(Y, P, average=average, zero_division=zero_division)
        assert MEASURES[name].function(Y, P, zero_division=zero_division) == pytest.approx(expected, nan_ok=True)


@settings(max_examples=30, deadline=None)
@given(predictions("numbers"))
def test_relative_error_is_the_root_of_what_r2_leaves(data):
    Y, P, weights = data
    assume(np.count_nonzero(weights) > 1)
    kept = weights > 0
    r2 = theirs.r2_score(Y[kept], P[kept], sample_weight=weights[kept], multioutput="raw_values")
    assert rrmse(Y, P, sample_weight=weights, multioutput="raw_values") ** 2 == pytest.approx(1 - r2, rel=1e-9, abs=1e-9)
