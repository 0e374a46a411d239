"""Kernel densities and nearest neighbors: naive references, closed forms, and scikit-learn where it means the same."""

from math import exp, log

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.integrate import quad
from scipy.special import digamma
from scipy.stats import norm
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from labelsieve import InputError
from labelsieve.information import continuous, kernel_mutual_information, neighbor_mutual_information

MEASURES = {"kernel": kernel_mutual_information, "neighbors": neighbor_mutual_information}
measures = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
TIES = ["no ties", "rounded", "few values", "copies"]


def make_numbers(seed, n_rows=40, ties="no ties"):
    rng = np.random.default_rng(seed)
    classes = rng.integers(3, size=n_rows)
    X = np.column_stack([classes + rng.normal(size=n_rows), rng.normal(size=n_rows) * 100, np.full(n_rows, 2.5)])
    if ties == "rounded":
        X = X.round(1)
    elif ties == "few values":
        X = np.clip(X.round(), -1, 2)
    elif ties == "copies":
        X, classes = X[rng.integers(n_rows // 5, size=n_rows)], classes[rng.integers(n_rows // 5, size=n_rows)]
    return X, np.column_stack([classes, rng.integers(2, size=n_rows)])


# ------------------------------------------------------------- naive references


def naive_kernel(x, y, *, classes, h):
    n = len(x)
    if np.ptp(x) == 0 or (not classes and np.ptp(y) == 0):
        return 0.0
    a, b = x / (h * np.std(x, ddof=1)), y / (h * (np.std(y, ddof=1) or 1))
    total = 0.0
    for i in range(n):
        of_x = [exp(-((a[i] - a[j]) ** 2) / 2) for j in range(n)]
        of_y = [float(y[i] == y[j]) if classes else exp(-((b[i] - b[j]) ** 2) / 2) for j in range(n)]
        total += log(n * sum(p * q for p, q in zip(of_x, of_y, strict=True)) / (sum(of_x) * sum(of_y)))
    return total / n


def naive_ross(x, y, k):
    kept = [i for i in range(len(x)) if sum(y == y[i]) > 1]
    total = 0.0
    for i in kept:
        mine = [j for j in kept if y[j] == y[i] and j != i]
        reach = sorted(abs(x[j] - x[i]) for j in mine)[min(k, len(mine)) - 1]
        within_class = sum(abs(x[j] - x[i]) <= reach for j in mine)
        within = sum(abs(x[j] - x[i]) <= reach for j in kept if j != i)
        total += digamma(within_class) - digamma(len(mine) + 1) - digamma(within)
    return digamma(len(kept)) + total / len(kept) if kept else 0.0


def naive_kraskov(x, y, k):
    n = len(x)
    x, y = (column / (column.std() or 1) if np.ptp(column) else np.zeros(n) for column in (x, y))
    total = 0.0
    for i in range(n):
        dx, dy = np.delete(np.abs(x - x[i]), i), np.delete(np.abs(y - y[i]), i)
        reach = np.sort(np.maximum(dx, dy))[min(k, n - 1) - 1]
        if reach == 0:
            total += digamma(sum((dx == 0) & (dy == 0))) - digamma(sum(dx == 0)) - digamma(sum(dy == 0))
        else:
            total += digamma(min(k, n - 1)) - digamma(sum(dx < reach) + 1) - digamma(sum(dy < reach) + 1)
    return digamma(n) + total / n


def over_columns(reference, X, Y, **options):
    return [[reference(x, y, **options) for y in Y.T] for x in X.T]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("bandwidth", ["reference", 0.2])
def test_kernel_densities_equal_their_reference(ties, bandwidth, monkeypatch):
    for seed in range(4):
        X, Y = make_numbers(seed, ties=ties)
        if seed == 3:  # in blocks, a target at a time
            monkeypatch.setattr(continuous, "BLOCK_BYTES", 8 * 40 * 7)
            monkeypatch.setattr(continuous, "ONE_HOT_BYTES", 1)
        h = (4 / 3 / 40) ** 0.2 if bandwidth == "reference" else bandwidth
        ours = kernel_mutual_information(X, Y, bandwidth=bandwidth)
        np.testing.assert_allclose(ours, over_columns(naive_kernel, X, Y, classes=True, h=h), rtol=0, atol=1e-12)
        h = (1 / 40) ** (1 / 6) if bandwidth == "reference" else bandwidth
        ours = kernel_mutual_information(X, X, target_type="numeric", bandwidth=bandwidth)
        np.testing.assert_allclose(ours, over_columns(naive_kernel, X, X, classes=False, h=h), rtol=0, atol=1e-12)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("k", [1, 3, 30])
def test_neighbors_equal_their_references(ties, k):
    for seed in range(6):
        X, Y = make_numbers(seed, ties=ties)
        ours = neighbor_mutual_information(X, Y, n_neighbors=k)
        np.testing.assert_allclose(ours, over_columns(naive_ross, X, Y, k=k), rtol=0, atol=1e-12)
        ours = neighbor_mutual_information(X, X, target_type="numeric", n_neighbors=k)
        np.testing.assert_allclose(ours, over_columns(naive_kraskov, X, X, k=k), rtol=0, atol=1e-12)


def test_a_class_of_one_row_is_left_out():
    X, Y = make_numbers(0)
    Y[0, 0] = 9
    ours = neighbor_mutual_information(X, Y[:, 0])
    np.testing.assert_array_equal(ours, neighbor_mutual_information(X[1:], Y[1:, 0]))
    assert neighbor_mutual_information([[1.0], [2.0]], [0, 1]) == 0
    assert neighbor_mutual_information([[1.0]], [[2.0]], target_type="numeric") == 0


# ------------------------------------------------------------- scikit-learn and closed forms


@pytest.mark.parametrize("k", [1, 3, 7])
def test_ross_is_what_scikit_learn_computes_without_ties(k):
    X, Y = make_numbers(1, n_rows=300)
    X = X[:, :2]
    for target in Y.T:
        theirs = mutual_info_classif(X, target, discrete_features=False, n_neighbors=k, random_state=0)
        ours = neighbor_mutual_information(X, target, n_neighbors=k)[:, 0]
        np.testing.assert_allclose(np.maximum(ours, 0), theirs, rtol=0, atol=1e-9)


def test_kraskov_is_what_scikit_learn_computes_without_ties():
    X, _ = make_numbers(2, n_rows=300)
    theirs = mutual_info_regression(X[:, :1], X[:, 1], discrete_features=False, random_state=0)
    np.testing.assert_allclose(
        np.maximum(neighbor_mutual_information(X[:, :1], X[:, 1], target_type="numeric")[0], 0), theirs, atol=1e-9
    )


@measures
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_gaussians_share_what_the_closed_form_says(measure, correlation):
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    y = correlation * x + (1 - correlation**2) ** 0.5 * rng.normal(size=2000)
    expected = -0.5 * log(1 - correlation**2)
    # The kernel with the bandwidth of reference blurs strong dependence.
    within = 0.2 if correlation == 0.9 and measure is kernel_mutual_information else 0.06
    assert measure(x, y, target_type="numeric")[0, 0] == pytest.approx(expected, abs=within)


@measures
@pytest.mark.parametrize("distance", [0.0, 1.0, 3.0])
def test_two_gaussian_classes_share_what_the_integral_says(measure, distance):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 1500)
    x = y * distance + rng.normal(size=3000)

    def entropy_of_mixture(at):
        p = (norm.pdf(at) + norm.pdf(at, distance)) / 2
        return -p * log(p)

    expected = quad(entropy_of_mixture, -9, distance + 9)[0] - norm.entropy()
    assert measure(x, y)[0, 0] == pytest.approx(expected, abs=0.03)


# ------------------------------------------------------------- laws and input


@measures
def test_neither_unit_nor_place_nor_order_of_rows_matters(measure):
    X, Y = make_numbers(5, n_rows=100)
    shuffle = np.random.default_rng(0).permutation(100)
    ours = measure(X, Y)
    np.testing.assert_allclose(measure(8 * X + 16, Y), ours, atol=1e-9)
    np.testing.assert_allclose(measure(X[shuffle], Y[shuffle]), ours, atol=1e-12)
    np.testing.assert_allclose(measure(X, Y, base="bit") * log(2), ours, atol=1e-12)
    assert np.array_equal(measure(X, Y), ours)


@measures
def test_numbers_in_any_form_give_the_same(measure):
    X, Y = make_numbers(6)
    ours = measure(X, Y)
    for form in (sp.csr_array(X), sp.csc_matrix(X), pd.DataFrame(X), X.tolist(), np.asfortranarray(X)):
        assert np.array_equal(measure(form, Y), ours)


@measures
def test_memory_stays_small(measure):
    """20,000 rows would be 3.2 GB of distances."""
    import tracemalloc

    n_rows = 20_000 if measure is neighbor_mutual_information else 4_000
    X, Y = make_numbers(7, n_rows=n_rows)
    tracemalloc.start()
    measure(X[:, :1], Y[:, :1])
    measure(X[:, :1], X[:, 1:2], target_type="numeric")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6


@measures
def test_what_cannot_be_meant_is_refused(measure):
    X, Y = make_numbers(8)
    with pytest.raises(InputError, match=r"X, row 3, column 1: nan is not finite"):
        measure(np.where(np.arange(120).reshape(40, 3) == 10, np.nan, X), Y)
    with pytest.raises(InputError, match="X has 40 rows and Y has 39"):
        measure(X, Y[1:])
    with pytest.raises(InputError, match="X has 40 rows and Y has 39"):
        measure(X, X[1:], target_type="numeric")
    with pytest.raises(InputError, match="target_type must be 'class' or 'numeric'"):
        measure(X, Y, target_type="labels")
    with pytest.raises(InputError, match="not a whole number"):
        measure(X, X)
    with pytest.raises(InputError, match="n_neighbors must be a whole number from 1"):
        neighbor_mutual_information(X, Y, n_neighbors=0)
    for wrong in (0, -1.0, "scott", True, np.inf, [1.0]):
        with pytest.raises(InputError, match="bandwidth must be 'reference' or a positive number"):
            kernel_mutual_information(X, Y, bandwidth=wrong)
