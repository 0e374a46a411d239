"""Relations between criteria that the papers state hold for this implementation."""

from collections import Counter
from math import log2

import numpy as np
import pytest

from labelsieve import Criterion, Sieve
from labelsieve.criteria import (
    AMI,
    CIFE,
    CMI,
    CMIM,
    D2F,
    FIMF,
    JMI,
    LRFS,
    LSMFS,
    MIFS,
    MIM,
    MLFS,
    MLSMFS,
    MRMR,
    PMU,
    BetaGamma,
    CondRed,
)
from labelsieve.formula import H, I, S, co, f, mean_s, s, sum_s, sum_y, y
from labelsieve.information import conditional_mutual_information, entropy, mutual_information
from tests.support.criterion_cases import make_case

SEEDS = range(600, 630)
ONE_TARGET = range(640, 660)


def fit(criterion, X, Y, **parameters):
    settings = {"discretizer": None, "target_type": "class", "n_features_to_select": None, **parameters}
    return Sieve(criterion, **settings).fit(X, Y)


def compare(one, other, seeds, *, n_targets=None, **parameters):
    """Two criteria have the same scores as long as their selections agree; for every table, whether they agree to the end."""
    for seed in seeds:
        X, Y = make_case(seed, n_targets=n_targets)
        ours, theirs = fit(one, X, Y, **parameters), fit(other, X, Y, **parameters)
        # A tie that rounding breaks may turn two columns around, and with them everything after: compare up to there.
        same = ours.selected_ == theirs.selected_
        n_same = len(same) if same.all() else int(np.argmin(same)) + 1
        np.testing.assert_allclose(ours.scores_[:n_same], theirs.scores_[:n_same], rtol=0, atol=1e-9, err_msg=f"{seed}")
        yield same.all()


EQUAL = {
    "CIFE is BetaGamma(1, 1)": (CIFE(), BetaGamma(1.0, 1.0)),
    "CondRed is BetaGamma(0, 1)": (CondRed(), BetaGamma(0.0, 1.0)),
    "MIFS is BetaGamma(b, 0)": (MIFS(0.7), BetaGamma(0.7, 0.0)),
    "MIFS(0) is MIM": (MIFS(0.0), MIM()),
    "BetaGamma(0, 0) is MIM": (BetaGamma(0.0, 0.0), MIM()),
    "MLFS without parents and gamma = 0 is MIM": (MLFS(gamma=0.0), MIM()),
    "MLFS without parents does not look at beta": (MLFS(beta=5.0), MLFS()),
    "FIMF of one label is MIM": (FIMF(n_top=1), MIM()),
    "D2F is CIFE": (D2F(), CIFE()),  # co(f, s, y) = I(f, s) - I(f, s | y), once for every target
    "PMU with all pairs is FIMF until something is selected": (PMU(), FIMF(n_top=100)),
}
EQUAL_WITH_ONE_TARGET = {
    "D2F is PMU": (D2F(), PMU()),
    "ordered pairs are pairs": (PMU(pairs="ordered"), PMU()),
    "AMI is MIFS": (AMI(), MIFS()),
    "FIMF is MIM": (FIMF(), MIM()),
    "LSMFS is AMI": (LSMFS(), AMI()),
    "MLSMFS is AMI": (MLSMFS(), AMI()),
    "MLSMFS is LSMFS": (MLSMFS(), LSMFS()),
}


@pytest.mark.parametrize("claim", [claim for claim in EQUAL if "until" not in claim])
def test_special_case(claim):
    assert np.mean(list(compare(*EQUAL[claim], SEEDS))) > 0.8, "ties should be the exception"


@pytest.mark.parametrize("claim", EQUAL_WITH_ONE_TARGET)
def test_special_case_of_a_single_target(claim):
    assert np.mean(list(compare(*EQUAL_WITH_ONE_TARGET[claim], ONE_TARGET, n_targets=1))) > 0.8


def test_two_targets_make_lsmfs_and_mlsmfs_the_same():
    assert np.mean(list(compare(LSMFS(), MLSMFS(), range(660, 680), n_targets=2))) > 0.8


@pytest.mark.parametrize("claim", [claim for claim in EQUAL if "until" in claim])
def test_special_case_while_nothing_is_selected(claim):
    assert all(compare(*EQUAL[claim], SEEDS, n_features_to_select=1))


@pytest.mark.parametrize("criterion", [JMI(), CMI(), CMIM(), MRMR(), AMI(), D2F(), MIFS(0.3), CIFE(), CondRed()])
def test_the_first_choice_is_the_most_relevant(criterion):
    assert all(compare(criterion, MIM(), SEEDS, n_features_to_select=1))


def ml_info_gain(column, labels):
    """Pereira et al. 2015, eq. 2, word for word."""

    def multi_label_entropy(rows):
        total = 0.0
        for label in zip(*rows, strict=True):
            p = sum(label) / len(rows)
            total -= sum(share * log2(share) for share in (p, 1 - p) if share)
        return total

    gain = multi_label_entropy(labels)
    for value, count in Counter(column).items():
        gain -= count / len(column) * multi_label_entropy([row for v, row in zip(column, labels, strict=True) if v == value])
    return gain


def test_relevance_over_single_labels_is_multi_label_information_gain_in_bits():
    for seed in range(700, 730, 2):  # even seeds have labels, odd ones classes
        X, Y = make_case(seed)
        Y = np.minimum(Y, 1)
        sieve = fit("mim", X, Y)
        gains = [ml_info_gain(X[:, k].tolist(), Y.tolist()) for k in sieve.selected_]
        np.testing.assert_allclose(sieve.scores_ / np.log(2), gains, rtol=0, atol=1e-9)


class RelevanceLessRedundancy(Criterion):
    """JMI as Brown et al. write it: the same order."""

    first = sum_y(I(f, y))
    score = sum_y(I(f, y) - mean_s(co(f, s, y)))


def test_both_forms_of_jmi_choose_the_same_and_differ_by_the_relevance_of_the_selected():
    r"""``sum_j I(f j; y) = |S| (I(f; y) - 1/|S| sum_j co(f, j, y)) + sum_j I(j; y)``."""
    equal = []
    for seed in SEEDS:
        X, Y = make_case(seed)
        joint, parts = fit("jmi", X, Y), fit(RelevanceLessRedundancy(), X, Y)
        same = joint.selected_ == parts.selected_
        equal.append(same.all())
        relevance = mutual_information(X, Y).sum(axis=1)
        for step in range(1, len(same) if same.all() else int(np.argmin(same)) + 1):
            constant = relevance[joint.selected_[:step]].sum()
            assert joint.scores_[step] == pytest.approx(step * parts.scores_[step] + constant, rel=0, abs=1e-9)
    assert np.mean(equal) > 0.8


def test_cmi_given_one_feature_is_conditional_mutual_information():
    for seed in SEEDS:
        X, Y = make_case(seed)
        sieve = fit("cmi", X, Y, n_features_to_select=2)
        first, second = sieve.selected_
        given = conditional_mutual_information(X[:, [second]], Y, X[:, [first]])
        assert sieve.scores_[1] == pytest.approx(given.sum(), rel=0, abs=1e-9)


def test_scores_of_cmi_add_up_to_the_information_of_all_features_together():
    """The chain rule, for every target at once."""
    for seed in SEEDS:
        X, Y = make_case(seed)
        everything = np.unique(X, axis=0, return_inverse=True)[1].reshape(-1, 1)
        assert fit("cmi", X, Y).scores_.sum() == pytest.approx(mutual_information(everything, Y).sum(), abs=1e-9)


class JointEntropy(Criterion):
    """The chain rule once more, of the features alone."""

    score = H(f | S)


def test_conditional_entropies_add_up_to_that_of_all_features_together():
    for seed in SEEDS:
        X, Y = make_case(seed)
        everything = np.unique(X, axis=0, return_inverse=True)[1].reshape(-1, 1)
        assert fit(JointEntropy(), X, Y).scores_.sum() == pytest.approx(entropy(everything).sum(), abs=1e-9)


class MeanRedundancy(Criterion):
    score = sum_y(I(f, y)) - mean_s(I(f, s))


class SumOverLengths(Criterion):
    score = sum_y(I(f, y)) - sum_s(I(f, s))


def test_a_mean_over_one_selected_feature_is_a_sum():
    assert all(compare(MeanRedundancy(), SumOverLengths(), SEEDS, n_features_to_select=2))


def test_lrfs_of_one_target_avoids_what_is_selected():
    for seed in ONE_TARGET:
        X, Y = make_case(seed, n_targets=1)
        assert fit(LRFS(), X, Y).scores_[0] == 0.0


def test_mlfs_with_a_parent_equal_to_its_label_adds_what_the_feature_leaves_open():
    """``I(y; p | f) = H(y | f)`` when ``p`` equals ``y``, so every feature scores ``H(y)`` for each of the two."""
    for seed in ONE_TARGET:
        X, Y = make_case(seed, n_targets=1)
        Y = np.hstack([Y, Y])
        sieve = fit(MLFS(), X, Y, parents=[[1], [0]], n_features_to_select=1)
        assert sieve.scores_[0] == pytest.approx(entropy(Y).sum(), rel=0, abs=1e-9)
