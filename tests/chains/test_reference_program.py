"""The authors' program on the first published fold of emotions: the same order, features and predictions."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from labelsieve.chains import OptimizedClassifierChain
from labelsieve.metrics import evaluate
from tests.support.arff_files import read_dense_arff
from tests.support.shared_files import shared_file

MEASURES = ("exact_match", "hamming_score", "macro_f1", "micro_f1")


def fold():
    _, values = read_dense_arff(shared_file("data", "emotions", "emotions.arff.gz"))
    X, Y = values[:, :-6], values[:, -6:].astype(int)
    with np.load(shared_file("reference", "occ_predictions_emotions_fold1.npz"), allow_pickle=False) as file:
        reference = dict(file)
    train, test = reference["train_index"], reference["test_index"]
    return X[train], Y[train], X[test], Y[test], reference


@pytest.mark.parametrize("percent", [80, 30])
def test_occ_predicts_what_the_authors_program_predicts(percent):
    X, Y, queries, truth, reference = fold()
    model = OptimizedClassifierChain(n_features_to_select=percent / 100, variant="authors-program").fit(X, Y)
    assert model.network_.order == tuple(reference["chain"])
    predicted = model.predict(queries)
    assert (predicted == reference[f"pred_M{percent}_k80"]).mean() > 0.99
    measures = evaluate(truth, predicted)
    np.testing.assert_allclose([measures[name] for name in MEASURES], reference[f"metrics_M{percent}"], rtol=0, atol=0.02)


def test_the_features_are_the_programs():
    X, Y, _, _, _ = fold()
    with np.load(shared_file("reference", "occ_emotions_fold1train.npz"), allow_pickle=False) as file:
        expected, parents = file["features"], file["parents"].tolist()
    model = OptimizedClassifierChain(n_features_to_select=30, variant="authors-program").fit(X, Y)
    assert model.network_.to_lists() == [[parent for parent in row if parent >= 0] for row in parents]
    assert model.selector_.selected_.tolist() == expected.tolist()


def test_the_program_stops_its_solver_early():
    """Solved to scikit-learn's tolerance, the same models predict otherwise for one label in ten: features are not scaled."""
    X, Y, queries, _, reference = fold()
    options = {"n_features_to_select": 0.3, "variant": "authors-program"}
    solved = OptimizedClassifierChain(LinearSVC(dual=False), **options).fit(X, Y).predict(queries)
    assert 0.85 < (solved == reference["pred_M30_k80"]).mean() < 0.95
