"""Weights of targets: a target of weight 2 is that target twice."""

import numpy as np
import pytest

from labelsieve import Criterion, InputError, Sieve
from labelsieve.formula import I, f, max_y, mean_y, y
from labelsieve.registry import make_criterion
from tests.support.criterion_cases import FORMULA, VARIANTS, assert_follows, columns, make_case
from tests.support.reference_criteria import REFERENCES
from tests.support.selection_data import assert_same_selection, make_data

ALLOWED = [name for name, (make, _, _) in VARIANTS.items() if make().plan.takes_target_weights and "parents" not in name]


@pytest.mark.parametrize("name", ALLOWED)
def test_whole_weights_are_repeated_targets_to_the_last_bit(name):
    make = VARIANTS[name][0]
    for seed in range(6):
        X, Y = make_case(seed, n_targets=4)
        times = np.random.default_rng(seed).integers(0, 4, size=4)
        times[seed % 4] += 4  # so that there are at least as many targets as before
        parameters = {"discretizer": None, "n_features_to_select": None}
        weighted = Sieve(make(), target_weight=times, **parameters).fit(X, Y)
        repeated = Sieve(make(), **parameters).fit(X, np.repeat(Y, times, axis=1))
        assert_same_selection(weighted, repeated)


@pytest.mark.parametrize("name", ["mim", "jmi", "cmim", "disr", "icap"])
def test_real_weights_multiply_what_is_summed(name):
    """These are sums over the targets of something of each, so the reference is a weighted sum of references."""
    for seed in range(6):
        X, Y = make_case(seed, n_targets=3)
        weights = np.random.default_rng(seed).uniform(0, 2, size=3)
        sieve = Sieve(name, target_weight=weights, discretizer=None, n_features_to_select=None, **FORMULA).fit(X, Y)
        targets = columns(Y)

        def score(candidate, selected, targets=targets, weights=weights):
            return sum(w * REFERENCES[name](candidate, selected, [y]) for w, y in zip(weights, targets, strict=True))

        assert_follows(score, X, sieve.selected_, sieve.scores_)


def test_equal_weights_scale_and_a_mean_does_not_care():
    class Mean(Criterion):
        score = mean_y(I(f, y))

    X, Y = make_data()
    plain = Sieve(Mean(), n_features_to_select=None).fit(X, Y)
    tripled = Sieve(Mean(), n_features_to_select=None, target_weight=[0.3] * 4).fit(X, Y)
    np.testing.assert_allclose(plain.scores_, tripled.scores_, rtol=0, atol=1e-12)
    assert plain.selected_.tolist() == tripled.selected_.tolist()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_weighted_targets_are_the_same_on_any_number_of_threads(n_jobs):
    X, Y = make_data()
    one = Sieve("jmi", target_weight=[0.1, 0.7, 2, 0]).fit(X, Y)
    assert_same_selection(Sieve("jmi", target_weight=[0.1, 0.7, 2, 0], n_jobs=n_jobs).fit(X, Y), one)


@pytest.mark.parametrize("name", ["pmu", "fimf", "lrfs", "lsmfs", "mlsmfs"])
def test_formulas_with_pairs_refuse_weights(name):
    assert not make_criterion(name).plan.takes_target_weights
    with pytest.raises(InputError, match="target_weight is for sums over the targets"):
        Sieve(name, target_weight=[1, 2, 3, 4]).fit(*make_data())


def test_the_largest_over_targets_refuses_weights():
    class Largest(Criterion):
        score = max_y(I(f, y))

    with pytest.raises(InputError, match="this formula pairs or compares them"):
        Sieve(Largest(), target_weight=[1, 2, 3, 4]).fit(*make_data())


@pytest.mark.parametrize("space", ["joint", "copy", "group"])
def test_spaces_that_do_not_keep_targets_apart_refuse_weights(space):
    with pytest.raises(InputError, match=f"target_weight is for single targets: .*got '{space}'"):
        Sieve("jmi", targets=space, target_weight=[1, 2, 3, 4]).fit(*make_data())


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], r"target_weight has shape \(2,\); one weight for each of the 4 targets"),
        ([1, 2, -1, 0], r"target_weight\[2\] is -1.0; weights must be finite"),
        ([1, 2, np.nan, 0], r"target_weight\[2\] is nan"),
        ([0, 0, 0, 0], "zero for every target"),
        (["a", "b", "c", "d"], "target_weight must be numbers"),
    ],
)
def test_weights_that_cannot_be_meant_are_refused(weights, message):
    with pytest.raises(InputError, match=message):
        Sieve("jmi", target_weight=weights).fit(*make_data())


@pytest.mark.parametrize("criterion", ["hybrid", "omp"])
@pytest.mark.parametrize("numeric", [False, True])
def test_weights_of_the_default_method_are_repeated_targets(criterion, numeric):
    X, Y = make_data()
    if numeric:
        Y = np.column_stack([Y[:, :2], X[:, :2] + 0.1 * np.random.default_rng(0).normal(size=(len(X), 2))])
    times = np.array([2, 0, 1, 3])
    kinds = ["class", "class", *(["numeric"] * 2 if numeric else ["class"] * 2)]
    weighted = Sieve(criterion, target_weight=times, target_type=kinds).fit(X, Y)
    repeated = Sieve(criterion, target_type=np.repeat(kinds, times).tolist()).fit(X, np.repeat(Y, times, axis=1))
    assert weighted.selected_.tolist() == repeated.selected_.tolist()
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-9)


def test_the_weight_of_a_target_decides_which_feature_comes_first():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    Y = (X[:, [1, 2]] + 0.1 * rng.normal(size=(300, 2)) > 0).astype(int)
    for criterion in ("hybrid", "omp"):
        assert Sieve(criterion, target_weight=[5.5, 1]).fit(X, Y).selected_[0] == 1
        assert Sieve(criterion, target_weight=[1, 5.5]).fit(X, Y).selected_[0] == 2
