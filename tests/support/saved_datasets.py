"""Data sets of every kind for tests that save them, and what it means that two are the same."""

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from labelsieve.datasets import Dataset
from labelsieve.datasets.readers.labels import one_comes_first

# Any character but those that no text file takes, and often those that mean something to some format.
ANY = st.characters(codec="utf-8", exclude_characters="\0") | st.sampled_from(" \t\n\r'\"\\%{},;:?@#<>&=ä\u97f3\u2028\x85")
# Without control characters, which XML cannot hold.
XML = st.characters(codec="utf-8", exclude_categories=["Cc", "Cn"]) | st.sampled_from(" \t\n\r'\"\\%{},;:?@#<>&=")
NUMBERS = st.floats(width=64, allow_nan=False) | st.sampled_from([0.0, -0.0, 5e-324, -1.7976931348623157e308, 0.1, 3.0])


def texts(characters):
    return st.text(characters, max_size=5)


ANY_TEXT, XML_TEXT = texts(ANY), texts(XML)


@st.composite
def data_sets(draw, names=ANY_TEXT, label_names=XML_TEXT, values=ANY_TEXT, targets=("labels", "numeric", "classes")):
    """``values`` None: no nominal features."""
    n, d, q = draw(st.integers(1, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    labels = draw(st.lists(label_names, min_size=q, max_size=q, unique=True))
    features = draw(st.lists(names.filter(lambda name: name not in labels), min_size=d, max_size=d, unique=True))
    nominal = draw(st.lists(st.sampled_from(features), unique=True)) if values is not None else []
    lists = {} if values is None else st.lists(values, min_size=1, max_size=4, unique=True)
    categories = {name: tuple(draw(lists)) for name in features if name in nominal}
    cells = [_cells(categories.get(name)) for name in features]
    X = np.array([[draw(cell) for cell in cells] for _ in range(n)])
    kind = draw(st.sampled_from(targets))
    classes = {}
    if kind == "labels":
        Y = np.array(draw(st.lists(st.lists(st.integers(0, 1), min_size=q, max_size=q), min_size=n, max_size=n)), np.uint8)
    elif kind == "numeric":
        Y = np.array([[draw(NUMBERS) for _ in range(q)] for _ in range(n)])
        Y[0, 0] = 0.5  # or else they may all be 0 and 1, which are labels
    else:
        several = st.lists(ANY_TEXT, min_size=1, max_size=4, unique=True).filter(lambda own: one_comes_first(own) is None)
        classes = {labels[0]: tuple(draw(several))}
        Y = np.array([[draw(st.integers(0, len(classes[labels[0]]) - 1))] + [i] * (q - 1) for i in range(n)], np.int64)
    if draw(st.booleans()):
        X = _scattered(X)
        Y = sparse.csc_array(Y) if kind == "labels" else Y
    kinds = tuple("nominal" if name in categories else "numeric" for name in features)
    return Dataset(X, Y, tuple(features), tuple(labels), kinds, categories, "About\n\nit", "made", classes)


def _cells(values):
    missing = st.just(np.nan)
    if values is None:
        return NUMBERS | missing
    codes = st.integers(0, len(values) - 1).map(float)
    return codes if "?" in values else codes | missing


def _scattered(X):
    """Sparse, with a zero among the stored cells."""
    rows, columns = np.indices(X.shape)
    keep = (X != 0) | ((rows == 0) & (columns == 0))
    return sparse.csr_array((X[keep], (rows[keep], columns[keep])), shape=X.shape)


def dense(values):
    return values.toarray() if sparse.issparse(values) else values


def bits(values):
    """Floats as what they are in memory; all NaN are one, and sparse zeros have no sign."""
    cells = dense(values).astype(np.float64)
    cells = np.where(cells == 0, 0.0, cells) if sparse.issparse(values) else cells
    return np.where(np.isnan(cells), np.nan, cells).view(np.uint64)


def assert_same(found, expected, names=True):
    assert sparse.issparse(found.X) == sparse.issparse(expected.X)
    np.testing.assert_array_equal(bits(found.X), bits(expected.X))
    assert_same_labels(found, expected)
    if names:
        assert found.feature_names == expected.feature_names
        assert found.label_names == expected.label_names
        assert found.feature_kinds == expected.feature_kinds
        assert found.categories == expected.categories
        assert found.label_categories == expected.label_categories


def assert_same_labels(found, expected):
    assert found.Y.dtype == expected.Y.dtype
    assert sparse.issparse(found.Y) == sparse.issparse(expected.Y)
    flat = dense(expected.Y) + 0.0 if sparse.issparse(expected.X) else dense(expected.Y)  # sparse rows lose the sign of a zero
    np.testing.assert_array_equal(bits(dense(found.Y)), bits(flat))
