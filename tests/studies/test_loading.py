"""How often a study reads its files and the rows of its splits."""

from collections import Counter
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from labelsieve import Sieve
from labelsieve.discretize import EqualFrequency
from labelsieve.studies import Study, cells, study
from labelsieve.studies.cells import SplitWork
from labelsieve.studies.data import LoadedData, read_source
from labelsieve.studies.estimators import Split
from tests.support.command_line import known_table, run
from tests.support.small_studies import data, protocol


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


def test_training_rows_are_read_once_for_all_methods_of_a_split(tmp_path, monkeypatch):
    n_reads, read = Counter(), cells.read
    monkeypatch.setattr(cells, "read", lambda *given, **options: n_reads.update(["read"]) or read(*given, **options))
    made = protocol(datasets=[data()], methods=["jmi", "hybrid", "relieff", "mlqpfs"], splits="2x50%")
    assert Study(made, tmp_path).run().n_failed == 0
    assert n_reads == {"read": 2}


def test_nominal_columns_of_a_data_set_are_nominal_for_every_part_of_a_method():
    songs = data(n_rows=100)
    X = np.array(songs.X, dtype=float)
    X[:, 0] = np.random.default_rng(3).integers(0, 4, len(X))
    kinds = ("nominal", *songs.feature_kinds[1:])
    nominal = replace(songs, X=X, feature_kinds=kinds, categories={songs.feature_names[0]: tuple("abcd")})
    loaded = LoadedData.of(read_source(nominal))
    rows = np.arange(50)
    ranking = SplitWork(loaded, Split(0, rows, rows + 50)).select(Sieve("hybrid"), 6, 0)
    direct = Sieve("hybrid", discretizer=EqualFrequency(nominal=[0]), n_features_to_select=6).fit(X[:50], songs.Y[:50])
    assert ranking == direct.selected_.tolist()
