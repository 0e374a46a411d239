"""Malformed sparse matrices are refused by name before compiled code reads them; well-formed ones are as they were."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import labelsieve
from labelsieve import InputError, Sieve
from labelsieve.information import mutual_information

FORMATS = ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]


def table():
    return np.random.default_rng(0).integers(0, 3, size=(30, 4))


def test_no_public_entry_crashes_or_accepts_a_malformed_matrix():
    """In a process of its own, which names the call that crashed it."""
    command = [sys.executable, "-X", "faulthandler", "-W", "ignore", "-m", "tests.support.malformed_sparse"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    *faults, refused = done.stdout.splitlines()
    assert faults == []
    assert int(refused.split()[0]) > 3000


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_gives_what_the_dense_table_gives(form):
    X = table()
    y = (X[:, 0] + X[:, 1] > 2).astype(int)
    expected = mutual_information(X, y)
    np.testing.assert_array_equal(mutual_information(sp.coo_array(X).asformat(form), y), expected)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (
            lambda X: X.indices.__setitem__(3, 9),
            r"X is a malformed sparse matrix: row 2 stores column 9, and there are 4 columns",
        ),
        (lambda X: X.indices.__setitem__(0, -1), r"row 0 stores column -1"),
        (lambda X: X.indptr.__setitem__(-1, 99), r"its last pointer \(indptr\) is 99, and \d+ values are stored"),
        (lambda X: X.indptr.__setitem__(0, 1), r"its first pointer \(indptr\) is 1, not 0"),
        (lambda X: X.indptr.__setitem__(2, 0), r"its pointers \(indptr\) decrease after row 1, from 3 to 0"),
        (lambda X: setattr(X, "indptr", X.indptr[:-1]), r"it has 30 pointers \(indptr\) for 30 rows, which need 31"),
    ],
)
def test_the_message_names_the_place_and_the_remedy(broken, message):
    X = sp.csr_array(table())
    X.indices, X.indptr = X.indices.copy(), X.indptr.copy()
    assert X.indptr[1] == 3
    broken(X)
    with pytest.raises(InputError, match=message + r".*\. Rebuild the matrix"):
        Sieve("mim").fit(X, table()[:, 0] > 0)


def test_long_indices_and_matrices_without_values_pass():
    X = sp.csr_array(table())
    long = sp.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    y = table()[:, 1]
    np.testing.assert_array_equal(mutual_information(long, y), mutual_information(table(), y))
    assert not mutual_information(sp.csr_array((30, 4)), y).any()


def test_estimators_validate_their_input_with_this_check():
    """scikit-learn's function of the same name converts a sparse matrix without looking at its indices."""
    source = Path(labelsieve.__file__).parent
    imports = re.compile(r"from sklearn\.utils\.validation import .*\bvalidate_data\b")
    assert [str(file.relative_to(source)) for file in source.rglob("*.py") if imports.search(file.read_text("utf-8"))] == []
