"""Measures of labels that are unknown (NaN) in some rows, against loops over the known cells."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from labelsieve import InputError
from labelsieve.metrics import (
    MEASURES,
    evaluate,
    exact_match,
    example_accuracy,
    example_f1,
    hamming_loss,
    hamming_score,
    macro_f1,
    micro_f1,
    subset_loss,
)
from labelsieve.metrics.arrays import FOR_UNKNOWN, TrueLabels

N_ROWS, N_LABELS = 40, 5


def make_data(seed, weighted=False):
    rng = np.random.default_rng(seed)
    truth = (rng.random((N_ROWS, N_LABELS)) < 0.4).astype(float)
    predicted = np.where(rng.random(truth.shape) < 0.2, 1 - truth, truth).astype(int)
    truth[rng.random(truth.shape) < 0.3] = np.nan
    truth[3], truth[:, 4] = np.nan, np.nan  # a row, and a label, that is never known
    return truth, predicted, rng.random(N_ROWS) if weighted else np.ones(N_ROWS)


def naive(truth, predicted, weights):
    """All measures for unknown labels, cell by cell."""
    wrong = cells = hits = sizes = 0.0
    by_label = {label: [0.0, 0.0] for label in range(N_LABELS)}
    rows = []
    for y, p, weight in zip(truth, predicted, weights, strict=True):
        known = [label for label in range(N_LABELS) if not np.isnan(y[label])]
        both = sum(y[label] == p[label] == 1 for label in known)
        n_true, n_predicted = sum(y[label] == 1 for label in known), sum(p[label] == 1 for label in known)
        if known:
            f1 = 2 * both / (n_true + n_predicted) if n_true + n_predicted else 1.0
            jaccard = both / (n_true + n_predicted - both) if n_true + n_predicted else 1.0
            rows.append((weight, f1, jaccard))
        for label in known:
            cells += weight
            wrong += weight * (y[label] != p[label])
            by_label[label][0] += weight * 2 * (y[label] == p[label] == 1)
            by_label[label][1] += weight * (int(y[label] == 1) + int(p[label] == 1))
    hits, sizes = (sum(counts[i] for counts in by_label.values()) for i in (0, 1))
    seen = [label for label in range(N_LABELS) if not np.isnan(truth[:, label]).all()]
    total = sum(weight for weight, *_ in rows)
    return {
        "hamming_loss": wrong / cells,
        "hamming_score": 1 - wrong / cells,
        "example_accuracy": sum(weight * jaccard for weight, _, jaccard in rows) / total,
        "example_f1": sum(weight * f1 for weight, f1, _ in rows) / total,
        "macro_f1": np.mean([by_label[label][0] / by_label[label][1] if by_label[label][1] else 1.0 for label in seen]),
        "micro_f1": hits / sizes,
    }


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_unknown_cells_are_left_out(seed, weighted):
    truth, predicted, weights = make_data(seed, weighted)
    expected = naive(truth, predicted, weights)
    forms = [truth, truth.tolist(), pd.DataFrame(truth), TrueLabels.of(truth)]
    for form in forms:
        for prediction in (predicted, sp.csr_array(predicted), predicted.astype(bool)):
            options = {"sample_weight": weights} if weighted else {}
            assert evaluate(form, prediction, **options) == pytest.approx(expected)
            for function in (hamming_loss, hamming_score, example_accuracy, example_f1, macro_f1, micro_f1):
                assert function(form, prediction, **options) == pytest.approx(expected[function.__name__])
    assert set(expected) == set(FOR_UNKNOWN)


def test_a_perfect_prediction_of_the_known_cells_is_perfect():
    truth, _, _ = make_data(0)
    values = evaluate(truth, np.nan_to_num(truth))
    assert values.pop("hamming_loss") == 0
    assert set(values.values()) == {1.0}


def test_nullable_columns_of_a_frame_are_unknown_where_they_are_empty():
    frame = pd.DataFrame({"a": pd.array([1, None, 0], dtype="Int64"), "b": pd.array([1, 1, None], dtype="Int64")})
    assert hamming_loss(frame, [[1, 1], [1, 0], [1, 1]]) == 2 / 4


def test_measures_that_need_all_labels_of_a_row_refuse_with_the_cell():
    truth, predicted, _ = make_data(1)
    row, column = np.argwhere(np.isnan(truth))[0]
    cell = f"Y, row {row}, column {column} is nan"
    for function in (exact_match, subset_loss):
        with pytest.raises(InputError, match=cell):
            function(truth, predicted)
    for name in ("ranking_loss", "one_error", "coverage", "average_precision"):
        with pytest.raises(InputError, match=cell):
            MEASURES[name].function(truth, predicted.astype(float))
    with pytest.raises(InputError, match="measures of rankings need all"):
        evaluate(truth, scores=predicted.astype(float))
    with pytest.raises(InputError, match="no label is known in any row"):
        hamming_loss(np.full((3, 2), np.nan), np.ones((3, 2)))
    with pytest.raises(InputError, match="predicted, row 0, column 1 is nan"):
        hamming_loss([[1, 0]], [[1, np.nan]])
