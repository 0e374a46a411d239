"""Answers of every method are those that were recorded, to the last bit."""

import json

import pytest

from tests.support.recorded_answers import FEW_DATASETS, RECORDED, by_method
from tests.support.shared_files import shared_file


@pytest.mark.filterwarnings("ignore")  # every combination runs, sensible or not
@pytest.mark.parametrize("dataset", FEW_DATASETS)
def test_answers_of_every_method_are_those_recorded(dataset):
    data_home = shared_file("data", "MANIFEST.json").parent
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    found = by_method(dataset, data_home, recorded["label spaces"], recorded["discretizers"])
    assert [method for method, answers in recorded[dataset].items() if found.get(method) != answers] == []
