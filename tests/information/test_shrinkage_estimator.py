"""James-Stein shrinkage: one shrunk table for every term, the same as a plain loop over its cells."""

from itertools import product
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve import InputError, information
from tests.support.random_tables import make_table
from tests.support.reference_information import MEASURES, columns_of, count_cells

measures = pytest.mark.parametrize("name", MEASURES)
KINDS = ("constant", "fair", "rare", "3 levels", "gaps", "once", "skewed")


def shrunk(columns, weights=None):
    """Probabilities of all combinations of the values that occur."""
    counts = count_cells(columns, weights)
    n = sum(counts.values())
    cells = list(product(*(sorted({values[k] for values in counts}) for k in range(len(columns)))))
    p = {cell: counts.get(cell, 0) / n for cell in cells}
    doubt = 1 - sum(one**2 for one in p.values())
    spread = (n - 1) * sum((1 / len(cells) - one) ** 2 for one in p.values())
    share = min(1.0, doubt / spread) if spread > 0 else 1.0
    return {cell: share / len(cells) + (1 - share) * one for cell, one in p.items()}


def H(p, *axes):
    margin = {}
    for cell, one in p.items():
        key = tuple(cell[axis] for axis in axes)
        margin[key] = margin.get(key, 0.0) + one
    return -sum(one * log(one) for one in margin.values() if one > 0)


def term(name, p):
    """A measure from one shrunk table of x, y and the joint of z."""
    x, y, z, xy, xz, yz, xyz = (H(p, *axes) for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)))
    return {
        "entropy": x,
        "joint_entropy": xy,
        "mutual_information": x + y - xy,
        "conditional_mutual_information": xz + yz - xyz - z,
        "joint_mutual_information": xz + y - xyz,
        "interaction_information": (x + y - xy) - (xz + yz - xyz - z),
    }[name]


def reference(name, X, *others, weights=None):
    rows = len(X)
    Y = columns_of(others[0]) if others else [[0] * rows]
    z = list(map(tuple, np.asarray(others[1]).tolist())) if len(others) > 1 else [0] * rows
    result = np.array([[term(name, shrunk([x, y, z], weights)) for y in Y] for x in columns_of(X)])
    return result if others else result[:, 0]


def make_case(seed, n_rows=25):
    rng = np.random.default_rng(seed)
    return [make_table(seed + k, n_rows, rng.choice(KINDS, size=size)) for k, size in enumerate((3, 2, 2))]


def arguments(name, tables):
    return tables[: 1 + len(MEASURES[name][1])]


@measures
@pytest.mark.parametrize("base", ["nat", "bit"])
def test_measures_equal_their_references(name, base):
    for seed in range(12):
        tables = arguments(name, make_case(seed))
        ours = getattr(information, name)(*tables, estimator="shrinkage", base=base)
        np.testing.assert_allclose(ours * (log(2) if base == "bit" else 1), reference(name, *tables), rtol=0, atol=1e-12)


@measures
def test_weights_are_how_often_rows_count(name):
    for seed in range(6):
        tables = arguments(name, make_case(seed))
        weights = np.random.default_rng(seed).integers(0, 4, size=25)
        rows = np.repeat(np.arange(25), weights)
        weighted = getattr(information, name)(*tables, estimator="shrinkage", sample_weight=weights)
        repeated = getattr(information, name)(*(table[rows] for table in tables), estimator="shrinkage")
        np.testing.assert_allclose(weighted, repeated, rtol=0, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_no_information_is_negative_or_larger_than_an_entropy(seed, n_rows):
    X, Y, Z = make_case(seed, n_rows)
    shared = information.mutual_information(X, Y, estimator="shrinkage")
    assert shared.min() >= -1e-12
    assert information.conditional_mutual_information(X, Y, Z, estimator="shrinkage").min() >= -1e-12
    levels = [len(np.unique(column)) for column in X.T]
    assert (shared <= np.log(levels)[:, np.newaxis] + 1e-12).all()


def test_many_rows_need_no_shrinking():
    rng = np.random.default_rng(0)
    x = rng.integers(3, size=(20_000, 1))
    y = (x + (rng.random((20_000, 1)) < 0.3)) % 3
    plugin, ours = (information.mutual_information(x, y, estimator=each) for each in ("plugin", "shrinkage"))
    np.testing.assert_allclose(ours, plugin, rtol=5e-3)


def test_noise_is_drawn_towards_nothing():
    rng = np.random.default_rng(0)
    X, Y = rng.integers(8, size=(30, 20)), rng.integers(8, size=(30, 20))
    plugin, ours = (information.mutual_information(X, Y, estimator=each).mean() for each in ("plugin", "shrinkage"))
    assert ours < 0.1 * plugin


def test_names_of_codes_do_not_matter():
    X, Y, _ = make_case(3)
    ours = information.mutual_information(X, Y, estimator="shrinkage")
    np.testing.assert_allclose(
        information.mutual_information(7 * X + 2, 50 - Y, estimator="shrinkage"), ours, rtol=0, atol=1e-12
    )


def test_different_rows_are_refused():
    with pytest.raises(InputError, match="X has 2 rows and Y has 3"):
        information.mutual_information([[0], [1]], [[0], [1], [1]], estimator="shrinkage")
