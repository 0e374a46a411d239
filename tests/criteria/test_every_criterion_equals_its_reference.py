"""Formula = code: every criterion agrees with a naive reference that is written straight from its paper."""

import numpy as np
import pytest

from labelsieve import Sieve
from labelsieve.registry import CRITERIA, PRESETS
from tests.support.criterion_cases import (
    VARIANTS,
    WITHOUT_PAIRS,
    assert_follows,
    columns,
    fit_variant,
    make_case,
    make_parents,
    reference_of,
)
from tests.support.reference_criteria import REFERENCES, estimating

variants = pytest.mark.parametrize("name", VARIANTS)
without_pairs = pytest.mark.parametrize("name", WITHOUT_PAIRS)
estimators = pytest.mark.parametrize("estimator", ["plugin", "miller-madow"])


def make_weights(seed, n_rows, kind):
    """Some rows without weight, never all of them; whole weights are not all equal."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, size=n_rows).astype(float) if kind == "whole" else rng.uniform(0.05, 3.0, size=n_rows)
    weights[rng.random(n_rows) < 0.1] = 0.0
    weights[0], weights[-1] = 2.0, 1.0
    return weights


def large_cases(seeds):
    """Cases with several rows, so that weights can differ."""
    for seed in seeds:
        X, Y = make_case(seed)
        if len(X) > 3:
            yield seed, X, Y


def test_every_criterion_of_the_registry_has_a_reference():
    assert set(CRITERIA) == set(REFERENCES)


def test_the_tables_hold_what_goes_wrong():
    """Else the comparisons below would say less than they claim."""
    cases = [make_case(seed) for seed in range(60)]
    assert {Y.shape[1] for _, Y in cases} == {1, 2, 4}
    assert any((Y == 0).all(axis=0).any() for _, Y in cases), "no absent label"
    assert any((Y == 1).all(axis=0).any() and len(Y) > 3 for _, Y in cases), "no label that is always on"
    assert any(Y.max() > 1 for _, Y in cases), "no target of more than two classes"
    assert any(len(np.unique(X, axis=1).T) < X.shape[1] for X, _ in cases), "no repeated feature"
    assert any((X.min(axis=0) == X.max(axis=0)).any() and len(X) > 3 for X, _ in cases), "no constant feature"
    assert any(len(X) == 1 for X, _ in cases), "no table of a single row"


@variants
def test_every_selected_feature_is_the_best_by_the_reference(name):
    for seed in range(60):
        X, Y = make_case(seed)
        parents = make_parents(seed, Y.shape[1])
        sieve = fit_variant(name, X, Y, parents=parents)
        assert sorted(sieve.selected_) == list(range(X.shape[1])), f"seed {seed}"
        assert_follows(reference_of(name, columns(Y), parents=parents), X, sieve.selected_, sieve.scores_)


@without_pairs
def test_joint_targets_are_one_variable(name):
    for seed in range(300, 318):
        X, Y = make_case(seed, n_targets=(2, 3, 5)[seed % 3])
        sieve = fit_variant(name, X, Y, targets="joint")
        powerset = tuple(map(tuple, Y.tolist()))
        assert_follows(reference_of(name, [powerset]), X, sieve.selected_, sieve.scores_)


@without_pairs
def test_a_single_target_is_its_own_joint(name):
    for seed in range(330, 345):
        X, Y = make_case(seed, n_targets=1)
        joint, single = fit_variant(name, X, Y, targets="joint"), fit_variant(name, X, Y)
        assert np.array_equal(joint.selected_, single.selected_)
        assert np.array_equal(joint.scores_, single.scores_)


@variants
@estimators
def test_whole_weights_are_repeated_rows_bit_for_bit(name, estimator):
    for seed, X, Y in large_cases(range(400, 412)):
        parents = make_parents(seed, Y.shape[1])
        weights = make_weights(seed, len(X), "whole")
        rows = np.repeat(np.arange(len(X)), weights.astype(int))
        options = {"parents": parents, "estimator": estimator}
        weighted = fit_variant(name, X, Y, sample_weight=weights, **options)
        repeated = fit_variant(name, X[rows], Y[rows], **options)
        assert np.array_equal(weighted.selected_, repeated.selected_), f"seed {seed}"
        assert np.array_equal(weighted.scores_, repeated.scores_), f"seed {seed}"


@variants
def test_weighted_selections_are_the_best_by_the_weighted_reference(name):
    for seed, X, Y in large_cases(range(420, 450)):
        parents = make_parents(seed, Y.shape[1])
        weights = make_weights(seed, len(X), "real")
        sieve = fit_variant(name, X, Y, parents=parents, sample_weight=weights)
        with estimating(weights=weights):
            score = reference_of(name, columns(Y), parents=parents)
            assert_follows(score, X, sieve.selected_, sieve.scores_)


@variants
def test_selections_with_miller_and_madows_correction_are_the_best_by_the_corrected_reference(name):
    for seed, X, Y in large_cases(range(460, 490)):
        parents = make_parents(seed, Y.shape[1])
        sieve = fit_variant(name, X, Y, parents=parents, estimator="miller-madow")
        with estimating(estimator="miller-madow"):
            assert_follows(reference_of(name, columns(Y), parents=parents), X, sieve.selected_, sieve.scores_)


@variants
def test_of_equal_columns_the_first_is_selected_first(name):
    for seed in range(500, 506):
        X, Y = make_case(seed)
        X = np.hstack([X, X[:, ::-1], X[:, :1]])
        order = fit_variant(name, X, Y, parents=make_parents(seed, Y.shape[1])).selected_.tolist()
        for k, column in enumerate(columns(X)):
            references = [j for j, other in enumerate(columns(X)) if other == column]
            assert sorted(references, key=order.index) == references, f"seed {seed}, column {k}"


def test_a_criterion_is_known_by_name_class_and_object():
    X, Y = make_case(1)
    for name, criterion in CRITERIA.items():
        expected = Sieve(criterion(), discretizer=None).fit(X, Y).scores_
        names = () if name in PRESETS else (name, name.upper())  # a method's name brings more than its criterion
        for same in (*names, criterion):
            assert np.array_equal(Sieve(same, discretizer=None).fit(X, Y).scores_, expected)
