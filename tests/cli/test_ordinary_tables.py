"""From a file or a frame to the right features, with nothing but the options that name the targets."""

import json

import numpy as np
import pytest

from labelsieve import Sieve
from tests.support.command_line import run
from tests.support.ordinary_tables import TABLES

pytestmark = [
    pytest.mark.filterwarnings("ignore::labelsieve.errors.ColumnWarning"),
    pytest.mark.filterwarnings("ignore::labelsieve.datasets.DatasetWarning"),
]


@pytest.fixture(params=sorted(TABLES))
def ordinary(request, tmp_path):
    return TABLES[request.param](tmp_path, np.random.default_rng(7))


@pytest.mark.parametrize("selector", [Sieve])
def test_python_selects_the_relevant_features(ordinary, selector):
    sieve = selector(n_features_to_select=len(ordinary.relevant)).fit(ordinary.X, ordinary.Y)
    assert set(sieve.get_feature_names_out()) == ordinary.relevant


def test_the_command_line_selects_the_relevant_features(ordinary):
    result = run("select", ordinary.path, *ordinary.options, "-k", len(ordinary.relevant), "--format", "json")
    assert result.exit_code == 0, result.output
    assert {feature["feature"] for feature in json.loads(result.stdout)["selected"]} == ordinary.relevant
