"""Unknown labels (NaN): every term counts the rows in which its variables are known, as in the naive reference."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve import InputError, LabelwiseSieve, QuadraticSieve, Sieve
from labelsieve.counting.backends import NativeBackend
from labelsieve.discretize import EqualWidth
from labelsieve.information import mutual_information
from labelsieve.registry import CRITERIA
from labelsieve.stopping import CrossValidated, GTest, Knee, PermutationTest
from tests.support.criterion_cases import VARIANTS, columns, make_case, make_parents, reference_of
from tests.support.naive_backend import NaiveBackend
from tests.support.reference_criteria import estimating
from tests.support.reference_pairwise import pairwise_deletion, with_unknown

CODES = {"discretizer": None, "n_features_to_select": None, "constant_features": "score"}
SINGLE = [name for name, (make, _, _) in VARIANTS.items() if make().plan.target_needs == ("sums over targets",)]


def make_unknown(seed, n_targets=None):
    """Codes, labels, and which labels are unknown: some row of every label is known, some rows may be all unknown."""
    X, Y = make_case(seed, n_targets=n_targets)
    rng = np.random.default_rng(seed)
    unknown = rng.random(Y.shape) < 0.3
    unknown[rng.integers(len(Y), size=Y.shape[1]), np.arange(Y.shape[1])] = False
    return X, Y, unknown


def as_nan(table, unknown):
    return np.where(unknown, np.nan, table)


def follow(name, X, Y, unknown, *, missing=None, weights=None, estimator="plugin", parents=None, within=1e-9, **options):
    """Fit a variant and compare its selection and scores with the reference, step by step."""
    make, _, reference_options = VARIANTS[name]
    parents = parents if "parents" in reference_options else None
    missing = np.zeros(X.shape, dtype=bool) if missing is None else missing
    parameters = {**CODES, "estimator": estimator, "parents": parents, **options}
    table = as_nan(X, missing) if missing.any() else X
    sieve = Sieve(make(), target_type="class", **parameters).fit(table, as_nan(Y, unknown), sample_weight=weights)
    counted = ~unknown.all(axis=1)
    features = with_unknown(X[counted], missing[counted])
    score = reference_of(name, with_unknown(Y[counted], unknown[counted]), parents=parents)
    own_weights = None if weights is None else weights[counted]
    picked = []
    with pairwise_deletion(), estimating(weights=own_weights, estimator=estimator):
        for feature, ours in zip(sieve.selected_.tolist(), sieve.scores_, strict=True):
            chosen = [features[k] for k in picked]
            naive = {k: score(column, chosen) for k, column in enumerate(features) if k not in picked}
            assert ours == pytest.approx(naive[feature], abs=within), f"step {len(picked)}"
            assert naive[feature] >= max(naive.values()) - within, f"step {len(picked)}"
            picked.append(feature)
    return sieve


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("seed", range(6))
def test_every_criterion_equals_the_naive_reference(name, seed):
    X, Y, unknown = make_unknown(seed)
    follow(name, X, Y, unknown, parents=make_parents(seed, Y.shape[1]))


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("estimator", ["plugin", "miller-madow"])
def test_weights_and_estimators_are_those_of_the_known_rows(name, estimator):
    for seed in (3, 5, 8):
        X, Y, unknown = make_unknown(seed)
        weights = np.random.default_rng(seed).integers(1, 4, size=len(X)).astype(float)
        follow(name, X, Y, unknown, weights=weights, estimator=estimator)
        follow(name, X, Y, unknown, weights=weights + 0.3, estimator=estimator, within=1e-7)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(SINGLE), st.sampled_from([1, 2, 4]))
def test_any_data_follow_the_reference(seed, name, n_targets):
    follow(name, *make_unknown(seed, n_targets))


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("seed", range(3))
def test_missing_cells_of_features_are_left_out_pair_by_pair(name, seed):
    X, Y, unknown = make_unknown(seed)
    missing = np.random.default_rng(seed + 1).random(X.shape) < 0.2
    missing[0] = False
    discretizer = EqualWidth(n_bins=60, missing="drop-pairwise")  # a bin for every code
    X = np.minimum(X, 59)
    X[0] = 0
    X = np.vstack([X, np.full((1, X.shape[1]), 59)])
    Y, unknown, missing = (np.vstack([table, table[:1]]) for table in (Y, unknown, missing))
    follow(name, X, Y, unknown, missing=missing, discretizer=discretizer)
    follow(name, X, Y, np.zeros_like(unknown), missing=missing, discretizer=discretizer, estimator="miller-madow")


@pytest.mark.parametrize("name", ["mim", "jmi", "cmim", "mrmr", "cife", "disr", "pmu"])
def test_rows_without_any_known_label_are_dropped(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    Y = (X[:, :3] + rng.normal(size=(80, 3)) > 0).astype(float)
    dropped = rng.random(80) < 0.3
    X[dropped] *= 50  # must not move the cut points
    sieve = Sieve(name, n_features_to_select=4).fit(X, np.where(dropped[:, np.newaxis], np.nan, Y))
    expected = Sieve(name, n_features_to_select=4).fit(X[~dropped], Y[~dropped])
    assert np.array_equal(sieve.selected_, expected.selected_)
    assert np.array_equal(sieve.scores_, expected.scores_)
    assert sieve.n_rows_left_out_ == dropped.sum()


@pytest.mark.parametrize("name", SINGLE)
def test_complete_labels_as_numbers_give_the_same_bits(name):
    X, Y = make_case(7)
    ours, plain = (Sieve(VARIANTS[name][0](), target_type="class", **CODES).fit(X, table) for table in (Y.astype(float), Y))
    assert np.array_equal(ours.selected_, plain.selected_)
    assert np.array_equal(ours.scores_, plain.scores_)


@pytest.mark.parametrize("name", SINGLE)
def test_threads_backends_and_sparse_features_give_the_same_bits(name):
    X, Y, unknown = make_unknown(11)
    labels = as_nan(Y, unknown)
    plain = Sieve(VARIANTS[name][0](), target_type="class", **CODES).fit(X, labels)
    others = [{"n_jobs": 2}, {"backend": NaiveBackend}, {"backend": lambda *a, **k: NativeBackend(*a, **k)}]
    for options in others:
        same = Sieve(VARIANTS[name][0](), target_type="class", **CODES, **options).fit(X, labels)
        assert np.array_equal(same.scores_, plain.scores_)
    same = Sieve(VARIANTS[name][0](), target_type="class", **CODES).fit(sp.csr_array(X), labels)
    assert np.array_equal(same.scores_, plain.scores_)


@pytest.mark.parametrize("name", ["mim", "jmi", "cmim", "cife", "mrmr"])
def test_lists_of_labels_equal_a_selection_for_each(name):
    X, Y, unknown = make_unknown(13, n_targets=4)
    options = {**CODES, "n_features_to_select": 3}
    labels = as_nan(Y, unknown)
    kept = ~unknown.all(axis=1)
    lists = LabelwiseSieve(name, target_type="class", **options).fit(X, labels)
    for target in range(4):
        follows = Sieve(name, target_type="class", **options)
        if name in ("mim", "jmi", "cmim"):  # no term without the label: its known rows are all that counts
            known = ~unknown[:, target]
            alone = follows.fit(X[known], Y[known][:, [target]])
            assert lists.scores_[target] == pytest.approx(alone.scores_, abs=1e-9)
        score = reference_of(name, with_unknown(Y[kept][:, [target]], unknown[kept][:, [target]]))
        with pairwise_deletion():
            first = [score(column, []) for column in columns(X[kept])]
        assert lists.scores_[target][0] == pytest.approx(max(first), abs=1e-9)


def test_quadratic_relevance_is_that_of_the_known_rows():
    X, Y, unknown = make_unknown(13, n_targets=4)
    sieve = QuadraticSieve(alpha=0.0, discretizer=None, target_type="class", n_features_to_select=1).fit(X, as_nan(Y, unknown))
    rows = [~unknown[:, target] for target in range(4)]
    relevance = sum(mutual_information(X[known], Y[known][:, [t]])[:, 0] for t, known in enumerate(rows))
    assert relevance[sieve.selected_[0]] == pytest.approx(relevance.max())


def test_rules_that_stop_count_the_known_rows():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, size=(300, 8))
    Y = np.column_stack([X[:, 2] > 0, X[:, 5] > 1]).astype(float)
    Y[rng.random(Y.shape) < 0.05] = 1.0
    Y[rng.random(Y.shape) < 0.3] = np.nan
    for rule in (GTest(), PermutationTest(n_permutations=99)):
        sieve = Sieve("cmim", discretizer=None, target_type="class", n_features_to_select=rule).fit(X, Y)
        assert sorted(sieve.selected_.tolist()) == [2, 5]
    p_value = GTest(max_features=1)
    known = ~np.isnan(Y[:, 0])
    ours = Sieve("mim", discretizer=None, target_type="class", n_features_to_select=p_value).fit(X, Y[:, [0]])
    alone = Sieve("mim", discretizer=None, target_type="class", n_features_to_select=p_value).fit(X[known], Y[known][:, [0]])
    assert np.array_equal(ours.stopping_.p_values_, alone.stopping_.p_values_)
    assert Sieve("jmi", discretizer=None, target_type="class", n_features_to_select=Knee()).fit(X, Y).stopping_.reason_


def test_warm_starts_continue_with_unknown_labels():
    X, Y, unknown = make_unknown(13, n_targets=4)
    labels = as_nan(Y, unknown)
    options = {"discretizer": None, "target_type": "class"}
    warm = Sieve("jmi", warm_start=True, n_features_to_select=2, **options).fit(X, labels)
    warm.set_params(n_features_to_select=4).fit(X, labels)
    whole = Sieve("jmi", n_features_to_select=4, **options).fit(X, labels)
    assert np.array_equal(warm.scores_, whole.scores_)


def test_shrinkage_takes_the_tables_of_the_known_rows():
    X, Y, unknown = make_unknown(13, n_targets=4)
    sieve = Sieve("mim", estimator="shrinkage", target_type="class", **CODES).fit(X, as_nan(Y, unknown))
    expected = np.zeros(X.shape[1])
    for target in range(4):
        known = ~unknown[:, target]
        expected += mutual_information(X[known], Y[known][:, [target]], estimator="shrinkage")[:, 0]
    assert sieve.scores_ == pytest.approx(expected[sieve.selected_], abs=1e-9)


@pytest.mark.parametrize("targets", ["joint", "copy", "group", "pruned"])
def test_label_spaces_of_labels_together_refuse(targets):
    X, Y, unknown = make_unknown(13, n_targets=4)
    with pytest.raises(InputError, match=f"unknown cells, which {targets} cannot leave out"):
        Sieve("jmi", targets=targets, discretizer=None, target_type="class").fit(X, as_nan(Y > 0, unknown))


def test_what_learns_from_labels_together_refuses():
    X, Y, unknown = make_unknown(13, n_targets=4)
    labels = as_nan(Y, unknown)
    with pytest.raises(InputError, match="unknown cells, which a label network cannot leave out"):
        Sieve("mlfs", discretizer=None, target_type="class", parents="kcc").fit(X, labels)
    with pytest.raises(InputError, match="unknown cells, which MDL cannot leave out"):
        Sieve("jmi", discretizer="mdl", target_type="class").fit(X.astype(float), labels)
    measured = CrossValidated(measure="hamming_loss")
    with pytest.raises(InputError, match=r"predictions of all labels by this measure, and some are unknown \(NaN\)"):
        Sieve("jmi", discretizer=None, target_type="class", n_features_to_select=measured).fit(X, labels)
    weights = np.ones(len(X))
    weights[unknown[:, 0]], labels[:, 1:] = 0.0, labels[:, :1]
    with pytest.raises(InputError, match="all cells are unknown; leave this target out"):
        Sieve("jmi", discretizer=None, target_type="class").fit(X, labels, sample_weight=1 - weights)


def test_every_criterion_of_the_registry_is_here():
    assert set(CRITERIA) <= set(VARIANTS)
