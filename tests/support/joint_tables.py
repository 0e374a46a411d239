"""All that a backend can be asked for, as raw integers, on tables that send it down each of its ways.

``python -m tests.support.joint_tables`` prints the kernels in use and a hash of everything, for comparison between processes.
"""

import hashlib
from functools import cache

import numpy as np

from labelsieve.core import _native
from labelsieve.counting.backends import Column, NativeBackend
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.information import Codes
from tests.support.random_tables import binary_table, many_levels_table, sparse_table

N_ROWS = 3000
CLASSES = [2, 7, 100, 1500]
GIVEN_LEVELS = [2, 3, 5, 64, 65, N_ROWS]
PART = slice(3, 42)

FEATURES = {
    "binary": lambda: binary_table(1, N_ROWS, 900),
    "5 levels": lambda: many_levels_table(2, N_ROWS, [5] * 300),
    "mixed levels": lambda: many_levels_table(3, N_ROWS, [2, 3, 5, 9, 16, 17, 32, 33, 34, 64, 257, 2900] * 6),
    "sparse": lambda: sparse_table(4, N_ROWS, 600, density=0.004),
    "sparse, 4 levels": lambda: sparse_table(5, N_ROWS, 400, density=0.004, n_levels=4),
    "few columns": lambda: binary_table(6, N_ROWS, 40),
}


@cache
def features(name):
    table = FEATURES[name]()
    table.flags.writeable = False
    return table


@cache
def targets():
    """Forty labels, some never or always there, and targets of 2, 7, 100 and 1,500 classes."""
    table = np.hstack([binary_table(7, N_ROWS, 40), many_levels_table(8, N_ROWS, CLASSES)]).astype(np.uint16)
    table.flags.writeable = False
    return table


@cache
def givens():
    """Columns to condition on: few levels, the most that count as few, more, and one for every row."""
    columns = many_levels_table(9, N_ROWS, GIVEN_LEVELS).astype(np.uint32)
    columns[:, -1] = np.random.default_rng(10).permutation(N_ROWS)
    return columns


def raw_sums(X, Y, given_columns, *, estimator="plugin", n_jobs=1, strategy="auto"):
    """Every kind of sum that the backend knows, by name."""
    X, Y = Codes.from_values(X), Codes.from_values(Y)
    fixed = FixedPoint.for_rows(X.n_rows, n_targets=Y.n_columns, estimator=estimator)
    backend = NativeBackend(X, Y, fixed, n_jobs=n_jobs, strategy=strategy)
    sums = dict(zip(("features", "targets"), backend.singles(), strict=True))
    sums["pairs"] = backend.pairs()
    sums["pairs, added"] = backend.pairs(reduce="sum")
    for given, n_levels in zip(given_columns.T, GIVEN_LEVELS, strict=True):
        sums[f"given {n_levels}"], sums[f"given {n_levels}, triples"] = backend.panel(Column(given, n_levels))
        part = backend.panel(Column(given, n_levels), targets=PART, reduce="sum")
        sums[f"given {n_levels}, once more"], sums[f"given {n_levels}, part added"] = part
    return sums


def assert_same_bits(ours, expected):
    assert ours.keys() == expected.keys()
    for name, sums in expected.items():
        assert sums.dtype == ours[name].dtype == np.int64
        assert np.array_equal(ours[name], sums), name


def digest():
    """A hash of all sums of all tables."""
    state = hashlib.sha256()
    for name in FEATURES:
        for strategy in ("auto", "tiled") if name == "few columns" else ("auto",):
            for sums in raw_sums(features(name), targets(), givens(), strategy=strategy, n_jobs=2).values():
                state.update(np.ascontiguousarray(sums).astype("<i8").tobytes())
    return state.hexdigest()


if __name__ == "__main__":
    print(_native.kernel_name(), digest())  # noqa: T201
