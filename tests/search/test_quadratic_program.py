"""The solver: against an interior-point solver on real data, and on ill-conditioned matrices."""

import json

import numpy as np
import pytest

from labelsieve import QuadraticSieve
from labelsieve.datasets import load
from labelsieve.discretize import equal_width
from labelsieve.errors import InputError
from labelsieve.information import Codes, mutual_information
from labelsieve.labelspace import read_targets
from labelsieve.search import QuadraticProgram
from labelsieve.search import quadratic_program as quadratic
from labelsieve.search.quadratic_program import smallest_eigenvalue
from labelsieve.selectors.quadratic import Redundancy
from tests.support.reference_quadratic import clarabel_weights, objective_of, violation_of
from tests.support.shared_files import shared_file

LARGEST = 2000


class Dense:
    """A matrix that is there."""

    def __init__(self, matrix, *, stored=False):
        self.matrix, self.diagonal, self.asked, self.stored = matrix, matrix.diagonal().copy(), 0, stored

    def column(self, j):
        self.asked += 1
        return self.matrix[j]

    def whole(self, *, counted=False):
        return self.matrix.copy() if self.stored and not counted else None

    def __len__(self):
        return len(self.matrix)


def compare(*file):
    """One data set: ours and Clarabel on the same program, shifted as far as it takes to be convex."""
    data = load(shared_file("data", *file))
    Y = read_targets(data.Y).codes
    X = equal_width(data.X)
    H, F = mutual_information(X, base="bit"), mutual_information(X, Y, base="bit").mean(axis=1)
    lowest = np.linalg.eigvalsh(H)[0]
    shift = 0.0 if lowest >= 0 else float(-1.001 * lowest + 1e-9)
    sieve = QuadraticSieve(shift=shift).fit(data.X, data.Y)
    assert sieve.alpha_ == pytest.approx(H.mean() / (H.mean() + F.mean()), rel=1e-9)
    theirs = objective_of(H, F, sieve.alpha_, clarabel_weights(H, F, sieve.alpha_, shift), shift)
    ours = objective_of(H, F, sieve.alpha_, sieve.weights_, shift)
    assert ours <= theirs + 1e-6 * abs(theirs), file
    assert ours == pytest.approx(theirs, rel=1e-6), file
    assert sieve.optimality_ < 1e-6
    assert violation_of(H, F, sieve.alpha_, sieve.weights_, shift) < 1e-6
    original = QuadraticSieve(alpha=sieve.alpha_).fit(data.X, data.Y)  # not shifted: maybe not convex, solved all the same
    assert original.optimality_ < 1e-6
    assert violation_of(H, F, sieve.alpha_, original.weights_) < 1e-6
    return shift, sieve, original


@pytest.mark.parametrize(
    "file", [("emotions", "emotions.arff.gz"), ("yeast", "yeast-train.arff.gz"), ("scene", "scene-train.arff.gz")], ids=str
)
def test_the_solution_is_that_of_an_interior_point_solver(file):
    compare(*file)


def test_an_indefinite_matrix_is_solved_as_published_and_shifted():
    shift, shifted, original = compare("enron", "enron-train.arff.gz")
    assert shift > 0.1, "this data set was taken because its matrix is indefinite"
    assert original.curvature_ > 0, "a minimum among the features that have weight"
    assert not np.array_equal(shifted.selected_, original.selected_)


@pytest.mark.slow
def test_the_solution_is_that_of_an_interior_point_solver_on_every_data_set_of_up_to_2000_features():
    manifest = json.loads(shared_file("data", "MANIFEST.json").read_text(encoding="utf-8"))
    compared, left_out = [], {}
    for name, entry in sorted(manifest["datasets"].items()):
        if entry["d"] > LARGEST:
            continue
        try:
            compare(*entry["files"][0]["path"].split("/"))
        except InputError as reason:  # real targets, or a file that does not say what its labels are
            left_out[name] = str(reason)
        else:
            compared.append(name)
    assert len(compared) >= 26, left_out


@pytest.mark.parametrize("n", [1, 2, 30, 300])
@pytest.mark.parametrize("alpha", [0.0, 0.4, 1.0])
def test_random_convex_programs_end_at_their_minimum(n, alpha):
    rng = np.random.default_rng(n)
    factor = rng.normal(size=(n, n // 2 + 1))
    matrix, relevance = factor @ factor.T, rng.random(n)
    program, stored = (QuadraticProgram(Dense(matrix, stored=stored), relevance, alpha) for stored in (False, True))
    for one in (program, stored):
        one.solve()
        assert one.optimality <= 1e-8
        assert one.weights.sum() == pytest.approx(1, abs=1e-12)
    assert stored.objective == pytest.approx(program.objective, rel=1e-7, abs=1e-9)
    assert stored.curvature() >= -1e-9
    theirs = objective_of(matrix, relevance, alpha, clarabel_weights(matrix, relevance, alpha, 0.0))
    assert program.objective <= theirs + 1e-7 * max(1, abs(theirs))


def test_rounds_that_cannot_hold_all_weights_come_to_the_same_end(monkeypatch):
    rng = np.random.default_rng(1)
    factor = rng.normal(size=(150, 150))
    matrix, relevance = factor @ factor.T / 150 + np.eye(150), rng.random(150)
    whole = QuadraticProgram(Dense(matrix), relevance, 0.3)
    whole.solve()
    assert np.count_nonzero(whole.weights) > 30
    monkeypatch.setattr(quadratic, "LARGEST_ROUND", 20)
    parts = QuadraticProgram(Dense(matrix), relevance, 0.3)
    parts.solve()
    assert parts.optimality <= 1e-8
    assert parts.weights == pytest.approx(whole.weights, abs=1e-6)


@pytest.mark.parametrize("stored", [False, True])
def test_a_matrix_that_bends_down_is_shifted_until_it_does_not(stored):
    rng = np.random.default_rng(2)
    matrix = rng.normal(size=(40, 40))
    matrix = (matrix + matrix.T) / 20 + 0.2 * np.eye(40)
    found = QuadraticProgram(Dense(matrix, stored=stored), 0.1 * rng.random(40), 0.5)
    found.solve()
    assert found.optimality <= 1e-8, "the conditions hold, whatever the matrix"
    found.solve_shifted()
    assert found.shift > 0
    assert found.curvature() >= 0
    assert found.optimality <= 1e-8
    support = found.support
    assert np.linalg.eigvalsh(matrix[np.ix_(support, support)])[0] + found.shift >= 0


def test_lanczos_finds_the_smallest_eigenvalue():
    rng = np.random.default_rng(3)
    values = np.concatenate([[-0.5], rng.uniform(0, 3, size=299)])
    basis = np.linalg.qr(rng.normal(size=(300, 300)))[0]
    matrix = basis * values @ basis.T
    assert smallest_eigenvalue(matrix) == pytest.approx(-0.5, abs=1e-6)
    assert smallest_eigenvalue(np.eye(300)) == pytest.approx(1)


@pytest.mark.parametrize("columns", [np.arange(70), np.r_[0:30, 33:70]])
def test_the_whole_matrix_has_the_bits_of_its_columns(columns):
    rng = np.random.default_rng(4)
    matrix = Redundancy(Codes.from_values(rng.integers(0, 4, size=(90, 70))), columns=columns)
    assert np.array_equal(matrix.whole(), [matrix.column(j) for j in range(len(columns))])
    assert Redundancy(Codes.from_values(rng.integers(0, 4, size=(90, 70))), memory_limit=1000).whole() is None


def test_only_columns_near_a_weight_are_asked_for():
    matrix = Dense(np.diag(np.linspace(1, 2, 3000)))
    program = QuadraticProgram(matrix, np.r_[np.full(20, 9.0), np.zeros(2980)], 0.5)
    program.solve()
    assert np.flatnonzero(program.weights).tolist() == list(range(20))
    assert matrix.asked < 1000
