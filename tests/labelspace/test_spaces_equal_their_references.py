"""Every label space against its reference, with repeated rows: the same selection to the last bit."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import Sieve
from labelsieve.labelspace import SelectRandom, read_targets
from labelsieve.labelspace.base import to_count
from labelsieve.registry import LABEL_SPACES
from tests.support.criterion_cases import WITHOUT_PAIRS, assert_follows, columns, fit_variant, make_case, reference_of
from tests.support.reference_criteria import estimating
from tests.support.reference_label_spaces import REFERENCES

# Settings other than the defaults. Groups get enough clusters for every labelset: k-medoids has its own tests.
SETTINGS = {
    "pruned": [{"min_count": least, "split": split} for least in (1, 2, 5) for split in (False, True, "smallest")],
    "frequent": [{"min_count": 14}],
    "sampled": [{"n_labels": 3}],
    "clusters": [{"n_clusters": 2}],
    "group-rand": [{"n_clusters": (32, 32)}],
    "group-auto": [{"detect": 10.0, "max_clusters": 32}, {"shared": 0.3, "detect": 10.0, "max_clusters": 32}],
}
NO_DEFAULTS = {"frequent", "sampled", "clusters", "group-rand", "group-auto"}
SPACES = {
    str(space(**settings)): (space(**settings), REFERENCES.get(name), settings)
    for name, space in LABEL_SPACES.items()
    for settings in [*([] if name in NO_DEFAULTS else [{}]), *SETTINGS.get(name, [])]
}
spaces = pytest.mark.parametrize("space", SPACES)


def make_labels(seed, n_rows=60, n_labels=5):
    """Features that depend on labels; rows without labels and with many."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_rows, n_labels)) < rng.uniform(0.1, 0.6, n_labels)).astype(int)
    Y[:, -1] &= Y[:, 0]
    X = rng.integers(0, 4, size=(n_rows, 7))
    X[:, 1] = 2 * Y[:, 0] + Y[:, 1]
    X[:, 4] = np.where(rng.random(n_rows) < 0.2, X[:, 4], Y.sum(axis=1))
    X[:, 5] = rng.integers(0, 50, size=n_rows)
    return X, Y


def repeated(space, X, Y):
    """Rows and classes of the reference, with classes numbered from 0, and weights."""
    _, reference, settings = SPACES[space]
    counted = reference([tuple(row) for row in Y.tolist()], **settings)
    rows = [i for i, _, _ in counted]
    numbers = [
        {value: k for k, value in enumerate(sorted(set(column)))} for column in zip(*(c for _, c, _ in counted), strict=True)
    ]
    classes = [[number[value] for number, value in zip(numbers, c, strict=True)] for _, c, _ in counted]
    return X[rows], np.array(classes), np.array([float(weight) for _, _, weight in counted])


def test_every_space_has_a_reference():
    assert set(REFERENCES) == set(LABEL_SPACES) == {space.name for space, _, _ in SPACES.values()}


@spaces
@pytest.mark.parametrize("criterion", ["mim", "jmi", "cmi", "cmim", "mrmr", "disr", "icap"])
@pytest.mark.parametrize("estimator", ["plugin", "miller-madow"])
def test_a_space_selects_as_its_reference_with_repeated_rows(space, criterion, estimator):
    for seed in range(4):
        X, Y = make_labels(seed)
        rows, classes, weights = repeated(space, X, Y)
        parameters = {"discretizer": None, "n_features_to_select": None, "estimator": estimator}
        ours = Sieve(criterion, targets=SPACES[space][0], **parameters).fit(X, Y)
        naive = Sieve(criterion, **parameters).fit(rows, classes, sample_weight=weights)
        assert ours.selected_.tolist() == naive.selected_.tolist()
        assert np.array_equal(ours.scores_, naive.scores_), "not the same bits"
        kept = {i for i, _, _ in SPACES[space][1]([tuple(row) for row in Y.tolist()], **SPACES[space][2])}
        assert ours.n_rows_left_out_ == len(X) - len(kept)


@spaces
def test_sample_weights_are_repeated_rows_in_every_space(space):
    if SPACES[space][0].name in ("select-random", "group-auto"):
        return  # these depend on the row index or on the number of rows
    for seed in range(4):
        X, Y = make_labels(seed, n_rows=30)
        times = np.random.default_rng(seed).integers(0, 4, size=len(X))
        rows = np.repeat(np.arange(len(X)), times)
        parameters = {"targets": SPACES[space][0], "discretizer": None, "n_features_to_select": None}
        weighted = Sieve("jmi", **parameters).fit(X, Y, sample_weight=times)
        naive = Sieve("jmi", **parameters).fit(X[rows], Y[rows])
        if SPACES[space][0].name == "copy-weight":  # products of weights are rounded to 40 bits, with another scale
            np.testing.assert_allclose(weighted.scores_, naive.scores_, rtol=0, atol=1e-9)
        else:
            assert weighted.selected_.tolist() == naive.selected_.tolist()
            assert np.array_equal(weighted.scores_, naive.scores_)


@pytest.mark.parametrize("criterion", WITHOUT_PAIRS)
@pytest.mark.parametrize("space", ["copy", "copy-weight"])
def test_every_criterion_follows_its_reference_on_repeated_rows(space, criterion):
    if "parents" in criterion:
        return
    for seed in range(3):
        X, Y = make_case(seed, n_targets=3)
        Y = (Y > 0).astype(int)
        if not Y.any():
            continue
        rows, classes, weights = repeated(str(LABEL_SPACES[space]()), X, Y)
        sieve = fit_variant(criterion, X, Y, targets=space)
        with estimating(weights=weights):
            assert_follows(reference_of(criterion, columns(classes)), rows, sieve.selected_, sieve.scores_)


@spaces
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_sparse_tables_give_the_same_bits(space, form):
    X, Y = make_labels(3, n_rows=80)
    parameters = {"targets": SPACES[space][0], "discretizer": None, "n_features_to_select": None}
    dense = Sieve("jmi", **parameters).fit(X, Y)
    for features, labels in ((form(X), Y), (X, form(Y)), (form(X), form(Y))):
        sparse = Sieve("jmi", **parameters).fit(features, labels)
        assert np.array_equal(sparse.selected_, dense.selected_)
        assert np.array_equal(sparse.scores_, dense.scores_)


@pytest.mark.parametrize("n_jobs", [2, 3])
@pytest.mark.parametrize("space", ["copy", "copy-weight"])
def test_repeated_rows_are_counted_identically_on_any_number_of_threads(space, n_jobs):
    X, Y = make_labels(5, n_rows=300)
    single = Sieve("jmi", targets=space, n_features_to_select=None).fit(X, Y)
    many = Sieve("jmi", targets=space, n_features_to_select=None, n_jobs=n_jobs).fit(X, Y)
    assert np.array_equal(single.selected_, many.selected_)
    assert np.array_equal(single.scores_, many.scores_)


def test_copies_do_not_repeat_the_features_in_memory():
    X, Y = make_labels(0)
    codes = read_targets(X).classes
    data = to_count(codes, LABEL_SPACES["copy"]().encode(read_targets(Y)), None, "plugin")
    assert len(data.row_index) == Y.sum() > data.X.n_rows == np.count_nonzero(Y.any(axis=1))


def test_rows_with_one_label_are_not_repeated():
    X, Y = make_labels(0)
    Y = Y * (np.cumsum(Y, axis=1) == 1)  # the first label of each row
    data = to_count(read_targets(X).classes, LABEL_SPACES["copy"]().encode(read_targets(Y)), None, "plugin")
    assert data.row_index is None
    copied, picked = (Sieve("jmi", targets=space, discretizer=None).fit(X, Y) for space in ("copy", "ignore"))
    assert np.array_equal(copied.selected_, picked.selected_)
    assert np.array_equal(copied.scores_, picked.scores_)


def test_a_random_label_is_one_of_the_row_and_any_of_them_in_the_long_run():
    _, Y = make_labels(1)
    targets = read_targets(Y)
    seen = [set() for _ in Y]
    for seed in range(60):
        encoded = SelectRandom(random_state=seed).encode(targets)
        assert np.array_equal(encoded.rows, Y.any(axis=1))
        for row, label in zip(np.flatnonzero(encoded.rows), encoded.codes.column(0), strict=True):
            seen[row].add(int(label))
    assert seen == [set(np.flatnonzero(row).tolist()) for row in Y]
