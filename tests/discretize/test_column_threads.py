"""Bins on several threads: the same cut points, codes and messages on any number of them."""

from threading import Barrier

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import effective_n_jobs, parallel_config

from labelsieve import LabelwiseSieve, QuadraticSieve, Sieve
from labelsieve.discretize import MDL, EqualFrequency, EqualWidth, KMeansBins, MeanStd
from labelsieve.errors import InputError
from labelsieve.selectors import GRRO
from labelsieve.tables.codes import FEW_VALUES, in_threads, ranges

SHAPE = (FEW_VALUES // 20 + 1, 21)
RULES = [EqualWidth(4), EqualFrequency(4), KMeansBins(3), MeanStd(), MDL(), MDL("single", boundaries="values")]


def make_tables():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=SHAPE).round(2)
    rows[:, 3] = rows[:, 3] > 0  # few values
    with_gaps = np.asfortranarray(np.where(rng.random(SHAPE) < 0.01, np.nan, rows))
    with_zeros = sp.csc_array(np.where(rng.random((2 * SHAPE[0], SHAPE[1])) < 0.6, np.vstack([rows, rows]), 0.0))
    return {"rows": rows, "columns with missing values": with_gaps, "sparse": with_zeros}


TABLES = make_tables()


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("name", TABLES)
def test_cut_points_and_codes_do_not_depend_on_the_number_of_threads(rule, name):
    X = TABLES[name]
    values = X[:, [0]].toarray().ravel() if sp.issparse(X) else X[:, 0]
    y = np.column_stack([values > 0, np.arange(X.shape[0]) % 5 == 0]).astype(np.uint8)
    found = []
    for n_jobs in (1, 3):
        with parallel_config(backend="threading", n_jobs=n_jobs):
            codes, fitted = rule.encode(X, y), rule.fit(X, y)
        codes = codes if isinstance(codes, list) else [codes]
        found.append(([table.to_dense() for table in codes], [table.levels for table in codes], fitted.cut_points_))
    np.testing.assert_equal(found[1], found[0])


def test_weighted_cut_points_do_not_depend_on_the_number_of_threads():
    X, weight = TABLES["rows"], np.linspace(0, 2, SHAPE[0])
    alone = EqualFrequency(4).fit(X, sample_weight=weight)
    with parallel_config(backend="threading", n_jobs=2):
        np.testing.assert_equal(EqualFrequency(4).fit(X, sample_weight=weight).cut_points_, alone.cut_points_)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("rule", [EqualWidth(), EqualFrequency()], ids=repr)
def test_the_first_infinite_value_is_named_on_any_number_of_threads(rule, order):
    X = TABLES["rows"].copy(order)
    X[7000, 20] = X[9000, 2] = np.inf
    for n_jobs in (1, 2):
        with parallel_config(backend="threading", n_jobs=n_jobs), pytest.raises(InputError, match="row 7000, column 20: inf"):
            rule.encode(X)


def test_blocks_of_columns_run_at_the_same_time():
    together = Barrier(2, timeout=60)  # breaks, with an error, unless two wait at the same time
    with parallel_config(backend="threading", n_jobs=2):
        in_threads(lambda first, last: together.wait(), ranges(4, FEW_VALUES))


@pytest.mark.parametrize("selector", [Sieve, LabelwiseSieve, QuadraticSieve, GRRO])
def test_the_bins_of_a_selector_have_its_threads(selector):
    threads = []

    class Bins(EqualFrequency):
        def encode(self, X, y=None, sample_weight=None):
            threads.append(effective_n_jobs(None))
            return super().encode(X, y, sample_weight)

    X = TABLES["rows"][:100]
    selector(discretizer=Bins(), n_features_to_select=2, n_jobs=3).fit(X, (X[:, :2] > 0).astype(np.uint8))
    assert threads == [3]
