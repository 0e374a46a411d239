"""Studies on a Dask cluster: the same results, written here; lost workers are borne."""

import os
import time
from contextlib import contextmanager

import pytest
from sklearn.base import BaseEstimator

from labelsieve.studies import Study, StudyError, StudyResults, cells, dask_workers
from tests.support.small_studies import contents, data, protocol

dask = pytest.importorskip("dask", reason="studies on a cluster need dask.distributed")
distributed = pytest.importorskip("distributed", reason="studies on a cluster need dask.distributed")
# Dask's own: loops and sockets that it leaves to the collector, and what it thinks of its surroundings.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning", "ignore::DeprecationWarning")


class Dies(BaseEstimator):
    """Ranks columns as they come; takes its process with it, always or as long as a file is not there."""

    def __init__(self, unless=None, n_features_to_select=10):
        self.unless = unless
        self.n_features_to_select = n_features_to_select

    def fit(self, X, Y):
        if self.unless is None or not os.path.exists(self.unless):
            if self.unless is not None:
                open(self.unless, "w").close()
            time.sleep(0.5)  # earlier messages are under way
            os._exit(7)
        self.selected_ = list(range(self.n_features_to_select))
        return self


class Waits(Dies):
    """Ranks columns as soon as a file is there, for which it waits half a minute."""

    def fit(self, X, Y):
        patience = time.monotonic() + 30
        while not os.path.exists(self.unless):
            assert time.monotonic() < patience, "nobody made the file"
            time.sleep(0.01)
        return super().fit(X, Y)


@contextmanager
def cluster(**how):
    common = {"n_workers": 1, "dashboard_address": None, "protocol": "tcp", "host": "127.0.0.1"}
    # One more try after a death: starting a worker takes seconds.
    config = dask.config.set({"distributed.scheduler.allowed-failures": 1})
    with config, distributed.LocalCluster(**common, **how) as local, distributed.Client(local) as client:
        yield client


@pytest.fixture(scope="module")
def client():
    with cluster(threads_per_worker=2, processes=False) as found:
        yield found


def test_cluster_gives_the_same_results_and_goes_on_with_what_is_missing(tmp_path, client):
    Study(protocol(splits="2x50%"), tmp_path / "here").run()
    half = protocol(splits="2x50%", methods=["jmi"])
    assert Study(half, tmp_path / "there").run(client=client).n_run == 24
    outcome = Study(protocol(splits="2x50%"), tmp_path / "there").run(client=client)
    assert (outcome.n_run, outcome.n_known, outcome.n_failed) == (8, 24, 0)
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_every_step_is_written_while_its_batch_goes_on(tmp_path, client):
    notified = tmp_path / "notified"
    study = protocol(datasets=[data()], methods=["jmi", ("waits", Waits(str(notified)))], splits="1x50%", baselines=[])
    outcome = Study(study, tmp_path / "study").run(client=client, on_cell=lambda done, total: notified.touch())
    assert (outcome.n_run, outcome.n_failed) == (4, 0)


def test_what_does_not_go_with_a_cluster_is_refused(tmp_path, client):
    with pytest.raises(StudyError, match="n_jobs and client exclude each other"):
        Study(protocol(), tmp_path / "never").run(client=client, n_jobs=2)
    with pytest.raises(StudyError, match="with client= limit its workers"):
        Study(protocol(), tmp_path / "never").run(client=client, time_limit=3)
    with pytest.raises(StudyError, match=r"must be a dask\.distributed\.Client"):
        Study(protocol(), tmp_path / "never").run(client="127.0.0.1:8786")
    assert not (tmp_path / "never").exists()


def test_other_code_on_a_worker_ends_the_study(tmp_path, client, monkeypatch):
    monkeypatch.setattr(cells, "code_print", lambda: "another")
    with pytest.raises(StudyError, match="the code of labelsieve differs between processes"):
        Study(protocol(), tmp_path).run(client=client)
    assert contents(tmp_path)[1] == []


@pytest.mark.slow
def test_batch_of_a_lost_worker_is_begun_anew(tmp_path):
    study = protocol(methods=["jmi", ("dies", Dies(str(tmp_path / "died")))], splits="1x50%")
    with cluster(threads_per_worker=1, processes=True) as client:
        outcome = Study(study, tmp_path / "study").run(client=client)
    assert (tmp_path / "died").exists()
    assert (outcome.n_run, outcome.n_failed) == (16, 0)
    assert len(contents(tmp_path / "study")[1]) == 16


@pytest.mark.slow
def test_step_that_takes_every_worker_with_it_is_recorded_and_the_rest_goes_on(tmp_path):
    study = protocol(datasets=[data()], methods=[("dies", Dies()), "jmi"], splits="1x50%")
    with cluster(threads_per_worker=1, processes=True) as client:
        outcome = Study(study, tmp_path).run(client=client)
    assert (outcome.n_run, outcome.n_failed) == (8, 2)
    failures = StudyResults(tmp_path).failures
    assert {row[2] for row in failures} == {"dies"}
    assert all("the Dask worker died" in row[-1] for row in failures)


def test_a_batch_that_dask_canceled_ends_the_study_with_a_remedy():
    state = distributed.client.FutureState("batch")
    state.cancel()
    with pytest.raises(StudyError, match=r"the Dask cluster dropped a batch.* Run again\."):
        dask_workers._results(state)
