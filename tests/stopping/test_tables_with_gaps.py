"""Cross-validation of the number of features on ordinary tables: text, missing cells, classes as text."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from labelsieve import Sieve
from labelsieve.classifiers import MLkNN
from labelsieve.metrics import hamming_loss
from labelsieve.stopping import CrossValidated
from tests.support.command_line import run

ROWS = 200


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    age, town, kind = rng.normal(size=ROWS), rng.choice(["Bonn", "Oslo", "Rome"], ROWS), rng.choice(["a", "b"], ROWS)
    X = pd.DataFrame({"age": age, "town": town, "kind": kind, "noise": rng.normal(size=ROWS)})
    Y = pd.DataFrame(
        {"old": np.where(age > 0, "yes", "no"), "mood": np.where(town == "Rome", "calm", np.where(kind == "a", "sad", "mad"))}
    )
    for name in ("age", "town", "kind"):
        X[name] = X[name].where(rng.random(ROWS) >= 0.1)
    return X, Y


def columns_of(X, names):
    """Columns of a learner, and how many belong to the first 1, 2, ... features."""
    blocks = []
    for name in names:
        if X[name].dtype.kind == "f":
            blocks.append(X[[name]])
        elif X[name].nunique() == 2:
            blocks.append((X[name] == X[name].dropna().max()).astype(float).where(X[name].notna()).to_frame())
        else:
            blocks.append(pd.get_dummies(X[name]).astype(float))
    return pd.concat(blocks, axis=1).to_numpy(), np.cumsum([block.shape[1] for block in blocks])


def test_the_curve_is_that_of_filled_indicators(table):
    X, Y = table
    sieve = Sieve("cmim", n_features_to_select=CrossValidated(measure="hamming_loss", cv=3)).fit(X, Y)
    labels = np.column_stack([Y["old"] == "yes", *(Y["mood"] == mood for mood in ("calm", "mad", "sad"))]).astype(int)
    for fold, (train, test) in enumerate(KFold(3, shuffle=True, random_state=np.random.RandomState(0)).split(X)):
        selected = Sieve("cmim", n_features_to_select=4).fit(X.iloc[train], Y.iloc[train]).selected_
        matrix, ends = columns_of(X, X.columns[selected])
        scaled = np.nan_to_num(StandardScaler().fit(matrix[train]).transform(matrix))  # the mean of the training rows is 0
        for size, end in enumerate(ends):
            model = MLkNN().fit(scaled[train, :end], labels[train])
            loss = hamming_loss(labels[test], model.predict(scaled[test, :end]))
            assert sieve.stopping_.curve_[fold, size] == pytest.approx(loss, abs=1e-12)
    assert set(sieve.get_feature_names_out()) == {"age", "town", "kind"}


def test_commands_take_the_table(table, tmp_path):
    file = tmp_path / "people.csv"
    pd.concat(table, axis=1).to_csv(file, index=False)
    found = run("select", file, "--labels", "old,mood", "-k", "cv", "--format", "csv")
    assert [line.split(",")[1] for line in found.stdout.splitlines()[1:]] == ["town", "age", "kind"]
    plan = ("compare", file, "--labels", "old", "--methods", "mim", "-k", "1,2", "--splits", "2-fold", "--baselines", "none")
    refused = run(*plan, "--out", tmp_path / "refused")
    assert refused.exit_code == 2
    assert "--missing-values train-mean" in refused.stderr
    study = run(*plan, "--out", tmp_path / "study", "--missing-values", "train-mean")
    assert study.exit_code == 0
    assert "hamming_loss" in study.stdout
