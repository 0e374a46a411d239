"""Products with targets that are never stored give the gains of those that are, bit for bit."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve import Sieve, resources
from labelsieve.criteria import LeastSquares
from labelsieve.search import least_squares


def table(rng, n_rows, n_columns, density, kind):
    """Sparse columns of 0 and 1, of whole numbers, or of numbers; some are frequent, and some have no cell."""
    shares = np.minimum(1.0, density * rng.exponential(size=n_columns))
    cells = rng.random((n_rows, n_columns)) < shares
    values = {"ones": 1.0, "counts": rng.integers(1, 4, cells.shape), "numbers": rng.normal(size=cells.shape)}[kind]
    return np.where(cells, values, 0.0)


def both(X, Y, criterion, weights=None, **parameters):
    """Selections with stored products, and with products that are not."""
    with pytest.MonkeyPatch.context() as patch:
        for limit in (2**60, -1):
            patch.setattr(least_squares, "LISTED_BYTES", limit)
            yield Sieve(criterion, n_features_to_select=8, **parameters).fit(X, Y, weights)


def assert_equal(stored, listed):
    assert stored.selected_.tolist() == listed.selected_.tolist()
    assert stored.scores_.tobytes() == listed.scores_.tobytes()
    assert stored.feature_scores_.tobytes() == listed.feature_scores_.tobytes()


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n_rows=st.integers(5, 120),
    shape=st.tuples(st.integers(1, 25), st.integers(1, 40)),
    density=st.sampled_from([0.02, 0.1, 0.3]),
    kind=st.sampled_from(["ones", "counts", "numbers"]),
    weighted=st.sampled_from([None, "whole", "real"]),
    penalty=st.sampled_from([0.0, 0.5, 2.0]),
    criterion=st.sampled_from(["omp", "hybrid"]),
)
def test_gains_are_those_of_stored_products(seed, n_rows, shape, density, kind, weighted, penalty, criterion):
    rng = np.random.default_rng(seed)
    X, Y = table(rng, n_rows, shape[0], density, kind), table(rng, n_rows, shape[1], density, "ones")
    n_alike = min(shape) // 2
    Y[:, :n_alike] = X[:, :n_alike] != 0  # these labels follow from a feature
    weights = {None: None, "whole": rng.integers(1, 5, n_rows), "real": rng.random(n_rows) + 0.1}[weighted]
    chosen = LeastSquares(penalty=penalty) if criterion == "omp" else criterion
    assert_equal(
        *both(sp.csr_array(X), sp.csr_array(Y), chosen, weights, target_weight=rng.random(shape[1]) if seed % 2 else None)
    )


@pytest.mark.parametrize("discretizer", [None, "auto"])
def test_levels_and_numeric_targets(discretizer):
    rng = np.random.default_rng(0)
    X = table(rng, 90, 20, 0.2, "ones")
    X[:, 3] = 1 - X[:, 3]  # its most frequent level is 1: a column that is not sparse
    Y = np.column_stack([X[:, 1] + X[:, 4] + rng.normal(size=90), X[:, 2] + rng.normal(size=90)])
    assert_equal(*both(sp.csr_array(X[:, 4:]), Y, "omp", discretizer=discretizer))
    stored, listed = both(sp.csr_array(X), Y, "omp", discretizer=discretizer)
    dense = Sieve("omp", n_features_to_select=8, discretizer=discretizer).fit(X, Y)
    assert_equal(stored, listed)
    assert_equal(stored, dense)


def test_a_table_that_does_not_fit_is_refused_with_the_remedy(monkeypatch):
    rng = np.random.default_rng(1)
    X, Y = table(rng, 50, 3000, 0.05, "numbers"), table(rng, 50, 4000, 0.05, "ones")
    monkeypatch.setattr(resources, "available_memory", lambda: 2**26)
    monkeypatch.setattr(least_squares, "LISTED_BYTES", 2**20)
    with pytest.raises(
        MemoryError, match=r"Products of 3000 features and 4000 targets need .* pass X and Y as sparse matrices"
    ):
        Sieve("omp").fit(X.astype(np.float32) + 1, Y)
    assert len(Sieve("omp", n_features_to_select=2).fit(sp.csr_array(X), sp.csr_array(Y)).selected_) == 2
