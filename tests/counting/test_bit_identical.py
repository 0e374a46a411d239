"""The same integers for any number of threads, any way of counting, any order of rows, any processor."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from labelsieve.counting.backends import Column, NativeBackend
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.information import Codes, mutual_information
from tests.support import reference_information as references
from tests.support.joint_tables import (
    FEATURES,
    GIVEN_LEVELS,
    N_ROWS,
    PART,
    assert_same_bits,
    features,
    givens,
    raw_sums,
    targets,
)

ROOT = Path(__file__).resolve().parents[2]
WAYS = [(strategy, n_jobs) for strategy in ("auto", "positional", "tiled", "sparse") for n_jobs in (1, 4)]
WAYS += [("histogram", 4)]

every_table = pytest.mark.parametrize("table", FEATURES)


@cache
def expected(table):
    """One column at a time, on one thread."""
    return raw_sums(features(table), targets(), givens(), strategy="histogram", n_jobs=1)


@every_table
def test_the_sums_that_the_others_are_compared_with_are_those_of_naive_counting(table):
    X, Y, given = features(table), targets(), givens()
    values = FixedPoint.for_rows(N_ROWS, n_targets=Y.shape[1]).values
    sums = expected(table)
    rng = np.random.default_rng(11)
    for k in rng.choice(X.shape[1], size=3, replace=False):
        x = X[:, k].tolist()
        assert sums["features"][k] == references.sum_of_cells(values, x)
        for l in rng.choice(Y.shape[1], size=4, replace=False):
            y = Y[:, l].tolist()
            assert sums["targets"][l] == references.sum_of_cells(values, y)
            assert sums["pairs"][k, l] == references.sum_of_cells(values, x, y)
            for z, n_levels in zip(given.T.tolist(), GIVEN_LEVELS, strict=True):
                assert sums[f"given {n_levels}"][k] == references.sum_of_cells(values, x, z)
                assert sums[f"given {n_levels}, triples"][k, l] == references.sum_of_cells(values, x, y, z)


@every_table
def test_reduced_sums_and_slices_are_those_of_the_whole_panel(table):
    sums = expected(table)
    assert np.array_equal(sums["pairs, added"], sums["pairs"].sum(axis=1))
    for n_levels in GIVEN_LEVELS:
        whole = sums[f"given {n_levels}, triples"]
        assert np.array_equal(sums[f"given {n_levels}, part added"], whole[:, PART].sum(axis=1))
        assert np.array_equal(sums[f"given {n_levels}, once more"], sums[f"given {n_levels}"])


@every_table
@pytest.mark.parametrize(("strategy", "n_jobs"), WAYS)
def test_sums_are_identical_for_any_threads_and_any_way_of_counting(table, strategy, n_jobs):
    ours = raw_sums(features(table), targets(), givens(), strategy=strategy, n_jobs=n_jobs)
    assert_same_bits(ours, expected(table))


@pytest.mark.parametrize("strategy", ["auto", "tiled", "sparse"])
def test_sums_with_miller_and_madows_correction_are_identical_for_any_way_of_counting(strategy):
    case = features("mixed levels"), targets(), givens()
    one_by_one = raw_sums(*case, estimator="miller-madow", strategy="histogram")
    assert not np.array_equal(one_by_one["pairs"], expected("mixed levels")["pairs"])
    assert_same_bits(raw_sums(*case, estimator="miller-madow", strategy=strategy, n_jobs=2), one_by_one)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc/self/task")
def test_tables_of_these_tests_are_large_enough_for_threads():
    def n_threads():
        return len(list(Path("/proc/self/task").iterdir()))

    before = n_threads()
    X, Y = Codes.from_values(features("binary")), Codes.from_values(targets())
    fixed = FixedPoint.for_rows(N_ROWS, n_targets=Y.n_columns)
    backend = NativeBackend(X, Y, fixed, n_jobs=4)
    backend.panel(Column(givens()[:, 1], 3))
    assert n_threads() == before + 3


@every_table
@pytest.mark.parametrize("strategy", ["auto", "tiled"])
def test_sums_do_not_depend_on_the_order_of_the_rows(table, strategy):
    order = np.random.default_rng(12).permutation(N_ROWS)
    ours = raw_sums(features(table)[order], targets()[order], givens()[order], strategy=strategy, n_jobs=2)
    assert_same_bits(ours, expected(table))


@every_table
def test_sums_go_with_their_columns(table):
    rng = np.random.default_rng(13)
    features_order = rng.permutation(features(table).shape[1])
    targets_order = rng.permutation(targets().shape[1])
    ours = raw_sums(features(table)[:, features_order], targets()[:, targets_order], givens())
    sums = expected(table)
    assert np.array_equal(ours["features"], sums["features"][features_order])
    assert np.array_equal(ours["targets"], sums["targets"][targets_order])
    assert np.array_equal(ours["pairs"], sums["pairs"][np.ix_(features_order, targets_order)])
    for n_levels in GIVEN_LEVELS:
        name = f"given {n_levels}, triples"
        assert np.array_equal(ours[name], sums[name][np.ix_(features_order, targets_order)])


@every_table
def test_a_backend_asked_twice_answers_twice_the_same(table):
    X, Y = Codes.from_values(features(table)), Codes.from_values(targets())
    backend = NativeBackend(X, Y, FixedPoint.for_rows(N_ROWS, n_targets=Y.n_columns), n_jobs=2)
    for _ in range(2):
        panel = backend.panel(Column(givens()[:, 2], 5))
        assert np.array_equal(panel.pair, expected(table)["given 5"])
        assert np.array_equal(panel.triple, expected(table)["given 5, triples"])
        assert np.array_equal(backend.pairs(), expected(table)["pairs"])


@cache
def kernels_and_digest(isa):
    environment = {name: value for name, value in os.environ.items() if name != "LABELSIEVE_ISA"}
    if isa:
        environment["LABELSIEVE_ISA"] = isa
    answer = subprocess.run(
        [sys.executable, "-m", "tests.support.joint_tables"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return answer.stdout.split()


@pytest.mark.parametrize("isa", ["baseline", "x86_64_v3"])
def test_sums_are_identical_for_any_instruction_set(isa):
    kernels, hash_of_sums = kernels_and_digest(isa)
    if kernels != isa:
        pytest.skip(f"this processor or build has no {isa} kernels")
    assert hash_of_sums == kernels_and_digest(None)[1]


def test_public_measures_are_identical_for_any_threads():
    X, Y = features("mixed levels"), targets()
    alone = mutual_information(X, Y, n_jobs=1)
    assert np.array_equal(alone, mutual_information(X, Y, n_jobs=2))
    assert np.array_equal(alone, mutual_information(X, Y, n_jobs=-1))
    assert np.array_equal(alone, mutual_information(X, Y))
