"""What it costs to write every cell the moment it is known."""

import time

import pytest

from labelsieve.studies import Study
from labelsieve.studies.store import Store
from tests.studies.small import data, protocol


@pytest.mark.slow
def test_storing_takes_less_than_two_percent_of_a_small_study(tmp_path, monkeypatch):
    spent = []

    def timed(write):
        def call(*given):
            started = time.perf_counter()
            write(*given)
            spent.append(time.perf_counter() - started)

        return call

    for name in ("add_cell", "add_selection", "begin", "end", "add_dataset"):
        monkeypatch.setattr(Store, name, timed(getattr(Store, name)))
    study = protocol(datasets=[data(n_rows=2000)], n_features="1..20", measures=["hamming_loss", "ranking_loss", "macro_f1"])
    started = time.perf_counter()
    Study(study, tmp_path).run()
    assert len(spent) == 3 * 4 * 3 + 3
    assert sum(spent) < 0.02 * (time.perf_counter() - started)
