"""Irrelevant and corrupted copies of features, which a selector should leave out."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelsieve.datasets import Dataset
from labelsieve.errors import InputError, is_whole
from labelsieve.fingerprint import seed_of
from labelsieve.table_types import Matrix, is_sparse

KINDS = ("irrelevant", "corrupted")
REPLACED = 0.25  # of the values of a corrupted column with few levels


def read_noise(given: object, where: str) -> dict[str, float]:
    """Check the fractions of added columns.

    >>> read_noise({"irrelevant": 0.5}, "songs")
    {'irrelevant': 0.5, 'corrupted': 0.0, 'seed': 0}
    """
    known = (*KINDS, "seed")
    if not isinstance(given, Mapping) or set(given) - set(known):
        raise InputError(f"{where}: noise is a table with {', '.join(known)}, not {given!r}.")
    shares = {kind: given.get(kind, 0.0) for kind in KINDS}
    for kind, share in shares.items():
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 10:
            raise InputError(f"{where}: noise.{kind} is a fraction of the number of features, from 0 to 10, not {share!r}.")
    seed = given.get("seed", 0)
    if not is_whole(seed) or seed < 0:
        raise InputError(f"{where}: noise.seed must be a whole number from 0, not {seed!r}.")
    return {**shares, "seed": seed}


def added_counts(n_features: int, noise: Mapping[str, float]) -> tuple[int, int]:
    """Return the numbers of irrelevant and corrupted columns that are added to so many.

    >>> added_counts(10, {"irrelevant": 0.5, "corrupted": 0.25})
    (5, 2)
    """
    return round(noise.get("irrelevant", 0.0) * n_features), round(noise.get("corrupted", 0.0) * n_features)


def with_noise(data: Dataset, noise: Mapping[str, float] | None, name: str) -> Dataset:
    """Return a data set with copies of random columns after its own: permuted ones, then corrupted ones.

    A permuted copy has the values of a column in random order: its distribution without its information. A corrupted copy of a
    dense numeric column with more than two values has Gaussian noise with the standard deviation of the column added; of other
    columns, a quarter of the values, at random rows, are those of other random rows. Everything is drawn from a seed that
    depends on the name of the data set and ``noise["seed"]``.
    """
    if noise is None:
        return data
    n_rows, d = data.X.shape
    rng = np.random.default_rng(seed_of(int(noise.get("seed", 0)), name, "noise"))
    counts = added_counts(d, noise)
    sources = [rng.integers(d, size=count) for count in counts]
    X = sp.csc_array(data.X) if is_sparse(data.X) else np.asarray(data.X)
    columns = [_column(X, source)[rng.permutation(n_rows)] for source in sources[0]]
    for source in sources[1]:
        is_numeric = not is_sparse(X) and data.feature_kinds[source] == "numeric"
        columns.append(_corrupted(_column(X, source), is_numeric, rng))
    if not columns:
        return data
    if is_sparse(X):
        table: Any = sp.csr_array(sp.hstack([X, sp.csc_array(np.column_stack(columns))]))
    else:
        table = np.column_stack([X, *columns])
    added = [(f"{kind} {place} ({data.feature_names[source]})", data.feature_kinds[source], data.feature_names[source])
             for kind, chosen in zip(KINDS, sources, strict=True) for place, source in enumerate(chosen)]  # fmt: skip
    categories = dict(data.categories)
    categories |= {feature: data.categories[source] for feature, _, source in added if source in data.categories}
    return replace(
        data,
        X=table,
        feature_names=(*data.feature_names, *(feature for feature, _, _ in added)),
        feature_kinds=(*data.feature_kinds, *(kind for _, kind, _ in added)),
        categories=categories,
    )


def _column(X: Matrix, index: int) -> Any:
    return X[:, [index]].toarray().ravel() if is_sparse(X) else X[:, index]


def _corrupted(column: Any, numeric: bool, rng: np.random.Generator) -> Any:
    known = column[np.isfinite(column)] if column.dtype.kind == "f" else column
    if numeric and len(np.unique(known)) > 2:
        return column + rng.normal(scale=known.std(), size=len(column))
    rows = rng.permutation(len(column))[: round(REPLACED * len(column))]
    changed = column.copy()
    changed[rows] = column[rng.integers(len(column), size=len(rows))]
    return changed
