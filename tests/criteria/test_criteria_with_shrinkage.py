"""Criteria under shrinkage: every information term equals ``labelsieve.information``, each from a separate table."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import InputError, LabelwiseSieve, QuadraticSieve, Sieve, information
from labelsieve.counting import whole_tables
from labelsieve.counting.backends import Column
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.whole_tables import table_information
from labelsieve.discretize import equal_width
from labelsieve.registry import CRITERIA
from labelsieve.stopping import Knee, PermutationTest
from tests.support import reference_criteria as reference_criteria
from tests.support.naive_backend import WholeTables
from tests.support.reference_criteria import REFERENCES

ROWS, FEATURES, LABELS = 60, 7, 3
CASES = [  # one joint variable has no pairs and no parents
    (name, targets)
    for name in CRITERIA
    for targets in ("single", "joint")
    if name != "mlfs" and (targets == "single" or set(CRITERIA[name]().plan.target_needs) <= {"sums over targets"})
]


@pytest.fixture
def naive(monkeypatch):
    """The references of the criteria, their terms replaced by the functions of the library, one table at a time."""
    options = {"estimator": "shrinkage", "sample_weight": None}

    def column(*columns):
        return np.array(columns).T

    def measured(name, *columns):
        arrays = [column(one) if isinstance(one[0], int) else column(*one) for one in columns]
        return float(np.ravel(getattr(information, name)(*arrays, **options))[0])

    def mi(a, b):
        return measured("mutual_information", a, b)

    def cmi(a, b, *given):
        return measured("conditional_mutual_information", a, b, given) if given else mi(a, b)

    def joint_mi(a, b, c):
        return measured("joint_mutual_information", a, c, (b,))

    def co(a, b, c):
        return measured("interaction_information", a, b, (c,))

    def H(*columns):
        if len(columns) == 1:
            return measured("entropy", columns[0])
        if len(columns) == 2:
            return measured("joint_entropy", *columns)
        first, second = (information.Codes.from_values(column(one)) for one in columns[:2])
        tables = WholeTables(first, second, weights=options["sample_weight"])
        given = Column(np.array(columns[2]), max(columns[2]) + 1)
        return float(table_information(tables, [(1, "xyz")], given, (1, 1), FixedPoint.for_rows(first.n_rows))[0, 0])

    for name, function in {"mi": mi, "cmi": cmi, "joint_mi": joint_mi, "co": co, "H": H}.items():
        monkeypatch.setattr(reference_criteria, name, function)
    return options


def make_data(seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    Y = (rng.random((ROWS, LABELS)) < [0.5, 0.3, 0.2]).astype(int)
    X = rng.integers(0, [2, 3, 5, 2, 4, 3, 2], size=(ROWS, FEATURES))
    X[:, 2] = np.where(rng.random(ROWS) < 0.7, Y[:, 0] * 3, X[:, 2])
    X[:, 4] = np.where(rng.random(ROWS) < 0.7, Y[:, 1] + 2 * Y[:, 2], X[:, 4])
    return X, Y, rng.integers(1, 4, size=ROWS).astype(float) if weighted else None


def columns_of(table):
    return [tuple(map(int, column)) for column in table.T]


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize(("name", "targets"), CASES)
def test_every_criterion_equals_the_naive_reading(naive, name, targets, weighted):
    X, Y, weights = make_data(1, weighted)
    sieve = Sieve(name, targets=targets, discretizer=None, estimator="shrinkage", n_features_to_select=3)
    sieve.fit(X, Y, sample_weight=weights)
    naive["sample_weight"] = weights
    labels = columns_of(Y) if targets == "single" else columns_of(np.unique(Y, axis=0, return_inverse=True)[1].reshape(-1, 1))
    features = columns_of(X)
    picked = []
    for place, column in enumerate(sieve.selected_):
        scores = np.array([REFERENCES[name](one, picked, labels) for one in features])
        scores[[features.index(one) for one in picked]] = -np.inf
        assert sieve.scores_[place] == pytest.approx(scores[column], abs=1e-9)
        assert scores[column] >= scores.max() - 1e-9
        picked.append(features[column])


def test_it_is_another_estimate_than_the_others():
    X, Y, _ = make_data()
    estimators = ("plugin", "miller-madow", "shrinkage")
    scores = [Sieve("jmi", discretizer=None, estimator=one).fit(X, Y).scores_ for one in estimators]
    assert not np.allclose(scores[0], scores[2])
    assert not np.allclose(scores[1], scores[2])


@pytest.mark.parametrize("name", ["jmi", "mrmr", "cmi", "pmu", "icap"])
def test_sparse_dense_and_repeated_rows_give_the_same(name):
    X, Y, weights = make_data(2, weighted=True)
    options = {"discretizer": None, "estimator": "shrinkage", "n_features_to_select": 4}
    dense = Sieve(name, **options).fit(X, Y, sample_weight=weights)
    sparse = Sieve(name, **options).fit(sp.csr_array(X), sp.csr_array(Y), sample_weight=weights)
    repeated = Sieve(name, **options).fit(*(np.repeat(table, weights.astype(int), axis=0) for table in (X, Y)))
    assert np.array_equal(sparse.scores_, dense.scores_)
    assert repeated.selected_.tolist() == dense.selected_.tolist()
    assert repeated.scores_ == pytest.approx(dense.scores_, abs=1e-9)


def test_label_spaces_that_repeat_rows_take_it():
    X, Y, _ = make_data(3)
    copies = Sieve("mim", targets="copy", discretizer=None, estimator="shrinkage").fit(X, Y)
    rows, labels = np.nonzero(Y)
    expected = information.mutual_information(X[rows], labels[:, np.newaxis], estimator="shrinkage")[:, 0]
    assert copies.scores_ == pytest.approx(np.sort(expected)[::-1], abs=1e-9)


def test_lists_of_labels_parents_and_rules_take_it():
    X, Y, _ = make_data(4)
    options = {"discretizer": None, "estimator": "shrinkage"}
    lists = LabelwiseSieve("cmim", n_features_to_select=3, **options).fit(X, Y)
    for target in range(LABELS):
        alone = Sieve("cmim", n_features_to_select=3, **options).fit(X, Y[:, [target]])
        assert lists.selected_[target].tolist() == alone.selected_.tolist()
    network = Sieve("mlfs", parents=[[], [0], [0, 1]], n_features_to_select=2, **options).fit(X, Y)
    assert network.selected_.shape == (2,)
    assert Sieve("cmim", n_features_to_select=Knee(), **options).fit(X, Y).stopping_.reason_
    assert Sieve("cmim", n_features_to_select=PermutationTest(n_permutations=19), **options).fit(X, Y).stopping_.reason_


def test_what_has_sums_alone_refuses_it():
    X, Y, _ = make_data()
    with pytest.raises(InputError, match="QuadraticSieve: estimator='shrinkage' needs whole tables of all pairs"):
        QuadraticSieve(estimator="shrinkage").fit(X, Y)
    with pytest.raises(InputError, match="needs whole tables"):
        Sieve("mlfs", parents="kcc", estimator="shrinkage", discretizer=None).fit(X, Y)


def test_blocks_of_features_do_not_change_tables(monkeypatch):
    X, Y, weights = make_data(5, weighted=True)
    codes, labels = equal_width(X.astype(float), n_bins=5), information.Codes.from_values(Y)
    terms, given = [(1, "xz"), (1, "yz"), (-1, "xyz"), (-1, "z")], Column(X[:, 1], 3)

    def information_of_tables():
        tables, fixed = WholeTables(codes, labels, weights=weights), FixedPoint.for_rows(codes.n_rows)
        return table_information(tables, terms, given, (FEATURES, LABELS), fixed)

    whole = information_of_tables()
    for name in ("CODES_AT_ONCE", "CELLS_AT_ONCE", "KEPT"):
        monkeypatch.setattr(whole_tables, name, 1)
        assert np.array_equal(information_of_tables(), whole)
