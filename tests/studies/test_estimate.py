"""What a study was said to cost, and what it cost."""

import time

import pytest

from labelsieve.studies import Study, estimate
from tests.studies.small import data, protocol


@pytest.mark.slow
@pytest.mark.parametrize("classifier", ["mlknn", "br", "rakel"])
def test_estimate_is_within_a_factor_of_two_of_the_processors_time(tmp_path, classifier):
    how = {"datasets": [data(n_rows=1500)], "n_features": "1..20", "classifiers": [classifier], "splits": "4x50%"}
    study = Study(protocol(**how), tmp_path)
    said = 60 * estimate(study.protocol, study.plan()[0]).minutes
    started = time.process_time()
    study.run()
    assert 0.5 < said / (time.process_time() - started) < 2
