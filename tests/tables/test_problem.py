"""A problem is read once from anything that a user can pass, and everything after it takes the problem."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from labelsieve import InputError, LabelwiseSieve, QuadraticSieve, Sieve
from labelsieve.discretize import Discretizer, EqualFrequency
from labelsieve.discretize.base import BaseBins
from labelsieve.report import selection_report
from labelsieve.selectors import ChiSquare, FScore, ReliefF
from labelsieve.tables import problem as reading
from labelsieve.tables.codes import Codes
from labelsieve.tables.frames import read_table
from labelsieve.tables.problem import read
from labelsieve.tables.targets import read_targets

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 6))
Y = np.column_stack([X[:, 1] > 0, X[:, 4] + X[:, 1] > 0.3]).astype(int)
FRAME = pd.DataFrame(X, columns=list("abcdef"))
SETS = [{"up"} if row[0] else {"down", "low"} for row in Y]
SELECTORS = [Sieve(), Sieve("jmi"), Sieve("omp"), LabelwiseSieve(), QuadraticSieve(), ChiSquare(), FScore(), ReliefF()]


@pytest.fixture
def counted(monkeypatch):
    """How often features, targets, label sets and bins were read since the fixture was made."""
    counts = dict.fromkeys(["read_table", "read_target_columns", "read_label_sets", "bins"], 0)

    def counting(name, function):
        def wrapper(*arguments, **options):
            counts[name] += 1
            return function(*arguments, **options)

        return wrapper

    for name in ("read_table", "read_target_columns", "read_label_sets"):
        monkeypatch.setattr(reading, name, counting(name, getattr(reading, name)))
    monkeypatch.setattr(BaseBins, "_learn", counting("bins", BaseBins._learn))
    return counts


@pytest.mark.parametrize("selector", [Sieve(), Sieve("jmi")], ids=["hybrid", "jmi"])
@pytest.mark.parametrize("data", [(X, Y), (FRAME, SETS), (sp.csr_array(X), sp.csr_array(Y))], ids=["array", "frame", "sparse"])
def test_a_fit_reads_features_targets_and_label_sets_once_and_learns_bins_once(selector, data, counted):
    selector.fit(*data)
    assert counted["read_table"] == counted["read_target_columns"] == counted["bins"] == 1
    assert counted["read_label_sets"] <= 1


def test_a_fit_its_selection_and_its_report_share_one_reading(counted):
    problem = read(FRAME, SETS)
    sieve = Sieve(n_features_to_select=3).fit(problem)
    sieve.selection(problem, components=True, information=True, redundant=0.9)
    sieve.information_confidence(problem, confidence=0.9)
    selection_report(sieve, problem, explained=False)  # the folds of the explained share have bins of their own
    assert counted == {"read_table": 1, "read_target_columns": 1, "read_label_sets": 1, "bins": 1}


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda one: f"{type(one).__name__}({getattr(one, 'criterion', '')})")
def test_a_problem_in_place_of_the_data_gives_the_same_selection(selector):
    selector.set_params(n_features_to_select=3)
    expected = selector.fit(FRAME, Y).selected_.tolist()
    found = selector.fit(read(FRAME, Y))
    assert found.selected_.tolist() == expected
    assert found.feature_names_in_.tolist() == list("abcdef")
    with pytest.raises(InputError, match="A Problem has the targets"):
        selector.fit(read(FRAME, Y), Y)


def test_views_of_a_selection_do_not_depend_on_the_way_the_data_are_passed():
    sieve = Sieve("cmim", n_features_to_select=3).fit(FRAME, Y)
    assert str(sieve.summary(read(FRAME, Y), redundant=0.9)) == str(sieve.summary(FRAME, Y, redundant=0.9))
    pd.testing.assert_frame_equal(sieve.label_information(read(FRAME, Y)), sieve.label_information(FRAME, Y))


def test_codes_are_kept_for_the_same_settings_alone():
    table = RNG.integers(0, 9, size=(120, 60)).astype(float)
    problem, y = read(table, Y), read(table, Y).targets.codes
    # Representations of both leave the middle of the lists out, where they differ.
    one, other = (EqualFrequency(2, nominal=[c for c in range(50) if c != left_out]) for left_out in (30, 31))
    assert problem.codes(one, y).levels[30] == 2
    assert problem.codes(other, y).levels[30] == 9
    changing = EqualFrequency(2)
    assert problem.codes(changing, y).levels.max() == 2
    assert problem.codes(changing.set_params(n_bins=4), y).levels.max() == 4


def test_a_custom_discretizer_need_not_be_one_that_can_be_pickled():
    class Halves(Discretizer):
        def encode(self, X, y=None, sample_weight=None):
            values = read_table(X).dense
            return Codes.from_values((values > np.median(values, axis=0)).astype(np.uint8))

    sieve = Sieve("mim", discretizer=Halves(), n_features_to_select=2).fit(FRAME, Y)
    expected = Sieve("mim", discretizer=EqualFrequency(2), n_features_to_select=2).fit(FRAME, Y)
    assert sieve.selected_.tolist() == expected.selected_.tolist()
    assert sieve.label_information(FRAME, Y).shape == (2, 2)


def test_rows_without_weight_neither_count_nor_decide_the_type_of_a_target():
    numbers = np.arange(120) % 3
    y = np.where(np.arange(120) < 20, np.arange(120) + 100, numbers)  # 20 more whole numbers, in rows without weight
    weights = (np.arange(120) >= 20).astype(float)
    assert read(X, y, target_type="auto").targets.types.tolist() == ["numeric"]
    problem = read(X, y, weights)
    assert problem.targets.types.tolist() == ["class"]
    assert problem.X.shape == (100, 6)
    assert Sieve("mim").fit(X, y, weights).target_types_.tolist() == ["class"]


def test_rows_without_a_known_target_are_left_out_and_counted():
    y = np.where(np.arange(120)[:, np.newaxis] < 7, np.nan, Y)
    problem = read(FRAME, y)
    assert (problem.n_left_out, len(problem.X), problem.targets.n_rows) == (7, 113, 113)
    assert problem.known_rows.sum() == 113
    with pytest.raises(InputError, match="7 unknown cells, which FScore cannot leave out"):
        FScore().fit(FRAME, y)


def test_names_are_those_of_frames_and_label_sets():
    problem = read(FRAME, SETS)
    assert problem.feature_names == tuple("abcdef")
    assert problem.target_names == ("down", "low", "up")
    assert read(X, Y).feature_names is read(X, Y).target_names is None


def test_sparse_numeric_targets_may_have_more_cells_than_label_sets_that_are_dense():
    targets = sp.random_array((20_000, 60), density=0.001, rng=np.random.default_rng(0), format="csr")
    assert (read_targets(targets).types == "numeric").any()
