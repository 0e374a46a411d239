"""Reducers over ordered pairs of selected features: the values of the naive sum, for any storage, threads and estimator."""

from statistics import fmean

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import Criterion, LabelwiseSieve, Sieve
from labelsieve.formula import H, I, co, f, mean_st, pos, s, sqrt, sum_s, sum_st, sum_y, t, y
from tests.support.criterion_cases import assert_follows, columns, make_case
from tests.support.reference_criteria import H as entropy
from tests.support.reference_criteria import cmi, estimating, mi, ratio, relevance
from tests.support.reference_criteria import co as co_information

CODES = {"discretizer": None, "n_features_to_select": None, "constant_features": "score"}
# The body, its operation, and the naive value for one ordered pair.
BODIES = {
    "conditional": (mean_st(I(f, s | t)), fmean, lambda f, s, t: cmi(f, s, t)),
    "sum": (0.1 * sum_st(I(f, s | t)), lambda values: 0.1 * sum(values), lambda f, s, t: cmi(f, s, t)),
    "positive part": (mean_st(pos(co(f, s, t))), fmean, lambda f, s, t: max(0.0, co_information(f, s, t))),
    "ratio": (
        mean_st(I(f, (s, t)) / H((s, t))),
        fmean,
        lambda f, s, t: ratio(entropy(f) + entropy(s, t) - entropy(f, s, t), entropy(s, t)),
    ),
    "not symmetric": (
        mean_st(sqrt(H(f | t)) * H(s)),
        fmean,
        lambda f, s, t: max(0.0, entropy(f, t) - entropy(t)) ** 0.5 * entropy(s),
    ),
}


class Pairs(Criterion):
    def __init__(self, term):
        self.score = sum_y(I(f, y)) - term - sum_s(0.1 * I(f, s))


def naive(name, targets):
    _, operation, value = BODIES[name]

    def score(candidate, selected):
        pairs = [(one, other) for k, one in enumerate(selected) for m, other in enumerate(selected) if k != m]
        penalty = operation([value(candidate, *pair) for pair in pairs]) if pairs else 0.0
        return relevance(candidate, targets) - penalty - sum(0.1 * mi(candidate, s) for s in selected)

    return score


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("seed", [3, 8, 11])
def test_a_reducer_over_pairs_is_the_naive_one(name, seed):
    X, Y = make_case(seed)
    sieve = Sieve(Pairs(BODIES[name][0]), target_type="class", **CODES).fit(X, Y)
    assert_follows(naive(name, columns(Y)), X, sieve.selected_, sieve.scores_, within=1e-8)
    for same in (sp.csr_array(X), np.asfortranarray(X)):
        other = Sieve(Pairs(BODIES[name][0]), target_type="class", n_jobs=2, **CODES).fit(same, Y)
        assert np.array_equal(other.selected_, sieve.selected_)
        assert np.array_equal(other.scores_, sieve.scores_)


def test_pairs_are_corrected_for_bias_and_weighted_as_all_terms():
    X, Y = make_case(8)
    weights = np.random.default_rng(0).integers(1, 4, size=len(X)).astype(float)
    sieve = Sieve(Pairs(BODIES["conditional"][0]), target_type="class", estimator="miller-madow", **CODES)
    sieve.fit(X, Y, sample_weight=weights)
    with estimating(weights=weights, estimator="miller-madow"):
        assert_follows(naive("conditional", columns(Y)), X, sieve.selected_, sieve.scores_, within=1e-8)


def test_labels_with_separate_lists_have_separate_pairs():
    X, Y = make_case(8, n_targets=3)
    lists = LabelwiseSieve("relaxmrmr", discretizer=None, n_features_to_select=4, target_type="class").fit(X, Y)
    for label in range(3):
        single = Sieve("relaxmrmr", discretizer=None, n_features_to_select=4, target_type="class").fit(X, Y[:, label])
        assert np.array_equal(lists.selected_[label], single.selected_)
