"""Rules under other label spaces, estimators, networks and weights; and the benchmark that compares them."""

import numpy as np
import pytest
from sklearn.base import clone

from benchmarks import stopping as benchmark
from labelsieve import Sieve
from tests.support.reference_stopping import RULES
from tests.support.selection_data import assert_same_selection, make_data

CURVES = [rule for rule in RULES if not hasattr(rule, "alpha")]
SETTINGS = [
    {"criterion": "mlfs", "parents": "kcc"},
    {"criterion": "pmu"},
    {"targets": "joint"},
    {"targets": "pruned"},
    {"targets": "group"},
    {"estimator": "miller-madow"},
    {"target_weight": [1, 2, 0.5, 3]},
    {"discretizer": "equal-frequency"},
]


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_a_rule_keeps_a_prefix_of_the_ranking_under_any_setting(rule, setting):
    X, Y = make_data(n_rows=300)
    if hasattr(rule, "min_rows"):
        rule = clone(rule).set_params(min_rows=1)  # labelsets are many and have few rows each
    sieve = Sieve(**{"criterion": "cmim", **setting}, n_features_to_select=rule).fit(X, Y)
    kept = len(sieve.selected_)
    assert kept >= 1
    left_out = getattr(sieve.stopping_, "left_out_", [])
    assert_same_selection(
        sieve, Sieve(**{"criterion": "cmim", **setting}, n_features_to_select=kept, excluded=left_out).fit(X, Y)
    )


@pytest.mark.parametrize("rule", CURVES, ids=repr)
def test_rules_without_a_significance_test_accept_weights_and_repeated_rows(rule):
    X, Y = make_data()
    weights = np.random.default_rng(0).random(len(X))
    assert len(Sieve("cmim", n_features_to_select=rule).fit(X, Y, sample_weight=weights).selected_)
    assert len(Sieve("cmim", n_features_to_select=rule, targets="copy").fit(X, Y).selected_)


def test_threads_do_not_change_what_is_kept():
    X, Y = make_data(n_rows=300)
    for rule in RULES:
        one, two = (Sieve("jmi", n_features_to_select=rule, n_jobs=n_jobs).fit(X, Y) for n_jobs in (1, 2))
        assert_same_selection(one, two)


def test_the_benchmark_prints_a_table_and_draws_a_figure(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(benchmark, "NOISE", (0.3, 1.0))
    benchmark.main(["--repeat", "1", "--rows", "60,120", "--figure", str(tmp_path / "rules.png")])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("   ")[0].strip() for line in lines if line.startswith("noise")] == [
        "noise 0.3: precision, recall, kept",
        "noise 1.0: precision, recall, kept",
    ]
    assert sum(line.startswith("permutation") for line in lines) == 2
    assert (tmp_path / "rules.png").read_bytes().startswith(b"\x89PNG")
