"""Numbers of a Matlab toolbox and of Mulan, under conventions that have a name."""

import json

import numpy as np
import pytest

from labelsieve.metrics import average_precision, coverage, evaluate, example_accuracy, example_f1, one_error, ranking_loss
from tests.support.shared_files import shared_file

CASES = ["plain", "manylabels", "ties", "with_empty_rows", "with_full_rows", "absent_label"]
close = pytest.approx


@pytest.fixture(scope="module")
def matlab():
    expected = json.loads(shared_file("reference", "metrics_expected.json").read_text(encoding="utf-8"))
    inputs = np.load(shared_file("reference", "metrics_inputs.npz"))
    return {
        case: (*(inputs[f"{case}_{part}"] for part in "YPC"), expected["mlc_toolbox_eval"][case]) for case in CASES
    }, expected["occ_eval_exact_hammingscore_macroF1_microF1"]


@pytest.mark.parametrize("case", CASES)
def test_label_sets_are_judged_as_in_matlab(matlab, case):
    Y, P, _, expected = matlab[0][case]
    found = evaluate(Y, P, convention="matlab")
    assert found["exact_match"] == close(expected["exact"], abs=1e-12)
    assert found["hamming_score"] == close(expected["hamming_score"], abs=1e-12)
    assert found["micro_f1"] == close(expected["microF1"], abs=1e-12)
    assert found["macro_f1"] == close(expected["label_acc_prec_rec_f1"][3], abs=1e-12)
    assert found["example_accuracy"] == close(expected["example_acc_prec_rec_f1"][0], abs=1e-12)
    assert found["example_f1"] == close(expected["example_acc_prec_rec_f1"][3], abs=1e-12)
    four = [found[name] for name in ("exact_match", "hamming_score", "macro_f1", "micro_f1")]
    assert four == close(matlab[1][case], abs=1e-12), "the oCC authors' own"


@pytest.mark.parametrize("answer", ["conf", "pred"])
@pytest.mark.parametrize("case", CASES)
def test_rankings_are_judged_as_in_matlab(matlab, case, answer):
    """Also when 0/1 predictions serve as scores, which are nearly all ties."""
    Y, P, C, expected = matlab[0][case]
    scores = C if answer == "conf" else P
    found = evaluate(Y, scores=scores, convention="matlab")
    empty_rows = not Y.any(axis=1).all()
    # The toolbox leaves out rows with all labels, but counts rows with none as errors,
    wrong = one_error(Y, scores, ties="best", rows="all") if empty_rows else found["one_error"]
    assert wrong == close(expected[f"one_error_{answer}"], abs=1e-12)
    # and as -1 in coverage.
    steps = coverage(Y, scores, ties="later", count_from=1) - 1 if empty_rows else found["coverage"]
    assert steps == close(expected[f"coverage_{answer}"], abs=1e-12)
    for name, measure in {"ranking_score": 1 - found["ranking_loss"], "avgprec": found["average_precision"]}.items():
        assert expected[f"{name}_{answer}"] is None if empty_rows else measure == close(expected[f"{name}_{answer}"], abs=1e-12)
    if answer == "conf":
        assert 1 - ranking_loss(Y, C, ties="half") == close(expected["auc_instance_macro"], abs=1e-12)


def test_our_defaults_differ_from_matlab_only_where_conventions_do(matlab):
    Y, P, C, expected = matlab[0]["plain"]
    assert average_precision(Y, C) == close(expected["avgprec_conf"], abs=1e-12)
    assert example_f1(Y, P) == close(expected["example_acc_prec_rec_f1"][3], abs=1e-12)
    Y, P, _, expected = matlab[0]["with_empty_rows"]
    both_empty = np.mean(~Y.any(axis=1) & ~P.any(axis=1))
    assert example_accuracy(Y, P) == close(expected["example_acc_prec_rec_f1"][0] + both_empty, abs=1e-12)


MULAN = {
    "hamming_loss": "Hamming Loss",
    "exact_match": "Subset Accuracy",
    "example_accuracy": "Example-Based Accuracy",
    "example_f1": "Example-Based F Measure",
    "macro_f1": "Macro-averaged F-Measure",
    "micro_f1": "Micro-averaged F-Measure",
    "ranking_loss": "Ranking Loss",
    "one_error": "OneError",
    "coverage": "Coverage",
    "average_precision": "Average Precision",
}


def test_every_learner_of_mulan_is_judged_as_mulan_does():
    measures = json.loads(shared_file("reference", "mulan_measures_emotions.json").read_text(encoding="utf-8"))["measures"]
    stored = np.load(shared_file("reference", "mulan_predictions_emotions.npz"))
    assert len(measures) == 21
    for learner, expected in measures.items():
        found = evaluate(stored["truth"], stored[f"{learner}__bip"], stored[f"{learner}__conf"], convention="mulan")
        for ours, theirs in MULAN.items():
            assert found[ours] == close(expected[theirs], abs=1e-12), f"{learner}: {theirs}"
        ranked = evaluate(stored["truth"], scores=-stored[f"{learner}__rank"].astype(float))
        for ours in ranked:
            assert ranked[ours] == close(expected[MULAN[ours]], abs=1e-12), f"{learner}: {MULAN[ours]} of Mulan's own ranks"
