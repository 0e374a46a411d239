"""Estimates from the first splits: intervals, and the ranks that values in intervals can have."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata, t

from replications import REPLICATIONS, archive
from replications.archive import archived
from replications.mlinfogain import table3
from replications.sampling import first_splits, intervals, rank_differences


def test_only_splits_without_a_gap_are_first():
    assert [first_splits(splits) for splits in ([], {1, 2}, {0}, {0, 1, 3}, range(5))] == [0, 0, 1, 2, 5]


def test_intervals_cover_the_mean_over_all_splits_as_often_as_they_say():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(10, 20_000))
    low, high = intervals(values[:3], 10)
    mean = values.mean(axis=0)
    assert np.mean((low <= mean) & (mean <= high)) == pytest.approx(0.95, abs=0.005)
    np.testing.assert_allclose(high - low, 2 * t.ppf(0.975, 2) * values[:3].std(axis=0, ddof=1) * np.sqrt(1 / 3 - 1 / 10))


def test_all_splits_leave_no_doubt():
    values = np.array([[0.1], [0.4]])
    assert [end.tolist() for end in intervals(values, 2)] == [[0.25], [0.25]]


@pytest.mark.parametrize("seed", range(20))
def test_differences_of_ranks_are_those_of_all_values_in_a_grid(seed):
    """Values are multiples of 1/4, and ends of intervals whole numbers, so that all orders and ties are tried."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, 4, size=(2, 1, 4)), axis=0).astype(float)
    ends[1, 0, seed % 4] = ends[0, 0, seed % 4]  # one of them is known
    grids = [np.arange(low, high + 0.1, 0.25) for low, high in zip(ends[0, 0], ends[1, 0], strict=True)]
    ranks = np.array([rankdata(-np.array(values)) for values in product(*grids)])
    differences = ranks[:, :, np.newaxis] - ranks[:, np.newaxis, :]
    least, most = rank_differences(*ends)
    np.testing.assert_array_equal(most, differences.max(axis=0))
    np.testing.assert_array_equal(least, differences.min(axis=0))


def test_differences_are_averages_over_data_sets():
    low = np.array([[0.1, 0.2], [0.4, 0.3], [0.5, 0.5]])
    high = np.array([[0.3, 0.2], [0.4, 0.3], [0.5, 0.5]])
    assert [ends[0, 1] for ends in rank_differences(low, low)] == [0.0, 0.0]
    assert [ends[0, 1] for ends in rank_differences(low, high)] == [pytest.approx(-2 / 3), 0.0]


STUDY, PART = "infogain-table3", "table3"


@pytest.fixture
def first_folds(monkeypatch):
    """Leave folds 0, 1, 2 and 7 of k-NN after MLInfoGain on flags, and fold 1 of ML-kNN, in the archive."""
    columns, shapes = archive.read(STUDY)
    left = {"BRKNN": {0, 1, 2, 7}, "ML-KNN": {1}}
    keys = zip(columns["dataset"], columns["method"], columns["classifier"], columns["split"], strict=True)
    kept = [
        dataset != "flags" or method != "mlinfogain" or split in left.get(classifier, range(10))
        for dataset, method, classifier, split in keys
    ]
    fewer = {name: [cell for cell, keep in zip(cells, kept, strict=True) if keep] for name, cells in columns.items()}
    monkeypatch.setattr(archive, "read", lambda name: (fewer, shapes))
    archived.cache_clear()
    yield
    archived.cache_clear()


def test_the_archive_gives_the_first_splits_to_a_study_that_marks_samples(first_folds, monkeypatch):
    results = archived(STUDY)[PART]
    lengths = [len(results.curve("flags", "mlinfogain", "hamming_loss", name)[1]) for name in ("BRKNN", "ML-KNN", "IBLR")]
    assert lengths == [3, 0, 10]
    sampled = table3.sampled(results)
    assert {key for key in sampled if key[1] == "flags"} == {("BRKNN", "flags", measure) for measure in table3.MEASURES}
    counts = table3.result_tables({PART: results})[0]
    cells = next(row for row in counts.rows if row[0] == "BRKNN")[5:]
    for cell in cells:
        assert cell.startswith("~")
        estimated, _, certain, possible = (int(word.strip("~()")) for word in cell.split() if word.strip("~()").isdigit())
        assert certain <= estimated <= possible
    assert f"~: with {len(sampled)} rows of the first folds only" in counts.summary
    known = archive.finished([STUDY])
    group = archive.Group(STUDY, PART, "flags", "mlinfogain", "BRKNN")
    assert known[group].splits == {0, 1, 2, 7}
    monkeypatch.setitem(REPLICATIONS, STUDY, replace(REPLICATIONS[STUDY], samples=False))
    archived.cache_clear()
    assert not len(archived(STUDY)[PART].curve("flags", "mlinfogain", "hamming_loss", "BRKNN")[1])
