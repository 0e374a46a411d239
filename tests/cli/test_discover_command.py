"""``labelsieve discover``: associated features and labels of a file."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from labelsieve.selectors import ConditionalDiscoveries, MarginalDiscoveries
from tests.support.command_line import refusal, run


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Sites shift everything; gene0 is associated with y1 within sites."""
    rng = np.random.default_rng(0)
    site = rng.integers(0, 3, size=240)
    X = rng.normal(size=(240, 6)) + site[:, np.newaxis]
    Y = (rng.normal(size=(240, 3)) + site[:, np.newaxis] > 1).astype(int)
    X[:, 0] += 1.5 * Y[:, 1]
    frame = pd.DataFrame(X, columns=[f"gene{column}" for column in range(6)])
    frame["site"], frame["patient"] = np.array(["a", "b", "c"])[site], np.arange(240) // 2
    path = tmp_path_factory.mktemp("discover") / "patients.csv"
    pd.concat([frame, pd.DataFrame(Y, columns=["y0", "y1", "y2"])], axis=1).to_csv(path, index=False)
    return path


def test_discoveries_are_those_of_the_selector_in_every_format(table):
    frame = pd.read_csv(table)
    genes, labels = frame.iloc[:, :6].assign(patient=frame["patient"]), frame[["y0", "y1", "y2"]]
    expected = MarginalDiscoveries(alpha=0.1, n_permutations=999).fit(genes, labels, strata=frame["site"])
    options = ["--labels", "3", "--fdr", "0.1", "--strata", "site", "--n-permutations", "999"]
    document = json.loads(run("discover", table, *options, "--json").stdout)
    assert [one["feature"] for one in document["selected"]] == [genes.columns[column] for column in expected.selected_]
    assert document["discoveries"][0] == {"feature": "gene0", "label": "y1"} | {
        name: pytest.approx(float(expected.discoveries_[name].iloc[0])) for name in ("information", "p", "q")
    }
    rows = list(csv.reader(io.StringIO(run("discover", table, *options, "--format", "csv").stdout)))
    assert rows[0] == ["feature", "label", "information", "p", "q"]
    assert len(rows) == 1 + len(document["discoveries"])
    text = run("discover", table, *options).stdout
    assert "gene0" in text
    assert "at a false discovery rate of 0.1" in " ".join(text.split())


def test_figures_are_written(table, tmp_path):
    run("discover", table, "--labels", "3", "--out", tmp_path / "figures")
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"volcano.png", "map.png", "calibration.png"}


def test_excluded_features_are_not_tested(table):
    document = json.loads(run("discover", table, "--labels", "3", "--excluded", "gene0,site", "--json").stdout)
    assert document["n_features"] == 6
    assert {one["feature"] for one in document["selected"]} <= {*(f"gene{column}" for column in range(1, 6)), "patient"}
    refused = refusal("discover", table, "--labels", "3", "--excluded", "gene11")
    assert "gene11" in refused
    assert "gene1" in refused.replace("gene11", "")


def test_conditional_discoveries_are_those_of_the_selector(tmp_path):
    rng = np.random.default_rng(1)
    X = (rng.random((200, 20)) < 0.4).astype(int)
    Y = X[:, :8] @ rng.choice([-1, 1], (8, 3)) + rng.normal(size=(200, 3)) > 0
    frame = pd.DataFrame(X, columns=[f"gene{column}" for column in range(20)])
    labels = pd.DataFrame(Y.astype(int), columns=["y0", "y1", "y2"])
    path = tmp_path / "genes.csv"
    pd.concat([frame, labels], axis=1).to_csv(path, index=False)
    options = ["--labels", "3", "--null", "conditional", "--fdr", "0.2"]
    document = json.loads(run("discover", path, *options, "--out", tmp_path / "figures", "--json").stdout)
    expected = ConditionalDiscoveries(alpha=0.2).fit(frame, labels)
    assert len(expected.selected_) >= 5
    assert [one["feature"] for one in document["selected"]] == [f"gene{column}" for column in expected.selected_]
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"volcano.png", "map.png"}
    again = json.loads(run("discover", path, *options, "--sampler", "tree", "--n-repeats", "20", "--json").stdout)
    assert again["selected"] == document["selected"]
    assert "--n-repeats is an option of --null conditional" in refusal("discover", path, "--labels", "3", "--n-repeats", "5")
    assert "--strata is an option of --null marginal" in refusal("discover", path, *options, "--strata", "gene0")


def test_wrong_columns_and_levels_are_refused(table):
    assert "Did you mean 'site'" in refusal("discover", table, "--labels", "3", "--strata", "sites")
    assert "--fdr must be between 0 and 1" in refusal("discover", table, "--labels", "3", "--fdr", "2")
    assert "supervised bins" in refusal("discover", table, "--labels", "3", "--discretizer", "mdl")


def test_numbers_to_predict_are_called_targets():
    head, heading = run("discover", "tecator").stdout.split("\n\n")[:2]
    assert "pairs of a feature and a target at" in " ".join(head.split())
    assert heading.split()[:2] == ["feature", "target"]
