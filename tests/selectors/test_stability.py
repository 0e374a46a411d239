"""The stability index: its properties, its variance by simulation, and resampling selectors."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn.feature_selection import SelectKBest

from labelsieve import InputError, LabelwiseSieve, Sieve
from labelsieve.selectors import LLSF, ChiSquare, ReliefF, selection_stability, stability_index
from tests.support.selection_data import NAMES, make_data


def draw(rng, probability, n_repeats):
    return rng.random((n_repeats, len(probability))) < probability


def true_index(probability):
    """Of infinitely many independent selections."""
    mean = probability.mean()
    return 1 - (probability * (1 - probability)).mean() / (mean * (1 - mean))


def test_the_index_is_one_exactly_for_equal_selections():
    same = np.tile([1, 0, 1, 0, 0], (4, 1))
    found = stability_index(same)
    assert (found.index, found.variance, found.interval) == (1.0, 0.0, (1.0, 1.0))
    same[0] = [1, 1, 0, 0, 0]
    assert stability_index(same).index < 1


def test_with_selections_of_one_size_it_is_kunchevas_index():
    rng = np.random.default_rng(0)
    masks = np.array([rng.permutation([1] * 4 + [0] * 8) for _ in range(6)])
    pairs = [(a, b) for i, a in enumerate(masks) for b in masks[:i]]
    kuncheva = np.mean([(a @ b - 16 / 12) / (4 - 16 / 12) for a, b in pairs])
    assert stability_index(masks).index == pytest.approx(kuncheva)


def test_random_selections_are_as_stable_as_chance():
    masks = draw(np.random.default_rng(0), np.full(50, 0.3), 2000)
    assert stability_index(masks).index == pytest.approx(0, abs=0.002)


def test_the_variance_is_that_of_repeated_experiments():
    rng = np.random.default_rng(0)
    probability = np.concatenate([np.full(5, 0.9), np.full(5, 0.5), np.full(20, 0.1)])
    runs = [stability_index(draw(rng, probability, 100)) for _ in range(1500)]
    seen = np.var([run.index for run in runs], ddof=1)
    assert np.mean([run.variance for run in runs]) == pytest.approx(seen, rel=0.1)
    covered = np.mean([low <= true_index(probability) <= high for low, high in (run.interval for run in runs)])
    assert 0.93 <= covered <= 0.965


def test_the_variance_is_the_spread_of_the_derivatives():
    """Theorem 7 anew: how the index moves with the weight of each selection, by differences."""
    masks = draw(np.random.default_rng(3), np.linspace(0.05, 0.9, 12), 40)
    n_repeats = len(masks)

    def weighted(weights):
        weights = weights / weights.sum()
        frequency, mean = weights @ masks, (weights @ masks).mean()
        return 1 - n_repeats / (n_repeats - 1) * (frequency * (1 - frequency)).mean() / (mean * (1 - mean))

    step, ones = 1e-6, np.ones(n_repeats)
    slopes = np.array(
        [(weighted(ones + step * unit) - weighted(ones - step * unit)) / (2 * step) for unit in np.eye(n_repeats)]
    )
    # The factor M / (M - 1) stands in the index and not in the derivative of the theorem: they agree for many selections.
    assert stability_index(masks).variance == pytest.approx((slopes**2).sum(), rel=3 / n_repeats)


def test_more_confidence_means_a_wider_interval():
    masks = draw(np.random.default_rng(0), np.linspace(0.1, 0.9, 9), 20)
    widths = [np.subtract(*stability_index(masks, confidence=level).interval[::-1]) for level in (0.5, 0.9, 0.99)]
    assert all(a < b for a, b in pairwise(widths))


@pytest.mark.parametrize("value", [0, 1])
def test_all_or_nothing_has_no_index(value):
    found = stability_index(np.full((3, 4), value))
    assert np.isnan([found.index, found.variance, *found.interval]).all()
    assert found.frequency.tolist() == [value] * 4


@pytest.mark.parametrize("masks", [[[1, 0]], [1, 0], [[2, 0], [0, 1]], np.zeros((3, 0))])
def test_what_is_no_set_of_selections_is_refused(masks):
    with pytest.raises(InputError, match="masks must be zeros and ones, one row for each of at least two selections"):
        stability_index(masks)


@pytest.mark.parametrize("kind", ["bootstrap", "subsample"])
@pytest.mark.parametrize(
    "selector",
    [
        Sieve(n_features_to_select=3),
        LabelwiseSieve(n_features_to_select=1),
        ChiSquare(n_features_to_select=3),
        LLSF(beta=8.0),
        ReliefF(n_features_to_select=3),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_every_selector_can_be_asked(selector, kind):
    X, Y = make_data()
    found = selection_stability(selector, X, Y, n_repeats=5, kind=kind, random_state=0)
    assert found.masks.shape == (5, 8)
    assert np.array_equal(found.frequency, found.masks.mean(axis=0))
    assert 0 < found.index <= 1
    assert not hasattr(selector, "support_"), "the caller's selector stays as it was"


def test_samples_are_those_of_the_seed_for_any_number_of_jobs_and_container():
    X, Y = make_data()
    selector = Sieve(n_features_to_select=5)
    expected = selection_stability(selector, X, Y, n_repeats=4, random_state=0).masks
    others = [(features, Y) for features in (X.tolist(), pd.DataFrame(X, columns=NAMES), sp.csr_array(X))]
    for features, labels in (*others, (X, Y.tolist()), (X, pd.DataFrame(Y))):
        again = selection_stability(selector, features, labels, n_repeats=4, random_state=0)
        assert np.array_equal(again.masks, expected)
    with parallel_config("threading"):  # processes take seconds to start
        assert np.array_equal(selection_stability(selector, X, Y, n_repeats=4, random_state=0, n_jobs=2).masks, expected)
    assert not np.array_equal(selection_stability(selector, X, Y, n_repeats=4, random_state=1).masks, expected)


def test_a_selector_of_scikit_learn_will_do():
    X, Y = make_data()
    assert selection_stability(SelectKBest(k=2), X, Y[:, 0], n_repeats=3, random_state=0).masks.sum() == 6


@pytest.mark.parametrize("wrong", [{"n_repeats": 1}, {"kind": "jackknife"}, {"fraction": 0}, {"confidence": 1.0}])
def test_parameters_out_of_range_are_refused_by_name(wrong):
    X, Y = make_data()
    with pytest.raises(InputError, match=next(iter(wrong))):
        selection_stability(Sieve(), X, Y, **{"n_repeats": 2, "random_state": 0, **wrong})


def test_pairs_of_halves_have_an_error_bound_and_other_resamples_do_not():
    X, Y = make_data()
    selector = Sieve("mim", n_features_to_select=3)
    found = selection_stability(selector, X, Y, n_repeats=20, kind="pairs", random_state=0)
    assert found.error_bound(0.75) == pytest.approx(2 * 3**2 / X.shape[1])
    assert (found.frequency[found.stable_features(0.75)] >= 0.75).all()
    assert len(found.stable_features(0.75)) == np.count_nonzero(found.frequency >= 0.75)
    with pytest.raises(InputError, match="pairs of halves"):
        selection_stability(selector, X, Y, n_repeats=4, random_state=0).error_bound()
    with pytest.raises(InputError, match="even"):
        selection_stability(selector, X, Y, n_repeats=5, kind="pairs")


def test_halves_of_a_pair_have_no_row_in_common():
    from labelsieve.selectors.stability import row_samples

    samples = row_samples(11, 6, "pairs", 0.5, 0)
    assert all(len(a) == len(b) == 5 and not set(a) & set(b) for a, b in zip(samples[::2], samples[1::2], strict=True))


def test_a_number_found_by_predictions_is_repeated_but_not_searched_again():
    X, Y = make_data(seed=3)[:2]
    sieve = Sieve(n_features_to_select="auto").fit(X, Y)
    assert len(sieve.selected_) > 0
    masks = selection_stability(sieve, X, Y, n_repeats=3, random_state=0).masks
    assert (masks.sum(axis=1) == len(sieve.selected_)).all()
    fixed = Sieve(n_features_to_select=len(sieve.selected_))
    np.testing.assert_array_equal(masks, selection_stability(fixed, X, Y, n_repeats=3, random_state=0).masks)


def test_an_empty_selection_has_no_stability():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(200, 10)), rng.integers(0, 2, (200, 2))
    sieve = Sieve(n_features_to_select="auto").fit(X, Y)
    assert len(sieve.selected_) == 0
    found = selection_stability(sieve, X, Y, n_repeats=3, random_state=0)
    assert not found.masks.any()
    assert np.isnan(found.index)
