"""What every wheel must do wherever it lands. Needs numpy and pytest, and nothing else of the repository."""

import numpy as np
import pytest

import labelsieve
from labelsieve.information import entropy, mutual_information


def test_version_is_known():
    assert isinstance(labelsieve.__version__, str)
    assert labelsieve.__version__


def test_equal_columns_share_all_their_information():
    shared = mutual_information([[0], [0], [1], [1]], [[0], [0], [1], [1]], base="bit")
    assert np.asarray(shared) == pytest.approx(np.array([[1.0]]), abs=1e-12)


def test_fair_coin_has_one_bit():
    assert np.allclose(entropy([[0], [1]], base="bit"), [1.0], rtol=0, atol=1e-12)


def test_result_is_identical_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    features = rng.integers(5, size=(500, 20), dtype=np.uint8)
    targets = rng.integers(2, size=(500, 3), dtype=np.uint8)
    alone = mutual_information(features, targets, n_jobs=1)
    assert alone.shape == (20, 3)
    assert np.array_equal(alone, mutual_information(features, targets, n_jobs=2))
