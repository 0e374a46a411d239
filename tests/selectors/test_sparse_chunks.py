"""Sparse chunks, libsvm and ARFF files in blocks have the selection of the matrix in memory, and nothing is made dense."""

import itertools
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve import InputError, Sieve
from labelsieve.datasets import ChunkedTable, DatasetError, load
from labelsieve.datasets.readers import libsvm
from tests.selectors.test_chunked_tables import assert_same

N_ROWS = 200


def make_sparse(seed=0, n_rows=N_ROWS, n_features=12):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n_rows, n_features), density=0.2, rng=rng, format="csr")
    X.data = np.round(4 * X.data, 1)
    Y = sp.csr_array((X[:, [1, 4, 7]].toarray() + rng.random((n_rows, 3)) > 0.9).astype(np.uint8))
    return X, Y


@settings(max_examples=10, deadline=None)
@given(
    bounds=st.sets(st.integers(1, N_ROWS - 1), max_size=4),
    criterion=st.sampled_from(["jmi", "cmim", "mrmr", "mim"]),
    sparse_labels=st.booleans(),
    weighted=st.booleans(),
    limit=st.sampled_from([56 * N_ROWS, None]),
)
def test_any_chunks_of_sparse_rows(bounds, criterion, sparse_labels, weighted, limit):
    X, Y = make_sparse()
    Y = Y if sparse_labels else Y.toarray()
    weights = np.random.default_rng(1).integers(0, 3, N_ROWS) if weighted else None
    chunks = [(X[a:b], Y[a:b]) for a, b in itertools.pairwise([0, *sorted(bounds), N_ROWS])]
    ours = Sieve(criterion).fit(ChunkedTable.from_chunks(chunks, memory_limit=limit), sample_weight=weights)
    assert_same(ours, Sieve(criterion).fit(X, Y, sample_weight=weights))


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(libsvm, "BLOCK", 2**8)  # many blocks of a small file


def as_libsvm(X, Y, base=1):
    rows = []
    for row in range(X.shape[0]):
        x, y = X[[row]], Y[[row]]
        pairs = " ".join(f"{j + base}:{value!r}" for j, value in zip(x.indices.tolist(), x.data.tolist(), strict=True))
        rows.append(f"{','.join(map(str, sorted(y.indices.tolist())))} {pairs}")
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize(("base", "sizes"), [(0, False), (1, False), (0, True)])  # a file with sizes counts from 0
def test_libsvm_files_in_blocks(tmp_path, small_blocks, base, sizes):
    X, Y = make_sparse(3)
    path = tmp_path / "rows.svm"
    path.write_text((f"{N_ROWS} 15 5\n" if sizes else "\n\n") + as_libsvm(X, Y, base))
    data, table = load(path), ChunkedTable.from_libsvm(path)
    assert (table.shape, table.n_labels) == (data.X.shape, data.Y.shape[1])
    assert table.feature_names == tuple(data.feature_names)
    assert table.label_names == tuple(data.label_names)
    assert_same(Sieve("jmi").fit(table), Sieve("jmi").fit(data.X, data.Y))
    if sizes:
        path.write_text(f"{N_ROWS - 1} 15 5\n" + as_libsvm(X, Y, base))
        with pytest.raises(DatasetError, match=r"line 1: its first line promises 199 rows"):
            ChunkedTable.from_libsvm(path)


def test_nothing_sparse_is_made_dense(monkeypatch):
    """The whole table would take 100 MB as bytes: no call that makes one, and no allocation of that size."""
    n_rows, n_features = 25_000, 4_000
    X = sp.random_array((n_rows, n_features), density=1e-3, rng=np.random.default_rng(0), format="csr")
    Y = sp.csr_array((X[:, :4] != 0).astype(np.uint8))
    rng = np.random.default_rng(1)
    Y = sp.csr_array((rng.random((n_rows, 4)) < 0.01).astype(np.uint8)) + Y
    Y.data[:] = 1

    def refuse(self, *arguments, **options):
        if self.shape[0] * self.shape[1] > n_rows * 100:
            raise AssertionError(f"a dense copy of {self.shape}")
        return original(self, *arguments, **options)

    original = sp.csc_array.toarray
    for kind in (sp.csr_array, sp.csc_array, sp.coo_array):
        monkeypatch.setattr(kind, "toarray", refuse)
    sieve = Sieve("jmi", n_features_to_select=2, discretizer=None)
    X.data[:] = 1
    answers = []
    for fit in (
        lambda: sieve.set_params(backend="native").fit(X, Y),
        lambda: sieve.set_params(backend="chunked").fit(X, Y),
        lambda: sieve.set_params(backend="auto").fit(
            ChunkedTable.from_chunks([(X[:9000], Y[:9000]), (X[9000:], Y[9000:])], memory_limit=20_000_000)
        ),
    ):
        tracemalloc.start()
        answers.append(fit().scores_.tobytes())
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 40_000_000
    assert len(set(answers)) == 1


def test_chunks_that_do_not_match_are_refused():
    X, Y = make_sparse()
    for chunks, message in (
        ([(X, Y), (X.toarray(), Y)], "Chunk 1 has other columns than chunk 0, which is sparse"),
        ([(X, Y), (X[:, 1:], Y)], "Chunk 1 has other columns than chunk 0"),
        ([(X, Y[1:])], "X has 200 rows and Y has 199"),
        ([(X, Y), (X, Y.toarray())], "Y is not like that of chunk 0"),
        ([(X.toarray(), Y)], "Chunk 0: Y is sparse, and the first rows of X are dense"),
    ):
        with pytest.raises(InputError, match=message):
            ChunkedTable.from_chunks(chunks)
