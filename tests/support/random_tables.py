"""Random tables of codes with everything that goes wrong in real ones, drawn by hypothesis or from a seed."""

import numpy as np
from hypothesis import strategies as st


def _levels(n):
    return lambda rng, n_rows: rng.integers(n, size=n_rows)


def _share(p):
    return lambda rng, n_rows: rng.random(n_rows) < p


# One column of each kind. 33 levels are the most that the vector kernels take, 34 the fewest they do not.
KINDS = {
    "constant": lambda rng, n_rows: np.zeros(n_rows),
    "constant, not 0": lambda rng, n_rows: np.full(n_rows, 3),
    "always": lambda rng, n_rows: np.ones(n_rows),
    "once": lambda rng, n_rows: np.arange(n_rows) == rng.integers(n_rows),
    "never but once": lambda rng, n_rows: np.arange(n_rows) != rng.integers(n_rows),
    "fair": _share(0.5),
    "rare": _share(0.05),
    "frequent": _share(0.95),
    "3 levels": _levels(3),
    "5 levels": _levels(5),
    "16 levels": _levels(16),
    "33 levels": _levels(33),
    "34 levels": _levels(34),
    "255 to 257 levels": lambda rng, n_rows: rng.integers(254, 257, size=n_rows),
    "20,000 levels": _levels(20_000),
    "all distinct": lambda rng, n_rows: rng.permutation(n_rows),
    "gaps": lambda rng, n_rows: 7 * rng.integers(4, size=n_rows) + 2,
    "skewed": lambda rng, n_rows: np.minimum(rng.geometric(0.5, size=n_rows), 40) - 1,
}
DERIVED = ("duplicate", "noisy copy", "merged")


def make_table(seed, n_rows, kinds):
    """Columns of these kinds; a derived kind is derived from the column before it."""
    rng = np.random.default_rng(seed)
    columns = []
    for kind in kinds:
        if kind in KINDS:
            column = KINDS[kind](rng, n_rows)
        else:
            column = columns[-1] if columns else rng.integers(4, size=n_rows)
            if kind == "noisy copy":
                column = np.where(rng.random(n_rows) < 0.1, rng.permutation(column), column)
            elif kind == "merged":
                column = column // 2
        columns.append(np.asarray(column, dtype=np.uint16))
    return np.stack(columns, axis=1)


def tables(n_rows, max_columns):
    kinds = st.lists(st.sampled_from([*KINDS, *DERIVED]), min_size=1, max_size=max_columns)
    return st.builds(make_table, st.integers(0, 2**32 - 1), st.just(n_rows), kinds)


@st.composite
def cases(draw, max_rows=60, columns=(5, 3, 3)):
    """``X, Y, Z`` with the same rows; sometimes a single one."""
    n_rows = draw(st.one_of(st.integers(1, 3), st.integers(4, max_rows)))
    return tuple(draw(tables(n_rows, most)) for most in columns)


@st.composite
def weighted_cases(draw, kind, **size):
    """``(X, Y, Z), weights`` with whole, real or zero-and-one weights; some rows weigh nothing.

    All together weigh one row at least: Miller and Madow's correction needs that.
    """
    case = draw(cases(**size))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = len(case[0])
    weights = {
        "whole": lambda: rng.integers(0, 6, size=n_rows).astype(float),
        "real": lambda: np.where(rng.random(n_rows) < 0.15, 0.0, rng.uniform(0.05, 8.0, size=n_rows)),
        "zero or one": lambda: rng.integers(0, 2, size=n_rows).astype(float),
    }[kind]()
    if not weights.any():
        weights[rng.integers(n_rows)] = 1.0
    if weights.sum() < 1:
        weights *= 1.5 / weights.sum()
    return case, weights


def sparse_table(seed, n_rows, n_columns, density=0.01, n_levels=2):
    """Mostly zeros; the last column is all zeros and the first has no zero when there are several columns."""
    rng = np.random.default_rng(seed)
    table = np.zeros((n_rows, n_columns), dtype=np.uint16)
    listed = rng.random(table.shape) < density
    table[listed] = rng.integers(1, n_levels, size=np.count_nonzero(listed))
    if n_columns > 1:
        table[:, -1] = 0
        table[:, 0] = rng.integers(1, n_levels, size=n_rows)
    return table


def binary_table(seed, n_rows, n_columns):
    """Zeros and ones with a different share of ones in every column, some constant, some equal."""
    rng = np.random.default_rng(seed)
    shares = rng.choice([0.0, 0.002, 0.05, 0.3, 0.5, 0.9, 1.0], size=n_columns)
    table = (rng.random((n_rows, n_columns)) < shares).astype(np.uint8)
    table[:, n_columns // 2] = table[:, 0]
    return table


def many_levels_table(seed, n_rows, levels):
    """One column for each number of levels, every level as likely as the others."""
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(n, size=n_rows) for n in levels], axis=1).astype(np.uint16)
