"""What has no good answer still has a calm one: finite scores, or a refusal that names the place."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from labelsieve import InputError, Sieve
from labelsieve.datasets import ChunkedTable
from labelsieve.registry import make_selector
from labelsieve.selectors import LLSF, MDDM, ChiSquare, ReliefF, ReliefFML, RReliefF

METHODS = [
    *(ChiSquare(targets=space) for space in ("single", "joint", "copy", "copy-weight")),
    ReliefF(),
    ReliefF(targets="joint"),
    ReliefFML(),
    RReliefF(),
    LLSF(),
    LLSF(convex=True),
    MDDM(),
    MDDM(mu=0),
]
methods = pytest.mark.parametrize("method", METHODS, ids=str)

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(30, 4)), rng.integers(0, 2, size=(30, 3))
CASES = {
    "one row": (X[:1], Y[:1]),
    "two rows": (X[:2], np.array([[0, 1, 0], [1, 1, 0]])),
    "one column": (X[:, :1], Y[:, :1]),
    "constant columns": (np.full((30, 4), 7.5), Y),
    "rows that are all the same": (np.tile(X[:1], (30, 1)), np.tile(Y[:1], (30, 1))),
    "rows that repeat": (np.repeat(X[:10], 3, axis=0), np.repeat(Y[:10], 3, axis=0)),
    "columns that repeat": (X[:, [0, 0, 1, 1]], Y[:, [0, 0, 1]]),
    "no labels at all": (X, np.zeros_like(Y)),
    "all labels everywhere": (X, np.ones_like(Y)),
    "a label that never occurs": (X, Y * [1, 0, 1]),
    "all distinct label set": (X, np.eye(30, dtype=int)),
    "more columns than rows": (rng.normal(size=(5, 40)), Y[:5]),
    "an empty sparse matrix": (sp.csr_array((30, 4)), sp.csr_array(Y)),
    "no labels in a sparse matrix": (sp.csr_array(X), sp.csr_array((30, 3))),
    "large numbers": (1e150 * X, Y),
    "small numbers": (1e-150 * X, Y),
}


@methods
@pytest.mark.parametrize("case", CASES)
def test_scores_are_finite_and_results_have_their_shapes(method, case):
    features, labels = CASES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # LLSF says when there is no minimum: its own tests ask for it
        if isinstance(method, LLSF | MDDM) and "numbers" in case:
            features = features * (1e-75 if case.startswith("large") else 1e75)  # squares of squares must be numbers
        fitted = clone(method).fit(features, labels)
    if isinstance(method, MDDM):
        assert np.isfinite(fitted.components_).all()
        assert fitted.transform(features).shape == (features.shape[0], fitted.n_components_)
        return
    assert fitted.support_.shape == (features.shape[1],)
    assert np.isfinite(fitted.scores_).all()
    assert len(np.unique(fitted.selected_)) == len(fitted.selected_) == fitted.support_.sum()


@methods
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_what_is_not_finite_is_refused(method, bad, form):
    broken = X.copy()
    broken[3, 2] = bad
    if np.isnan(bad) and get_tags(method).input_tags.allow_nan:
        clone(method).fit(form(broken), Y)  # a level of its own
    else:
        with pytest.raises(InputError, match=r"X, row 3, column 2: (the value is missing \(NaN\)|inf is not a finite number)"):
            clone(method).fit(form(broken), Y)
    targets = Y.astype(float)
    targets[3, 2] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity|finite|missing|whole number|unknown cells"):
        clone(method).fit(X, form(targets))


CODES, LABELS = rng.integers(0, 3, size=(40, 3)), rng.integers(0, 2, size=(40, 2))
FORMATS = (sp.dok_array, sp.lil_array, sp.coo_array, sp.dia_array, sp.bsr_array, sp.csc_array, sp.csr_array, sp.dok_matrix)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.filterwarnings("ignore::labelsieve.errors.ConstantTargetWarning")
def test_sparse_matrices_without_any_value_are_tables_of_zeros(form):
    sieve = Sieve("jmi", n_features_to_select=2)
    assert (sieve.fit(form((40, 3)), LABELS).scores_ == 0).all()
    assert (sieve.fit(CODES, form((40, 2))).scores_ == 0).all()


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">i4", ">u2", ">i8"])
def test_chunks_of_big_endian_numbers_are_counted_like_others(dtype):
    sieve = Sieve("jmi", n_features_to_select=3)
    expected = sieve.fit(CODES.astype(dtype[1:]), LABELS).scores_
    table = ChunkedTable.from_chunks([(CODES[:25].astype(dtype), LABELS[:25].astype(dtype)), (CODES[25:], LABELS[25:])])
    assert sieve.fit(table).scores_.tolist() == expected.tolist()


def with_a_huge_number(table):
    changed = table.astype(object)
    changed[3, 1] = 10**400
    return changed


@pytest.mark.parametrize(
    ("fit", "place"),
    [
        (lambda sieve: sieve.fit(with_a_huge_number(CODES), LABELS), "X, row 3, column 1"),
        (lambda sieve: sieve.fit(pd.DataFrame(with_a_huge_number(CODES), columns=list("abc")), LABELS), "X, column 'b', row 3"),
        (lambda sieve: sieve.fit(CODES, with_a_huge_number(LABELS)), "Y, row 3, column 1"),
        (lambda sieve: sieve.fit(CODES, pd.DataFrame(with_a_huge_number(LABELS))), "Y, column 1, row 3"),
        (lambda sieve: ChunkedTable.from_chunks([(with_a_huge_number(CODES), LABELS)]), "Chunk 0: X, column 1, row 3"),
        (lambda sieve: ChunkedTable.from_chunks([(CODES, with_a_huge_number(LABELS))]), "Chunk 0: Y, column 1, row 3"),
        (lambda sieve: sieve.fit(CODES, LABELS, sample_weight=[10**400, *[1] * 39]), "sample_weight"),
        (lambda sieve: sieve.set_params(target_weight=[10**400, 1]).fit(CODES, LABELS), "target_weight"),
    ],
)
def test_integers_that_floating_point_cannot_hold_are_refused_with_their_place(fit, place):
    with pytest.raises(InputError, match=rf"{place}.* 1\.8e308"):
        fit(Sieve("jmi", n_features_to_select=2))


@pytest.mark.parametrize("chunk", [(CODES, LABELS, np.ones(40)), CODES, (CODES,)])
def test_chunks_that_are_not_pairs_are_refused(chunk):
    with pytest.raises(InputError, match=r"Chunk 1 is .*; a chunk is a pair \(X, Y\)"):
        ChunkedTable.from_chunks([(CODES, LABELS), chunk])


def test_columns_of_objects_may_be_named_by_numbers():
    sieve = Sieve("jmi", n_features_to_select=3)
    expected = sieve.fit(CODES, LABELS).scores_
    named = [pd.DataFrame(table).astype(object) for table in (CODES, LABELS)]
    assert sieve.fit(*named).scores_.tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["all", "variance", "random", "rrelieff", "relieff", "ksg", "chi-square", "ssfs", "pptmi"])
def test_selectors_that_need_the_table_in_memory_refuse_chunks(name):
    with pytest.raises(InputError, match=r"needs the table in memory; Sieve takes a ChunkedTable"):
        make_selector(name).fit(ChunkedTable.from_chunks([(CODES, LABELS)]))


@pytest.mark.parametrize("space", ["joint", "select-min", "copy"])
def test_bins_for_each_label_need_a_target_for_each_label(space):
    with pytest.raises(InputError, match="separate bins for each of 2 labels"):
        Sieve("br-infogain", targets=space).fit(CODES, LABELS)
