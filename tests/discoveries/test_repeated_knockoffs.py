"""How often other knockoff copies discover the same features, against new copies."""

import numpy as np
import pytest

from labelsieve.discoveries import e_q_values, knockoff_e_values, knockoff_reproducibility
from labelsieve.discoveries.knockoff_filter import reproducibility_note


def statistics(rng, n_repeats, sure):
    """Six features that come before any negative statistic with probability ``sure``, and ten null features."""
    W = np.hstack([rng.uniform(2, 3, size=(n_repeats, 6)), rng.normal(size=(n_repeats, 10)).clip(-1.9, 1.9)])
    W[rng.random(n_repeats) > sure, 15] = -9
    return W


@pytest.mark.parametrize("sure", [0.5, 0.85, 1.0])
def test_shares_are_on_average_those_of_new_copies(sure):
    rng, alpha = np.random.default_rng(0), 0.2
    fits = [statistics(rng, 20, sure) for _ in range(60)]
    found = np.mean([e_q_values(knockoff_e_values(W, alpha)) <= alpha for W in fits], axis=0)
    estimated = np.mean([knockoff_reproducibility(W, alpha) for W in fits], axis=0)
    np.testing.assert_allclose(estimated, found, atol=0.15)


def test_the_note_says_what_other_copies_may_change():
    rng = np.random.default_rng(1)
    for sure, words in ((1.0, ""), (0.84, "Other knockoffs may discover")):
        W = statistics(rng, 20, sure)
        note = reproducibility_note(knockoff_reproducibility(W, 0.2), e_q_values(knockoff_e_values(W, 0.2)) <= 0.2)
        assert note.startswith(words)
        assert bool(note) == bool(words)
    some = reproducibility_note(np.array([0.95, 0.6, 0.2]), np.array([True, True, False]))
    assert some.startswith("1 of 2 discoveries depend")
    assert reproducibility_note(np.array([0.6, 0.5]), np.array([True, True])).startswith(
        "Other knockoffs may discover nothing: 40%"
    )
    assert np.isnan(knockoff_reproducibility(W[:1], 0.2)).all()
    assert reproducibility_note(np.full(2, np.nan), np.array([True, True])) == ""
