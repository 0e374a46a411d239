"""``python -m leaderboard``: page, ranks, merge, export, import and add, on studies of ``labelsieve compare``."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from labelsieve.statistics import critical_difference
from labelsieve.studies import StudyResults
from leaderboard import placement, read_board, restricted
from leaderboard.__main__ import app
from tests.support.command_line import known_table, refusal, run
from tests.support.small_studies import contents

PROTOCOL = """
n_features = [1, 5, 10]
splits = "2x50%"
methods = ["jmi", "mim", "mean-f"]
[[studies]]
name = "labels"
measures = ["micro_f1", "hamming_loss"]
classifiers = [{ name = "neighbors", classifier = "mlknn", k = 3 }]
datasets = [{ name = "one", path = "one.csv", labels = 5, tags = ["first"] }, { name = "two", path = "two.csv", labels = 5 }]
[[studies]]
name = "numbers"
measures = ["rrmse"]
classifiers = [{ name = "neighbors", classifier = "knn", k = 3 }]
datasets = [{ name = "three", path = "three.csv", labels = 2 }]
"""
board_run, board_refusal = partial(run, app=app), partial(refusal, app=app)
RANKED = ("jmi", "mim", "mean-f", "random")
SELECTOR = """
import numpy as np
from sklearn.base import BaseEstimator
class Backwards(BaseEstimator):
    def fit(self, X, Y):
        self.selected_ = np.arange(X.shape[1])[::-1]
        return self
"""


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """A folder with a protocol, and its results in the folder ``board``."""
    folder = tmp_path_factory.mktemp("leaderboard")
    table = known_table()
    table[:100].to_csv(folder / "one.csv", index=False)
    table[100:200].to_csv(folder / "two.csv", index=False)
    features = table.iloc[:80, :20]
    noise = np.random.default_rng(0).normal(size=(80, 2))
    features.assign(p=features.iloc[:, 0] + noise[:, 0], q=features.iloc[:, 1] + noise[:, 1]).to_csv(
        folder / "three.csv", index=False
    )
    (folder / "board.toml").write_text(PROTOCOL, encoding="utf-8")
    result = run("compare", folder / "board.toml", "--out", folder / "board")
    assert result.exit_code == 0, result.output
    return folder


def test_the_command_runs_from_the_root_of_a_checkout_on_the_published_results():
    pytest.importorskip("pyarrow")
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "leaderboard", "noise", "leaderboard/noise-results"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0][:3] == ["selector", "irrelevant", "corrupted"]
    assert float(next(row[1] for row in rows if row and row[0] == "random")) > 15


def test_every_study_of_a_file_has_its_folder(board):
    assert "several studies" in refusal("compare", board / "board.toml", "--out", board / "board", "--json")
    assert StudyResults(board / "board" / "labels").datasets == ["one", "two"]
    assert StudyResults(board / "board" / "numbers").measures == ["rrmse"]


def test_shards_are_run_and_merged(board, tmp_path):
    for number in ("1/2", "2/2"):
        shard = tmp_path / number[0]
        run("compare", board / "board.toml", "--out", shard, "--shard", number, "--only-datasets", "one,two")
    result = board_run("merge", tmp_path / "all", tmp_path / "1", tmp_path / "2")
    assert result.exit_code == 0, result.output
    assert contents(tmp_path / "all" / "labels") == contents(board / "board" / "labels")
    assert "such as 3/20" in refusal("compare", board / "board.toml", "--out", tmp_path, "--shard", "3/2")
    assert "'first'" in refusal("compare", board / "board.toml", "--out", tmp_path, "--only-datasets", "frist")


def test_exported_results_travel(board, tmp_path):
    pytest.importorskip("pyarrow")
    assert board_run("export", board / "board", tmp_path / "files").exit_code == 0
    assert board_run("import", tmp_path / "files", tmp_path / "again").exit_code == 0
    for study in ("labels", "numbers"):
        assert contents(tmp_path / "again" / study)[0] == contents(board / "board" / study)[0]
    assert "export writes it" in board_refusal("import", tmp_path, tmp_path / "new")


def test_ranks_are_printed_for_some_data_sets(board):
    result = board_run("ranks", board / "board", "--only-datasets", "one,two", "--against", "jmi", width=120)
    assert result.exit_code == 0, result.output
    found = placement(restricted(read_board(board / "board"), ["one", "two"]), "jmi")
    assert f"jmi: place {found.place} of 4, average rank {found.average_rank:.2f} over 2 data sets." in result.stdout
    assert all(f"{other.average_rank:.2f}" in result.stdout for other in found.others)
    assert f"{critical_difference(4, 2):.2f}" in result.stdout
    assert "'first'" in board_refusal("ranks", board / "board", "--only-datasets", "frist")


def test_page_is_written(board, tmp_path):
    result = board_run("page", board / "board", "-o", tmp_path / "board.html")
    assert result.exit_code == 0, result.output
    assert "5 selectors, 3 data sets, 1 learners" in (tmp_path / "board.html").read_text(encoding="utf-8")
    assert "there is no study" in board_refusal("page", tmp_path)


def test_own_selector_is_placed_among_the_others(board, tmp_path):
    (tmp_path / "backwards_selector.py").write_text(SELECTOR, encoding="utf-8")
    given = ("--board", board / "board", "--out", tmp_path / "mine", "--repeats", "2")
    result = board_run("add", tmp_path / "backwards_selector.py", *given)
    assert result.exit_code == 0, result.output
    assert "place 5 of 5" in result.stdout or "place 4 of 5" in result.stdout
    assert "Backwards <" in result.stdout
    (tmp_path / "no_selector.py").write_text("x = 1\n", encoding="utf-8")
    assert "which class is the selector" in board_refusal("add", tmp_path / "no_selector.py", *given)


def test_placement_follows_mean_ranks(board):
    found = placement(read_board(board / "board", sizes=(5, 10)), "jmi", sizes=(5, 10))
    ranks = []
    for study, measure, sign in (("labels", "micro_f1", 1), ("numbers", "rrmse", -1)):
        results = StudyResults(board / "board" / study)
        for dataset in results.datasets:
            means = [sign * results.curve(dataset, name, measure)[1][:, 1:].mean(axis=0) for name in RANKED]
            # A rank is 1, and 1 for each better selector, and 1/2 for each other one that is equal.
            ranks.append([np.mean(sum(0.5 + 0.5 * np.sign(other - one) for other in means) + 0.5) for one in means])
    expected = dict(zip(RANKED, np.mean(ranks, axis=0), strict=True))
    assert found.average_rank == pytest.approx(expected["jmi"])
    assert {other.name: other.average_rank for other in found.others} == pytest.approx(
        {name: rank for name, rank in expected.items() if name != "jmi"}
    )
    assert found.place == 1 + sum(rank < expected["jmi"] for rank in expected.values())
