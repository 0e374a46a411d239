"""The estimated cost of a study and its real cost."""

import signal
import time
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from labelsieve.studies import Study, estimate, probe
from labelsieve.studies.cells import processor_seconds
from labelsieve.studies.probe import time_limited
from tests.support.small_studies import data, protocol


@pytest.mark.slow
@pytest.mark.parametrize("classifier", ["mlknn", "br", "rakel"])
def test_estimate_is_within_a_factor_of_two_of_the_processors_time(tmp_path, classifier):
    how = {"datasets": [data(n_rows=1500)], "n_features": "1..20", "classifiers": [classifier], "splits": "4x50%"}
    study = Study(protocol(**how), tmp_path)
    seconds = 60 * estimate(study.protocol, study.plan()).minutes
    started = time.process_time()
    study.run()
    assert 0.5 < seconds / (time.process_time() - started) < 2


class Rests(BaseEstimator):
    """Takes its time once, however many sizes are asked for."""

    def fit(self, X, Y):
        return self

    def predict(self, X):
        raise AssertionError("all sizes are answered together")

    def predictions_by_size(self, X, Y, queries, sizes):
        until = time.process_time() + 0.05
        while time.process_time() < until:
            pass
        for size in sizes:
            yield size, np.zeros((queries.shape[0], Y.shape[1]), dtype=int)


def test_sizes_that_share_their_cost_are_not_charged_for_each(tmp_path):
    how = {"n_features": "1..10", "classifiers": [("rests", Rests())], "splits": "2x50%", "measures": ["hamming_loss"]}
    study = Study(protocol(methods=["jmi"], baselines=[], **how), tmp_path)
    seconds = 60 * estimate(study.protocol, study.plan()).minutes
    assert 0.1 <= seconds < 0.5  # two cells; size by size they would take a second


def test_short_steps_are_measured_while_a_time_limit_is_set():
    with time_limited(60):
        steps = []
        for _ in range(50):
            before = processor_seconds()
            sum(range(2000))
            steps.append(processor_seconds() - before)
    assert min(steps) > 0, "by a clock that ticks most of them take nothing"


class Counts(BaseEstimator):
    """Notes with how many features it learned."""

    seen = set()  # noqa: RUF012  shared by all clones

    def fit(self, X, Y):
        warnings.warn("few rows", stacklevel=1)  # an error here, if an estimate let it pass
        self.seen.add(X.shape[1])
        self.n_labels_ = Y.shape[1]
        return self

    def predict(self, X):
        return np.zeros((X.shape[0], self.n_labels_), dtype=int)


def test_a_single_number_of_features_is_tried_itself(tmp_path):
    how = {"classifiers": [("counts", Counts())], "splits": "2x50%", "measures": ["hamming_loss"], "baselines": []}
    for asked in ([7], [2, 7]):
        Counts.seen.clear()
        study = Study(protocol(methods=["jmi"], n_features=asked, **how), tmp_path / str(len(asked)))
        estimate(study.protocol, study.plan())
        assert (Counts.seen == {7}) == (len(asked) == 1)


class Endless(Counts):
    """Never ends by itself, and takes every Exception for its own."""

    def fit(self, X, Y):
        while True:
            try:
                sum(range(10**5))
            except Exception:
                return self


class Sleeps(Counts):
    """Waits for what does not come, which takes no processor."""

    def fit(self, X, Y):
        time.sleep(300)


def test_a_trial_that_waits_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(probe, "MAX_SECONDS", 0.1)
    how = {"classifiers": [("sleeps", Sleeps())], "splits": "2x50%", "measures": ["hamming_loss"], "baselines": []}
    study = Study(protocol(methods=["jmi"], n_features=[3], **how), tmp_path)
    assert estimate(study.protocol, study.plan()).n_timed_out == 2
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_a_trial_that_takes_too_long_is_stopped_and_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(probe, "MAX_SECONDS", 0.3)
    how = {"classifiers": [("endless", Endless())], "splits": "2x50%", "measures": ["hamming_loss"], "baselines": []}
    study = Study(protocol(methods=["jmi"], n_features=[3], **how), tmp_path)
    handler = signal.getsignal(signal.SIGPROF)
    cost = estimate(study.protocol, study.plan())
    assert cost.n_timed_out == 2  # one for each data set
    assert cost.minutes > 3.9 * 0.3 / 60  # two splits of each
    assert (cost.problems, signal.getsignal(signal.SIGPROF)) == ((), handler)
