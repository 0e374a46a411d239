"""How often a study reads its files."""

from collections import Counter
from importlib import import_module

import pytest

from labelsieve.studies import Study, cells, study
from tests.support.command_line import known_table, run
from tests.support.small_studies import protocol


@pytest.fixture
def loads(monkeypatch):
    """The number of times that each file was read."""
    fetching = import_module("labelsieve.datasets.fetch")  # the module; the package has a function of this name
    counts, load = Counter(), fetching.load

    def counted(path, *given, **options):
        counts[str(path)] += 1
        return load(path, *given, **options)

    monkeypatch.setattr(fetching, "load", counted)
    return counts


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "songs.csv", tmp_path / "films.csv"]
    for number, path in enumerate(paths):
        known_table()[number * 100 : number * 100 + 100].to_csv(path, index=False)
    return [str(path) for path in paths]


def of_files(paths, **changes):
    return protocol(datasets=[{"path": path, "labels": 5} for path in paths], **changes)


def test_one_cell_of_compare_loads_its_file_once(loads, files, tmp_path):
    options = ["--labels", 5, "--methods", "jmi", "--baselines", "none", "-k", 3, "--splits", "1x50%"]
    result = run("compare", files[0], *options, "--out", tmp_path / "study")
    assert result.exit_code == 0, result.output
    assert loads == {files[0]: 1}


def test_files_are_loaded_once_for_all_splits_in_one_process(loads, files, tmp_path):
    assert Study(of_files(files), tmp_path / "study").run().n_run == 48
    assert loads == dict.fromkeys(files, 1)


def test_data_sets_that_are_large_together_are_loaded_again(loads, files, tmp_path, monkeypatch):
    monkeypatch.setattr(study, "KEPT_BYTES", 0)
    assert Study(of_files(files, splits="2x50%"), tmp_path / "study").run().n_run == 32
    assert loads == dict.fromkeys(files, 3)  # to plan, and for each of two splits


def test_the_runner_forgets_what_was_loaded_first(files):
    size = cells.BatchRunner(of_files(files)).load("songs")[0].nbytes
    runner = cells.BatchRunner(of_files(files), kept_bytes=1.5 * size)
    first = runner.load("songs")
    assert runner.load("songs") is first
    runner.load("films")
    assert runner.load("songs") is not first
