"""What it costs to write every cell the moment it is known."""

import pytest

from labelsieve.studies import Study, StudyResults
from tests.support.small_studies import data, protocol


@pytest.mark.slow
def test_storage_and_bookkeeping_take_less_than_two_percent_of_a_small_study(tmp_path):
    measures = ["hamming_loss", "ranking_loss", "macro_f1"]
    Study(protocol(datasets=[data(n_rows=4000)], n_features="1..20", measures=measures), tmp_path).run()
    found = StudyResults(tmp_path).time_profile()
    work = sum(seconds for kind, seconds in found.total.items() if kind != "storage")
    assert found.share("storage") < 0.02
    assert found.running - work < 0.02 * found.running + 0.1, "a tenth of a second to begin: to open the file and load the data"
