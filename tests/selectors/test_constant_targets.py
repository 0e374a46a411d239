"""Targets with one value in all rows: one warning that names them, and none about parts of the rows."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from labelsieve import AutoSieve, LabelwiseSieve, Sieve
from labelsieve.datasets import Dataset
from labelsieve.errors import ConstantTargetWarning
from labelsieve.selectors import LLSF, ChiSquare, FScore, RankEnsemble, ReliefF, selection_stability
from labelsieve.studies import Protocol, Study
from tests.support.command_line import run

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
INFORMATIVE = (X[:, 0] > 0).astype(int)
RARE = np.r_[1, np.zeros(59, dtype=int)]  # constant in most parts of the rows
SELECTORS = [Sieve(), Sieve("cmim"), LabelwiseSieve(), ChiSquare(), ReliefF(), LLSF(), FScore(), RankEnsemble(["mim"])]


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_every_selector_names_constant_targets(selector):
    Y = pd.DataFrame({"good": INFORMATIVE, "never": 0, "always": 1})
    with pytest.warns(ConstantTargetWarning, match=r"Y, column 1 \('never'\), column 2 \('always'\): one value") as found:
        selector.fit(X, Y)
    assert len({str(warning.message) for warning in found}) == 1


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array, lambda Y: Y.astype(float)])
def test_thousands_of_constant_targets_are_one_short_warning(make):
    Y = np.zeros((60, 2000), dtype=int)
    Y[:, 7], Y[:, 9] = INFORMATIVE, 1
    with pytest.warns(ConstantTargetWarning, match=r"column 0, column 1, column 2, \.\.\. \(1,999 of 2,000 targets\)") as found:
        Sieve("mim", n_features_to_select=1).fit(X, make(Y))
    assert len(found) == 1


def test_unknown_cells_and_numbers_are_considered():
    Y = np.column_stack([INFORMATIVE, np.where(RARE, np.nan, 1.0), np.full(60, 2.5)])
    with pytest.warns(ConstantTargetWarning, match="Y, column 1, column 2: one value"):
        sieve = Sieve(n_features_to_select=1).fit(X, Y)
    assert sieve.selected_.tolist() == [0]


def test_only_constant_targets_score_nothing():
    with pytest.warns(ConstantTargetWarning, match="no target is left to select features for, so all scores are 0"):
        sieve = Sieve(n_features_to_select=2).fit(X, np.ones((60, 2), dtype=int))
    assert not sieve.scores_.any()


def test_label_sets_name_the_label_that_every_row_has():
    with pytest.warns(ConstantTargetWarning, match=r"\('song'\): one value"):
        Sieve(n_features_to_select=1).fit(X, [["song", "rock"] if one else ["song"] for one in INFORMATIVE])


def test_parts_of_the_rows_do_not_warn(tmp_path):
    """Of rare labels, some are constant in every fold and sample."""
    Y = np.column_stack([INFORMATIVE, RARE])
    data = Dataset(X, Y, tuple("abcd"), ("good", "rare"), ("numeric",) * 4, name="data")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConstantTargetWarning)
        selection_stability(Sieve(n_features_to_select=2), X, Y, n_repeats=4)
        Sieve(n_features_to_select="cv").fit(X, Y)
        RankEnsemble(["mim"], n_repeats=4).fit(X, Y)
        AutoSieve(random_state=0, time_budget=1).fit(X, Y)
        Study(Protocol([data], ["mim"], n_features="1..2", splits="2x50%"), tmp_path).run()


@pytest.mark.filterwarnings("always::labelsieve.errors.ConstantTargetWarning")
def test_the_command_line_names_them(tmp_path):
    path = tmp_path / "data.csv"
    pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "good": INFORMATIVE, "never": 0}).to_csv(path, index=False)
    result = run("select", path, "--labels", "good,never", "-k", 1)
    assert result.exit_code == 0
    assert result.stderr.count("column 'never': one value in all rows") == 1
