"""A warm-started selector that several threads fit at once."""

from threading import Barrier, Thread
from time import sleep

import numpy as np

from labelsieve import Sieve
from labelsieve.counting.backends.native import NativeBackend

N_THREADS = 4


class YieldingBackend(NativeBackend):
    """Lets the other threads run in the middle of every step."""

    def fold_given_feature(self, *arguments, **options):
        sleep(0.002)
        super().fold_given_feature(*arguments, **options)


def test_threads_that_fit_one_warm_selector_never_select_a_feature_twice():
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, 4, size=(300, 20)), rng.integers(0, 2, size=(300, 3))
    settings = {"discretizer": None, "warm_start": True, "backend": YieldingBackend}
    expected = Sieve("jmi", n_features_to_select=20, **settings).fit(X, Y)
    sieve = Sieve("jmi", n_features_to_select=2, **settings).fit(X, Y).set_params(n_features_to_select=20)
    barrier, results, errors = Barrier(N_THREADS), [], []

    def fit():
        barrier.wait()
        try:
            results.append(sieve.fit(X, Y).selected_.tolist())
        except Exception as error:
            errors.append(error)

    threads = [Thread(target=fit) for _ in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert results == [expected.selected_.tolist()] * N_THREADS
    assert np.array_equal(sieve.scores_, expected.scores_)
