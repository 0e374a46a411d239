"""The splitters work wherever scikit-learn takes one, and refuse what they cannot split."""

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.multioutput import MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier

from labelsieve import InputError
from labelsieve.datasets.splits import HalfSplits, IterativeStratifiedKFold, IterativeStratifiedShuffleSplit
from tests.support.reference_splits import synthetic_labels

N = 120
SPLITTERS = [
    HalfSplits(3, random_state=0),
    IterativeStratifiedKFold(3, random_state=0),
    IterativeStratifiedShuffleSplit(3, random_state=0),
]


@pytest.fixture(scope="module")
def data():
    return np.random.default_rng(0).normal(size=(N, 4)), synthetic_labels(N, 5)


@pytest.mark.parametrize("cv", SPLITTERS, ids=lambda cv: type(cv).__name__)
def test_cross_validation_and_grid_search_take_it(cv, data):
    X, Y = data
    model = MultiOutputClassifier(DecisionTreeClassifier(max_depth=2, random_state=0))
    assert len(cross_validate(model, X, Y, cv=cv)["test_score"]) == cv.get_n_splits(X, Y) == 3
    search = GridSearchCV(model, {"estimator__max_depth": [1, 2]}, cv=cv).fit(X, Y)
    assert search.n_splits_ == 3
    clone(search)
    assert type(cv).__name__ in repr(cv)


@pytest.mark.parametrize("routing", [False, True])
def test_groups_reach_the_splitter_through_cross_validation(routing, data):
    X, Y = data
    groups = np.arange(N) // 4
    cv = IterativeStratifiedKFold(3, random_state=0)
    with sklearn.config_context(enable_metadata_routing=routing):
        passed = {"params": {"groups": groups}} if routing else {"groups": groups}
        found = cross_validate(DecisionTreeClassifier(), X, Y, cv=cv, return_indices=True, **passed)["indices"]
    for train, test in zip(found["train"], found["test"], strict=True):
        assert not set(groups[train]) & set(groups[test])


def test_sparse_labels_pass_through_cross_validation_unharmed(data):
    X, Y = data
    cv = IterativeStratifiedKFold(3, random_state=0)
    labels = sparse.csr_matrix(Y)
    before = labels.copy()
    expected = [test.tolist() for _, test in cv.split(X, Y)]
    assert [test.tolist() for _, test in cv.split(X, labels)] == expected
    assert (labels != before).nnz == 0


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "need the labels: pass y"),
        (np.array([[0, 1], [1, np.nan], [0, 0]]), "row 1, column 1: missing value"),
        (np.array([0.5, 1.0, 2.0]), "row 0, column 0: 0.5 is not a whole number"),
        (np.array([[0.0], [1.0], [np.inf]]), "row 2, column 0: inf is not a whole number"),
        (np.array([["a", 0.5], ["b", 1.0], ["a", 0.0]], dtype=object), "row 0, column 1: 0.5 is not"),
        (np.array(["a", None, "b"], dtype=object), "row 1, column 0: missing value"),
        (np.array(["a", 1, "b"], dtype=object), "mixes types"),
        (np.zeros((3, 2, 2)), "one or two dimensions, not 3"),
        (sparse.csr_matrix([[0, 1], [0, 0], [2, 0]]), "row 2, column 0: 2 is neither 0 nor 1"),
        (sparse.csr_matrix([[0, 1], [np.nan, 0], [1, 0]]), "row 1, column 0: nan is neither 0 nor 1"),
        (np.zeros((4, 2)), "X has 3, y has 4"),
    ],
)
def test_labels_that_cannot_be_stratified_are_refused_with_their_place(y, message):
    for cv in (IterativeStratifiedKFold(2), IterativeStratifiedShuffleSplit(2)):
        with pytest.raises(InputError, match=message):
            next(cv.split(np.zeros((3, 1)), y))


@pytest.mark.parametrize(
    ("cv", "groups", "message"),
    [
        (IterativeStratifiedKFold(7), None, "n_splits=7 folds of 6 rows"),
        (IterativeStratifiedKFold(3), [0, 0, 0, 1, 1, 1], "n_splits=3 folds of 2 groups"),
        (IterativeStratifiedKFold(2), [0, 1], "groups has 2"),
        (IterativeStratifiedKFold(2), np.zeros((6, 1)), "one dimension"),
        (IterativeStratifiedKFold(2), [0, 1, np.nan, 1, 0, 1], "groups, row 2: missing value"),
        (IterativeStratifiedKFold(2), np.array(["a", None, "b", "a", "b", "a"], dtype=object), "groups mixes types"),
        (IterativeStratifiedKFold(3), [0, 0, 0, 0, 1, 2], None),
        (IterativeStratifiedShuffleSplit(2), [0] * 6, "in 1 groups"),
        (IterativeStratifiedShuffleSplit(2, test_size=0.1), None, "leaves nothing"),
        (HalfSplits(2, train_size=0.1), None, "leaves 0 to train"),
        (HalfSplits(2, train_size=6), None, "train_size must be a whole number from 1 to 5"),
    ],
)
def test_splits_that_the_rows_do_not_allow_are_refused(cv, groups, message):
    Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 0], [1, 1]])
    if message is None:
        assert len(list(cv.split(Y, Y, groups))) == cv.get_n_splits()
        return
    with pytest.raises(InputError, match=message):
        next(cv.split(Y, Y, groups))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IterativeStratifiedKFold(1), "n_splits must be a whole number from 2"),
        (lambda: IterativeStratifiedKFold(random_state="x"), "random_state must be"),
        (lambda: IterativeStratifiedShuffleSplit(test_size=1.5), "test_size must be a fraction"),
        (lambda: HalfSplits(0), "n_repeats must be"),
        (lambda: HalfSplits(train_size=True), "train_size must be a fraction"),
        (lambda: HalfSplits(random_state=-1), "random_state must be"),
    ],
)
def test_parameters_are_checked_when_the_splitter_is_made(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_data_without_rows_is_refused():
    with pytest.raises(InputError, match="both None"):
        next(HalfSplits().split(None))
    with pytest.raises(InputError, match="X has no rows"):
        next(HalfSplits().split(3))
