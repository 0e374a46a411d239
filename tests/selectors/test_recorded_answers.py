"""Answers of every method are those that were recorded, to the last bit."""

import json

import pytest

from tests.support.recorded_answers import FEW_DATASETS, RECORDED, by_method
from tests.support.shared_files import shared_file


@pytest.mark.filterwarnings("ignore")  # every combination runs, sensible or not
@pytest.mark.parametrize("dataset", FEW_DATASETS)
def test_answers_of_every_method_are_those_recorded(dataset):
    data_home = shared_file("data", "MANIFEST.json").parent
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))[dataset]
    found = by_method(dataset, data_home)
    assert sorted(found) == sorted(recorded), "record answers of new methods: python -m tests.support.recorded_answers"
    assert [method for method in recorded if found[method] != recorded[method]] == []
