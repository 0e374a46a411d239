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


TABLE = [[float(row % 3), float(row % 2), float((row * row) % 7)] for row in range(24)]
LABELS = [[float(row % 3 == 1), float((row * row) % 7 > 2)] for row in range(24)]


@pytest.mark.parametrize(
    ("check", "method", "reference"),
    [
        ("scores", "chi-square", "reference_rankings.chi_square"),
        ("scores", "mean-f", "reference_rankings.f_statistics"),
        ("scores", "relieff", "reference_relief.relieff"),
        ("scores", "grro", "reference_embedded.grro"),
        ("least squares", "omp", "reference_pursuit.gains"),
        ("least squares", "hybrid", "reference_pursuit.noise_level"),
        ("optimality", "mlqpfs", "reference_quadratic.violation_of"),
        ("optimality", "llsf", "reference_rankings.llsf_objective"),
        ("optimality", "llsf", "reference_rankings.mddm_eigenvalues"),
    ],
)
def test_a_selector_that_is_no_formula_is_compared_with_its_definition(monkeypatch, check, method, reference):
    case = Case(method, {}, TABLE, LABELS)
    assert outcome(check, case) == "same"
    right = differential
    for name in reference.split("."):
        right = getattr(right, name)
    monkeypatch.setattr(f"tests.support.{reference}", lambda *given, **options: np.asarray(right(*given, **options)) + 0.5)
    assert outcome(check, case).startswith("differs: ")
