"""Bounds of stability selection: linear programs over all distributions, simulation, and refusals."""

import numpy as np
import pytest
from scipy.optimize import linprog

from labelsieve.errors import InputError
from labelsieve.statistics import stability_bound, stability_index


def largest_tail(mean, threshold, n_pairs, *, unimodal):
    """The largest probability that a share of pairs is ``2 threshold - 1`` or more, given the largest mean of the share."""
    shares = np.arange(n_pairs + 1) / n_pairs
    tail = -(shares >= 2 * threshold - 1 - 1e-12).astype(float)
    best = 0.0
    for mode in range(n_pairs + 1) if unimodal else [None]:
        rows, limits = [shares], [mean]
        for i in range(n_pairs if unimodal else 0):  # rises to the mode and falls behind it
            row = np.zeros(n_pairs + 1)
            row[i], row[i + 1] = (1, -1) if i < mode else (-1, 1)
            rows.append(row)
            limits.append(0.0)
        found = linprog(tail, A_ub=rows, b_ub=limits, A_eq=[np.ones(n_pairs + 1)], b_eq=[1.0])
        best = max(best, -found.fun) if found.status == 0 else best
    return best


@pytest.mark.parametrize("threshold", [0.6, 0.7, 0.75, 0.8, 0.95])
def test_bounds_are_those_of_the_worst_distribution(threshold):
    d, q, n_pairs = 100, 10, 20
    rate = q / d
    worst = d * largest_tail(rate**2, threshold, n_pairs, unimodal=False)
    assert stability_bound(d, q, threshold) == pytest.approx(worst)
    unimodal = d * largest_tail(rate**2, threshold, n_pairs, unimodal=True)
    found = stability_bound(d, q, threshold, n_pairs=n_pairs, bound="shah-samworth")
    assert unimodal <= found * (1 + 1e-9)
    assert found <= min(worst, 1.3 * unimodal)


def test_random_selections_stay_below_the_bound():
    rng = np.random.default_rng(0)
    pairs = [rng.permuted(np.repeat([True, False], [10, 40])) for _ in range(100)]
    frequency = stability_index(pairs).frequency
    assert np.count_nonzero(frequency >= 0.6) <= stability_bound(50, 10, 0.6)


@pytest.mark.parametrize(
    ("settings", "message"), [((10, 11, 0.8), "n_selected"), ((10, 2, 0.5), "threshold"), ((10, 9, 0.8), "")]
)
def test_settings_without_a_bound_are_refused(settings, message):
    with pytest.raises(InputError, match=message or "Shah and Samworth"):
        stability_bound(*settings, bound="shah-samworth")
