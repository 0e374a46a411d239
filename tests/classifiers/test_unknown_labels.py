"""Labels that are unknown in some rows: every label is learned from the rows in which it is known, or the cell is named."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from labelsieve import InputError
from labelsieve.chains import ClassifierChain
from labelsieve.classifiers import HOMER, IBLR, LIFT, BinaryRelevance, BRkNN, LabelPowerset, MLkNN, RAkEL

N_ROWS, N_LABELS = 60, 4


def make_data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 5))
    Y = (X[:, :N_LABELS] + rng.normal(scale=0.7, size=(N_ROWS, N_LABELS)) > 0).astype(float)
    Y[rng.random(Y.shape) < [0.3, 0.0, 0.5, 0.3]] = np.nan
    Y[:, 3] = np.where(np.isnan(Y[:, 0]), np.nan, np.nan_to_num(Y[:, 3]))  # known in the same rows as label 0
    return X, Y, rng.normal(size=(20, 5))


LEARNERS = {
    "binary relevance": lambda: BinaryRelevance(LogisticRegression()),
    "binary relevance, parallel": lambda: BinaryRelevance(DecisionTreeClassifier(random_state=0), n_jobs=2),
    "mlknn": lambda: MLkNN(k=4),
    "mlknn, ties": lambda: MLkNN(k=3, ties="all"),
    "brknn": lambda: BRkNN(k=5),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_every_label_is_learned_from_its_known_rows(name):
    X, Y, queries = make_data()
    model = LEARNERS[name]().fit(X, Y)
    probabilities, predicted = model.predict_proba(queries), model.predict(queries)
    assert predicted.shape == (len(queries), N_LABELS)
    for label in range(N_LABELS):
        known = ~np.isnan(Y[:, label])
        alone = LEARNERS[name]().fit(X[known], Y[known][:, [label]])
        assert np.array_equal(probabilities[:, label], alone.predict_proba(queries)[:, 0])
        assert np.array_equal(predicted[:, label], alone.predict(queries)[:, 0])
        if name.startswith("mlknn"):
            length = alone.conditional_.shape[2]
            assert model.prior_[label] == alone.prior_[0]
            assert np.array_equal(model.conditional_[:, label, :length], alone.conditional_[:, 0])


def test_weights_of_the_known_rows_are_used():
    X, Y, queries = make_data(1)
    weights = np.arange(N_ROWS) % 3.0
    model = BinaryRelevance(LogisticRegression()).fit(X, Y, sample_weight=weights)
    for label in range(N_LABELS):
        known = ~np.isnan(Y[:, label]) & (weights > 0)
        alone = LogisticRegression().fit(X[known], Y[known, label], sample_weight=weights[known])
        assert model.predict_proba(queries)[:, label] == pytest.approx(alone.predict_proba(queries)[:, 1], abs=1e-12)


def test_missing_cells_of_any_kind_are_unknown():
    X, Y, queries = make_data(2)
    expected = MLkNN(k=4).fit(X, Y).predict_proba(queries)
    objects = np.where(np.isnan(Y), None, Y.astype(object))
    frame = pd.DataFrame(Y).astype("Int64")
    text = np.where(np.isnan(Y), None, np.where(np.nan_to_num(Y) == 1, "yes", "no").astype(object))
    for form in (objects, frame, text):
        assert np.array_equal(MLkNN(k=4).fit(X, form).predict_proba(queries), expected)
    one = Y[:, 0]
    assert MLkNN(k=4).fit(X, one).predict_proba(queries)[:, 1] == pytest.approx(expected[:, 0])


def test_complete_labels_take_the_usual_path_again():
    X, Y, queries = make_data(3)
    model = MLkNN(k=4).fit(X, Y)
    complete = np.nan_to_num(Y)
    assert np.array_equal(model.fit(X, complete).predict_proba(queries), MLkNN(k=4).fit(X, complete).predict_proba(queries))


@pytest.mark.parametrize(
    "make",
    [
        lambda: LabelPowerset(LogisticRegression()),
        lambda: RAkEL(LogisticRegression()),
        lambda: HOMER(LogisticRegression()),
        lambda: LIFT(),
        lambda: ClassifierChain(LogisticRegression()),
        lambda: IBLR(),
        lambda: BRkNN(extension="a"),
        lambda: BRkNN(smoothing="mulan"),
    ],
    ids=["powerset", "rakel", "homer", "lift", "chain", "iblr", "brknn-a", "brknn-mulan"],
)
def test_learners_of_labels_together_refuse_with_the_cell(make):
    X, Y, _ = make_data()
    row, column = np.argwhere(np.isnan(Y))[0]
    with pytest.raises(InputError, match=f"Y, row {row}, column {column}. Every label must be known"):
        make().fit(X, Y)


def test_a_label_that_is_never_known_is_refused():
    X, Y, _ = make_data()
    Y[:, 2] = np.nan
    for make in LEARNERS.values():
        with pytest.raises(InputError, match="column 2: the label is unknown in every row"):
            make().fit(X, Y)
    Y[:5, 2] = 1
    with pytest.raises(InputError, match="column 2: the label is unknown in every row that counts"):
        BinaryRelevance(LogisticRegression()).fit(X, Y, sample_weight=np.r_[np.zeros(5), np.ones(N_ROWS - 5)])
