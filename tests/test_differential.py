"""The random comparison of selectors: it finds nothing in a few cases, and finds, shrinks and repeats what is wrong."""

import numpy as np
import pytest

from fuzz import differential
from fuzz.differential import CHECKS, Case, minimized, outcome, random_case, snippet


@pytest.mark.parametrize("seed", range(20))
def test_random_cases_agree_with_every_other_way_to_their_result(seed):
    case = random_case(seed)
    if case.method in differential.SLOW:
        pytest.skip("slow")
    answers = {check: outcome(check, case) for check in CHECKS}
    assert set(answers.values()) <= {"same", "refused", "skipped"}, answers


def test_a_wrong_result_is_made_small_and_printed_as_a_program(monkeypatch):
    def wrong(case):
        if (np.array(case.X)[:, 0] == 2).any():
            raise AssertionError("a two")

    monkeypatch.setitem(CHECKS, "wrong", wrong)
    X = [[float(row % 3), 1.0, float(row)] for row in range(12)]
    case = Case("jmi", {"estimator": "plugin", "n_features_to_select": 2}, X, [[row % 2, 1.0] for row in range(12)], [1.0] * 12)
    small = minimized("wrong", case)
    assert outcome("wrong", small) == "differs: a two"
    assert (len(small.X), len(small.X[0]), len(small.Y[0])) == (2, 1, 1)
    assert (small.parameters, small.weights) == ({}, None)
    with pytest.raises(AssertionError, match="a two"):
        exec(snippet("wrong", small), {})
