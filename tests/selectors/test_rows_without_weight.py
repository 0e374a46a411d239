"""Rows of weight 0 do not count: whatever their targets are, the result is that of the other rows."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.tree import DecisionTreeClassifier

from labelsieve import LabelwiseSieve, QuadraticSieve, Sieve
from labelsieve.classifiers import (
    HOMER,
    LIFT,
    BinaryRelevance,
    LabelPowerset,
    PrunedPowerset,
    RAkEL,
    SparseOneVsRest,
)
from labelsieve.datasets import ChunkedTable
from labelsieve.discretize import MDL, ByColumn, EqualFrequency
from labelsieve.information import Codes
from labelsieve.labelspace import NetworkRule
from labelsieve.selectors import LLSF, MDDM, ChiSquare
from labelsieve.selectors.rankings.chi_square import chi_square

N, M = 60, 20  # rows that count, and rows that do not
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N + M, 5))
WEIGHTS = np.r_[RNG.integers(1, 4, N), np.zeros(M)]
LABELS = (X[:N, :3] + RNG.normal(size=(N, 3)) > 0).astype(int)
TREE = DecisionTreeClassifier(random_state=0)
SELECTORS = [
    *(Sieve(criterion, n_features_to_select=3) for criterion in ("hybrid", "jmi", "mim")),
    Sieve("jmi", targets="joint", estimator="shrinkage", n_features_to_select=3),
    Sieve("jmi", discretizer="mdl", n_features_to_select=3),
    LabelwiseSieve("jmi", n_features_to_select=2),
    LabelwiseSieve("jmi", discretizer="mdl", n_features_to_select=2),
    QuadraticSieve(n_features_to_select=3),
    ChiSquare(n_features_to_select=3),
    LLSF(),
    MDDM(),
]
CLASSIFIERS = [
    *(kind(TREE) for kind in (BinaryRelevance, LabelPowerset, PrunedPowerset)),
    *(kind(TREE, random_state=0) for kind in (HOMER, RAkEL)),
    LIFT(random_state=0),
    SparseOneVsRest(),
]


def with_rows(targets, others):
    """Targets of the rows that count, and those of the others."""
    return np.concatenate([targets, np.asarray(others, dtype=np.result_type(targets, np.asarray(others)))])


SMALL = np.arange(N) % 6  # six whole numbers: classes; with 20 more they would be numeric
SINGLE = {
    "whole numbers": with_rows(SMALL, np.arange(M) + 100),
    "fractions": with_rows(LABELS[:, 0], np.full(M, 0.5)),
    "unknown": with_rows(LABELS[:, 0], np.full(M, np.nan)),
}
MANY = {
    "other classes": with_rows(LABELS, RNG.integers(0, 9, size=(M, 3))),
    "unknown labels": with_rows(LABELS, np.full((M, 3), np.nan)),
    "as a frame": pd.DataFrame(with_rows(LABELS, RNG.integers(0, 9, size=(M, 3))), columns=list("abc")),
}
TARGETS = SINGLE | MANY
cases = pytest.mark.parametrize("y", TARGETS.values(), ids=TARGETS)


def results(fitted):
    names = ("selected_", "scores_", "support_", "target_types_", "label_support_", "coef_", "classes_")
    found = [vars(fitted)[name] for name in names if name in vars(fitted)]
    found += [getattr(fitted, method)(X[:N]) for method in ("predict", "transform") if hasattr(fitted, method)]
    dense = [one.toarray() if sp.issparse(one) else one for one in found]
    return [np.asarray(one, dtype=object).tolist() for one in dense]


def assert_same_without(fit, y):
    """What ``fit`` returns for all rows, and for those that count."""
    assert results(fit(X, y, WEIGHTS)) == results(fit(X[:N], y[:N], WEIGHTS[:N]))


@pytest.mark.filterwarnings("ignore")
@cases
@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_selectors(selector, y):
    assert_same_without(type(selector)(**selector.get_params(deep=False)).fit, y)


@cases
@pytest.mark.parametrize("rule", ["mdl", "equal-width"])
def test_tables_in_chunks(rule, y):
    def fit(X, y, weights):
        chunks = ChunkedTable.from_chunks([(X[:30], y[:30]), (X[30:], y[30:])])
        return Sieve("jmi", discretizer=rule, n_features_to_select=3).fit(chunks, sample_weight=weights)

    assert_same_without(fit, y)


@pytest.mark.parametrize("y", MANY.values(), ids=MANY)
@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda one: type(one).__name__)
def test_classifiers(classifier, y):
    assert_same_without(type(classifier)(**classifier.get_params(deep=False)).fit, y)


def test_text_of_rows_without_weight_is_no_class():
    y = np.array(["no", "yes"])[LABELS[:, 0]].tolist() + [f"text {row}" for row in range(M)]
    assert_same_without(SparseOneVsRest().fit, y)
    assert_same_without(Sieve("jmi", n_features_to_select=2).fit, y)


@cases
@pytest.mark.parametrize("targets", ["single", "joint", "copy"])
def test_supervised_bins(targets, y):
    if targets == "copy" and np.ndim(y) == 1:
        pytest.skip("copies need labels")
    expected = MDL(targets=targets).fit(X[:N], y[:N], WEIGHTS[:N]).cut_points_
    for form in (y, Codes.from_values(np.nan_to_num(np.asarray(y)).astype(int))):
        assert repr(MDL(targets=targets).fit(X, form, WEIGHTS).cut_points_) == repr(expected)
    by_column = ByColumn({0: MDL(targets="joint")}, EqualFrequency(3))
    codes = by_column.encode(X, y, WEIGHTS).take_rows(WEIGHTS > 0)
    assert np.array_equal(codes.to_dense(), by_column.encode(X[:N], y[:N], WEIGHTS[:N]).to_dense())


@pytest.mark.parametrize("y", MANY.values(), ids=MANY)
def test_label_networks(y):
    expected = NetworkRule("kcc").learn(X[:N], y[:N], codes=X[:N] > 0, sample_weight=WEIGHTS[:N])
    assert NetworkRule("kcc").learn(X, y, codes=X > 0, sample_weight=WEIGHTS).parents == expected.parents


@cases
def test_chi_square(y):
    table = RNG.integers(0, 3, size=(N + M, 4))
    expected = chi_square(table[:N], y[:N], sample_weight=WEIGHTS[:N])
    assert np.array_equal(chi_square(table, y, sample_weight=WEIGHTS), expected)
