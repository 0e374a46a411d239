"""The confirmation protocol: its analysis does what the page says, on the data sets that the page and the leaderboard list."""

import re
import tomllib
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import confirmation

ROOT = Path(confirmation.__file__).parents[1]
RIVALS = list(confirmation.HYPOTHESES.values())


@pytest.fixture(autouse=True)
def few_samples(monkeypatch):
    monkeypatch.setattr(confirmation, "N_SAMPLES", 2000)


def make_results(improvement, *, datasets=confirmation.UNTOUCHED, failed=()):
    """Results in which the hybrid is ahead of every rival by ``improvement(measure, rival, index of the data set)``."""
    rows = []
    for (index, name), measure, rival in product(enumerate(datasets), confirmation.MEASURES, RIVALS):
        sign, _ = confirmation.MEASURES[measure]
        for learner, k, split in product(confirmation.LEARNERS, (5, 40), range(2)):
            if (name, rival) not in failed:
                rows.append([name, split, rival, learner, k, measure, 0.5 - sign * improvement(measure, rival, index)])
            if rival == RIVALS[0] and (name, confirmation.METHOD) not in failed:
                rows.append([name, split, confirmation.METHOD, learner, k, measure, 0.5])
    return pd.DataFrame(rows, columns=["dataset", "split", "method", "classifier", "k", "measure", "value"])


def verdicts(*arguments, **options):
    table = confirmation.verdicts(make_results(*arguments, **options))
    return dict(zip(table["rival"], table["verdict"], strict=True))


def test_a_method_that_wins_everywhere_is_confirmed_and_one_that_loses_everywhere_is_refuted():
    assert set(verdicts(lambda *_: 0.03).values()) == {"confirmed"}
    assert set(verdicts(lambda *_: -0.03).values()) == {"refuted"}
    mixed = verdicts(lambda measure, rival, index: 0.03 if rival != "omp" else 0.03 * (-1) ** index)
    assert mixed.pop("omp") == "not shown"
    assert set(mixed.values()) == {"confirmed"}


def test_both_deciding_measures_must_hold_and_the_others_must_not_be_harmed():
    assert set(verdicts(lambda measure, *_: 0.03 if measure != "macro_f1" else 0.0).values()) == {"not shown"}
    assert set(verdicts(lambda measure, *_: 0.03 if measure != "hamming_loss" else -0.01).values()) == {"not shown"}
    assert set(verdicts(lambda measure, *_: 0.03 if measure != "hamming_loss" else -0.0002).values()) == {"confirmed"}


def test_nine_of_ten_suffice_and_a_failure_of_the_hybrid_is_a_loss():
    assert set(verdicts(lambda _, __, index: 0.03 + index / 1000 if index else -0.001).values()) == {"confirmed"}
    failing = [(name, confirmation.METHOD) for name in confirmation.UNTOUCHED[:3]]
    assert set(verdicts(lambda *_: 0.03, failed=failing).values()) == {"not shown"}
    table = confirmation.verdicts(make_results(lambda *_: 0.03, failed=[("imdb", "cmim")]))
    assert table.set_index("rival")["sets"].to_dict() == {rival: 9 if rival == "cmim" else 10 for rival in RIVALS}


def test_p_values_are_adjusted_over_the_hypotheses():
    table = confirmation.verdicts(make_results(lambda *_: 0.03))
    assert table["p better"].to_numpy() == pytest.approx(5 * 2 / 2**10)


def test_exported_results_are_read_and_failed_cells_are_left_out(tmp_path, capsys):
    results = make_results(lambda *_: 0.03, datasets=confirmation.UNTOUCHED + confirmation.LOOKED_AT + confirmation.NUMERIC)
    wide = results.pivot(
        index=["dataset", "split", "method", "classifier", "k"], columns="measure", values="value"
    ).reset_index()
    wide.loc[0, "micro_f1"] = np.nan
    wide.astype({"dataset": "category", "method": "category"}).assign(ranking_loss=0.1).to_parquet(tmp_path / "values.parquet")
    read = confirmation.read_results([tmp_path / "values.parquet"])
    assert len(read) == len(results) - 1
    assert confirmation.set_means(read, "micro_f1").isna().sum().sum() == 1
    confirmation.main([tmp_path / "values.parquet"])
    assert capsys.readouterr().out.count("verdict") == 6


def test_the_page_the_analysis_and_the_leaderboard_have_the_same_data_sets():
    page = (ROOT / "docs" / "studies" / "confirmation.md").read_text(encoding="utf-8")
    listed = [re.split(r", ", line[2:]) for line in page.splitlines() if line.startswith("- ") and "numeric" not in line]
    assert list(confirmation.LOOKED_AT) in listed
    assert list(confirmation.UNTOUCHED) in listed
    for name, rival in confirmation.HYPOTHESES.items():
        assert re.search(rf"\| {name} \|.*`{rival}`", page)
    protocol = tomllib.loads((ROOT / "leaderboard" / "leaderboard.toml").read_text(encoding="utf-8"))
    studied = {study["name"]: study for study in protocol["studies"]}
    tagged = {part: {data["name"] for data in studied[part]["datasets"] if "confirmation" in data["tags"]} for part in studied}
    assert tagged["labels"] - {"rcv1s1-full"} == {*confirmation.UNTOUCHED, *confirmation.LOOKED_AT}
    assert tagged["numeric"] == set(confirmation.NUMERIC)
    methods = {one if isinstance(one, str) else one["name"] for one in protocol["methods"]}
    assert {confirmation.METHOD, *RIVALS} <= methods
    assert np.isin(confirmation.SIZES, protocol["n_features"]).all()
    assert {one["name"] for one in studied["labels"]["classifiers"]} >= set(confirmation.LEARNERS)
    assert {*confirmation.DECIDING, *confirmation.NO_HARM} <= set(studied["labels"]["measures"])
