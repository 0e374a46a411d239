"""Labels of every type and form: the same answers, and refusals that say where."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from labelsieve import InputError
from labelsieve.chains import ClassifierChain
from labelsieve.classifiers import BinaryRelevance, BRkNN
from tests.support.classifier_data import make_data


def with_nulls(kind):
    frame = pd.DataFrame(make_data()[1]).astype(kind)
    frame.iloc[3, 1] = pd.NA
    return frame


def as_objects(value):
    table = make_data()[1].astype(object)
    table[3, 1] = value
    return table


@pytest.mark.parametrize(
    "give",
    [
        lambda Y: Y.astype(object),
        lambda Y: pd.DataFrame(Y).astype("Int64"),
        lambda Y: pd.DataFrame(Y).astype("boolean"),
        lambda Y: pd.DataFrame(Y).astype({0: bool, 2: "Int8"}),
        lambda Y: pl.DataFrame(Y).with_columns(pl.col("column_0").cast(pl.Boolean)),
    ],
    ids=["objects", "nullable whole", "nullable bool", "mixed frame", "mixed polars frame"],
)
def test_objects_that_are_numbers_are_labels_like_any_other(give):
    X, Y, queries, _ = make_data()
    Y[:, 1] = 1
    plain = BRkNN(k=5).fit(X, Y)
    model = BRkNN(k=5).fit(X, give(Y))
    assert np.array_equal(model.predict_proba(queries), plain.predict_proba(queries)), "also of the label that all rows have"
    assert model.predict(queries).dtype.kind in "bi"
    assert np.array_equal(model.predict(queries), plain.predict(queries))


@pytest.mark.parametrize(
    "Y",
    [as_objects(None), as_objects(np.nan), as_objects(pd.NA), with_nulls("Int64"), with_nulls("boolean"), with_nulls("string")],
    ids=["None", "NaN", "NA", "Int64", "boolean", "string"],
)
def test_a_missing_label_is_refused_by_its_place_where_labels_depend_on_each_other(Y):
    with pytest.raises(InputError, match="row 3, column 1"):
        BRkNN(extension="a").fit(make_data()[0], Y)


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (np.ma.masked_equal(make_data()[1], 1), "masked values"),
        (np.zeros((100, 0)), "Y is empty: it has 100 rows and 0 columns"),
        (sp.csr_matrix((100, 0)), "Y is empty"),
        (np.array([{0}, {1}] * 50), "MultiLabelBinarizer"),
        (np.array([["yes"], [1]] * 50, dtype=object), "column 0, holds values that cannot be sorted"),
        ([[0]] * 99 + [[0, 1]], "Y is not a table"),
    ],
    ids=["masked", "no columns", "no sparse columns", "sets", "text and numbers", "ragged"],
)
def test_what_is_no_table_of_labels_is_refused(Y, message):
    for model in (BRkNN(), BinaryRelevance(LogisticRegression())):
        with pytest.raises(InputError, match=message):
            model.fit(make_data()[0], Y)


def test_sparse_labels_are_left_as_they_were_and_may_be_read_only():
    X, Y, queries, _ = make_data()
    given = sp.csr_matrix(Y + 5)
    given.data -= 5  # zeros that are stored
    for part in (given.data, given.indices, given.indptr):
        part.setflags(write=False)
    found = BRkNN(k=5).fit(X, given).predict(queries).toarray()
    assert np.array_equal(found, BRkNN(k=5).fit(X, Y).predict(queries))
    assert given.nnz == Y.size


def test_a_cell_that_is_stored_twice_is_their_sum():
    X, *_ = make_data()
    twice = sp.csr_matrix((np.ones(2), [1, 1], [0, 2, *[2] * 99]), shape=(100, 5))
    with pytest.raises(InputError, match="0 and 1 only"):
        BRkNN().fit(X, twice)


def test_values_that_training_rows_never_had_have_no_probability_or_are_refused():
    X, Y, queries, _ = make_data()
    named = np.where(Y, "yes", "no")
    named[:, 2] = "no"
    model = ClassifierChain(LogisticRegression()).fit(X, named)
    asked = np.full((50, 5), "no", dtype="U3")
    assert np.isfinite(model.joint_log_proba(queries, asked)).all()
    asked[7, 2] = "yes"
    assert np.flatnonzero(np.isneginf(model.joint_log_proba(queries, asked))).tolist() == [7]
    asked[7, 3] = "Yes"
    with pytest.raises(InputError, match="row 7, column 3: Yes is not a value of the label, which was no or yes"):
        model.joint_log_proba(queries, asked)
