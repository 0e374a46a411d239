"""``explain`` with a share of labels: time and memory of a fit on this machine."""

import re
import time

import numpy as np
import pytest

from labelsieve import Sieve
from labelsieve.errors import InputError

SHAPE = 4000, 300, 20


def seconds(sieve, *shape, share=0.1, levels=2):
    return float(re.search(r"\ntime: +about (\S+) s on one thread", sieve.explain(*shape, levels, label_share=share)).group(1))


@pytest.mark.parametrize("criterion", ["mim", "mrmr", "jmi", "cmim"])
def test_the_prediction_has_the_size_of_the_measured_time(criterion):
    """A factor of five is allowed here: other processes share the machine; the benchmark prints the ratios."""
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, 2, SHAPE[:2]), (rng.random((SHAPE[0], SHAPE[2])) < 0.1).astype(int)
    sieve, measured = Sieve(criterion, discretizer=None, n_features_to_select=20, n_jobs=1), np.inf
    for _ in range(3):
        start = time.thread_time()
        sieve.fit(X.astype(np.uint8), Y)
        measured = min(measured, time.thread_time() - start)
    assert measured / 5 < seconds(sieve, *SHAPE) < measured * 5


def test_more_of_everything_takes_longer():
    sieve = Sieve("jmi", n_features_to_select=20)
    once = seconds(sieve, 20_000, 1000, 50)
    assert seconds(sieve, 80_000, 1000, 50) > 2 * once
    assert seconds(sieve, 20_000, 4000, 50) > 2 * once
    assert seconds(sieve, 20_000, 1000, 200) > once
    assert seconds(sieve, 20_000, 1000, 50, share=0.4) > once
    assert seconds(sieve.set_params(discretizer=None), 20_000, 1000, 50) < once


def test_other_text_stays_and_joint_conditions_are_not_predicted():
    sieve = Sieve("jmi")
    assert sieve.explain(*SHAPE, label_share=0.1).startswith(sieve.explain(*SHAPE) + "\ntime: ")
    assert "\npeak: " in sieve.explain(*SHAPE, label_share=0.1)
    assert "time:       not predicted: the tables of a joint condition" in Sieve("cmi").explain(*SHAPE, label_share=0.1)
    for share in (0, 1, -1):
        with pytest.raises(InputError, match="between 0 and 1"):
            sieve.explain(*SHAPE, label_share=share)
