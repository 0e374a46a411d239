"""Tables at the edge: no labels, all labels, one label, one row, targets that never change."""

import numpy as np
import pytest

from labelsieve import InputError
from labelsieve.metrics import MEASURES, average_precision, coverage, evaluate, example_accuracy, one_error, ranking_loss, rrmse

SCORES = np.array([[0.1, 0.7, 0.3], [0.5, 0.5, 0.2]])


def test_rows_without_labels():
    Y = np.zeros((2, 3), int)
    found = evaluate(Y, Y, SCORES)
    perfect = dict.fromkeys(["hamming_score", "exact_match", "example_accuracy", "example_f1", "macro_f1", "micro_f1"], 1)
    perfect |= {"hamming_loss": 0, "subset_loss": 0}
    ranking = {"ranking_loss": 0, "one_error": 1, "coverage": 0, "average_precision": 1}
    assert found == perfect | ranking
    assert one_error(Y, SCORES, rows="informative") == 0


def test_rows_with_all_labels():
    Y = np.ones((2, 3), int)
    found = evaluate(Y, Y, SCORES)
    assert all(found[name] == (0 if MEASURES[name].lower_is_better else 1) for name in found if name != "coverage")
    assert found["coverage"] == 2
    assert coverage(Y, SCORES, normalize="q-1") == 1
    assert coverage(Y, SCORES, count_from=1, normalize="q") == 1
    assert coverage(Y, SCORES, rows="informative") == 0


def test_one_label_has_nothing_to_rank():
    Y, scores = [1, 0, 1], [0.2, 0.9, 0.3]
    assert ranking_loss(Y, scores) == 0
    assert ranking_loss(Y, scores, rows="all") == 0
    assert average_precision(Y, scores) == 1
    assert coverage(Y, scores, normalize="q-1") == 0
    assert one_error(Y, scores) == pytest.approx(1 / 3), "the row without labels"
    assert evaluate(Y, [1, 1, 1])["micro_f1"] == pytest.approx(0.8)


def test_one_row():
    found = evaluate([[1, 0, 1]], [[1, 1, 0]], [[0.9, 0.5, 0.1]])
    assert found["hamming_loss"] == pytest.approx(2 / 3)
    assert found["subset_loss"] == 1
    assert found["example_accuracy"] == pytest.approx(1 / 3)
    assert found["ranking_loss"] == 0.5
    assert found["coverage"] == 2
    assert found["average_precision"] == pytest.approx((1 + 2 / 3) / 2)


def test_all_scores_equal():
    Y, scores = [[1, 0, 0, 0]], [[0.5] * 4]
    assert [ranking_loss(Y, scores, ties=ties) for ties in ("worst", "half", "best", "earlier", "later")] == [1, 0.5, 0, 0, 1]
    assert [one_error(Y, scores, ties=ties) for ties in ("worst", "half", "best", "earlier", "later")] == [1, 0.75, 0, 0, 1]
    assert [coverage(Y, scores, ties=ties) for ties in ("worst", "earlier", "later")] == [3, 0, 3]


@pytest.mark.parametrize("constant", [0.1, 0.0, 1e12 / 3])
def test_target_that_never_changes_is_right_or_wrong(constant):
    Y = np.full((7, 1), constant)
    assert rrmse(Y, Y) == 0
    assert rrmse(Y, Y + 1) == 1
    assert rrmse(Y, Y + 1, baseline=[constant]) == 1
    assert rrmse(Y, Y + 1, baseline=[constant - 1]) == pytest.approx(1)


def test_one_row_of_targets_has_no_spread_of_its_own():
    assert rrmse([[1.0, 2.0]], [[1.0, 3.0]], multioutput="raw_values").tolist() == [0, 1]
    assert rrmse([[1.0, 2.0]], [[1.0, 3.0]], baseline=[0.0, 0.0], multioutput="raw_values").tolist() == [0, 0.5]


def test_rows_without_weight_are_no_rows():
    Y, P, weights = [[1, 0], [0, 1]], [[1, 0], [1, 0]], [1, 0]
    found = evaluate(Y, P, P, sample_weight=weights)
    assert all(value == (0 if MEASURES[name].lower_is_better else 1) for name, value in found.items())
    assert example_accuracy([[0], [1]], [[0], [0]], sample_weight=weights) == 1
    assert rrmse([[1.0], [2.0], [9.0]], [[1.0], [2.0], [0.0]], sample_weight=[1, 1, 0]) == 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [5e-324, 1e-300, 1e300, 5e307])
def test_only_the_shares_of_weights_count(unit):
    Y, P, scores = [[1, 0, 1], [0, 1, 0], [1, 0, 0]], [[1, 0, 0], [0, 1, 0], [0, 1, 0]], [[3, 2, 1], [1, 1, 0], [0, 2, 5]]
    for measure in MEASURES.values():
        answer = {"labels": P, "scores": scores, "numbers": scores}[measure.needs]
        expected = measure.function(Y, answer, sample_weight=[1, 2, 3])
        assert measure.function(Y, answer, sample_weight=np.array([1, 2, 3]) * unit) == pytest.approx(expected)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [2.0**-600, 2.0**600])
def test_relative_error_does_not_depend_on_the_unit(unit):
    Y, predicted = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 8.0]]), np.array([[0.5, 1.0], [1.0, 2.0], [1.5, 9.0]])
    assert rrmse(Y * unit, predicted * unit) == rrmse(Y, predicted)
    assert rrmse(Y * unit, predicted * unit, baseline=[unit, unit]) == rrmse(Y, predicted, baseline=[1.0, 1.0])
    assert rrmse(Y * [1, unit], predicted * [1, unit]) == rrmse(Y, predicted)


@pytest.mark.parametrize("convention", ["labelsieve", "mulan", "scikit-learn", "matlab"])
def test_a_perfect_prediction_scores_1_by_default_also_without_labels(convention):
    """Half of the rows have no label, and no row has the last label."""
    Y = np.array([[1, 0, 0], [0, 0, 0], [1, 1, 0], [0, 0, 0]])
    found = evaluate(Y, Y, convention=convention)
    zero = convention in ("scikit-learn", "matlab")  # 0/0 counts 0 there
    less = {"example_accuracy": 0.5, "example_f1": 0.5, "macro_f1": 2 / 3} if zero else {}
    for name, value in found.items():
        assert value == pytest.approx(less.get(name, 0 if MEASURES[name].lower_is_better else 1)), name
    empty = np.zeros((2, 2), int)
    assert evaluate(empty, empty, convention=convention)["micro_f1"] == (0 if zero else 1)


def test_a_convention_of_ones_own_has_options_by_measure():
    Y = [[1, 0], [1, 0]]
    assert evaluate(Y, Y, convention={"macro_f1": {"zero_division": 0.0}})["macro_f1"] == 0.5
    with pytest.raises(InputError, match="'macro' is not a measure"):
        evaluate(Y, Y, convention={"macro": {}})
    with pytest.raises(InputError, match=r"'zero_divison' is not an option of macro_f1.*Did you mean 'zero_division'"):
        evaluate(Y, Y, convention={"macro_f1": {"zero_divison": 0.0}})
