"""Descriptions of columns equal those of a naive reference that looks at one cell after the other."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from labelsieve.datasets import Dataset, describe_columns, describe_targets

CELLS = st.sampled_from([0.0, -0.0, 1.0, 2.0, 3.5, math.nan])


def reference(column, kind, n_rows):
    present = {cell + 0.0 for cell in column if not math.isnan(cell)}
    missing = sum(map(math.isnan, column))
    many = kind == "nominal" and len(present) > (n_rows - missing) / 2
    whole = kind == "numeric" and len(present) == n_rows and all(cell == int(cell) for cell in present)
    return len(present), missing, len(present) + (missing > 0) <= 1, len(present) > 20 and (many or whole)


def same(one, other):
    return all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(one, other, strict=True))


def dataset(columns, kinds, wrap=np.array):
    X = np.array(columns, dtype=float).T
    names = tuple(f"c{k}" for k in range(len(columns)))
    return Dataset(wrap(X), np.ones((len(X), 1), np.uint8), names, ("y",), kinds)


@given(st.data(), st.integers(1, 8), st.integers(1, 5), st.booleans())
def test_columns_are_described_as_one_would_by_hand(data, n_rows, n_columns, scattered):
    columns = [data.draw(st.lists(CELLS, min_size=n_rows, max_size=n_rows)) for _ in range(n_columns)]
    kinds = tuple(data.draw(st.sampled_from(["numeric", "nominal"])) for _ in columns)
    found = describe_columns(dataset(columns, kinds, sparse.csr_array if scattered else np.array))
    for position, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
        one = found[position]
        assert (one.n_levels, one.n_missing, one.constant, one.id_like) == reference(column, kind, n_rows)
        equal = [k for k in range(position) if kinds[k] == kind and same(columns[k], column)]
        assert one.duplicate_of == (f"c{equal[0]}" if equal else None)


@pytest.mark.parametrize("wrap", [np.array, sparse.csr_array])
def test_ids_are_text_of_many_levels_or_whole_numbers_of_every_row(wrap):
    rows = np.arange(40.0)
    columns = [rows, rows % 21, rows / 7, rows[::-1], rows % 20, np.append(rows[:-1], 0)]
    kinds = ("numeric", "nominal", "numeric", "nominal", "nominal", "numeric")
    found = [column.id_like for column in describe_columns(dataset(columns, kinds, wrap))]
    assert found == [True, True, False, True, False, False]


def test_targets_are_labels_classes_or_numbers():
    Y = np.array([[0, 2, 1.5], [1, 0, np.nan], [1, 1, 3.5]])
    data = Dataset(
        np.eye(3), Y, ("a", "b", "c"), ("calm", "mood", "size"), ("numeric",) * 3, label_categories={"mood": ("x", "y", "z")}
    )
    label, classes, numeric = describe_targets(data)
    assert (label.kind, label.n_levels, label.mean) == ("label", 2, 2 / 3)
    assert (classes.kind, classes.n_levels, classes.n_missing) == ("class", 3, 0)
    assert math.isnan(classes.mean)
    assert (numeric.kind, numeric.n_levels, numeric.n_missing) == ("numeric", 2, 1)
    assert (numeric.minimum, numeric.mean, numeric.maximum) == (1.5, 2.5, 3.5)
    scattered = Dataset(np.eye(3), sparse.csc_array([[0, 3.0], [1, 0], [1, 0]]), ("a", "b", "c"), ("y", "z"), ("numeric",) * 3)
    assert [(target.kind, target.n_levels, target.mean) for target in describe_targets(scattered)] == [
        ("label", 2, 2 / 3),
        ("numeric", 2, 1.0),
    ]
